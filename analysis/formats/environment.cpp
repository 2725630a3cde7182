#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/formats/located_tree.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"

// PyTorch's and vLLM's collect_env, `NAME=value` files, command lines of engines, and a bundle's
// clock.json. Each line is a fact with `key` and `value`; what rules ask for by name (driver,
// versions) stands in one fact more.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

// Environments and argument lists are short; beyond this a file is something else.
constexpr std::size_t k_max_facts = 5000;
constexpr std::size_t k_max_value = 4096;

class EnvironmentSink {
 public:
  EnvironmentSink(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {
    summary_ = make(0);
  }

  void pair(std::string_view key, std::string_view value, std::uint32_t line) {
    key = base::trim(key);
    value = base::trim(value);
    if (key.empty() || key.size() > 256 || ++count_ > k_max_facts) return;
    Fact fact = make(line);
    fact.set("key", std::string(key), line);
    fact.set("value", std::string(value.substr(0, k_max_value)), line);
    sink_(std::move(fact));
  }

  /// A field of the fact that sums the file up; the first value wins.
  void summary(std::string_view field, std::string_view value, std::uint32_t line) {
    value = base::trim(value);
    if (is_absent(value) || base::iequals(value, "Could not collect") ||
        summary_.find(field) != nullptr)
      return;
    if (summary_.line == 0) summary_.line = line;
    summary_.set(std::string(field), std::string(value.substr(0, k_max_value)), line);
  }

  void finish() {
    if (!summary_.fields.empty()) sink_(std::move(summary_));
  }

 private:
  Fact make(std::uint32_t line) const {
    Fact fact;
    fact.kind = context_.kind;
    fact.place = context_.place;
    fact.line = line;
    return fact;
  }

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  Fact summary_;
  std::size_t count_ = 0;
};

bool is_variable_name(std::string_view name) {
  if (name.empty() || name.size() > 128) return false;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-')
      return false;
  return std::isdigit(static_cast<unsigned char>(name[0])) == 0 && name[0] != '-' && name[0] != '.';
}

std::string_view without_quotes(std::string_view value) {
  value = base::trim(value);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
      value.back() == value.front())
    return value.substr(1, value.size() - 2);
  return value;
}

/// Words of a command line; quotes hold words together.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  bool open = false;
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (is_blank(c)) {
      if (open || !word.empty()) words.push_back(std::move(word));
      word.clear();
      open = false;
      if (words.size() > 2000) return words;
    } else {
      word += c;
    }
  }
  if (open || !word.empty()) words.push_back(std::move(word));
  return words;
}

/// `--max-num-seqs 256`, `--max-num-seqs=256`, `-tp 8`; a flag without value is `true`. The first
/// word behind a subcommand (`vllm serve MODEL`) is the model.
void read_command_line(std::string_view line, std::uint32_t number, EnvironmentSink& out) {
  const std::vector<std::string> words = shell_words(line);
  bool any = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "serve" && i + 1 < words.size() && words[i + 1].front() != '-')
      out.pair("model", words[i + 1], number);
    if (word.size() < 2 || word[0] != '-' || is_digit(word[1])) continue;
    const bool long_option = word.substr(0, 2) == "--";
    // `python3 -m vllm...`: the interpreter's own.
    if (!long_option && !any && (word == "-m" || word == "-c" || word == "-u")) continue;
    if (!long_option && word.size() > 6) continue;
    any = true;
    if (const std::size_t equals = word.find('='); equals != std::string::npos) {
      out.pair(word.substr(0, equals), word.substr(equals + 1), number);
    } else if (i + 1 < words.size() && !words[i + 1].empty() &&
               (words[i + 1][0] != '-' || (words[i + 1].size() > 1 && is_digit(words[i + 1][1])))) {
      out.pair(word, words[i + 1], number);
      ++i;
    } else {
      out.pair(word, "true", number);
    }
  }
}

/// `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build`: the word
/// that is a version.
std::string_view driver_version_in(std::string_view line) {
  for (const std::string_view word : base::split_blanks(line)) {
    std::size_t dots = 0;
    bool plain = is_digit(word.front());
    for (const char c : word) {
      dots += c == '.' ? 1 : 0;
      plain = plain && (is_digit(c) || c == '.');
    }
    if (plain && dots >= 1 && word.size() >= 6) return word;
  }
  return {};
}

struct ReportLine {
  std::string_view label, field;
};
constexpr std::array<ReportLine, 7> k_report_lines{{{"PyTorch version", "pytorch"},
                                                    {"CUDA used to build PyTorch", "cuda"},
                                                    {"ROCM used to build PyTorch", "rocm"},
                                                    {"Nvidia driver version", "driver"},
                                                    {"vLLM Version", "vllm"},
                                                    {"Neuron SDK Version", ""},
                                                    {"Is CUDA available", "cuda_available"}}};

}  // namespace

void parse_collect_env(std::string_view text, const ParseContext& context,
                       const evidence::FactSink& sink) {
  EnvironmentSink out(context, sink);
  std::uint32_t number = 0;
  bool gpus = false;
  std::string models;
  std::uint32_t models_line = 0;
  for (const std::string_view raw : base::split_lines(text)) {
    ++number;
    const std::string_view line = base::trim(raw);
    if (line.empty()) {
      gpus = false;
      continue;
    }
    // `GPU 0: NVIDIA H100 80GB HBM3` below `GPU models and configuration:`
    if (gpus && line.substr(0, 4) == "GPU ") {
      const std::size_t colon = line.find(':');
      if (colon != std::string_view::npos && models.size() < k_max_value) {
        if (models_line == 0) models_line = number;
        models += (models.empty() ? "" : ", ") + std::string(base::trim(line.substr(colon + 1)));
      }
      continue;
    }
    const std::size_t equals = line.find('=');
    const std::size_t colon = line.find(": ");
    if (line.substr(0, 28) == "GPU models and configuration") {
      gpus = true;
      // One GPU stands on the line itself in older versions.
      if (colon != std::string_view::npos) models = line.substr(colon + 2), models_line = number;
    } else if (colon != std::string_view::npos &&
               (equals == std::string_view::npos || colon < equals)) {
      const std::string_view label = line.substr(0, colon);
      std::string_view value = base::trim(line.substr(colon + 2));
      out.pair(label, value, number);
      for (const ReportLine& known : k_report_lines) {
        if (label != known.label || known.field.empty()) continue;
        if (known.field == "cuda_available")
          value = base::iequals(value, "True") ? "true" : "false";
        // Several GPUs may be listed with a driver each, one a line: the first is enough.
        out.summary(known.field, value, number);
      }
    } else if (equals != std::string_view::npos && is_variable_name(line.substr(0, equals))) {
      out.pair(line.substr(0, equals), without_quotes(line.substr(equals + 1)), number);
    } else if (line.substr(0, 1) == "[" && base::contains(line, "==")) {
      // `[pip3] torch==2.7.0`
      const std::string_view package = base::trim(line.substr(line.find(']') + 1));
      const std::size_t version = package.find("==");
      if (version != std::string_view::npos)
        out.pair(package.substr(0, version), package.substr(version + 2), number);
    }
  }
  if (models_line != 0) out.summary("gpus", models, models_line);
  out.finish();
}

void parse_key_value(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink) {
  EnvironmentSink out(context, sink);
  std::uint32_t number = 0;
  for (const std::string_view raw : base::split_lines(text)) {
    ++number;
    std::string_view line = base::trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line.substr(0, 7) == "export ") line = base::trim(line.substr(7));
    const std::size_t equals = line.find('=');
    const std::size_t colon = line.find(": ");
    if (line.substr(0, 13) == "NVRM version:") {
      out.pair("NVRM version", line.substr(13), number);
      out.summary("driver", driver_version_in(line.substr(13)), number);
    } else if (equals != std::string_view::npos && is_variable_name(line.substr(0, equals))) {
      out.pair(line.substr(0, equals), without_quotes(line.substr(equals + 1)), number);
    } else if (base::contains(line, " -")) {
      read_command_line(line, number, out);
    } else if (colon != std::string_view::npos && colon < 64) {
      out.pair(line.substr(0, colon), line.substr(colon + 2), number);
    } else if (line.substr(0, 6) == "btime " && parse_any_stamp(line.substr(6))) {
      out.pair("boot_time", line.substr(6), number);  // /proc/stat
    } else if (parse_any_stamp(line)) {
      // What `uptime -s` prints, alone on its line.
      out.pair("boot_time", line, number);
    }
  }
  out.finish();
}

void parse_clock(std::string_view text, const ParseContext& context,
                 const evidence::FactSink& sink) {
  EnvironmentSink out(context, sink);
  read_located_json(text, [&out](const LocatedNode& document) {
    bool boot = false;
    std::string uptime;
    std::uint32_t uptime_line = 0;
    std::optional<evidence::Stamp> now;
    for (const auto& [name, node] : document.members) {
      if (!node.is_scalar()) continue;
      if (name == "boot_time" || name == "btime") {
        out.pair("boot_time", node.text, node.line);
        boot = true;
        continue;
      }
      out.pair(name, node.text, node.line);
      if (name == "uptime_s" || name == "uptime") uptime = node.text, uptime_line = node.line;
      if (name == "date" || name == "now" || name == "time") now = parse_any_stamp(node.text);
    }
    // Uptime and the time at which it was read give the boot time too.
    const auto seconds = base::parse_double(uptime);
    if (!boot && now && now->base == evidence::Stamp::Base::utc && seconds && *seconds >= 0 &&
        *seconds < 4e9) {
      const evidence::Time at{now->ns - static_cast<std::int64_t>(*seconds * 1e9), 1'000'000'000};
      out.pair("boot_time", evidence::to_rfc3339(at), uptime_line);
    }
    return true;
  });
  out.finish();
}

}  // namespace triage::analysis::formats

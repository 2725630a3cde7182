#include <array>
#include <cctype>
#include <string>

#include "base/text.hpp"
#include "bundle/recognise_detail.hpp"
#include "evidence/time.hpp"

namespace triage::bundle::detail {
namespace {

using evidence::Format;
using evidence::Kind;

Recognised as(Kind kind, Format format) {
  Recognised result;
  result.kind = kind;
  result.format = format;
  return result;
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

}  // namespace

bool is_metric_line(std::string_view line) {
  if (line.empty() || std::isdigit(static_cast<unsigned char>(line[0])) != 0) return false;
  std::size_t at = 0;
  while (at < line.size() && is_name_character(line[at])) ++at;
  if (at < 3 || at >= line.size()) return false;
  const bool labels = line[at] == '{';
  if (labels) {
    const auto end = line.rfind("} ");
    if (end == std::string_view::npos) return false;
    at = end + 1;
  }
  if (line[at] != ' ') return false;
  const auto words = base::split_blanks(line.substr(at));
  if (words.empty() || words.size() > 2) return false;
  const auto value = words[0];
  const bool number =
      base::parse_double(value).has_value() || value == "NaN" || value == "+Inf" || value == "-Inf";
  return number && (labels || line.find('_') < at || line.find(':') < at);
}

namespace {

std::optional<Recognised> recognise_metrics(const Sample& sample) {
  int help = 0;
  int metric = 0;
  int other = 0;
  for (const auto line : sample.lines) {
    if (line.empty()) continue;
    if (starts(line, "# HELP ") || starts(line, "# TYPE ") || starts(line, "# EOF")) {
      ++help;
    } else if (is_metric_line(line)) {
      ++metric;
    } else if (!starts(line, "#")) {
      ++other;
    }
  }
  if ((help > 0 && metric + help > 2 * other) || (metric >= 3 && metric > 4 * other))
    return as(Kind::metrics, Format::prometheus);
  // One build of llama.cpp answered with the text as one quoted JSON string.
  if (starts(sample.text, "\"# HELP ") || starts(sample.text, "\"# TYPE "))
    return as(Kind::metrics, Format::prometheus);
  return std::nullopt;
}

/// Envoy's /stats: `cluster.NAME.upstream_rq_504: 15210`, nginx's stub_status.
std::optional<Recognised> recognise_stats(const Sample& sample) {
  int counters = 0;
  int others = 0;
  for (const auto line : sample.lines) {
    if (line.empty() || line.front() == '#') continue;
    const auto colon = line.rfind(": ");
    if (colon != std::string_view::npos && line.find(' ') == colon + 1 &&
        line.substr(0, colon).find('.') != std::string_view::npos &&
        (is_digits(base::trim(line.substr(colon + 2))) || starts(line.substr(colon + 2), "P") ||
         starts(line.substr(colon + 2), "No recorded"))) {
      ++counters;
    } else {
      ++others;
    }
  }
  if (counters >= 2 && counters > 3 * others) return as(Kind::gateway_stats, Format::gateway_stats);
  if (starts(sample.text, "Active connections: ") && base::contains(sample.text, "accepts handled"))
    return as(Kind::gateway_stats, Format::gateway_stats);
  return std::nullopt;
}

std::optional<Recognised> recognise_memory(const Sample& sample) {
  int cgroup = 0;
  int lines = 0;
  for (const auto line : sample.lines) {
    const auto text = base::trim(line);
    if (text.empty() || text.front() == '#') continue;
    ++lines;
    if (lines <= 3 && starts(text, "MemTotal:") && base::contains(text, "kB"))
      return as(Kind::host_memory, Format::host_memory);
    if (lines <= 3 && starts(text, "total ") && base::contains(text, " used ") &&
        base::contains(text, " free "))
      return as(Kind::host_memory, Format::host_memory);
    if (lines <= 3 && starts(text, "Filesystem ") && base::contains(text, "Mounted on"))
      return as(Kind::host_memory, Format::host_memory);
    for (const std::string_view key :
         {"oom_kill ", "oom_group_kill ", "oom ", "max ", "high ", "low ", "memory.max",
          "memory.peak", "memory.current", "memory.events"})
      if (starts(text, key)) ++cgroup;
  }
  if (cgroup >= 3 && cgroup * 2 >= lines && base::contains(sample.text, "oom"))
    return as(Kind::host_memory, Format::host_memory);
  return std::nullopt;
}

/// `journalctl -o export`: a line for each field, an empty line after each entry.
std::optional<Recognised> recognise_export(const Sample& sample) {
  if (sample.lines.empty() || !starts(sample.lines.front(), "__CURSOR=")) return std::nullopt;
  int entries = 0;
  int kernel = 0;
  for (const auto line : sample.lines) {
    entries += starts(line, "_TRANSPORT=") ? 1 : 0;
    kernel += line == "_TRANSPORT=kernel" ? 1 : 0;
  }
  return as(kernel * 5 >= entries * 4 ? Kind::kernel_log : Kind::system_log, Format::lines);
}

std::optional<Recognised> recognise_environment(const Sample& sample) {
  const auto top = sample.text.substr(0, 16 * 1024);
  if (base::contains(top, "PyTorch version:") &&
      (base::contains(top, "Is debug build") || base::contains(top, "Collecting environment") ||
       base::contains(top, "GPU models and configuration") || base::contains(top, "OS:")))
    return as(Kind::environment, Format::collect_env);
  // `env`, `.env`, `printenv`: nearly all lines are NAME=value.
  int pairs = 0;
  int upper = 0;
  int others = 0;
  for (const auto line : sample.lines) {
    if (line.empty() || line.front() == '#') continue;
    auto name = line;
    if (starts(name, "export ")) name.remove_prefix(7);
    const auto equals = name.find('=');
    const auto key = name.substr(0, equals);
    bool good = equals != std::string_view::npos && equals > 0;
    bool capital = false;
    for (const char c : key) {
      const auto byte = static_cast<unsigned char>(c);
      good = good && (std::isalnum(byte) != 0 || c == '_' || c == '.' || c == '-');
      capital = capital || std::isupper(byte) != 0;
    }
    if (good) {
      ++pairs;
      upper += capital ? 1 : 0;
    } else {
      ++others;
    }
  }
  if (pairs >= 3 && pairs > 4 * others && upper * 2 >= pairs)
    return as(Kind::environment, Format::key_value);
  // One command line of an engine; its usage text or complaint is a log.
  if (sample.lines.size() <= 3 && base::contains(top, " --") && !base::contains(top, "error:") &&
      !starts(top, "usage:") &&
      (base::contains(top, "vllm serve") || base::contains(top, "sglang.launch_server") ||
       base::contains(top, "text-generation-launcher") || base::contains(top, "llama-server") ||
       base::contains(top, "trtllm-serve") || base::contains(top, "api_server")) &&
      iso_stamp_length(top) == 0)
    return as(Kind::environment, Format::key_value);
  // What dates a boot: /proc/stat, and `uptime -s` alone in its file.
  if (starts(top, "cpu ") && base::contains(sample.text, "\nbtime "))
    return as(Kind::environment, Format::key_value);
  if (const auto text = base::trim(sample.text);
      text.size() == 19 && evidence::parse_rfc3339(std::string(text)))
    return as(Kind::environment, Format::key_value);
  if (base::contains(top.substr(0, 400), "NVRM version:") && base::contains(top, "GCC version:"))
    return as(Kind::environment, Format::key_value);
  return std::nullopt;
}

}  // namespace

std::optional<Recognised> recognise_host(const Sample& sample) {
  if (auto found = recognise_metrics(sample)) return found;
  if (auto found = recognise_stats(sample)) return found;
  if (auto found = recognise_memory(sample)) return found;
  if (auto found = recognise_export(sample)) return found;
  return recognise_environment(sample);
}

}  // namespace triage::bundle::detail

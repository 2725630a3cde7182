#include "history/run.hpp"

#include <algorithm>

#include "base/digest.hpp"
#include "base/text.hpp"

namespace triage::history {
namespace {

constexpr std::size_t k_normalised_limit = 200;

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || byte >= 0x80;
}

bool has_digit(std::string_view word) {
  return word.find_first_of("0123456789") != std::string_view::npos;
}

bool is_hex(std::string_view word) {
  return word.find_first_not_of("0123456789abcdefx") == std::string_view::npos;
}

/// A word of a message without what varies: `0x7f3a` and `1a2b3c` are `#`, `cuda:3` keeps `cuda`,
/// `rank13` is `rank#`.
std::string without_numbers(std::string_view word) {
  if (!has_digit(word)) return std::string(word);
  if (is_hex(word)) return "#";
  std::string out;
  for (const char c : word) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

/// `#` parted by single signs is one number: PCI addresses, UUIDs, times, versions.
std::string join_numbers(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool parts_numbers = i + 1 < text.size() && text[i + 1] == '#' && !out.empty() &&
                               out.back() == '#' &&
                               std::string_view(":.-/,").find(text[i]) != std::string_view::npos;
    if (parts_numbers)
      ++i;
    else
      out += text[i];
  }
  return out;
}

std::string short_digest(const std::string& text) {
  return base::to_hex(base::sha256(text)).substr(0, 16);
}

std::string derived_incident(const analysis::Report& report, const Run& run) {
  std::string key = run.fingerprint;
  const auto add = [&key](const std::string& part) { key += '\n' + part; };
  const auto add_sorted = [&](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    for (const auto& name : names) add(name);
  };
  add_sorted(run.nodes);
  add_sorted(run.pods);
  std::vector<std::string> gpus;
  for (const auto& gpu : run.gpus) gpus.push_back(gpu.uuid + "/" + gpu.pci);
  add_sorted(gpus);
  if (run.first_error_ns) {
    // Whole seconds: another look may date the same line a little finer.
    add(std::to_string(*run.first_error_ns / 1'000'000'000));
  } else {
    std::vector<std::string> inputs;
    for (const auto& input : report.inputs)
      inputs.push_back(input.path + " " + std::to_string(input.bytes) + " " + input.sha256);
    add_sorted(inputs);
    add(run.first_error_file + ":" + std::to_string(run.first_error_line));
  }
  return short_digest(key);
}

}  // namespace

std::string normalise_error(std::string_view text) {
  const std::string lower = base::to_lower(text.substr(0, 4096));
  std::string out;
  for (std::size_t i = 0; i < lower.size() && out.size() < k_normalised_limit * 2;) {
    if (is_word(lower[i])) {
      std::size_t end = i;
      while (end < lower.size() && is_word(lower[end])) ++end;
      out += without_numbers(std::string_view(lower).substr(i, end - i));
      i = end;
    } else {
      const bool blank = lower[i] == ' ' || lower[i] == '\t';
      if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : lower[i];
      ++i;
    }
  }
  out = join_numbers(out);
  if (out.size() > k_normalised_limit) out.resize(k_normalised_limit);
  return std::string(base::trim(out));
}

std::string fingerprint_of(const analysis::VerdictEntry& verdict) {
  const std::string error =
      verdict.first_error ? normalise_error(verdict.first_error->text) : std::string();
  return short_digest(verdict.cause + "\n" + error);
}

Run run_of(const analysis::Report& report, std::string report_json, std::int64_t recorded_ns,
           std::string incident) {
  const auto& verdict = report.verdict;
  Run run;
  run.recorded_ns = recorded_ns;
  run.fingerprint = fingerprint_of(verdict);
  run.class_ = verdict.class_;
  run.cause = verdict.cause;
  run.title = verdict.title;
  run.severity = verdict.severity;
  run.confidence = verdict.confidence;
  run.scope = verdict.scope;
  run.pattern = verdict.pattern;
  run.fault_domain = verdict.fault_domain;
  run.quarantine_target = report.quarantine.target;
  run.quarantine_action = report.quarantine.action;
  if (verdict.first_error) {
    if (verdict.first_error->time) run.first_error_ns = verdict.first_error->time->ns;
    run.first_error_file = verdict.first_error->file;
    run.first_error_line = verdict.first_error->line;
    run.first_error_text = verdict.first_error->text;
  }
  run.driver = report.environment.driver;
  run.cuda = report.environment.cuda;
  run.engine = report.environment.engine.name;
  run.engine_version = report.environment.engine.version;
  run.tool_version = report.tool_version;
  run.rules_digest = report.rules_digest;
  run.nodes = verdict.entities.nodes;
  run.pods = verdict.entities.pods;
  run.images = report.environment.images;
  run.gpus = verdict.entities.gpus;
  for (const auto& subject : report.quarantine.subjects) {
    if (subject.kind != "gpu") continue;
    const bool known =
        std::any_of(run.gpus.begin(), run.gpus.end(), [&](const analysis::GpuEntity& gpu) {
          return (!subject.uuid.empty() && gpu.uuid == subject.uuid) ||
                 (subject.uuid.empty() && gpu.pci == subject.pci);
        });
    if (!known) run.gpus.push_back({subject.uuid, subject.pci, "", subject.node, ""});
  }
  run.incident = incident.empty() ? derived_incident(report, run) : std::move(incident);
  run.report_json = std::move(report_json);
  return run;
}

}  // namespace triage::history

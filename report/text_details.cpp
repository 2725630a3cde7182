#include "report/text_details.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Report;

// A terminal is no pager of a hundred thousand rows: JSON, NDJSON and HTML hold them all.
constexpr std::size_t k_timeline_rows = 60;
constexpr std::size_t k_observation_rows = 60;

void say_left(TextPage& page, std::size_t all, std::size_t shown) {
  if (all > shown)
    page.row("", fmt::format("{} more: -f json, -f ndjson or -f html", all - shown), Paint::dim);
}

void add_chain(TextPage& page, const Report& report) {
  if (report.causal_chain.empty()) return;
  page.blank_line();
  page.heading("CHAIN", Paint::heading, "what explains what");
  for (std::size_t i = 0; i < report.causal_chain.size(); ++i) {
    const auto& link = report.causal_chain[i];
    std::string head = fmt::format("{} {}  {}", link.role, link.cause, cite(link.at));
    if (const std::string when = time_words(link.at.time); !when.empty()) head += "  " + when;
    page.row(fmt::format("[{}]", i), head, Paint::place);
    page.quote(link.at.text, 2);
    if (link.explains.empty()) continue;
    std::vector<std::string> numbers;
    for (const std::size_t index : link.explains) numbers.push_back(fmt::format("[{}]", index));
    page.row("", "explains " + list_words(numbers, 12), Paint::dim);
  }
}

void add_timeline(TextPage& page, const Report& report) {
  if (report.timeline.empty()) return;
  page.blank_line();
  page.heading("TIMELINE", Paint::heading);
  const std::size_t shown = std::min(report.timeline.size(), k_timeline_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& entry = report.timeline[i];
    std::string head = time_words(entry.at.time);
    if (head.empty()) head = "undated";
    head += "  " + cite(entry.at);
    if (const std::string place = place_words(entry.place); !place.empty()) head += "  " + place;
    page.row(entry.role, head, Paint::place);
    page.quote(entry.at.text, 1);
  }
  say_left(page, report.timeline.size(), shown);
}

void add_observations(TextPage& page, const Report& report) {
  if (report.observations.empty()) return;
  page.blank_line();
  page.heading("OBSERVATIONS", Paint::heading, fmt::format("{}", report.observations.size()));
  const std::size_t shown = std::min(report.observations.size(), k_observation_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& seen = report.observations[i];
    std::string head = fmt::format("{}  {}", seen.rule, cite(seen.at));
    if (seen.count > 1) head += fmt::format("  {} times", seen.count);
    page.row(seen.role, head, Paint::place);
    page.quote(seen.at.text, 1);
  }
  say_left(page, report.observations.size(), shown);
}

void add_section(TextPage& page, std::string_view title,
                 const std::optional<analysis::Section>& section) {
  if (!section || section->empty()) return;
  page.blank_line();
  page.heading(title, Paint::heading);
  for (const auto& [name, sourced] : *section) {
    std::string text = name + ": " + sourced.value;
    if (!sourced.file.empty()) text += "  (" + cite(sourced.file, sourced.line) + ")";
    page.row("", text);
  }
}

void add_environment(TextPage& page, const analysis::Environment& environment) {
  std::string engine = environment.engine.name;
  if (!environment.engine.version.empty()) engine += " " + environment.engine.version;
  const bool empty = environment.driver.empty() && environment.cuda.empty() && engine.empty() &&
                     environment.images.empty() && environment.gpus.empty() &&
                     environment.kubernetes.empty() && environment.engine.args.empty();
  if (empty) return;
  page.blank_line();
  page.heading("ENVIRONMENT", Paint::heading);
  page.row("driver", environment.driver);
  page.row("CUDA", environment.cuda);
  page.row("engine", engine);
  for (const auto& [name, value] : environment.engine.args)
    page.row("", value.empty() ? name : name + " " + value);
  for (std::size_t i = 0; i < environment.images.size(); ++i)
    page.row(i == 0 ? "images" : "", environment.images[i]);
  for (std::size_t i = 0; i < environment.gpus.size(); ++i) {
    const auto& gpu = environment.gpus[i];
    std::string text = gpu_words(gpu);
    if (!gpu.name.empty() && !base::contains(text, gpu.name)) text += " · " + gpu.name;
    if (!gpu.node.empty()) text += " · " + gpu.node;
    page.row(i == 0 ? "GPUs" : "", text);
  }
  std::string_view label = "cluster";
  for (const auto& [name, value] : environment.kubernetes) {
    page.row(label, name + ": " + value);
    label = "";
  }
}

void add_coverage(TextPage& page, const Report& report) {
  if (report.inputs.empty() && !report.coverage) return;
  page.blank_line();
  page.heading("COVERAGE", Paint::heading);
  if (report.coverage)
    page.row("read", fmt::format("{} of {} files, {} lines", report.coverage->files_read,
                                 report.coverage->files, report.coverage->lines));
  for (const auto& input : report.inputs) {
    std::string text = fmt::format("{}  {}  {} lines", input.path, input.kind, input.lines);
    if (input.first) text += "  " + evidence::to_words(*input.first);
    if (input.first && input.last) text += " to " + evidence::to_words(*input.last);
    page.row("-", text);
  }
  if (!report.coverage) return;
  for (const auto& unread : report.coverage->unread) page.row("unread", unread);
  for (const auto& cluster : report.coverage->unmatched_errors) {
    page.row("no rule",
             fmt::format("{}  {} times", cite(cluster.file, cluster.line), cluster.count),
             Paint::place);
    page.quote(cluster.example, 1);
  }
}

}  // namespace

void add_details(TextPage& page, const Report& report) {
  const auto& reasons = report.verdict.confidence_reasons;
  if (!reasons.empty()) {
    page.blank_line();
    page.heading("CONFIDENCE", Paint::heading, report.verdict.confidence);
    for (const auto& reason : reasons) page.row("-", reason);
  }
  add_chain(page, report);
  add_timeline(page, report);
  add_observations(page, report);
  add_section(page, "MEMORY BUDGET", report.memory_budget);
  add_section(page, "LOAD", report.load);
  add_section(page, "LOADING", report.loading);
  add_section(page, "REPLICAS", report.replicas);
  add_section(page, "CAPACITY", report.capacity);
  add_environment(page, report.environment);
  add_coverage(page, report);
  if (!report.tool_version.empty()) {
    page.blank_line();
    page.row("", fmt::format("triage {}, rules {}", report.tool_version, report.rules_digest),
             Paint::dim);
  }
}

}  // namespace triage::report

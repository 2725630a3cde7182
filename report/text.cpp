#include "report/text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/text_details.hpp"
#include "report/text_page.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Report;

// What is worth a line in the brief report; the rest stands behind --verbose.
constexpr std::size_t k_names = 3;
constexpr std::size_t k_steps_a_phase = 1;
constexpr std::size_t k_avoids = 2;
constexpr std::size_t k_missing = 2;
constexpr std::size_t k_others = 3;
constexpr std::size_t k_warnings = 3;
constexpr std::size_t k_unmatched = 5;

Paint paint_of(const analysis::VerdictEntry& verdict) {
  switch (outcome_of(verdict)) {
    case Outcome::healthy:
      return Paint::sound;
    case Outcome::unknown:
      return Paint::unsure;
    case Outcome::fault:
      break;
  }
  return verdict.severity == "warning" || verdict.severity == "info" ? Paint::unsure : Paint::fault;
}

bool same_line(const std::optional<analysis::Cited>& a, const std::optional<analysis::Cited>& b) {
  return a && b && a->file == b->file && a->line == b->line;
}

void add_cited(TextPage& page, std::string_view label, const analysis::Cited& cited,
               std::string_view behind) {
  std::string place = cite(cited);
  const std::string when = behind.empty() ? time_words(cited.time) : std::string(behind);
  if (!cited.rank.empty()) place += "  rank " + cited.rank;
  if (!when.empty()) place += "  " + when;
  page.row(label, place, Paint::place);
  page.quote(cited.text, 3);
}

void add_verdict(TextPage& page, const Report& report) {
  const auto& verdict = report.verdict;
  std::string right = verdict.cause;
  if (outcome_of(verdict) != Outcome::fault) right.clear();
  if (!right.empty()) right += " · ";
  page.headline(class_label(verdict.class_), paint_of(verdict), verdict.title,
                right + "confidence " + verdict.confidence);
  const auto where = where_words(verdict.entities, k_names);
  page.row("where", base::join(where, " · "), Paint::none, 4);
  std::string reach;
  if (verdict.scope == "regression" || verdict.scope == "fleet") reach = verdict.scope;
  if (!verdict.pattern.empty())
    reach += (reach.empty() ? "pattern " : " · pattern ") + verdict.pattern;
  page.row("reach", reach);
  if (verdict.first_error) add_cited(page, "first", *verdict.first_error, "");
  const auto& cuda = verdict.first_cuda_error;
  if (cuda && !same_line(cuda, verdict.first_error)) {
    const std::string distance =
        verdict.first_error ? distance_words(verdict.first_error->time, cuda->time) : std::string();
    add_cited(page, "CUDA", *cuda, distance);
  }
  page.row("loudest", report.loudest, Paint::none, 3);
  if (verdict.confidence != "high")
    page.row("unsure", base::join(verdict.confidence_reasons, "; "), Paint::none, 3);
  if (report.recurrence) page.row("before", report.recurrence->note, Paint::none, 4);
}

void add_quarantine(TextPage& page, const Report& report) {
  const auto& quarantine = report.quarantine;
  if (quarantine.target == "none" || quarantine.target.empty()) {
    if (outcome_of(report.verdict) != Outcome::fault) return;
    page.blank_line();
    page.heading("HOLD OUT OF SERVICE", Paint::heading,
                 quarantine.reason.empty() ? "nothing" : "nothing: " + quarantine.reason);
    return;
  }
  page.blank_line();
  page.heading("HOLD OUT OF SERVICE", Paint::fault, quarantine_words(quarantine));
  page.row("why", quarantine.reason);
  page.row("lift", quarantine.lift_when);
  for (std::size_t i = 0; i < quarantine.commands.size(); ++i)
    page.command_row(i == 0 ? "run" : "", quarantine.commands[i]);
}

void add_step(TextPage& page, std::string_view label, const analysis::NextStep& step) {
  const std::string text = step.why.empty() ? step.text : step.text + ": " + step.why;
  page.row(label, text.empty() ? step.command : text);
  if (!step.command.empty() && !text.empty()) page.command(step.command);
}

/// Adds at most `limit` steps of a phase; says how many are left.
std::size_t add_phase(TextPage& page, const Report& report, std::string_view phase,
                      std::size_t limit) {
  const auto steps = steps_of(report, phase);
  for (std::size_t i = 0; i < steps.size() && i < limit; ++i)
    add_step(page, i == 0 ? phase : "", *steps[i]);
  return steps.size() > limit ? steps.size() - limit : 0;
}

void add_steps(TextPage& page, const Report& report, const TextOptions& options) {
  if (report.next_steps.empty()) return;
  const bool all = options.detail == TextOptions::Detail::verbose;
  const auto is_avoid = [](const analysis::NextStep& s) { return s.phase == "avoid"; };
  const auto& steps = report.next_steps;
  std::size_t left = 0;
  if (!std::all_of(steps.begin(), steps.end(), is_avoid)) {
    page.blank_line();
    page.heading("NEXT", Paint::heading);
    for (const std::string_view phase : step_phases()) {
      if (phase == "prevent" && !all) continue;
      left += add_phase(page, report, phase, all ? SIZE_MAX : k_steps_a_phase);
    }
    if (left > 0) page.row("", fmt::format("{} more: --verbose", left), Paint::dim);
  }
  const auto avoid = steps_of(report, "avoid");
  if (avoid.empty()) return;
  page.heading("AVOID", Paint::heading);
  for (std::size_t i = 0; i < avoid.size() && (all || i < k_avoids); ++i)
    page.row("-", avoid[i]->why.empty() ? avoid[i]->text : avoid[i]->text + ": " + avoid[i]->why);
}

void add_missing(TextPage& page, const Report& report, bool all) {
  const auto& missing = report.missing_evidence;
  if (missing.empty()) return;
  if (report.next_steps.empty()) page.blank_line();
  page.heading("MISSING", Paint::heading);
  for (std::size_t i = 0; i < missing.size() && (all || i < k_missing); ++i) {
    const auto& item = missing[i];
    page.row("-", item.why.empty() ? item.what : item.what + ": " + item.why);
    if (!item.command.empty()) page.command(item.command);
  }
  if (!all && missing.size() > k_missing)
    page.row("", fmt::format("{} more: --verbose", missing.size() - k_missing), Paint::dim);
}

void add_others(TextPage& page, const Report& report, bool all) {
  const auto& others = report.other_incidents;
  if (others.empty()) return;
  page.blank_line();
  page.heading("ALSO FOUND", Paint::heading, "independent of the above");
  for (std::size_t i = 0; i < others.size() && (all || i < k_others); ++i) {
    const auto& verdict = others[i].verdict;
    std::string text = fmt::format("{} ({})", verdict.title, verdict.cause);
    if (verdict.first_error) text += "  " + cite(*verdict.first_error);
    if (others[i].quarantine.target != "none")
      text += " · hold out " + quarantine_words(others[i].quarantine);
    page.row(fmt::format("{}.", i + 1), text);
  }
  if (!all && others.size() > k_others)
    page.row("", fmt::format("{} more: --verbose", others.size() - k_others), Paint::dim);
}

void add_unmatched(TextPage& page, const Report& report) {
  if (!report.coverage || report.coverage->unmatched_errors.empty()) return;
  const auto& clusters = report.coverage->unmatched_errors;
  page.blank_line();
  page.heading("UNEXPLAINED LINES", Paint::heading, "that look like errors and match no rule");
  for (std::size_t i = 0; i < clusters.size() && i < k_unmatched; ++i) {
    const std::string times =
        clusters[i].count > 1 ? fmt::format("  {} times", clusters[i].count) : "";
    page.row("-", cite(clusters[i].file, clusters[i].line) + times, Paint::place);
    page.quote(clusters[i].example, 2);
  }
}

void add_warnings(TextPage& page, const Report& report, bool all) {
  const auto& warnings = report.warnings;
  if (warnings.empty()) return;
  page.blank_line();
  page.heading("WARNINGS", Paint::heading);
  for (std::size_t i = 0; i < warnings.size() && (all || i < k_warnings); ++i)
    page.row("-", warnings[i], Paint::none, 3);
  if (!all && warnings.size() > k_warnings)
    page.row("", fmt::format("{} more: --verbose", warnings.size() - k_warnings), Paint::dim);
}

void add_read(TextPage& page, const Report& report) {
  if (!report.coverage) return;
  const auto& coverage = *report.coverage;
  page.row("read", fmt::format("{} of {} files, {} lines, {}", coverage.files_read, coverage.files,
                               coverage.lines,
                               base::format_bytes(static_cast<std::int64_t>(
                                   std::min<std::uint64_t>(coverage.bytes, INT64_MAX)))));
}

}  // namespace

std::string render_text(const Report& report, const TextOptions& options) {
  const bool all = options.detail == TextOptions::Detail::verbose;
  TextPage page(options);
  add_verdict(page, report);
  if (outcome_of(report.verdict) != Outcome::fault) add_read(page, report);
  add_quarantine(page, report);
  if (outcome_of(report.verdict) == Outcome::unknown) add_unmatched(page, report);
  add_steps(page, report, options);
  add_missing(page, report, all);
  add_others(page, report, all);
  add_warnings(page, report, all);
  if (all) {
    add_details(page, report);
  } else if (!report.causal_chain.empty()) {
    page.blank_line();
    page.heading("chain and timeline: --verbose, or -f html", Paint::dim);
  }
  return page.take();
}

}  // namespace triage::report

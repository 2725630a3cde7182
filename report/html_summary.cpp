#include <fmt/format.h>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/html_sections.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Report;

constexpr std::size_t k_names = 12;
constexpr std::size_t k_text_limit = 4000;

std::string text(std::string_view value) {
  return xml_text(visible(value, k_text_limit));
}

std::string chip(std::string_view label, std::string_view value) {
  if (value.empty()) return {};
  return fmt::format("<li class=\"chip\">{} <strong>{}</strong></li>", label, text(value));
}

std::string tone_of(const analysis::VerdictEntry& verdict) {
  switch (outcome_of(verdict)) {
    case Outcome::healthy:
      return "verdict healthy";
    case Outcome::unknown:
      return "verdict unknown";
    case Outcome::fault:
      break;
  }
  return verdict.severity == "warning" || verdict.severity == "info" ? "verdict mild" : "verdict";
}

std::string cited_value(const analysis::Cited& cited, std::string_view behind) {
  std::string out = html_place(cited);
  if (!cited.rank.empty()) out += " · rank " + text(cited.rank);
  if (!behind.empty()) out += " · " + text(behind);
  return out + "<pre>" + text(cited.text) + "</pre>";
}

std::string list(const std::vector<std::string>& items) {
  if (items.empty()) return {};
  std::string out = "<ul class=\"steps\">";
  for (const auto& item : items) out += html_element("li", visible(item, k_text_limit));
  return out + "</ul>";
}

std::string step_item(const analysis::NextStep& step) {
  std::string out = "<li>" + text(step.text);
  if (!step.why.empty()) out += " <span class=\"soft\">" + text(step.why) + "</span>";
  if (!step.command.empty()) out += html_command(step.command);
  return out + "</li>\n";
}

std::string steps_list(const std::vector<const analysis::NextStep*>& steps) {
  std::string out = "<ul class=\"steps\">\n";
  for (const auto* step : steps) out += step_item(*step);
  return out + "</ul>\n";
}

}  // namespace

std::string html_section(std::string_view id, std::string_view heading, std::string_view body,
                         std::string_view class_name) {
  if (body.empty()) return {};
  std::string out = fmt::format("<section id=\"{}\"", id);
  if (!class_name.empty()) out += fmt::format(" class=\"{}\"", class_name);
  out += ">\n";
  if (!heading.empty()) out += html_element("h2", heading) + "\n";
  return out + std::string(body) + "</section>\n";
}

std::string html_command(std::string_view command) {
  std::string lines;
  for (const std::string_view line : base::split_lines(command)) {
    if (!lines.empty()) lines += '\n';
    lines += text(line);
  }
  return "<pre class=\"command\">" + lines + "</pre>";
}

std::string html_place(const analysis::Cited& cited) {
  return html_element("span", cite(cited), "place");
}

std::string html_verdict(const Report& report) {
  const auto& verdict = report.verdict;
  std::string body = html_element("div", class_label(verdict.class_), "label") + "\n";
  body += html_element("h1", visible(verdict.title, 500)) + "\n<ul class=\"chips\">";
  body += chip("cause", verdict.cause) + chip("confidence", verdict.confidence);
  body += chip("severity", verdict.severity) + chip("fault domain", verdict.fault_domain);
  body += chip("scope", verdict.scope) + chip("pattern", verdict.pattern);
  body += "</ul>\n<dl class=\"facts\">\n";
  std::string where;
  for (const auto& words : where_words(verdict.entities, k_names))
    where += fmt::format("<li class=\"chip\">{}</li>", text(words));
  if (!where.empty()) where = "<ul class=\"chips\">" + where + "</ul>";
  body += html_definition("Where", where);
  const auto& first = verdict.first_error;
  if (first) body += html_definition("First error", cited_value(*first, time_words(first->time)));
  const auto& cuda = verdict.first_cuda_error;
  if (cuda && !(first && cuda->file == first->file && cuda->line == first->line)) {
    std::string when = time_words(cuda->time);
    const std::string distance = first ? distance_words(first->time, cuda->time) : "";
    if (!distance.empty()) when += " (" + distance + ")";
    body += html_definition("First CUDA error", cited_value(*cuda, when));
  }
  body += html_definition("Loudest", text(report.loudest));
  if (report.recurrence) body += html_definition("Before", text(report.recurrence->note));
  body += html_definition("Confidence", list(verdict.confidence_reasons));
  body += html_definition("Means", xml_text(class_meaning(verdict.class_)));
  return html_section("verdict", "", body + "</dl>\n", tone_of(verdict));
}

std::string html_quarantine(const Report& report) {
  const auto& hold = report.quarantine;
  const bool none = hold.target == "none" || hold.target.empty();
  if (none && outcome_of(report.verdict) != Outcome::fault) return {};
  std::string body;
  if (none) {
    body = "<p>Nothing." + (hold.reason.empty() ? "" : " " + text(hold.reason)) + "</p>\n";
    return html_section("hold", "Hold out of service", body);
  }
  body = "<p><strong>" + text(quarantine_words(hold)) + "</strong></p>\n<dl class=\"facts\">\n";
  body += html_definition("Why", text(hold.reason));
  body += html_definition("Lift when", text(hold.lift_when));
  std::string commands;
  for (const auto& command : hold.commands) commands += html_command(command);
  body += html_definition("Run", commands) + "</dl>\n";
  return html_section("hold", "Hold out of service", body, "hold");
}

std::string html_steps(const Report& report) {
  std::string body;
  for (const std::string_view phase : step_phases()) {
    const auto steps = steps_of(report, phase);
    if (!steps.empty()) body += html_element("h3", phase, "phase") + "\n" + steps_list(steps);
  }
  const auto avoid = steps_of(report, "avoid");
  if (!avoid.empty())
    body += "<div class=\"avoid\">" + html_element("h3", "do not", "phase") + "\n" +
            steps_list(avoid) + "</div>\n";
  return html_section("next", "Next", body);
}

std::string html_missing(const Report& report) {
  std::string items;
  for (const auto& item : report.missing_evidence) {
    items += "<li>" + text(item.what);
    if (!item.why.empty()) items += ": " + text(item.why);
    if (!item.command.empty()) items += html_command(item.command);
    items += "</li>\n";
  }
  if (!items.empty()) items = "<ul class=\"steps\">\n" + items + "</ul>\n";
  return html_section("missing", "What would settle it", items);
}

std::string html_others(const Report& report) {
  std::string items;
  for (const auto& other : report.other_incidents) {
    items += fmt::format("<li><strong>{}</strong> ({})", text(other.verdict.title),
                         text(other.verdict.cause));
    if (other.quarantine.target != "none" && !other.quarantine.target.empty())
      items += " · hold out " + text(quarantine_words(other.quarantine));
    if (other.verdict.first_error)
      items += "<br>" +
               cited_value(*other.verdict.first_error, time_words(other.verdict.first_error->time));
    items += "</li>\n";
  }
  if (!items.empty()) items = "<ul class=\"steps\">\n" + items + "</ul>\n";
  return html_section("others", "Also found, independent of the above", items);
}

std::string html_warnings(const Report& report) {
  return html_section("warnings", "Warnings", list(report.warnings));
}

}  // namespace triage::report

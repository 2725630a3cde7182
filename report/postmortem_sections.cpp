#include "report/postmortem_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/words.hpp"

namespace triage::report::postmortem {
namespace {

using analysis::Report;
using Kind = Piece::Kind;

constexpr std::size_t k_timeline_rows = 60;
constexpr std::size_t k_names = 8;

void add(Line& line, std::string text) {
  line.push_back({Kind::prose, std::move(text)});
}
void add_code(Line& line, std::string text) {
  line.push_back({Kind::code, std::move(text)});
}

Line labelled(const std::string& label, const std::string& value) {
  return {{Kind::strong, label + ":"}, {Kind::prose, " " + value}};
}

Line step_line(const analysis::NextStep& step) {
  Line line;
  if (!step.text.empty()) add(line, step.text);
  if (!step.why.empty()) add(line, (line.empty() ? "" : ": ") + step.why);
  if (!step.command.empty()) {
    if (!line.empty()) add(line, " ");
    add_code(line, step.command);
  }
  return line;
}

void cited(DocumentWriter& out, const std::string& label, const analysis::Cited& at,
           const std::string& behind) {
  Line line{{Kind::strong, label + ":"}, {Kind::prose, " "}, {Kind::code, cite(at)}};
  if (!at.rank.empty()) add(line, ", rank " + at.rank);
  if (!behind.empty()) add(line, ", " + behind);
  out.paragraph(line);
  out.code(visible(at.text, 2000), "text");
}

/// Kinds of the files that were read, by path.
std::map<std::string, std::string> kinds_of(const Report& report) {
  std::map<std::string, std::string> kinds;
  for (const auto& input : report.inputs) kinds[input.path] = input.kind;
  return kinds;
}

bool has_root_of(const Report& report, std::string_view class_name) {
  if (report.verdict.class_ == class_name) return true;
  for (const auto& other : report.other_incidents)
    if (other.verdict.class_ == class_name) return true;
  return std::any_of(report.observations.begin(), report.observations.end(), [&](const auto& seen) {
    return seen.class_ == class_name && seen.role == "root";
  });
}

void tasks(DocumentWriter& out, const std::string& heading,
           const std::vector<const analysis::NextStep*>& steps,
           const std::vector<std::string>& from_pattern) {
  if (steps.empty() && from_pattern.empty()) return;
  out.subheading(heading);
  std::set<std::string> said;
  for (const auto* step : steps)
    if (said.insert(step->text + step->command).second) out.task(step_line(*step));
  for (const auto& text : from_pattern)
    if (said.insert(text).second) out.task(prose(text));
}

std::vector<const analysis::NextStep*> steps_in(const Report& report,
                                                std::initializer_list<std::string_view> phases) {
  std::vector<const analysis::NextStep*> steps;
  for (const std::string_view phase : phases)
    for (const auto* step : steps_of(report, phase)) steps.push_back(step);
  return steps;
}

void figures(DocumentWriter& out, const std::string& title,
             const std::optional<analysis::Section>& section) {
  if (!section) return;
  for (const auto& [name, sourced] : *section) {
    Line line = labelled(title + " " + name, sourced.value + " ");
    if (!sourced.file.empty()) add_code(line, cite(sourced.file, sourced.line));
    out.item(line);
  }
}

}  // namespace

void summary(DocumentWriter& out, const Source& source) {
  const auto& verdict = source.report.verdict;
  const std::string meaning = class_meaning(verdict.class_);
  Line line{{Kind::strong, verdict.title.empty() ? class_label(verdict.class_) : verdict.title}};
  if (!meaning.empty()) add(line, ". " + meaning);
  out.paragraph(line);
  Line facts;
  add(facts, "Class ");
  add_code(facts, verdict.class_);
  add(facts, ", cause ");
  add_code(facts, verdict.cause);
  if (!verdict.pattern.empty()) {
    add(facts, ", pattern ");
    add_code(facts, verdict.pattern);
  }
  add(facts, "; severity " + verdict.severity + ", confidence " + verdict.confidence + ".");
  out.paragraph(facts);
  if (!source.pattern.definition.empty()) out.paragraph(prose(source.pattern.definition));
  if (source.report.recurrence && !source.report.recurrence->note.empty())
    out.paragraph(labelled("It has been before", source.report.recurrence->note));
}

void impact(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  for (const auto& words : where_words(report.verdict.entities, k_names)) out.item(prose(words));
  if (!report.verdict.fault_domain.empty())
    out.item(labelled("Fault domain", report.verdict.fault_domain));
  out.item(labelled("Scope", report.verdict.scope));
  if (!report.loudest.empty()) out.item(labelled("Loudest", report.loudest));
  figures(out, "Replicas", report.replicas);
  figures(out, "Load", report.load);
  for (const auto& text : source.pattern.impacts)
    out.item(labelled("Likely of this pattern, to be checked", text));
}

void timeline(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  std::vector<std::vector<Line>> rows;
  const auto row = [&rows](const analysis::Cited& at, const std::string& role,
                           const std::string& place) {
    rows.push_back({prose(at.time ? time_words(at.time) : "undated"),
                    prose(role),
                    {{Kind::code, visible(at.text, 300)}},
                    prose(place),
                    {{Kind::code, cite(at)}}});
  };
  const std::size_t shown = std::min(report.timeline.size(), k_timeline_rows);
  for (std::size_t i = 0; i < shown; ++i)
    row(report.timeline[i].at, report.timeline[i].role, place_words(report.timeline[i].place));
  if (rows.empty())
    for (const auto& link : report.causal_chain) row(link.at, link.role, "");
  if (rows.empty()) return;
  out.table({"time (UTC)", "role", "what", "where", "source"}, rows);
  if (report.timeline.size() > shown)
    out.paragraph(prose(
        fmt::format("{} later entries stand in the report.", report.timeline.size() - shown)));
}

void root_cause(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  const auto& verdict = report.verdict;
  if (verdict.first_error)
    cited(out, "First error", *verdict.first_error, time_words(verdict.first_error->time));
  if (verdict.first_cuda_error)
    cited(out, "First CUDA error", *verdict.first_cuda_error,
          verdict.first_error
              ? distance_words(verdict.first_error->time, verdict.first_cuda_error->time)
              : time_words(verdict.first_cuda_error->time));
  for (const auto& reason : verdict.confidence_reasons)
    out.item(labelled("Confidence " + verdict.confidence, reason));
  if (report.causal_chain.size() < 2) return;
  out.subheading("Causal chain");
  std::vector<std::vector<Line>> rows;
  for (std::size_t i = 0; i < report.causal_chain.size() && i < k_timeline_rows; ++i) {
    const auto& link = report.causal_chain[i];
    std::vector<std::string> explains;
    for (const std::size_t index : link.explains) explains.push_back(std::to_string(index));
    rows.push_back({prose(std::to_string(i)),
                    prose(link.role),
                    {{Kind::code, link.cause}},
                    prose(time_words(link.at.time)),
                    {{Kind::code, visible(link.at.text, 300)}},
                    {{Kind::code, cite(link.at)}},
                    prose(list_words(explains, 12))});
  }
  out.table({"", "role", "cause", "time (UTC)", "what", "source", "explains"}, rows);
}

void conditions(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  figures(out, "Memory", report.memory_budget);
  figures(out, "Loading", report.loading);
  figures(out, "Capacity", report.capacity);
  const auto& environment = report.environment;
  if (!environment.driver.empty()) out.item(labelled("Driver", environment.driver));
  if (!environment.engine.name.empty())
    out.item(labelled("Engine", environment.engine.name + " " + environment.engine.version));
  for (const auto& image : environment.images)
    out.item({{Kind::strong, "Image:"}, {Kind::prose, " "}, {Kind::code, image}});
  for (const auto& text : source.pattern.conditions)
    out.item(labelled("Known to contribute, to be checked", text));
}

void was_not(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  std::set<std::string> kinds;
  std::uint64_t kernel_lines = 0;
  for (const auto& input : report.inputs) {
    kinds.insert(input.kind);
    if (input.kind == "kernel-log") kernel_lines += input.lines;
  }
  // What was looked at and not found; what was not looked at is no evidence of absence.
  if (kinds.contains("kernel-log") && !has_root_of(report, "hardware"))
    out.item(labelled("Not a GPU hardware fault",
                      fmt::format("{} kernel log lines were read and name none", kernel_lines)));
  const bool pods = kinds.contains("pod") || kinds.contains("event");
  if ((kinds.contains("kernel-log") || pods) && !has_root_of(report, "host-oom"))
    out.item(labelled("Not host memory", "no OOM kill stands in the kernel log or pod states"));
  if (pods && !has_root_of(report, "health-probe"))
    out.item(labelled("Not a probe", "no probe ended the container before the first error"));
  if (pods && !has_root_of(report, "scheduling"))
    out.item(labelled("Not scheduling", "the pods were placed"));
  std::set<std::string> explained;
  for (const auto& link : report.causal_chain)
    if (link.role != "root" && explained.insert(link.cause).second)
      out.item({{Kind::strong, "Not "},
                {Kind::code, link.cause},
                {Kind::prose, ": it follows from the first error, see "},
                {Kind::code, cite(link.at)}});
  for (const auto& text : source.pattern.not_this) out.item(prose(text));
}

void detection(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  const auto kinds = kinds_of(report);
  const auto& first = report.verdict.first_error;
  if (first && first->time) out.item(labelled("First error", time_words(first->time)));
  if (!report.loudest.empty()) out.item(labelled("What was loudest", report.loudest));
  // The cluster's own first word of it.
  for (const auto& entry : report.timeline) {
    const auto kind = kinds.find(entry.at.file);
    if (kind == kinds.end() || (kind->second != "event" && kind->second != "pod")) continue;
    Line line = labelled("First sign in Kubernetes", time_words(entry.at.time));
    const std::string distance = first ? distance_words(first->time, entry.at.time) : "";
    if (!distance.empty()) add(line, " (" + distance + ")");
    add(line, " ");
    add_code(line, visible(entry.at.text, 200));
    out.item(line);
    break;
  }
}

void response(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  const auto kinds = kinds_of(report);
  static const std::set<std::string> k_actors{"event", "workload", "controller-log", "node"};
  const auto& first = report.verdict.first_error;
  std::size_t shown = 0;
  for (const auto& entry : report.timeline) {
    const auto kind = kinds.find(entry.at.file);
    if (kind == kinds.end() || !k_actors.contains(kind->second) || shown == 20) continue;
    if (first && first->time && entry.at.time && entry.at.time->ns < first->time->ns) continue;
    Line line;
    add(line, (entry.at.time ? time_words(entry.at.time) : "undated") + " ");
    add_code(line, visible(entry.at.text, 200));
    add(line, " ");
    add_code(line, cite(entry.at));
    out.item(line);
    ++shown;
  }
}

void quarantine(DocumentWriter& out, const Source& source) {
  const auto& hold = source.report.quarantine;
  if (hold.target == "none" || hold.target.empty()) {
    out.paragraph(prose(hold.reason.empty()
                            ? "Nothing is to be held out of service."
                            : "Nothing is to be held out of service: " + hold.reason));
    return;
  }
  out.item(labelled("Recommended", quarantine_words(hold)));
  if (!hold.reason.empty()) out.item(labelled("Why", hold.reason));
  if (!hold.lift_when.empty()) out.item(labelled("Lift when", hold.lift_when));
  std::string commands;
  for (const auto& command : hold.commands) commands += command + "\n";
  if (!commands.empty()) out.code(commands, "sh");
}

void actions(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  tasks(out, "Containment", steps_in(report, {"contain"}), source.pattern.containment);
  tasks(out, "Remediation", steps_in(report, {"diagnose", "recover", "verify"}),
        source.pattern.remediation);
  tasks(out, "Prevention", steps_in(report, {"prevent"}), source.pattern.prevention);
  const auto avoid = steps_in(report, {"avoid"});
  if (avoid.empty()) return;
  out.subheading("Not to do");
  for (const auto* step : avoid) out.item(step_line(*step));
}

void questions(DocumentWriter& out, const Source& source) {
  for (const auto& question : source.pattern.questions) out.task(prose(question));
}

void evidence_index(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  std::vector<std::vector<Line>> rows;
  for (const auto& input : report.inputs)
    rows.push_back({{{Kind::code, input.path}},
                    prose(input.kind),
                    prose(std::to_string(input.lines)),
                    prose(std::to_string(input.bytes)),
                    {{Kind::code, input.sha256}}});
  if (!rows.empty()) out.table({"file", "kind", "lines", "bytes", "SHA-256"}, rows);
  if (report.coverage)
    for (const auto& unread : report.coverage->unread) out.item(labelled("Left out", unread));
  if (!report.tool_version.empty())
    out.paragraph(prose(
        fmt::format("Read by triage {}, rules {}.", report.tool_version, report.rules_digest)));
}

void open_questions(DocumentWriter& out, const Source& source) {
  const Report& report = source.report;
  for (const auto& item : report.missing_evidence) {
    Line line;
    add(line, item.why.empty() ? item.what : item.what + ": " + item.why);
    if (!item.command.empty()) {
      add(line, " ");
      add_code(line, item.command);
    }
    out.task(line);
  }
  for (const auto& other : report.other_incidents) {
    Line line{{Kind::strong, "A second incident:"},
              {Kind::prose, " " + other.verdict.title + " "},
              {Kind::code, other.verdict.cause}};
    if (other.verdict.first_error) {
      add(line, " at ");
      add_code(line, cite(*other.verdict.first_error));
    }
    out.task(line);
  }
  if (!report.coverage) return;
  for (const auto& cluster : report.coverage->unmatched_errors) {
    Line line;
    add(line, fmt::format("What is this line ({} times)? ", cluster.count));
    add_code(line, visible(cluster.example, 300));
    add(line, " ");
    add_code(line, cite(cluster.file, cluster.line));
    out.task(line);
  }
}

}  // namespace triage::report::postmortem

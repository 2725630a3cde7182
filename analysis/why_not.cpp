#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/analyze.hpp"
#include "analysis/pipeline.hpp"
#include "base/text.hpp"
#include "redact/excerpt.hpp"

namespace triage::analysis {
namespace {

class WhyNot {
 public:
  WhyNot(const std::string& cause, const Analysed& analysed, const rules::RuleSet& rules)
      : cause_(cause), model_(analysed.model), causality_(analysed.causality), rules_(rules) {}

  std::string run() {
    std::string out;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < model_.observations.size(); ++i) {
      const Observation& o = model_.observations[i];
      if (o.cause != cause_ && o.rule->cause != cause_ && o.class_ != cause_ &&
          o.rule->id != cause_)
        continue;
      if (++shown > 20) continue;
      out += line_about(i);
    }
    if (shown > 20) out += fmt::format("... and {} more lines\n", shown - 20);
    return shown > 0 ? out : nothing_matched();
  }

 private:
  std::string at(const Observation& o) const {
    return fmt::format("{}:{}", model_.inputs[o.file].path, o.line);
  }

  std::string line_about(std::size_t index) const {
    const Observation& o = model_.observations[index];
    std::string out = fmt::format(
        "{}  rule {}\n    {}\n", at(o), o.rule->id,
        base::shorten(base::to_valid_utf8(redact::excerpt(o.text, evidence::Kind::unknown_text)),
                      160));
    return out + "    " + reason(index) + "\n";
  }

  std::string reason(std::size_t index) const {
    const Observation& o = model_.observations[index];
    if (o.role == rules::Role::context && o.rule->role != rules::Role::context)
      return "counts as harmless here: what stands around it, or a later success, says so";
    if (o.role == rules::Role::context) return "informs only; this rule is never a verdict";
    const auto edge = std::find_if(causality_.edges.begin(), causality_.edges.end(),
                                   [&](const Causality::Edge& e) { return e.to == index; });
    if (edge != causality_.edges.end()) {
      const Observation& from = model_.observations[edge->from];
      return fmt::format("explained by {} ({}, {})", at(from), from.cause, from.title);
    }
    if (o.role == rules::Role::symptom) return "a symptom: something else must have come before it";
    const auto& candidates = causality_.candidates;
    const auto place = std::find(candidates.begin(), candidates.end(), index);
    if (place == candidates.begin() && !candidates.empty()) return "it is the verdict";
    if (place != candidates.end()) {
      const Observation& first = model_.observations[candidates.front()];
      return fmt::format(
          "a candidate, but {} ({}) ranks before it: it explains a process that ended, is graver, "
          "or is earlier",
          at(first), first.cause);
    }
    return "not among the candidates";
  }

  std::string nothing_matched() const {
    std::vector<const rules::Rule*> fitting;
    for (const rules::Rule& rule : rules_.rules)
      if (rule.cause == cause_ || rule.id == cause_ || rule.class_ == cause_ || refines_to(rule))
        fitting.push_back(&rule);
    if (fitting.empty()) return fmt::format("Nothing in this evidence shows {}.\n", cause_);
    std::string out = fmt::format("No line shows {}. Rules that would:\n", cause_);
    for (const rules::Rule* rule : fitting) {
      std::string kinds;
      for (const evidence::Kind kind : rule->evidence)
        kinds += fmt::format("{}{}{}", kinds.empty() ? "" : ", ", evidence::to_string(kind),
                             model_.kinds.count(kind) > 0 ? "" : " (absent)");
      out +=
          fmt::format("  {}  reads {}\n", rule->id, kinds.empty() ? "other observations" : kinds);
      if (!rule->patterns.empty())
        out += "      " + base::shorten(rule->patterns.front(), 140) + "\n";
    }
    return out;
  }

  bool refines_to(const rules::Rule& rule) const {
    if (std::any_of(rule.refine.begin(), rule.refine.end(),
                    [&](const rules::Refine& r) { return r.overlay.cause == cause_; }))
      return true;
    if (!rule.catalog) return false;
    const auto table = rules_.catalogs.find(rule.catalog->table);
    return table != rules_.catalogs.end() &&
           std::any_of(table->second.rows->begin(), table->second.rows->end(),
                       [&](const rules::CatalogRow& row) { return row.overlay.cause == cause_; });
  }

  const std::string& cause_;
  const EvidenceModel& model_;
  const Causality& causality_;
  const rules::RuleSet& rules_;
};

/// Causes, classes and rule ids, as a person may name them.
std::vector<std::string> names_of(const rules::RuleSet& rules) {
  std::set<std::string> names;
  const auto add = [&](const rules::Overlay& overlay) {
    if (overlay.cause) names.insert(*overlay.cause);
    if (overlay.class_) names.insert(*overlay.class_);
  };
  for (const rules::Rule& rule : rules.rules) {
    names.insert({rule.id, rule.cause, rule.class_});
    for (const rules::Refine& refine : rule.refine) add(refine.overlay);
  }
  for (const auto& [name, table] : rules.catalogs)
    for (const rules::CatalogRow& row : *table.rows) add(row.overlay);
  return {names.begin(), names.end()};
}

}  // namespace

base::Status check_why_not(const std::string& cause, const rules::RuleSet& rules) {
  const auto names = names_of(rules);
  if (std::find(names.begin(), names.end(), cause) != names.end()) return base::Done{};
  const std::string near = base::nearest(cause, names);
  return base::Problem{
      "no rule gives the cause '" + cause + "'", "--why-not",
      near.empty() ? "triage rules list shows them" : "did you mean " + near + "?"};
}

base::Result<std::string> why_not(const std::string& cause, const std::vector<std::string>& inputs,
                                  const rules::RuleSet& rules, const AnalyzeOptions& options) {
  Timings timings;
  Matching matching(rules);
  auto analysed = run_pipeline(inputs, matching, options, timings);
  if (!analysed) return analysed.problem();
  return WhyNot(cause, *analysed, rules).run();
}

}  // namespace triage::analysis

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/analyze.hpp"
#include "analysis/evidence_model.hpp"
#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"

namespace triage::analysis {

/// The rules made ready for matching, shared by scanning and by facts.
struct Matching {
  explicit Matching(const rules::RuleSet& set);
  const rules::RuleSet& rules;
  LineRules lines;
  std::unique_ptr<LineFilter> filter;
};

/// Reads the inputs: line evidence through the scanner, structured evidence through its parser.
/// Fills files, streams, observations of line rules, facts, unmatched lines. Nothing is dated yet.
[[nodiscard]] base::Result<EvidenceModel> gather(const std::vector<std::string>& inputs,
                                                 Matching& matching, const AnalyzeOptions& options,
                                                 Timings& timings);

/// Observations of the `match` rules on the texts of facts[from..], and of the `where` rules on
/// those facts.
void observe_facts(EvidenceModel& model, Matching& matching, std::size_t from);

}  // namespace triage::analysis

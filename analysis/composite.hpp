#pragma once

#include <cstddef>
#include <vector>

#include "analysis/evidence_model.hpp"
#include "rules/rule.hpp"

namespace triage::analysis {

/// A `when` rule with `effect: lift` that holds: what it lays over the verdict, and the
/// observations it rests on.
struct Lift {
  const rules::Rule* rule = nullptr;
  std::vector<std::size_t> terms;  ///< indices of observations
};

/// Evaluates the composite rules: those with `effect: root` append an observation at the earliest
/// line of their terms; the lifts that hold are returned in the order of the rules.
[[nodiscard]] std::vector<Lift> run_composites(EvidenceModel& model, const rules::RuleSet& rules);

}  // namespace triage::analysis

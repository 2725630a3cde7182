#pragma once

#include "analysis/causality.hpp"
#include "analysis/composite.hpp"
#include "analysis/evidence_model.hpp"
#include "analysis/report_types.hpp"
#include "rules/rule.hpp"

namespace triage::analysis {

/// Turns the remaining candidates into the report: verdict, confidence, first errors, entities,
/// quarantine, steps, chain, timeline, other incidents, missing evidence. `jobs`: threads.
[[nodiscard]] Report make_report(const EvidenceModel& model, const Causality& causality,
                                 const std::vector<Lift>& lifts, const rules::RuleSet& rules,
                                 int jobs);

}  // namespace triage::analysis

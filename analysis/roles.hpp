#pragma once

#include "analysis/evidence_model.hpp"
#include "rules/rule.hpp"

namespace triage::analysis {

/// Gives every observation its effective values: the rule's own, overlaid by its catalog row, then
/// by the first refine entry that holds, then turned into context when a later success clears it.
/// Needs dated observations at completed places.
void settle_roles(EvidenceModel& model, const rules::RuleSet& rules);

/// Gives an observation the values that its rule itself says, whatever it had.
void start_from_rule(Observation& observation);

/// Lays `overlay` over an observation.
void apply(const rules::Overlay& overlay, Observation& observation);

/// What to do about the observation: the rule's steps; a layer over them replaces whole phases.
[[nodiscard]] std::vector<rules::Step> steps_of(const Observation& observation);

/// Whether `ref` names the observation (its rule, tags, class or cause as settled so far).
[[nodiscard]] bool is_named_by(const rules::Ref& ref, const Observation& observation);

/// A finished title or text: captures, place and `{catalog.title}` filled in.
[[nodiscard]] std::string filled_title(const Observation& observation);

}  // namespace triage::analysis

#pragma once

#include "analysis/evidence_model.hpp"

namespace triage::analysis {

/// Turns old troubles that have nothing to do with the incident into context: a kernel log reaches
/// back to the boot, an event table to the day before, and what killed another process then did not
/// break the one that started since. Only faults that end with what they hit; a broken device stays
/// broken, unless its node booted since and nothing speaks of it any more. Needs settled roles.
void set_history_aside(EvidenceModel& model);

/// Turns what events and pods of other namespaces tell into context (`kubectl get events -A`): it
/// is another team's trouble. Only where the evidence says whose pods it is about.
void set_strangers_aside(EvidenceModel& model);

}  // namespace triage::analysis

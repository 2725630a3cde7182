#pragma once

#include <vector>

#include "analysis/evidence_model.hpp"
#include "analysis/report_types.hpp"

namespace triage::analysis {

/// What to hold out of service, from the root's effective quarantine and the members of its
/// incident. Several GPUs of a node lift `gpu` to `node`, a multi-rank group that died lifts
/// `worker` to `group`; nothing lifts an application fault to hardware.
[[nodiscard]] QuarantineEntry make_quarantine(const EvidenceModel& model, const Observation& root,
                                              const std::vector<std::size_t>& incident,
                                              const rules::Quarantine& wanted);

}  // namespace triage::analysis

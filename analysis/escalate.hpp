#pragma once

#include "analysis/report_types.hpp"

namespace triage::analysis {

/// The report in the light of earlier incidents (`--history`): says how often it has been, and
///  - the third critical fault of a GPU in 30 days, or a fault after two remediations in 7, raises
///    the quarantine of a hardware fault (reset -> replacement); nothing raises that of an
///    application fault or of memory that ran out;
///  - one fingerprint on three nodes or more, all after one image or driver change, is a
///  regression.
/// Without prior incidents the report only gains an empty recurrence.
[[nodiscard]] Report escalate(Report report, const PriorIncidents& prior);

}  // namespace triage::analysis

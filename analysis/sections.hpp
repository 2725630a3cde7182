#pragma once

#include "analysis/evidence_model.hpp"
#include "analysis/report_types.hpp"

namespace triage::analysis {

/// The parts of a report beside the verdict: environment, coverage, load, loading, replicas,
/// capacity, memory budget, metric series. Each value says the line it comes from.
void add_sections(Report& report, const EvidenceModel& model);

}  // namespace triage::analysis

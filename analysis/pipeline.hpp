#pragma once

#include "analysis/analyze.hpp"
#include "analysis/causality.hpp"
#include "analysis/composite.hpp"
#include "analysis/evidence_model.hpp"
#include "analysis/gather.hpp"

namespace triage::analysis {

/// Evidence with roles, explanations and lifts settled: what a report is made from.
struct Analysed {
  EvidenceModel model;
  Causality causality;
  std::vector<Lift> lifts;
};

/// Runs every stage up to the report.
[[nodiscard]] base::Result<Analysed> run_pipeline(const std::vector<std::string>& inputs,
                                                  Matching& matching, const AnalyzeOptions& options,
                                                  Timings& timings);

}  // namespace triage::analysis

#pragma once

#include <vector>

#include "analysis/report_types.hpp"
#include "history/store.hpp"

namespace triage::history {

/// What the store says of earlier incidents like this run's, for `analysis::escalate`. Distinct
/// incidents are counted, and this one never counts for itself. Time is the incident's own: 30 and
/// 7 days before its first error.
[[nodiscard]] base::Result<analysis::PriorIncidents> prior_incidents(const Store& store,
                                                                     const Run& run);

struct Similar {
  Run run;
  double score = 0;              ///< 1: the same fingerprint
  std::vector<std::string> why;  ///< what they share
};
/// Earlier incidents by likeness, best first; those that share nothing but chance are left out.
[[nodiscard]] base::Result<std::vector<Similar>> similar_runs(const Store& store, const Run& run,
                                                              std::size_t limit);

}  // namespace triage::history

#pragma once

#include <string>

#include "analysis/report_types.hpp"

namespace triage::report {

/// The dated observations as a picture: a lane for each file, marks where something was seen, the
/// links of the causal chain as numbered lines. Stands without script; the page's script redraws it
/// to zoom. Empty when fewer than two observations are dated.
[[nodiscard]] std::string svg_timeline(const analysis::Report& report);

}  // namespace triage::report

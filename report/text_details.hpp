#pragma once

#include "analysis/report_types.hpp"
#include "report/text_page.hpp"

namespace triage::report {

/// What `--verbose` adds: causal chain, timeline, observations, derived figures, environment,
/// inputs and coverage.
void add_details(TextPage& page, const analysis::Report& report);

}  // namespace triage::report

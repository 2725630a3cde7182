#pragma once

#include <string>

#include "analysis/report_types.hpp"

namespace triage::report {

/// Line charts of the metrics over the scrapes of the evidence, memory and KV cache first; series
/// of one name share a chart. What has one point only is a row of a table. Empty without metrics.
[[nodiscard]] std::string svg_charts(const analysis::Report& report);

}  // namespace triage::report

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report_types.hpp"

/// Hand-made reports: what every format is tested on, without the engine.
namespace triage::tests {

/// A GPU that fell off the bus, two nodes, cascade of NCCL timeouts: every section filled.
analysis::Report hardware_report();
/// A sound system.
analysis::Report healthy_report();
/// Nothing matched, with unexplained lines.
analysis::Report unknown_report();
/// The hardware report with every text replaced by what log text must not do to a reader: HTML,
/// Markdown, terminal escapes, bidirectional overrides, quotes, invalid UTF-8.
analysis::Report hostile_report();
/// 8 ranks on 2 nodes and `count` observations.
analysis::Report large_report(std::size_t count);

/// A text that mixes all of the hostile forms.
std::string hostile_text();

/// Compares `actual` with tests/report/golden/NAME; with TRIAGE_UPDATE_GOLDEN=1 in the environment
/// writes it instead. Empty when equal, else what to do.
std::string compare_golden(const std::string& name, const std::string& actual);

}  // namespace triage::tests

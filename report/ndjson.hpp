#pragma once

#include <string>

#include "report/named_report.hpp"

namespace triage::report {

/// One JSON object a line for each observation, in the order of the report, as in its
/// `observations`; of several reports each line also says whose it is (`report`).
[[nodiscard]] std::string render_ndjson(Reports reports);

}  // namespace triage::report

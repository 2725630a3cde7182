#pragma once

#include <string>

#include "report/named_report.hpp"

namespace triage::report {

/// JUnit XML for CI dashboards: a suite for each report and a test case for each check (one for
/// each class of failure, one for hardware to hold out, one for lines that nothing explains). A
/// fault fails its class's check; what no rule explains is skipped with a message, since it is
/// neither sound nor known to be a fault. Agrees with `--fail-on quarantine`.
[[nodiscard]] std::string render_junit(Reports reports);

}  // namespace triage::report

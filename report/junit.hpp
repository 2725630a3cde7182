#pragma once

#include <string>

#include "report/named_report.hpp"

namespace triage::report {

/// JUnit XML for CI dashboards: a suite for each report and a test case for each check (one for
/// each class of failure, one for hardware to hold out, one for failures that no rule explains). A
/// fault fails its class's check. Has failures exactly when `--fail-on fault` would not exit 0.
[[nodiscard]] std::string render_junit(Reports reports);

}  // namespace triage::report

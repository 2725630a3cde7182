#pragma once

#include <string>

#include "report/named_report.hpp"

namespace triage::report {

/// SARIF 2.1.0 for code-scanning viewers: a run for each report; a result for the verdict and for
/// each other incident, at the first error's file and line, the causal chain as a code flow; a
/// sound system is a result of kind `pass`, an unexplained one of kind `open`.
[[nodiscard]] std::string render_sarif(Reports reports);

}  // namespace triage::report

#pragma once

#include <string>

#include "report/formats.hpp"

namespace triage::report {

/// Several reports as one view: what failed how often and where, what those that fail share and the
/// sound ones lack, what is to be held out of service; then each report in a line. Formats that
/// hold several reports anyway (ndjson, junit, sarif) hold them here too.
[[nodiscard]] std::string render_fleet(Format format, Reports reports,
                                       const TextOptions& text = {});

}  // namespace triage::report

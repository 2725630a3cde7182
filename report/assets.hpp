#pragma once

#include <string_view>

namespace triage::report {

/// Files of report/assets, embedded by the build (cmake/embed_text.cmake).
extern const std::string_view k_report_css;
extern const std::string_view k_report_js;

}  // namespace triage::report

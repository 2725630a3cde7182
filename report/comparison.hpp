#pragma once

#include <string>

#include "analysis/compare.hpp"
#include "report/text.hpp"

namespace triage::report {

/// `triage diff`: what sets a broken one apart from a sound one.
[[nodiscard]] std::string render_comparison_text(const analysis::Comparison& comparison,
                                                 const TextOptions& options);
[[nodiscard]] std::string render_comparison_markdown(const analysis::Comparison& comparison);
/// `triage.diff/v1`.
[[nodiscard]] std::string render_comparison_json(const analysis::Comparison& comparison);

}  // namespace triage::report

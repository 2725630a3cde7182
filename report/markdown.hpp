#pragma once

#include <cstddef>
#include <string>

#include "analysis/report_types.hpp"

namespace triage::report {

/// GitHub takes 65,536 characters in a comment, and escapes count.
inline constexpr std::size_t k_markdown_limit = 60'000;

/// A comment for a ticket: the verdict first, details folded, never longer than k_markdown_limit
/// bytes. Log text stands in code spans and fences or is escaped: no markup, HTML, mention, link or
/// quick action comes of it.
[[nodiscard]] std::string render_markdown(const analysis::Report& report);

}  // namespace triage::report

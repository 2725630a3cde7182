#pragma once

#include <string>

#include "report/named_report.hpp"

namespace triage::report {

/// The report as one HTML file that needs no network: verdict, what to hold and do, causal chain, a
/// timeline that zooms, GPU table, metric charts, excerpts and filterable observations. All text
/// but the observations beyond the first few hundred stands in the page without script. Log text is
/// escaped, and the page's policy allows no script but its own.
[[nodiscard]] std::string render_html(const NamedReport& report);

}  // namespace triage::report

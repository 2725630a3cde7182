#pragma once

#include <string_view>

#include "analysis/report_types.hpp"
#include "base/result.hpp"

namespace triage::report {

/// Reads what `render_json` wrote: rendering the result gives the same bytes again. Lenient in the
/// small (a field that is missing or of another type is empty, an index into nothing is dropped),
/// so that reports of a later version stay readable; strict in the large: text that is no JSON, or
/// JSON that is no `triage.report/v1`, is a problem.
[[nodiscard]] base::Result<analysis::Report> read_json(std::string_view text);

}  // namespace triage::report

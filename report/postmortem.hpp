#pragma once

#include <string>
#include <vector>

#include "analysis/report_types.hpp"
#include "report/document.hpp"

namespace triage::report {

/// The page of the incident pattern that the verdict names, as far as there is one; the rules hold
/// it, so the caller brings it.
struct PatternNotes {
  std::string title, definition;
  std::vector<std::string> conditions, impacts, not_this, questions;
  std::vector<std::string> containment, remediation, prevention;
};

/// A postmortem to edit: what the evidence shows is written, what only people know is marked. The
/// written parts stand between markers (report/markers.hpp), so that it can be written anew around
/// what a person added.
[[nodiscard]] std::string render_postmortem(const analysis::Report& report,
                                            const PatternNotes& pattern, Language language);

}  // namespace triage::report

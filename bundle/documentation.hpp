#pragma once

#include <string_view>

namespace triage::bundle {

/// Whether a text is written for people (a runbook, a README) rather than by a program: headings,
/// lists and sentences, and fault lines only as short quotations. Judged by its first bytes; what
/// holds a log of any length, as the body of an issue does, is evidence and not documentation.
[[nodiscard]] bool reads_as_documentation(std::string_view head);

}  // namespace triage::bundle

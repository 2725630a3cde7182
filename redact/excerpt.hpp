#pragma once

#include <string>
#include <string_view>

#include "evidence/kind.hpp"

namespace triage::redact {

/// `line` as a report may show it: every credential, prompt, output and personal identifier that
/// redaction would mask is replaced by a fixed placeholder such as `<redacted:token>`. Stateless:
/// the same line gives the same excerpt in every run. Diagnostic text (GPU UUIDs, PCI addresses,
/// Xid lines, digests, request ids, versions, stack frames) stays as it is; text that was already
/// redacted is left alone. Costs a few microseconds for a line of ordinary length.
[[nodiscard]] std::string excerpt(std::string_view line, evidence::Kind kind);

}  // namespace triage::redact

#pragma once

#include "evidence/format.hpp"
#include "evidence/kind.hpp"
#include "redact/scanner.hpp"

namespace triage::redact {

/// What is looked for in evidence of a kind: nobody's prompt stands in a kernel log, and text there
/// must not be taken for one.
[[nodiscard]] Profile profile_of(evidence::Kind kind, evidence::Format format);

}  // namespace triage::redact

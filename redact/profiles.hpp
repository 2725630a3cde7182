#pragma once

#include "evidence/format.hpp"
#include "evidence/kind.hpp"
#include "redact/scanner.hpp"

namespace triage::redact {

/// What is looked for in evidence of a kind: sentences in a kernel log or an event are the system's
/// own, and must not be taken for a prompt.
[[nodiscard]] Profile profile_of(evidence::Kind kind, evidence::Format format);

}  // namespace triage::redact

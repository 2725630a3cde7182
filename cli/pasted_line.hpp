#pragma once

#include <string>

namespace triage::cli {

/// The message of a pasted log line as the analysis would see it: without time stamps and prefixes,
/// decoded when it is a JSON log line.
[[nodiscard]] std::string message_of(const std::string& line);

}  // namespace triage::cli

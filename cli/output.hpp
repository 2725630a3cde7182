#pragma once

#include <string>

#include "base/result.hpp"

namespace triage::cli {

/// Reads a whole file, or standard input for `-`; at most `limit` bytes.
[[nodiscard]] base::Result<std::string> read_text(const std::string& path, std::size_t limit);

/// Writes to standard output (`path` empty or `-`), or to a file that appears whole or not at all:
/// a temporary name beside it, then a rename. Says what stood in the way (disk full, no
/// permission).
[[nodiscard]] base::Status write_text(const std::string& path, const std::string& text);

}  // namespace triage::cli

#pragma once

#include <string>
#include <vector>

namespace triage::rules {

/// A pattern for one log message: fixed words as they are, what changes from line to line (PCI
/// addresses, pids, ranks, sizes, numbers, paths, hexadecimal values) as captures or classes. It
/// matches the message it was made from.
[[nodiscard]] std::string propose_pattern(const std::string& message);

struct SkeletonOptions {
  std::string pack = "my-rules";
  std::string id;  ///< empty: made of the message's words
};

/// A commented pack with one rule for each message, sound as it is: what `triage rules new` prints.
[[nodiscard]] std::string skeleton(const std::vector<std::string>& messages,
                                   const SkeletonOptions& options);

}  // namespace triage::rules

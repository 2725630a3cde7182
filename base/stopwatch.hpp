#pragma once

#include <chrono>
#include <cstdint>

namespace triage::base {

/// Wall time by a clock that nobody sets.
class Stopwatch {
 public:
  /// Nanoseconds since the last lap, or since the beginning.
  std::int64_t lap() {
    const auto now = std::chrono::steady_clock::now();
    const auto passed = now - last_;
    last_ = now;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace triage::base

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bundle/manifest.hpp"
#include "collectors/plan.hpp"

namespace triage::collectors {

/// Keeps at most `cap` bytes of a stream: all of a short one, of a long one its head, or head and
/// tail halves with one line between them that says what was cut. Cuts fall on line ends where
/// there are any nearby. Memory: half the cap.
///
/// Both halves, because a fault shows at the end of a log and its cause at the beginning (what was
/// started, with which arguments); tools that keep only the newest lines lose the second.
class CappedText {
 public:
  using Write = std::function<void(std::string_view)>;
  CappedText(std::uint64_t cap, Keep keep);

  void feed(std::string_view bytes, const Write& write);
  void finish(const Write& write);

  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] std::uint64_t kept() const { return kept_; }
  /// Nothing when everything was kept.
  [[nodiscard]] const std::optional<bundle::Cut>& cut() const { return cut_; }

 private:
  void emit(std::string_view bytes, const Write& write);

  std::uint64_t cap_;
  Keep keep_;
  std::uint64_t head_limit_;
  std::uint64_t seen_ = 0;
  std::uint64_t kept_ = 0;
  std::string tail_;  ///< the newest bytes behind the head, a ring once it is full
  std::size_t ring_begin_ = 0;
  bool ring_full_ = false;
  bool line_open_ = false;  ///< the head ends inside a line
  std::optional<bundle::Cut> cut_;
};

}  // namespace triage::collectors

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "redact/finding.hpp"

namespace triage::redact {

/// Values that were masked once in this run, to be masked wherever they stand. Shared by the
/// streams of a run; bounded: what comes after the bounds is masked only where its own form or key
/// shows it.
class KnownValues {
 public:
  struct Value {
    std::string text;
    What what;
  };
  static constexpr std::size_t k_shortest = 8;
  static constexpr std::size_t k_longest = 4096;
  static constexpr std::size_t k_most = 50'000;
  static constexpr std::size_t k_most_bytes = 16U << 20U;

  void add(std::string_view text, What what);
  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_acquire); }
  /// Valid for good: values are never removed.
  [[nodiscard]] const Value& at(std::size_t index) const;

 private:
  mutable std::mutex mutex_;
  std::deque<Value> values_;
  std::unordered_set<std::string_view> seen_;
  std::size_t bytes_ = 0;
  std::atomic<std::size_t> size_{0};
};

/// Finds the known values in lines, one for each stream. Only every fourth place of a line is
/// looked at: of the eight bytes by which a value is known, four bytes at one of four offsets lie
/// there. A bitmap of these rules most places out.
class KnownValueFinder {
 public:
  explicit KnownValueFinder(const KnownValues& values) : values_(&values) {}

  struct Hit {
    std::size_t begin;
    std::size_t end;
    const KnownValues::Value* value;
    bool other = false;  ///< only the beginning is known: another text of the same template
  };
  /// Takes in what was added since, then looks at `line`.
  void find(std::string_view line, std::vector<Hit>& hits);

 private:
  /// Where in a value it is looked for: credentials by their last eight bytes, which differ where
  /// beginnings do not (`eyJhbGciOi`), texts by their first, as logs cut their end.
  struct Anchor {
    const KnownValues::Value* value;
    std::size_t offset;
  };
  void refresh();
  /// The values whose anchor stands at `at`. False when the line has used up its work.
  bool look_at(std::string_view line, std::size_t at, std::size_t& work, std::vector<Hit>& hits);

  const KnownValues* values_;
  std::size_t taken_ = 0;
  static constexpr unsigned k_slot_bits = 18;
  std::vector<std::uint64_t> bitmap_ = std::vector<std::uint64_t>((1U << k_slot_bits) / 64);
  std::unordered_map<std::uint64_t, std::vector<Anchor>> anchors_;
};

}  // namespace triage::redact

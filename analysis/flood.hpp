#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/line_rules.hpp"
#include "analysis/observation.hpp"

/// What the scanner keeps of a rule that matches often in one file.
namespace triage::analysis {

constexpr std::size_t k_first_kept = 32;
constexpr std::size_t k_last_kept = 8;
constexpr std::size_t k_text_kept = 4096;

/// Matches of one rule that tell the same thing of the same device share one allowance.
struct Group {
  /// Its neighbours are looked at when the block is done: most of a storm has been dropped by then.
  struct Late {
    Observation observation;
    std::size_t begin = 0;  ///< of its line in the window's buffer
    std::size_t end = 0;
    bool settled = false;
  };
  std::vector<std::size_t> first;  ///< indices into the observations
  std::deque<Late> last;
  std::uint64_t dropped = 0;
  const LineRules::LineRule* rule = nullptr;
};

/// A rule that matches again and again: its first matches stand as observations; from here on each
/// match is only counted, and the newest lines are kept as they are, to become observations at the
/// end.
struct Flood {
  struct Kept {
    std::string whole, masked;
    std::uint64_t number = 0;
    std::uint64_t offset = 0;
    std::optional<evidence::Stamp> before, after;  ///< stamps of the stretches around it
  };
  std::vector<Kept> newest;  ///< a ring
  std::uint64_t added = 0;
  std::uint64_t count = 0;  ///< with what was reckoned for muted parts

  void add(std::string_view whole, std::string_view masked, std::uint64_t number,
           std::uint64_t offset, const std::optional<evidence::Stamp>& before,
           const std::optional<evidence::Stamp>& after) {
    if (newest.size() < k_last_kept) newest.emplace_back();
    ++count;
    Kept& kept = newest[added++ % k_last_kept];
    kept.whole.assign(whole.substr(0, k_text_kept));
    kept.masked.assign(masked.substr(0, k_text_kept));
    kept.number = number;
    kept.offset = offset;
    kept.before = before;
    kept.after = after;
  }
  /// The line number from which on its newest matches lie.
  [[nodiscard]] std::uint64_t start() const {
    std::uint64_t first = UINT64_MAX;
    for (const Kept& kept : newest) first = std::min(first, kept.number);
    return first;
  }
};

/// What a file gave of one rule so far.
struct RuleState {
  std::uint64_t matches = 0;  ///< that became observations
  std::uint64_t in_block = 0;
  bool dense = false;           ///< floods the file, and the last block was full of it
  std::size_t muted_until = 0;  ///< offset in this block; 0: it is looked for everywhere
  std::unique_ptr<Flood> flood;
};

}  // namespace triage::analysis

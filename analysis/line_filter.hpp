#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/literal_plan.hpp"
#include "evidence/kind.hpp"

namespace triage::analysis {

class LineRules;

/// A line of a block that some patterns may match.
struct Candidate {
  std::uint32_t begin = 0;  ///< offsets in the block, without the line end
  std::uint32_t end = 0;
  std::uint32_t first = 0;  ///< its patterns in Candidates::pool
  std::uint32_t count = 0;
};

/// The candidate lines of a block, in their order. Their patterns lie together, so that a block of
/// many candidates costs no allocation.
struct Candidates {
  std::vector<Candidate> lines;
  std::vector<std::uint32_t> pool;

  /// Indices into LineRules::patterns(), ascending.
  [[nodiscard]] std::span<const std::uint32_t> patterns(const Candidate& line) const {
    return std::span(pool).subspan(line.first, line.count);
  }
  void clear() {
    lines.clear();
    pool.clear();
  }
};

/// Patterns that are not looked for at the moment.
class Muted {
 public:
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool contains(std::uint32_t pattern) const {
    return pattern < muted_.size() && muted_[pattern];
  }
  void set(std::uint32_t pattern, bool muted) {
    if (pattern >= muted_.size()) muted_.resize(pattern + 1U);
    if (muted_[pattern] == muted) return;
    muted_[pattern] = muted;
    count_ += muted ? 1 : -1;
    prepared_for = nullptr;
  }

  // What an engine made ready for these patterns; it belongs to the engine.
  const void* prepared_for = nullptr;
  int prepared_plan = 0;
  WindowBitmap prepared;

 private:
  std::vector<bool> muted_;
  int count_ = 0;
};

/// What an engine learns of one stream; empty before the first block.
struct Tuning {
  struct State {
    virtual ~State() = default;
  };
  std::unique_ptr<State> state;
};

struct Search {
  Muted* muted = nullptr;    ///< may be null: everything is looked for
  Tuning* tuning = nullptr;  ///< may be null: a short text
};

/// Finds the lines of a block that may match a pattern. May name patterns that do not match (the
/// scanner confirms each with RE2); must never miss one that is not muted. Engines differ in speed
/// only: a test holds them to the same result.
class LineFilter {
 public:
  virtual ~LineFilter() = default;
  /// `block` holds whole lines. Candidates are added to `out`, in the order of the lines. Safe to
  /// call from several threads, each with its own `search` and `out`.
  virtual void find(std::string_view block, evidence::Kind kind, const Search& search,
                    Candidates& out) = 0;
};

/// The engine in use: literals over raw blocks.
[[nodiscard]] std::unique_ptr<LineFilter> make_literal_filter(const LineRules& rules);
/// The reference: one RE2::Set over each line.
[[nodiscard]] std::unique_ptr<LineFilter> make_set_filter(const LineRules& rules);

}  // namespace triage::analysis

#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Where in a text each of many literals is looked for: the tables of the literal filter.
namespace triage::analysis {

/// Letters to lower case; other bytes change alike in text and table, which only costs a false
/// hit.
[[nodiscard]] inline std::uint32_t load_folded(const char* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word | 0x20202020U;
}

/// Which four-byte windows are worth a look-up, in one bit each.
class WindowBitmap {
 public:
  void clear() { bits_.assign((1U << k_bits) / 64, 0); }
  void mark(std::uint32_t window) {
    const std::uint32_t slot = slot_of(window);
    bits_[slot >> 6U] |= std::uint64_t{1} << (slot & 63U);
  }
  [[nodiscard]] static bool marked(const std::uint64_t* bits, std::uint32_t window) {
    const std::uint32_t slot = slot_of(window);
    return (bits[slot >> 6U] >> (slot & 63U) & 1U) != 0;
  }
  [[nodiscard]] const std::uint64_t* bits() const { return bits_.data(); }

 private:
  static constexpr unsigned k_bits = 18;  // 32 KiB: stays in the first-level cache
  static std::uint32_t slot_of(std::uint32_t window) {
    return (window * 0x9E3779B1U) >> (32U - k_bits);
  }
  std::vector<std::uint64_t> bits_;
};

struct Literal {
  std::string text;  ///< in lower case; four bytes or more
  std::string folded;
  std::uint32_t kinds = 0;  ///< of its patterns: bit = Kind
  std::vector<std::uint32_t> patterns;
};

/// How common each four-byte window of a literal is; the sum over a run must fit an int.
using WindowScores = std::function<void(const std::string& literal, std::vector<int>& scores)>;

/// One way to find a set of literals by probing a text every `stride` bytes: each literal has a run
/// of `stride` neighbouring windows, the rarest of it, and whatever its position in the text, one
/// of them is probed. Immutable after construction.
class LiteralPlan {
 public:
  static constexpr std::size_t k_window = 4;
  static constexpr std::size_t k_longest_stride = 4;

  /// A window of a literal, and four more of its bytes that tell most false hits at once.
  struct Entry {
    std::uint32_t literal = 0;
    std::uint32_t word = 0;    ///< the literal's bytes at `word_at`, folded
    std::int16_t word_at = 0;  ///< from the window on
    std::int16_t offset = 0;   ///< of the window in the literal; -1: begins one byte before it
    std::uint16_t length = 0;  ///< of the literal
    bool last = false;         ///< of its window's entries
  };

  LiteralPlan() = default;
  /// Plans for the literals of the kinds in `kinds`; the stride is `stride` or what the shortest
  /// literals allow.
  LiteralPlan(std::span<const Literal> literals, std::uint32_t kinds, std::size_t stride,
              const WindowScores& scores);

  [[nodiscard]] std::size_t stride() const { return stride_; }
  /// Those that are looked for; some more than once.
  [[nodiscard]] std::span<const std::uint32_t> windows() const { return windows_; }
  /// The first entry of the window, or nullptr.
  [[nodiscard]] const Entry* find(std::uint32_t window) const {
    for (std::size_t at = start_of(window);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.entry == 0) return nullptr;
      if (slot.window == window) return &entries_[slot.entry - 1];
    }
  }
  /// Marks the windows of the literals for which `wanted(literal)` holds.
  template <class Wanted>
  void mark(std::span<const Literal> literals, WindowBitmap& bitmap, const Wanted& wanted) const {
    bitmap.clear();
    for (std::size_t i = 0; i < planned_.size(); ++i)
      if (wanted(literals[planned_[i]]))
        for (std::size_t w = first_window_[i]; w < first_window_[i + 1]; ++w)
          bitmap.mark(windows_[w]);
  }

 private:
  struct Slot {
    std::uint32_t window = 0;
    std::uint32_t entry = 0;  ///< index plus one; 0: free
  };
  [[nodiscard]] std::size_t start_of(std::uint32_t window) const {
    return (window * std::uint64_t{0x9E3779B97F4A7C15U} >> 32U) & mask_;
  }
  void choose_stride(std::span<const Literal> literals, std::size_t wanted);
  void build(std::vector<std::pair<std::uint32_t, Entry>> all);

  std::size_t stride_ = 1;
  std::vector<std::uint32_t> planned_;     ///< indices of the literals
  std::vector<std::size_t> first_window_;  ///< of each planned literal in `windows_`, and the end
  std::vector<std::uint32_t> windows_;
  std::vector<Slot> slots_ = std::vector<Slot>(1);  ///< open addressing, half full at most
  std::size_t mask_ = 0;
  std::vector<Entry> entries_;
};

/// Scores by what is common in logs of any service (rules::commonness).
void score_by_ordinary_logs(const std::string& literal, std::vector<int>& scores);

/// How often each window stands in a sample of the very text that is searched.
class WindowCounts {
 public:
  explicit WindowCounts(std::string_view sample);
  void score(const std::string& literal, std::vector<int>& scores) const;
  /// How many of the sample's windows are one of these.
  [[nodiscard]] double share(std::span<const std::uint32_t> windows) const;

 private:
  static constexpr unsigned k_bits = 16;
  static std::uint32_t slot_of(std::uint32_t window) {
    return (window * 0x9E3779B1U) >> (32U - k_bits);
  }
  std::vector<std::uint16_t> counts_;
  std::size_t total_;
};

}  // namespace triage::analysis

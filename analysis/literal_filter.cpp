#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <numeric>
#include <string>
#include <unordered_map>

#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"
#include "rules/literals.hpp"

namespace triage::analysis {
namespace {

constexpr std::size_t k_window = 4;
constexpr unsigned k_bitmap_bits = 18;  // 32 KiB: stays in the first-level cache
constexpr std::uint32_t k_fold = 0x20202020U;
constexpr std::size_t k_longest_stride = 4;

/// Letters to lower case; other bytes change alike in text and table, which only costs a false
/// candidate.
std::uint32_t load_folded(const char* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word | k_fold;
}

std::uint32_t slot_of(std::uint32_t window) {
  return (window * 0x9E3779B1U) >> (32U - k_bitmap_bits);
}

using Bitmap = std::vector<std::uint64_t>;

void mark(Bitmap& bitmap, std::uint32_t window) {
  const std::uint32_t slot = slot_of(window);
  bitmap[slot >> 6U] |= std::uint64_t{1} << (slot & 63U);
}

bool marked(const std::uint64_t* bitmap, std::uint32_t window) {
  const std::uint32_t slot = slot_of(window);
  return (bitmap[slot >> 6U] >> (slot & 63U) & 1U) != 0;
}

/// `literal` has at least four bytes and is folded.
bool equals_folded(const char* text, const std::string& literal) {
  std::size_t i = 0;
  for (; i + 4 <= literal.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, literal.data() + i, sizeof word);
    if (load_folded(text + i) != word) return false;
  }
  const std::size_t last = literal.size() - 4;  // overlaps what was compared
  std::uint32_t word = 0;
  std::memcpy(&word, literal.data() + last, sizeof word);
  return load_folded(text + last) == word;
}

struct Literal {
  std::string text;       ///< folded
  std::size_t start = 0;  ///< of its run of windows
  std::vector<std::uint32_t> patterns;
};

struct Entry {
  std::uint32_t literal;
  std::uint32_t offset;  ///< of the window in the literal
};

/// Entries by window: open addressing, a quarter full at most.
class Windows {
 public:
  void build(std::vector<std::pair<std::uint32_t, Entry>> all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t size = 16;
    while (size < all.size() * 4) size *= 2;
    mask_ = size - 1;
    slots_.assign(size, {});
    for (const auto& [window, entry] : all) {
      Slot& slot = find_slot(window);
      if (slot.count == 0) slot = {window, static_cast<std::uint32_t>(entries_.size()), 0};
      ++slot.count;
      entries_.push_back(entry);
    }
  }

  [[nodiscard]] std::span<const Entry> find(std::uint32_t window) const {
    for (std::size_t at = start_of(window);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.count == 0) return {};
      if (slot.window == window) return std::span(entries_).subspan(slot.first, slot.count);
    }
  }

 private:
  struct Slot {
    std::uint32_t window = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  [[nodiscard]] std::size_t start_of(std::uint32_t window) const {
    return (window * std::uint64_t{0x9E3779B97F4A7C15U} >> 32U) & mask_;
  }
  Slot& find_slot(std::uint32_t window) {
    std::size_t at = start_of(window);
    while (slots_[at].count != 0 && slots_[at].window != window) at = (at + 1) & mask_;
    return slots_[at];
  }
  std::vector<Slot> slots_ = std::vector<Slot>(1);
  std::size_t mask_ = 0;
  std::vector<Entry> entries_;
};

/// The literals of one kind's patterns, laid out for probing every `stride` bytes.
struct Table {
  std::vector<Literal> literals;
  std::vector<std::uint32_t> unfiltered;  ///< patterns without a literal: every line is a candidate
  std::size_t stride = 1;
  Bitmap bitmap = Bitmap((1U << k_bitmap_bits) / 64);
  Windows windows;
};

/// The rarest run of `stride` neighbouring windows: whatever the literal's position in the text,
/// one of them is probed.
std::size_t rarest_run(const std::string& literal, std::size_t stride) {
  std::array<int, 64> scores{};
  const std::size_t windows = std::min(literal.size() - k_window + 1, scores.size());
  for (std::size_t i = 0; i < windows; ++i)
    scores[i] = rules::commonness(std::string_view(literal).substr(i, k_window));
  std::size_t best = 0;
  int best_score = INT32_MAX;
  for (std::size_t start = 0; start + stride <= windows; ++start) {
    const int score =
        std::accumulate(scores.begin() + static_cast<std::ptrdiff_t>(start),
                        scores.begin() + static_cast<std::ptrdiff_t>(start + stride), 0);
    if (score < best_score) best_score = score, best = start;
  }
  return best;
}

/// Collects hits of one line after another.
class Lines {
 public:
  Lines(std::string_view block, const Muted* muted, Candidates& out)
      : block_(block), muted_(muted), out_(out) {}

  void hit(std::size_t at, const std::vector<std::uint32_t>& patterns) {
    if (!open_ || at >= end_) {
      close();
      begin_ = start_of_line(at);
      end_ = std::min(block_.find('\n', at), block_.size());
      first_ = out_.pool.size();
      open_ = true;
    }
    for (const std::uint32_t pattern : patterns)
      if (muted_ == nullptr || !muted_->contains(pattern)) out_.pool.push_back(pattern);
  }

  void close() {
    if (!open_) return;
    open_ = false;
    const auto first = out_.pool.begin() + static_cast<std::ptrdiff_t>(first_);
    if (out_.pool.end() - first > 1) {
      std::sort(first, out_.pool.end());
      out_.pool.erase(std::unique(first, out_.pool.end()), out_.pool.end());
    }
    const std::size_t count = out_.pool.size() - first_;
    if (count == 0) return;
    std::size_t stop = end_;
    if (stop > begin_ && block_[stop - 1] == '\r') --stop;
    out_.lines.push_back({static_cast<std::uint32_t>(begin_), static_cast<std::uint32_t>(stop),
                          static_cast<std::uint32_t>(first_), static_cast<std::uint32_t>(count)});
  }

 private:
  [[nodiscard]] std::size_t start_of_line(std::size_t at) const {
    const void* newline = at == 0 ? nullptr : ::memrchr(block_.data(), '\n', at);
    return newline == nullptr
               ? 0
               : static_cast<std::size_t>(static_cast<const char*>(newline) - block_.data()) + 1;
  }

  std::string_view block_;
  const Muted* muted_;
  Candidates& out_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t first_ = 0;
  bool open_ = false;
};

/// Finds candidate lines by literals alone, without splitting the block into lines: a bitmap of
/// four-byte windows is probed every few bytes (4 when every literal has 7 bytes, fewer for shorter
/// ones), a hit is looked up and compared, then the line around it is recovered. Rejected
/// alternative: RE2::Set over every line (350 MB/s against more than 1 GB/s).
class LiteralFilter final : public LineFilter {
 public:
  explicit LiteralFilter(const LineRules& rules) : rules_(rules) {}

  void find(std::string_view block, evidence::Kind kind, Muted* muted, Candidates& out) override {
    const Table& table = table_of(kind);
    if (muted != nullptr && muted->empty()) muted = nullptr;
    if (!table.unfiltered.empty()) return every_line(block, table, muted, out);
    if (block.size() < k_window) return;
    const std::uint64_t* bitmap = table.bitmap.data();
    if (muted != nullptr) bitmap = without_muted(table, *muted);
    Lines lines(block, muted, out);
    switch (table.stride) {
      case 1:
        scan<1>(table, bitmap, block, lines);
        break;
      case 2:
        scan<2>(table, bitmap, block, lines);
        break;
      case 3:
        scan<3>(table, bitmap, block, lines);
        break;
      default:
        scan<4>(table, bitmap, block, lines);
    }
    lines.close();
  }

 private:
  template <std::size_t stride>
  static void scan(const Table& table, const std::uint64_t* bitmap, std::string_view block,
                   Lines& lines) {
    const std::size_t last = block.size() - k_window;
    const char* const text = block.data();
    std::size_t at = 0;
    // Four probes at a time: most find nothing, and one branch says so for all.
    for (; at + 3 * stride <= last; at += 4 * stride) {
      const bool a = marked(bitmap, load_folded(text + at));
      const bool b = marked(bitmap, load_folded(text + at + stride));
      const bool c = marked(bitmap, load_folded(text + at + 2 * stride));
      const bool d = marked(bitmap, load_folded(text + at + 3 * stride));
      if (!(a | b | c | d)) continue;
      if (a) probe(table, block, at, lines);
      if (b) probe(table, block, at + stride, lines);
      if (c) probe(table, block, at + 2 * stride, lines);
      if (d) probe(table, block, at + 3 * stride, lines);
    }
    for (; at <= last; at += stride)
      if (marked(bitmap, load_folded(text + at))) probe(table, block, at, lines);
  }

  static void probe(const Table& table, std::string_view block, std::size_t at, Lines& lines) {
    for (const Entry& entry : table.windows.find(load_folded(block.data() + at))) {
      const Literal& literal = table.literals[entry.literal];
      if (entry.offset > at || at - entry.offset + literal.text.size() > block.size()) continue;
      if (equals_folded(block.data() + at - entry.offset, literal.text))
        lines.hit(at, literal.patterns);
    }
  }

  /// A pack with a pattern that requires no literal: such patterns are tried on every line.
  static void every_line(std::string_view block, const Table& table, const Muted* muted,
                         Candidates& out) {
    std::vector<std::uint32_t> all = table.unfiltered;
    for (const Literal& literal : table.literals)
      all.insert(all.end(), literal.patterns.begin(), literal.patterns.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (muted != nullptr)
      all.erase(std::remove_if(all.begin(), all.end(),
                               [&](std::uint32_t pattern) { return muted->contains(pattern); }),
                all.end());
    const auto first = static_cast<std::uint32_t>(out.pool.size());
    out.pool.insert(out.pool.end(), all.begin(), all.end());
    for (std::size_t begin = 0; begin < block.size();) {
      const std::size_t end = std::min(block.find('\n', begin), block.size());
      std::size_t stop = end;
      if (stop > begin && block[stop - 1] == '\r') --stop;
      out.lines.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(stop),
                           first, static_cast<std::uint32_t>(all.size())});
      begin = end + 1;
    }
  }

  /// The bitmap of what is still looked for.
  static const std::uint64_t* without_muted(const Table& table, Muted& muted) {
    if (muted.prepared_for != &table) {
      muted.prepared.assign(table.bitmap.size(), 0);
      for (const Literal& literal : table.literals)
        if (!std::all_of(literal.patterns.begin(), literal.patterns.end(),
                         [&](std::uint32_t pattern) { return muted.contains(pattern); }))
          for_each_window(literal, table.stride,
                          [&](std::size_t, std::uint32_t window) { mark(muted.prepared, window); });
      muted.prepared_for = &table;
    }
    return muted.prepared.data();
  }

  template <class Visit>
  static void for_each_window(const Literal& literal, std::size_t stride, const Visit& visit) {
    for (std::size_t i = literal.start; i < literal.start + stride; ++i)
      visit(i, load_folded(literal.text.data() + i));
  }

  const Table& table_of(evidence::Kind kind) {
    const auto index = static_cast<std::size_t>(kind);
    std::call_once(once_.at(index), [&] { tables_.at(index) = build(kind); });
    return tables_.at(index);
  }

  Table build(evidence::Kind kind) const {
    Table table;
    std::unordered_map<std::string_view, std::uint32_t> known;
    std::size_t shortest = 64;
    for (std::uint32_t p = 0; p < rules_.patterns().size(); ++p) {
      if (!rules_.applies(p, kind)) continue;
      const std::vector<std::string>& clause = rules_.literals(p);
      if (clause.empty()) table.unfiltered.push_back(p);
      for (const std::string& text : clause) {
        const auto [it, is_new] =
            known.try_emplace(text, static_cast<std::uint32_t>(table.literals.size()));
        if (is_new) table.literals.push_back({text, 0, {}});
        table.literals[it->second].patterns.push_back(p);
        shortest = std::min(shortest, text.size());
      }
    }
    table.stride = std::clamp<std::size_t>(shortest - (k_window - 1), 1, k_longest_stride);
    std::vector<std::pair<std::uint32_t, Entry>> entries;
    for (std::uint32_t l = 0; l < table.literals.size(); ++l) {
      Literal& literal = table.literals[l];
      literal.start = rarest_run(literal.text, table.stride);
      for (char& c : literal.text) c = static_cast<char>(c | 0x20);
      for_each_window(literal, table.stride, [&](std::size_t offset, std::uint32_t window) {
        mark(table.bitmap, window);
        entries.push_back({window, {l, static_cast<std::uint32_t>(offset)}});
      });
    }
    table.windows.build(std::move(entries));
    return table;
  }

  const LineRules& rules_;
  std::array<std::once_flag, evidence::k_kind_count> once_;
  std::array<Table, evidence::k_kind_count> tables_;
};

}  // namespace

std::unique_ptr<LineFilter> make_literal_filter(const LineRules& rules) {
  return std::make_unique<LiteralFilter>(rules);
}

}  // namespace triage::analysis

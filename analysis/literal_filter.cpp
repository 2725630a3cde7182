#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"
#include "analysis/literal_plan.hpp"

namespace triage::analysis {
namespace {

/// Before anything is known of the text: windows of logs in general are too common for more.
constexpr std::size_t k_first_stride = 2;
// A stream is planned for anew when, over so many bytes (sixteen times as many after each plan),
// one in so many led to a look-up in vain.
constexpr std::uint64_t k_watched = 1U << 20U;
constexpr std::uint64_t k_bytes_per_miss = 256;
constexpr std::size_t k_sample = 512U << 10U;
constexpr std::size_t k_least_sample = 128U << 10U;

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

/// Collects hits of one line after another.
class Lines {
 public:
  Lines(std::string_view block, const LineRules& rules, evidence::Kind kind, const Muted* muted,
        Candidates& out)
      : block_(block), rules_(rules), kind_(kind), muted_(muted), out_(out) {}

  void hit(std::size_t at, const std::vector<std::uint32_t>& patterns) {
    if (!open_ || at >= end_) {
      close();
      begin_ = start_of_line(at);
      end_ = std::min(block_.find('\n', at), block_.size());
      first_ = out_.pool.size();
      open_ = true;
    }
    for (const std::uint32_t pattern : patterns)
      if (rules_.applies(pattern, kind_) && (muted_ == nullptr || !muted_->contains(pattern)))
        out_.pool.push_back(pattern);
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
  const LineRules& rules_;
  evidence::Kind kind_;
  const Muted* muted_;
  Candidates& out_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t first_ = 0;
  bool open_ = false;
};

/// Finds candidate lines by literals alone, without splitting the block into lines: a bitmap of
/// four-byte windows is probed every few bytes, a hit is looked up and compared, then the line
/// around it is recovered. One plan serves all kinds, with a bitmap for each; a long stream whose
/// ordinary text leads to many look-ups in vain gets a plan of its own, which looks for windows
/// that its text does not hold and so may take longer strides. Rejected alternative: RE2::Set over
/// every line (350 MB/s against more than 1 GB/s).
class LiteralFilter final : public LineFilter {
 public:
  explicit LiteralFilter(const LineRules& rules) : rules_(rules) {}

  void find(std::string_view block, evidence::Kind kind, const Search& search,
            Candidates& out) override {
    std::call_once(built_, [&] { build(); });
    const auto index = static_cast<std::size_t>(kind);
    std::call_once(prepared_.at(index), [&] { prepare(kind); });
    Muted* const muted = search.muted != nullptr && !search.muted->empty() ? search.muted : nullptr;
    if (of_kind_.at(index).every_line) return every_line(block, kind, muted, out);
    if (block.size() < LiteralPlan::k_window) return;
    const Planned planned = plan_for(kind, search.tuning);
    const std::uint64_t* bitmap =
        muted != nullptr ? without_muted(planned, kind, *muted) : planned.bitmap->bits();
    Lines lines(block, rules_, kind, muted, out);
    Pass pass{literals_, *planned.plan, bitmap, block, lines, 0};
    switch (planned.plan->stride()) {
      case 1:
        scan<1>(pass);
        break;
      case 2:
        scan<2>(pass);
        break;
      case 3:
        scan<3>(pass);
        break;
      default:
        scan<4>(pass);
    }
    lines.close();
    if (search.tuning != nullptr) tune(*search.tuning, kind, block, pass.misses);
  }

 private:
  struct OfKind {
    bool every_line = false;  ///< a pattern has no literal: every line is a candidate
    WindowBitmap bitmap;
  };
  struct Planned {
    const LiteralPlan* plan;
    const WindowBitmap* bitmap;
    int number;  ///< of the stream's plans; 0: the one for all
  };
  /// What is learnt of one stream.
  struct Learned final : Tuning::State {
    LiteralPlan plan;
    WindowBitmap bitmap;
    int plans = 0;
    std::uint64_t bytes = 0;  ///< since the last plan
    std::uint64_t misses = 0;
  };
  /// One search of a block.
  struct Pass {
    std::span<const Literal> literals;
    const LiteralPlan& plan;
    const std::uint64_t* bitmap;
    std::string_view block;
    Lines& lines;
    std::uint64_t misses;  ///< look-ups that found no literal
  };

  [[nodiscard]] Planned plan_for(evidence::Kind kind, const Tuning* tuning) const {
    if (tuning != nullptr && tuning->state != nullptr)
      if (const auto& learned = static_cast<const Learned&>(*tuning->state); learned.plans > 0)
        return {&learned.plan, &learned.bitmap, learned.plans};
    return {&plan_, &of_kind_.at(static_cast<std::size_t>(kind)).bitmap, 0};
  }

  /// Plans anew when too many look-ups were in vain.
  void tune(Tuning& tuning, evidence::Kind kind, std::string_view block,
            std::uint64_t misses) const {
    if (tuning.state == nullptr) tuning.state = std::make_unique<Learned>();
    auto& learned = static_cast<Learned&>(*tuning.state);
    learned.bytes += block.size();
    learned.misses += misses;
    if (learned.bytes < k_watched << std::min(4U * static_cast<unsigned>(learned.plans), 32U) ||
        block.size() < k_least_sample)
      return;
    if (learned.misses * k_bytes_per_miss > learned.bytes) {
      learned.plan = best_plan(WindowCounts(block.substr(0, k_sample)), kind);
      learned.plan.mark(literals_, learned.bitmap, [](const Literal&) { return true; });
      ++learned.plans;
    }
    learned.bytes = learned.misses = 0;
  }

  /// Long strides probe less and leave less choice of windows.
  [[nodiscard]] LiteralPlan best_plan(const WindowCounts& counts, evidence::Kind kind) const {
    constexpr double k_look_up = 16;  // of probes
    LiteralPlan best;
    double best_cost = 0;
    for (std::size_t stride = LiteralPlan::k_longest_stride; stride > 0; --stride) {
      LiteralPlan plan(
          literals_, kind_bit(kind), stride,
          [&](const std::string& literal, std::vector<int>& s) { counts.score(literal, s); });
      const double cost =
          (1 + k_look_up * counts.share(plan.windows())) / static_cast<double>(plan.stride());
      if (best_cost == 0 || cost < best_cost) {
        best_cost = cost;
        best = std::move(plan);
      }
    }
    return best;
  }

  template <std::size_t stride>
  static void scan(Pass& pass) {
    const std::size_t last = pass.block.size() - LiteralPlan::k_window;
    const char* const text = pass.block.data();
    const auto marked = [text, bitmap = pass.bitmap](std::size_t at) {
      return WindowBitmap::marked(bitmap, load_folded(text + at));
    };
    constexpr std::size_t k_chunk = 2048;  // probes
    std::array<std::uint32_t, k_chunk> hits;
    for (std::size_t at = 0; at <= last;) {
      // No branch on the way: hits are too many for the processor to guess right, and too few to
      // look each up at once.
      std::size_t count = 0;
      const std::size_t stop = at + std::min(k_chunk, (last - at) / stride + 1) * stride;
      for (; at + 3 * stride < stop; at += 4 * stride) {
        const bool first = marked(at);
        const bool second = marked(at + stride);
        const bool third = marked(at + 2 * stride);
        const bool fourth = marked(at + 3 * stride);
        hits[count] = static_cast<std::uint32_t>(at);
        count += first ? 1 : 0;
        hits[count] = static_cast<std::uint32_t>(at + stride);
        count += second ? 1 : 0;
        hits[count] = static_cast<std::uint32_t>(at + 2 * stride);
        count += third ? 1 : 0;
        hits[count] = static_cast<std::uint32_t>(at + 3 * stride);
        count += fourth ? 1 : 0;
      }
      for (; at < stop; at += stride) {
        hits[count] = static_cast<std::uint32_t>(at);
        count += marked(at) ? 1 : 0;
      }
      for (std::size_t i = 0; i < count; ++i) look_up(pass, hits[i]);
    }
  }

  static void look_up(Pass& pass, std::size_t at) {
    const char* const text = pass.block.data() + at;
    ++pass.misses;
    const LiteralPlan::Entry* entry = pass.plan.find(load_folded(text));
    if (entry == nullptr) return;
    for (const auto size = static_cast<std::ptrdiff_t>(pass.block.size());; ++entry) {
      const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(at) - entry->offset;
      if (begin >= 0 && begin + entry->length <= size &&
          load_folded(text + entry->word_at) == entry->word)
        compare(pass, entry->literal, static_cast<std::size_t>(begin));
      if (entry->last) return;
    }
  }

  static void compare(Pass& pass, std::uint32_t index, std::size_t begin) {
    const Literal& literal = pass.literals[index];
    if (!equals_folded(pass.block.data() + begin, literal.folded)) return;
    pass.lines.hit(begin, literal.patterns);
    --pass.misses;
  }

  /// A pack with a pattern that requires no literal: such patterns are tried on every line.
  void every_line(std::string_view block, evidence::Kind kind, const Muted* muted,
                  Candidates& out) const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t p = 0; p < rules_.patterns().size(); ++p)
      if (rules_.applies(p, kind) && (muted == nullptr || !muted->contains(p))) all.push_back(p);
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
  const std::uint64_t* without_muted(const Planned& planned, evidence::Kind kind,
                                     Muted& muted) const {
    if (muted.prepared_for != planned.bitmap || muted.prepared_plan != planned.number) {
      planned.plan->mark(literals_, muted.prepared, [&](const Literal& literal) {
        return std::any_of(literal.patterns.begin(), literal.patterns.end(), [&](std::uint32_t p) {
          return rules_.applies(p, kind) && !muted.contains(p);
        });
      });
      muted.prepared_for = planned.bitmap;
      muted.prepared_plan = planned.number;
    }
    return muted.prepared.bits();
  }

  static std::uint32_t kind_bit(evidence::Kind kind) { return 1U << static_cast<unsigned>(kind); }

  void build() {
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::uint32_t p = 0; p < rules_.patterns().size(); ++p)
      for (const std::string& text : rules_.literals(p)) {
        const auto [it, is_new] =
            known.try_emplace(text, static_cast<std::uint32_t>(literals_.size()));
        if (is_new) {
          literals_.push_back({text, text, 0, {}});
          for (char& c : literals_.back().folded) c = static_cast<char>(c | 0x20);
        }
        literals_[it->second].patterns.push_back(p);
        literals_[it->second].kinds |= rules_.kinds(p);
      }
    plan_ = LiteralPlan(literals_, ~0U, k_first_stride, score_by_ordinary_logs);
  }

  void prepare(evidence::Kind kind) {
    OfKind& of_kind = of_kind_.at(static_cast<std::size_t>(kind));
    plan_.mark(literals_, of_kind.bitmap,
               [&](const Literal& literal) { return (literal.kinds & kind_bit(kind)) != 0; });
    for (std::uint32_t p = 0; p < rules_.patterns().size(); ++p)
      of_kind.every_line =
          of_kind.every_line || (rules_.applies(p, kind) && rules_.literals(p).empty());
  }

  const LineRules& rules_;
  std::once_flag built_;
  std::vector<Literal> literals_;
  LiteralPlan plan_;
  std::array<std::once_flag, evidence::k_kind_count> prepared_;
  std::array<OfKind, evidence::k_kind_count> of_kind_;
};

}  // namespace

std::unique_ptr<LineFilter> make_literal_filter(const LineRules& rules) {
  return std::make_unique<LiteralFilter>(rules);
}

}  // namespace triage::analysis

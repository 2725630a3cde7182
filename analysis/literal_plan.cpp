#include "analysis/literal_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "rules/literals.hpp"

namespace triage::analysis {
namespace {

/// Literals are looked at so far; rare windows further on are not missed.
constexpr std::size_t k_looked_at = 64;

std::size_t windows_of(const std::string& literal) {
  return std::min(literal.size() - LiteralPlan::k_window + 1, k_looked_at);
}

/// Where the rarest run of `stride` neighbouring windows begins. -1 when the literal is one byte
/// too short for such a run: then it begins with every byte that may stand before the literal.
int rarest_run(const std::vector<int>& scores, std::size_t stride) {
  if (scores.size() < stride) return -1;
  std::size_t best = 0;
  int best_score = std::numeric_limits<int>::max();
  for (std::size_t start = 0; start + stride <= scores.size(); ++start) {
    const int score =
        std::accumulate(scores.begin() + static_cast<std::ptrdiff_t>(start),
                        scores.begin() + static_cast<std::ptrdiff_t>(start + stride), 0);
    if (score < best_score) best_score = score, best = start;
  }
  return static_cast<int>(best);
}

/// The window that says most beside the one at `offset`: far from it first, rare second.
std::size_t rarest_beside(const std::vector<int>& scores, int offset) {
  const auto shared = [&](std::size_t i) {
    const int distance = std::abs(static_cast<int>(i) - offset);
    return std::max(0, static_cast<int>(LiteralPlan::k_window) - distance);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (std::pair(shared(i), scores[i]) < std::pair(shared(best), scores[best])) best = i;
  return best;
}

/// The windows of a run; one that begins before the literal stands for many.
template <class Visit>
void for_each_window(const std::string& literal, int start, std::size_t stride,
                     const Visit& visit) {
  for (int i = start; i < start + static_cast<int>(stride); ++i) {
    if (i >= 0) {
      visit(i, load_folded(literal.data() + i));
      continue;
    }
    for (unsigned before = 0; before < 256; ++before) {
      if ((before & 0x20U) == 0) continue;  // folded
      const std::array<char, LiteralPlan::k_window> bytes{static_cast<char>(before), literal[0],
                                                          literal[1], literal[2]};
      visit(i, load_folded(bytes.data()));
    }
  }
}

}  // namespace

LiteralPlan::LiteralPlan(std::span<const Literal> literals, std::uint32_t kinds, std::size_t stride,
                         const WindowScores& scores_of) {
  for (std::uint32_t i = 0; i < literals.size(); ++i)
    if ((literals[i].kinds & kinds) != 0) planned_.push_back(i);
  choose_stride(literals, stride);
  std::vector<std::pair<std::uint32_t, Entry>> all;
  std::vector<int> scores;
  for (const std::uint32_t index : planned_) {
    const std::string& text = literals[index].text;
    scores.resize(windows_of(text));
    scores_of(text, scores);
    first_window_.push_back(windows_.size());
    for_each_window(
        text, rarest_run(scores, stride_), stride_, [&](int offset, std::uint32_t window) {
          const auto beside = static_cast<int>(rarest_beside(scores, offset));
          windows_.push_back(window);
          all.push_back(
              {window,
               {index, load_folded(text.data() + beside),
                static_cast<std::int16_t>(beside - offset), static_cast<std::int16_t>(offset),
                static_cast<std::uint16_t>(text.size()), false}});
        });
  }
  first_window_.push_back(windows_.size());
  build(std::move(all));
}

/// The longest for which every literal has its run. A literal one byte too short for it costs 128
/// windows: a few are worth that, many would fill the bitmap.
void LiteralPlan::choose_stride(std::span<const Literal> literals, std::size_t wanted) {
  constexpr std::ptrdiff_t k_most_short = 64;
  for (stride_ = wanted; stride_ > 1; --stride_) {
    const auto shorter_than = [&](std::size_t size) {
      return std::count_if(planned_.begin(), planned_.end(),
                           [&](std::uint32_t i) { return literals[i].text.size() < size; });
    };
    const std::size_t needed = stride_ + k_window - 1;
    if (shorter_than(needed - 1) == 0 && shorter_than(needed) <= k_most_short) return;
  }
}

void LiteralPlan::build(std::vector<std::pair<std::uint32_t, Entry>> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t size = 16;
  while (size < all.size() * 2) size *= 2;
  mask_ = size - 1;
  slots_.assign(size, {});
  entries_.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint32_t window = all[i].first;
    if (i == 0 || all[i - 1].first != window) {
      std::size_t at = start_of(window);
      while (slots_[at].entry != 0) at = (at + 1) & mask_;
      slots_[at] = {window, static_cast<std::uint32_t>(i + 1)};
    }
    entries_.push_back(all[i].second);
    entries_.back().last = i + 1 == all.size() || all[i + 1].first != window;
  }
}

void score_by_ordinary_logs(const std::string& literal, std::vector<int>& scores) {
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = rules::commonness(std::string_view(literal).substr(i, LiteralPlan::k_window));
}

WindowCounts::WindowCounts(std::string_view sample)
    : counts_(std::size_t{1} << k_bits), total_(sample.size()) {
  for (std::size_t at = 0; at + LiteralPlan::k_window <= sample.size(); ++at)
    if (std::uint16_t& count = counts_[slot_of(load_folded(sample.data() + at))];
        count < std::numeric_limits<std::uint16_t>::max())
      ++count;
}

void WindowCounts::score(const std::string& literal, std::vector<int>& scores) const {
  score_by_ordinary_logs(literal, scores);
  // What the sample does not hold is told apart by what logs in general hold.
  constexpr int k_seen_once = 256;
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] += k_seen_once * counts_[slot_of(load_folded(literal.data() + i))];
}

double WindowCounts::share(std::span<const std::uint32_t> windows) const {
  std::vector<bool> seen(counts_.size());
  std::uint64_t sum = 0;
  for (const std::uint32_t window : windows) {
    const std::uint32_t slot = slot_of(window);
    if (!seen[slot]) sum += counts_[slot];
    seen[slot] = true;
  }
  return static_cast<double>(sum) / static_cast<double>(std::max<std::size_t>(total_, 1));
}

}  // namespace triage::analysis

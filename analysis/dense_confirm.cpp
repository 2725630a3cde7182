#include "analysis/dense_confirm.hpp"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <iterator>

#include "base/stopwatch.hpp"

namespace triage::analysis {
namespace {

constexpr std::size_t k_dense_lines = 512;   ///< candidates of a block from which it may be dense
constexpr std::size_t k_dense_patterns = 4;  ///< patterns that each of them names on average
constexpr std::size_t k_long_line = 64U << 10U;
constexpr int k_most_sets = 8;  ///< a stream that shows new patterns all the time
/// An automaton of more patterns outgrows its memory and is built anew all the time, which costs a
/// thousand times what it saves.
constexpr std::size_t k_most_patterns = 128;
constexpr std::int64_t k_slow_ns_per_byte = 100;  ///< the same in the clock's words
constexpr std::size_t k_judged_bytes = 64U << 10U;
constexpr std::int64_t k_memory = 16 << 20;  ///< of the set's automaton

}  // namespace

class DenseConfirm::Set {
 public:
  Set(const LineRules& rules, const std::vector<std::uint32_t>& patterns)
      : set_(options(), re2::RE2::UNANCHORED) {
    for (const std::uint32_t pattern : patterns)
      if (set_.Add(rules.patterns()[pattern].regex.source(), nullptr) >= 0) ids_.push_back(pattern);
    ready_ = set_.Compile();
  }

  /// Patterns that match, ascending; false when the set could not tell.
  bool match(std::string_view line, std::vector<int>& hits) const {
    hits.clear();
    re2::RE2::Set::ErrorInfo error{};
    if (!ready_) return false;
    if (!set_.Match({line.data(), line.size()}, &hits, &error) &&
        error.kind != re2::RE2::Set::kNoError)
      return false;
    for (int& hit : hits) hit = static_cast<int>(ids_[static_cast<std::size_t>(hit)]);
    std::sort(hits.begin(), hits.end());
    return true;
  }

 private:
  static re2::RE2::Options options() {
    re2::RE2::Options o;
    o.set_encoding(re2::RE2::Options::EncodingLatin1);
    o.set_log_errors(false);
    o.set_max_mem(k_memory);
    return o;
  }

  re2::RE2::Set set_;
  std::vector<std::uint32_t> ids_;
  bool ready_ = false;
};

DenseConfirm::DenseConfirm(const LineRules& rules) : rules_(rules) {}
DenseConfirm::~DenseConfirm() = default;

void DenseConfirm::narrow(std::string_view block, Candidates& found) {
  const bool dense = found.lines.size() >= k_dense_lines &&
                     found.pool.size() >= k_dense_patterns * found.lines.size();
  const auto is_long = [](const Candidate& line) {
    return line.end - line.begin >= k_long_line && line.count > 1;
  };
  if (given_up_ || (!dense && std::none_of(found.lines.begin(), found.lines.end(), is_long)))
    return;
  learn(found);
  if (set_ == nullptr) return;
  std::vector<std::uint32_t> pool;
  pool.reserve(found.pool.size());
  for (Candidate& line : found.lines) {
    const std::size_t first = pool.size();
    const std::span<const std::uint32_t> patterns = found.patterns(line);
    if (dense || is_long(line))
      narrow_line(block.substr(line.begin, line.end - line.begin), patterns, pool);
    else
      pool.insert(pool.end(), patterns.begin(), patterns.end());
    line.first = static_cast<std::uint32_t>(first);
    line.count = static_cast<std::uint32_t>(pool.size() - first);
  }
  found.pool = std::move(pool);
  found.lines.erase(std::remove_if(found.lines.begin(), found.lines.end(),
                                   [](const Candidate& line) { return line.count == 0; }),
                    found.lines.end());
}

/// Anchored patterns are tried on the message too, which the set does not see; other uses than
/// rules stand for more than a match.
void DenseConfirm::learn(const Candidates& found) {
  std::vector<std::uint32_t> shown = found.pool;
  std::sort(shown.begin(), shown.end());
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  shown.erase(std::remove_if(shown.begin(), shown.end(),
                             [this](std::uint32_t id) {
                               const LineRules::Pattern& pattern = rules_.patterns()[id];
                               return pattern.use != LineRules::Use::rule ||
                                      pattern.regex.anchored();
                             }),
              shown.end());
  if (std::includes(wanted_.begin(), wanted_.end(), shown.begin(), shown.end())) return;
  std::vector<std::uint32_t> all;
  std::set_union(wanted_.begin(), wanted_.end(), shown.begin(), shown.end(),
                 std::back_inserter(all));
  wanted_ = std::move(all);
  given_up_ = wanted_.size() > k_most_patterns || ++sets_ > k_most_sets;
  set_ = given_up_ ? nullptr : std::make_unique<Set>(rules_, wanted_);
}

/// Whether the set could tell; what it costs is watched, for automata differ.
bool DenseConfirm::ask(std::string_view line) {
  base::Stopwatch watch;
  const bool told = set_->match(line, hits_);
  spent_ns_ += watch.lap();
  asked_bytes_ += line.size();
  given_up_ = !told || (asked_bytes_ >= k_judged_bytes &&
                        spent_ns_ > k_slow_ns_per_byte * static_cast<std::int64_t>(asked_bytes_));
  return told;
}

void DenseConfirm::narrow_line(std::string_view line, std::span<const std::uint32_t> patterns,
                               std::vector<std::uint32_t>& pool) {
  // Where logged prompts are blanked, rules see another text than the set would.
  const bool blanked = std::any_of(patterns.begin(), patterns.end(), [this](std::uint32_t id) {
    return rules_.patterns()[id].use == LineRules::Use::user_text_start;
  });
  const bool told = !blanked && !given_up_ && ask(line);
  for (const std::uint32_t id : patterns) {
    const bool refused = told && std::binary_search(wanted_.begin(), wanted_.end(), id) &&
                         !std::binary_search(hits_.begin(), hits_.end(), static_cast<int>(id));
    if (!refused) pool.push_back(id);
  }
}

}  // namespace triage::analysis

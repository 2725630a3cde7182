#include "analysis/scanner.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>

#include "analysis/dense_confirm.hpp"
#include "analysis/flood.hpp"
#include "analysis/line_prefix.hpp"
#include "analysis/stream_stamps.hpp"
#include "analysis/stretch.hpp"
#include "analysis/unmatched_lines.hpp"
#include "analysis/user_text_mask.hpp"
#include "analysis/window.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"

namespace triage::analysis {
namespace {

constexpr std::size_t k_groups_per_rule = 256;
constexpr std::uint64_t k_flood_from = 256;  ///< matches of a rule in one file
constexpr std::uint64_t k_context_flood_from = k_first_kept;
constexpr std::uint64_t k_dense_from = 64;  ///< matches of a rule in 1 MiB
constexpr std::size_t k_head = 64U << 10U;
constexpr std::size_t k_least_split = 256U << 10U;
/// A large block is scanned in parts, which begin so many bytes before its end.
constexpr std::array<std::size_t, 2> k_part_sizes{64U << 10U, 8U << 10U};
constexpr std::size_t k_parts = k_part_sizes.size() + 1;
constexpr std::size_t k_most_folds = 20'000;

class FileScan {
 public:
  FileScan(const LineRules& rules, LineFilter& filter, const bundle::EvidenceFile& file,
           std::uint32_t index, derive::LineMeter* meter, Window& window)
      : rules_(rules),
        filter_(filter),
        file_(file),
        index_(index),
        meter_(meter),
        window_(window),
        stretch_(file.kind, file.format),
        stamps_(window_, stretch_),
        user_text_(rules),
        unmatched_(file.path),
        states_(rules.rules().size()),
        dense_(rules) {}

  ScanResult run() {
    while (window_.next()) {
      const std::string_view block = window_.block();
      const bool piece = window_.piece_of_long_line();
      const std::size_t head = window_.at_start() && !piece ? head_of(block) : 0;
      std::uint64_t line = window_.first_line();
      if (head > 0) {
        scan_stretch(block.substr(0, head), 0, line, false);
        line += count_lines(block.substr(0, head));
      }
      scan_stretch(block.substr(head), head, line, piece);
    }
    result_.lines = window_.lines();
    result_.bytes = window_.bytes();
    result_.cut_lines = window_.cut_lines();
    finish();
    return std::move(result_);
  }

 private:
  /// What floods a file shows in its beginning, which is scanned by itself: most files are smaller
  /// than a block. 0: the block is too small for that.
  static std::size_t head_of(std::string_view block) {
    if (block.size() < k_least_split) return 0;
    const std::size_t newline = block.find('\n', k_head);
    return newline == std::string_view::npos || newline + k_head > block.size() ? 0 : newline + 1;
  }

  /// Some lines of the window's block, from `offset` on.
  void scan_stretch(std::string_view raw, std::size_t offset, std::uint64_t line, bool piece) {
    stretch_.open(raw, window_.block_begin() + offset);
    block_ = stretch_.text();
    stamps_.open_stretch(!piece);
    if (meter_ != nullptr) feed_meter(line);
    scan_block(line, piece);
  }

  void feed_meter(std::uint64_t number) {
    for (std::string_view line : base::split_lines(block_))
      meter_->line(line, static_cast<std::uint32_t>(number++));
  }

  /// A block is scanned in parts, the last one first. There every rule is looked for. A rule that
  /// only informs, floods the file and stands in a part often enough to give the newest lines is
  /// not looked for in the parts before, where it would cost most of the time and change nothing
  /// but the count; that is reckoned from the share of the parts that were searched.
  void scan_block(std::uint64_t first_line, bool piece) {
    base::Stopwatch watch;
    set_parts(piece);
    for (std::size_t i = parts_.size(); i-- > 0;) {
      Part& part = parts_[i];
      part.found.clear();
      Muted* const muted = i + 1 < parts_.size() ? &muted_.at(i) : nullptr;
      filter_.find(block_.substr(part.begin, part.end - part.begin), file_.kind, {muted, &tuning_},
                   part.found);
      for (Candidate& candidate : part.found.lines) {
        candidate.begin += static_cast<std::uint32_t>(part.begin);
        candidate.end += static_cast<std::uint32_t>(part.begin);
      }
      if (i > 0) mute_before(part, i - 1);
    }
    result_.filter_ns += watch.lap();
    user_text_.open(block_, first_line);
    line_number_ = first_line;
    line_counted_ = 0;
    for (Part& part : parts_) {
      dense_.narrow(block_, part.found);
      scan_candidates(part.found);
    }
    end_block();
    result_.confirm_ns += watch.lap();
  }

  struct Part {
    std::size_t begin = 0;  ///< offsets in the block
    std::size_t end = 0;
    Candidates found;
  };

  /// One part when there is nothing to mute.
  void set_parts(bool piece) {
    const bool whole = piece || dense_rules_.empty() || block_.size() < k_least_split;
    parts_.resize(whole ? 1 : k_parts);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].begin = 0;
      if (i > 0) {
        const std::size_t newline = block_.find('\n', block_.size() - k_part_sizes.at(i - 1));
        parts_[i].begin = newline == std::string_view::npos ? block_.size() : newline + 1;
        parts_[i - 1].end = parts_[i].begin;
      }
    }
    parts_.back().end = block_.size();
  }

  /// Mutes, in the part at `index`, the dense rules whose newest lines all lie behind it.
  void mute_before(const Part& part, std::size_t index) {
    std::unordered_map<std::uint32_t, std::size_t> seen;
    for (const Candidate& candidate : part.found.lines) {
      const std::string_view line = block_.substr(candidate.begin, candidate.end - candidate.begin);
      const std::span<const std::uint32_t> patterns = part.found.patterns(candidate);
      for (std::size_t at = 0, end = 0; at < patterns.size(); at = end) {
        end = end_of_owner(patterns, at);
        const LineRules::Pattern& pattern = rules_.patterns()[patterns[at]];
        if (pattern.use != LineRules::Use::rule || !states_[pattern.owner].dense) continue;
        std::size_t& count = seen[pattern.owner];
        if (count < k_last_kept && says(pattern.owner, patterns.subspan(at, end - at), line))
          ++count;
      }
    }
    for (const auto& [owner, count] : seen) {
      RuleState& state = states_[owner];
      if (count < k_last_kept || state.muted_until > 0) continue;
      state.muted_until = part.begin;
      muted_rules_.push_back(owner);
    }
    std::sort(muted_rules_.begin(), muted_rules_.end());
    // Mostly the same rules as in the block before: then nothing changes here.
    for (const std::uint32_t owner : flooding_)
      for (const std::uint32_t pattern : rules_.rules()[owner].patterns)
        muted_.at(index).set(pattern, states_[owner].muted_until > 0);
  }

  /// Whether the rule matches the line, whatever stands around it.
  bool says(std::uint32_t owner, std::span<const std::uint32_t> patterns,
            std::string_view line) const {
    const LineRules::LineRule& rule = rules_.rules()[owner];
    std::optional<std::string_view> message;
    const bool hit = std::any_of(patterns.begin(), patterns.end(), [&](std::uint32_t id) {
      const LazyPattern& regex = rules_.patterns()[id].regex;
      if (regex.matches(line)) return true;
      if (!regex.anchored()) return false;
      if (!message)
        message = line.substr(std::min(read_prefix(line, file_.kind).message, line.size()));
      return regex.matches(*message);
    });
    return hit && std::none_of(rule.unless.begin(), rule.unless.end(),
                               [&](const LazyPattern& p) { return p.matches(line); });
  }

  void end_block() {
    for (const std::uint32_t owner : muted_rules_) {
      RuleState& state = states_[owner];
      const std::size_t searched = block_.size() - state.muted_until;
      const std::uint64_t reckoned =
          state.in_block * state.muted_until / std::max<std::size_t>(searched, 1);
      if (state.flood != nullptr) state.flood->count += reckoned;
      state.in_block += reckoned;
      state.muted_until = 0;
    }
    muted_rules_.clear();
    dense_rules_.clear();
    for (const std::uint32_t owner : flooding_) {
      RuleState& state = states_[owner];
      state.dense = state.in_block * Window::k_block >= k_dense_from * block_.size() &&
                    state.in_block >= k_last_kept &&
                    rules_.rules()[owner].rule->role == rules::Role::context;
      if (state.dense) dense_rules_.push_back(owner);
      state.in_block = 0;
    }
    for (Group* group : unsettled_) settle(*group);
    unsettled_.clear();
  }

  void scan_candidates(const Candidates& candidates) {
    for (const Candidate& candidate : candidates.lines) {
      line_number_ += count_lines(block_.substr(line_counted_, candidate.begin - line_counted_));
      line_counted_ = candidate.begin;
      if (user_text_.hides(line_number_)) continue;
      take_line(candidate, candidates.patterns(candidate), line_number_);
    }
  }

  /// One candidate line while its rules are tried; the prefix is read when somebody asks.
  struct Line {
    std::string_view whole;   ///< as the file holds it (JSON lines: the decoded message)
    std::string_view masked;  ///< with user text blanked
    std::uint64_t number = 0;
    std::optional<LinePrefix> prefix;
  };

  const LinePrefix& prefix_of(Line& line, const Candidate& candidate) const {
    if (!line.prefix) line.prefix = stretch_.prefix_of(candidate);
    return *line.prefix;
  }

  std::string_view message_of(Line& line, const Candidate& candidate) const {
    return line.masked.substr(std::min(prefix_of(line, candidate).message, line.masked.size()));
  }

  void take_line(const Candidate& candidate, std::span<const std::uint32_t> patterns,
                 std::uint64_t number) {
    Line line;
    line.whole = stretch_.text_of(candidate);
    line.number = number;
    std::string masked;
    line.masked = user_text_.mask(candidate, patterns, number, masked);
    bool matched = false;
    const LineRules::Pattern* error_like = nullptr;
    // The patterns of one rule stand together: those that the line may match are tried, no others.
    for (std::size_t at = 0; at < patterns.size();) {
      const LineRules::Pattern& pattern = rules_.patterns()[patterns[at]];
      const std::size_t end = end_of_owner(patterns, at);
      if (pattern.use == LineRules::Use::error_like) error_like = &pattern;
      if (pattern.use == LineRules::Use::rule)
        matched =
            match_rule(pattern.owner, patterns.subspan(at, end - at), candidate, line) || matched;
      at = end;
    }
    if (error_like == nullptr || matched || unmatched_.full()) return;
    const bool explained =
        std::any_of(muted_rules_.begin(), muted_rules_.end(), [&](std::uint32_t owner) {
          return says(owner, rules_.rules()[owner].patterns, line.masked);
        });
    if (explained || !reads_as_error(*error_like, line, candidate)) return;
    const std::string_view message = message_of(line, candidate);
    unmatched_.add(message.empty() ? line.masked : message, number);
  }

  /// The filter knows words without their case, and a logger says itself when a line is harmless.
  bool reads_as_error(const LineRules::Pattern& words, Line& line,
                      const Candidate& candidate) const {
    const std::string& level = prefix_of(line, candidate).level;
    return level != "info" && level != "debug" && level != "trace" &&
           words.regex.matches(line.masked);
  }

  [[nodiscard]] std::size_t end_of_owner(std::span<const std::uint32_t> patterns,
                                         std::size_t at) const {
    const LineRules::Pattern& first = rules_.patterns()[patterns[at]];
    for (++at; at < patterns.size(); ++at) {
      const LineRules::Pattern& next = rules_.patterns()[patterns[at]];
      if (next.use != first.use || next.owner != first.owner) break;
    }
    return at;
  }

  bool match_rule(std::uint32_t owner, std::span<const std::uint32_t> patterns,
                  const Candidate& candidate, Line& line) {
    const LineRules::LineRule& rule = rules_.rules()[owner];
    Flood* flood = flood_of(owner, rule);
    std::map<std::string, std::string> captures;
    const auto try_on = [&](const LazyPattern& regex, std::string_view text) {
      return flood != nullptr ? regex.matches(text) : regex.capture(text, captures);
    };
    const bool hit = std::any_of(patterns.begin(), patterns.end(), [&](std::uint32_t id) {
      const LazyPattern& regex = rules_.patterns()[id].regex;
      if (!regex.anchored()) return try_on(regex, line.masked);
      const std::string_view message = message_of(line, candidate);
      return try_on(regex, message) ||
             (message.size() < line.masked.size() && try_on(regex, line.masked));
    });
    if (!hit) return false;
    for (const LazyPattern& unless : rule.unless)
      if (unless.matches(line.masked)) return false;
    if (rule.rule->role != rules::Role::context && is_source_line(candidate)) return false;
    ++states_[owner].in_block;
    if (flood != nullptr) {
      flood->add(line.whole, line.masked, line.number,
                 window_.file_offset(stretch_.begin_in_window(candidate)), stamps_.before_stretch(),
                 stamps_.last());
      return true;
    }
    if (!rule.continued.empty() && !continue_sequence(rule, candidate, line.masked, captures))
      return false;
    const std::string_view message = message_of(line, candidate);
    emit(owner, rule, candidate, message.empty() ? line.masked : message,
         prefix_of(line, candidate), line.number, std::move(captures));
    return true;
  }

  /// A Python traceback shows the source under `File "...", line N, in f`: what it quotes there
  /// (`raise ValueError("No available memory ...")`) is not what happened.
  bool is_source_line(const Candidate& candidate) const {
    constexpr int k_most_lines = 4;  // of one statement
    constexpr std::string_view k_file = "File \"";
    const std::size_t begin = stretch_.begin_in_window(candidate);
    const std::string_view line = stretch_.text_of(candidate);
    std::size_t at = begin;
    for (int i = 0; i < k_most_lines; ++i) {
      const auto before = window_.line_before(at, begin);
      if (!before) return false;
      const std::size_t column = before->text.substr(0, 400).find(k_file);
      if (column != std::string_view::npos &&
          before->text.find("\", line ", column) != std::string_view::npos)
        return line.size() > column + 2 && line.substr(column, 2) == "  ";
      at = before->begin;
    }
    return false;
  }

  /// The flood of a rule that has had its full allowance of this file; nullptr before.
  Flood* flood_of(std::uint32_t owner, const LineRules::LineRule& rule) {
    RuleState& state = states_[owner];
    const bool informs = rule.rule->role == rules::Role::context;
    if (rule.needs_every_match || state.matches < (informs ? k_context_flood_from : k_flood_from))
      return nullptr;
    if (state.flood == nullptr) {
      state.flood = std::make_unique<Flood>();
      flooding_.push_back(owner);
    }
    return state.flood.get();
  }

  /// The following lines of a `sequence`; `#012` (rsyslog's join of printk lines) counts as a line
  /// end.
  bool continue_sequence(const LineRules::LineRule& rule, const Candidate& candidate,
                         std::string_view line, std::map<std::string, std::string>& captures) {
    std::vector<std::string_view> following;
    std::deque<std::string> plain;  // what `following` may point into
    const auto add_parts = [&](std::string_view text, bool skip_first) {
      std::size_t at = 0;
      for (bool first = true;; first = false) {
        const std::size_t end = text.find("#012", at);
        if (!(first && skip_first)) following.push_back(text.substr(at, end - at));
        if (end == std::string_view::npos) return;
        at = end + 4;
      }
    };
    add_parts(line, true);
    const std::size_t wanted =
        rule.continued.size() * (static_cast<std::size_t>(rule.rule->gap) + 1);
    for (const std::string_view next :
         window_.lines_after(stretch_.end_in_window(candidate), wanted))
      add_parts(stretch_.searched(next, plain.emplace_back()), false);
    std::size_t at = 0;
    for (const LazyPattern& pattern : rule.continued) {
      const std::size_t limit =
          std::min(following.size(), at + static_cast<std::size_t>(rule.rule->gap) + 1);
      while (at < limit && !pattern.capture(following[at], captures)) ++at;
      if (at >= limit) return false;
      ++at;
    }
    return true;
  }

  /// `begin` and `end` of the line in the window's buffer.
  std::vector<bool> near_conditions(const LineRules::LineRule& rule, std::size_t begin,
                                    std::size_t end) const {
    std::vector<bool> holds;
    for (std::size_t i = 0; i < rule.near.size(); ++i) {
      const rules::Near& near = rule.near_spec[i];
      const auto count = static_cast<std::size_t>(std::clamp(near.lines, 1, 200));
      std::vector<std::string_view> lines;
      if (near.side != rules::Near::Side::after) lines = window_.lines_before(begin, count);
      if (near.side != rules::Near::Side::before)
        for (const std::string_view line : window_.lines_after(end, count)) lines.push_back(line);
      std::string plain;
      holds.push_back(std::any_of(lines.begin(), lines.end(), [&](std::string_view raw) {
        const std::string_view line = stretch_.searched(raw, plain);
        return std::any_of(rule.near[i].begin(), rule.near[i].end(),
                           [&](const LazyPattern& p) { return p.matches(line); });
      }));
    }
    return holds;
  }

  void emit(std::uint32_t owner, const LineRules::LineRule& rule, const Candidate& candidate,
            std::string_view text, const LinePrefix& prefix, std::uint64_t number,
            std::map<std::string, std::string> captures) {
    Observation observation;
    observation.rule = rule.rule;
    observation.file = index_;
    observation.line = static_cast<std::uint32_t>(std::min<std::uint64_t>(number, UINT32_MAX));
    observation.offset = window_.file_offset(stretch_.begin_in_window(candidate));
    observation.text = std::string(text.substr(0, k_text_kept));
    observation.place = prefix.place;
    observation.stamp = prefix.stamp;
    observation.captures = std::move(captures);
    ++states_[owner].matches;
    stamps_.note(prefix);
    if (observation.stamp) stamps_.know(observation.offset, observation.stamp);
    keep(owner, std::move(observation), rule, candidate);
  }

  /// First 32, last 8 and the count, for each rule and what its captures say of Xid and GPU; equal
  /// lines fold into one.
  void keep(std::uint32_t owner, Observation observation, const LineRules::LineRule& rule,
            const Candidate& candidate) {
    std::string key = std::to_string(owner);
    for (const char* name : {"xid", "sxid", "pci"})
      if (const auto it = observation.captures.find(name); it != observation.captures.end())
        key += '|' + it->second;
    auto& by_key = groups_;
    if (by_key.find(key) == by_key.end() && ++groups_of_rule_[owner] > k_groups_per_rule)
      key = std::to_string(owner);
    Group& group = by_key[key];
    const std::string fold = key + '\n' + observation.place.rank + '\n' + observation.place.pid +
                             '\n' + observation.text;
    if (const auto it = folded_.find(fold); it != folded_.end()) {
      Observation& first = result_.observations[it->second];
      ++first.count;
      first.last_line = observation.line;
      last_stamp_of_fold_[it->second] =
          observation.stamp ? observation.stamp : stamps_.before(candidate);
      return;
    }
    const bool keep_first = group.first.size() < k_first_kept;
    if (!observation.stamp) stamps_.borrow(observation, candidate);
    const std::size_t begin = stretch_.begin_in_window(candidate);
    const std::size_t end = stretch_.end_in_window(candidate);
    if (keep_first) {
      observation.near_holds = near_conditions(rule, begin, end);
      if (folded_.size() < k_most_folds) folded_.emplace(fold, result_.observations.size());
      group.first.push_back(result_.observations.size());
      result_.observations.push_back(std::move(observation));
      return;
    }
    if (group.last.empty() || group.last.back().settled) unsettled_.push_back(&group);
    group.last.push_back({std::move(observation), begin, end, false});
    group.rule = &rule;
    if (group.last.size() > k_last_kept) {
      group.last.pop_front();
      ++group.dropped;
    }
  }

  void settle(Group& group) const {
    for (Group::Late& late : group.last) {
      if (late.settled) continue;
      late.observation.near_holds = near_conditions(*group.rule, late.begin, late.end);
      late.settled = true;
    }
  }

  void finish() {
    result_.first = stamps_.first();
    result_.last = stamps_.last();
    result_.hosts = stamps_.hosts();
    result_.unmatched = unmatched_.take();
    for (const auto& [index, stamp] : last_stamp_of_fold_)
      result_.observations[index].last_stamp = stamp;
    for (auto& [key, group] : groups_) {
      if (group.dropped > 0) result_.observations[group.first.back()].count += group.dropped;
      for (Group::Late& late : group.last)
        result_.observations.push_back(std::move(late.observation));
    }
    std::sort(flooding_.begin(), flooding_.end());
    for (const std::uint32_t owner : flooding_) finish_flood(owner, *states_[owner].flood);
    std::stable_sort(result_.observations.begin(), result_.observations.end(),
                     [](const Observation& a, const Observation& b) { return a.line < b.line; });
  }

  void finish_flood(std::uint32_t owner, Flood& flood) {
    const LineRules::LineRule& rule = rules_.rules()[owner];
    for (const Flood::Kept& kept : flood.newest) {
      Observation o;
      o.rule = rule.rule;
      o.file = index_;
      o.line = static_cast<std::uint32_t>(std::min<std::uint64_t>(kept.number, UINT32_MAX));
      o.offset = kept.offset;
      const LinePrefix prefix = read_prefix(kept.whole, file_.kind);
      const std::string_view masked = kept.masked;
      const std::string_view message = masked.substr(std::min(prefix.message, masked.size()));
      o.text = std::string(message.empty() ? masked : message);
      const bool matches =
          std::any_of(rule.patterns.begin(), rule.patterns.end(), [&](std::uint32_t id) {
            const LazyPattern& regex = rules_.patterns()[id].regex;
            return regex.capture(message, o.captures) || regex.capture(masked, o.captures);
          });
      const bool refused = std::any_of(rule.unless.begin(), rule.unless.end(),
                                       [&](const LazyPattern& p) { return p.matches(masked); });
      if (!matches || refused) continue;
      o.place = prefix.place;
      o.stamp = prefix.stamp;
      if (!o.stamp) {
        o.stamp = kept.before ? kept.before : stamps_.first();
        o.stamp_is_own = false;
        o.next_stamp = kept.after;
        o.next_line = o.line;
      }
      result_.observations.push_back(std::move(o));
    }
    // The matches between the first and the newest are in the count of the last of the first.
    const std::uint64_t between = flood.count - flood.newest.size();
    for (auto it = result_.observations.rbegin(); between > 0 && it != result_.observations.rend();
         ++it) {
      const bool newest = it->line >= flood.start();
      if (it->rule != rule.rule || newest) continue;
      it->count += between;
      break;
    }
  }

  const LineRules& rules_;
  LineFilter& filter_;
  const bundle::EvidenceFile& file_;
  std::uint32_t index_;
  derive::LineMeter* meter_;
  Window& window_;
  Stretch stretch_;
  StreamStamps stamps_;
  UserTextMask user_text_;
  UnmatchedLines unmatched_;
  std::string_view block_;                  ///< what is searched of the stretch
  std::vector<RuleState> states_;           ///< by rule
  std::vector<std::uint32_t> flooding_;     ///< rules with a flood
  std::vector<std::uint32_t> dense_rules_;  ///< of those, which may be muted in the next block
  std::vector<std::uint32_t> muted_rules_;  ///< in some part of this block
  std::array<Muted, k_parts - 1> muted_;    ///< their patterns, for each part but the last
  Tuning tuning_;
  DenseConfirm dense_;
  std::vector<Part> parts_;
  std::uint64_t line_number_ = 0;  ///< of the line at `line_counted_`
  std::size_t line_counted_ = 0;   ///< offset in the block
  std::vector<Group*> unsettled_;  ///< with lines of this block among the newest
  std::map<std::string, Group> groups_;
  std::unordered_map<std::uint32_t, std::size_t> groups_of_rule_;
  std::unordered_map<std::string, std::size_t> folded_;
  std::map<std::size_t, std::optional<evidence::Stamp>> last_stamp_of_fold_;
  ScanResult result_;
};

}  // namespace

ScanResult Scanner::scan(const bundle::EvidenceFile& file, std::uint32_t file_index,
                         bundle::ByteStream& stream, derive::LineMeter* meter,
                         std::uint64_t first_line) {
  Window window(stream, first_line, memory_);
  return FileScan(rules_, filter_, file, file_index, meter, window).run();
}

}  // namespace triage::analysis

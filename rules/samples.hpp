#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.hpp"

namespace triage::rules {

struct SampleResult {
  bool must_match = true;
  bool passed = false;
  SourcePlace place;
  std::string shown;   ///< the sample, on one line
  std::string reason;  ///< why it failed
};

/// Runs the samples of one rule. `when` samples name rules of `rules`, whose class, cause, tags and
/// role stand for the observation; keys of a sample's observation may set them (`class`, `cause`,
/// `tag`, `role`), its places and captures, its moment (`at: 5m`) and `kind` (evidence that is
/// there).
[[nodiscard]] std::vector<SampleResult> test_samples(const Rule& rule, const RuleSet& rules);

/// Matches the patterns of a `sequence` against lines, in order, at most `gap` foreign lines
/// between two. The index of the first line or nothing. `captures` are merged.
[[nodiscard]] std::optional<std::size_t> match_sequence(
    const Rule& rule, const std::vector<std::string_view>& lines,
    std::map<std::string, std::string>* captures);

/// Whether the line satisfies a `match` rule (a pattern, and no `unless`); captures of the pattern.
[[nodiscard]] bool match_line(const Rule& rule, std::string_view line,
                              std::map<std::string, std::string>* captures);

/// Patterns of a `match` rule that no sample needs: nobody would notice if they broke.
[[nodiscard]] std::vector<std::string> unsampled_patterns(const Rule& rule);

}  // namespace triage::rules

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.hpp"

namespace triage::rules {

/// Literals of which a line must hold at least one for the pattern to match it: what a scanner
/// looks for before it tries the pattern. Lower case (comparison ignores ASCII case). Among the
/// clauses that the pattern requires, the one of the longest and rarest literals is taken. Empty:
/// the pattern requires no literal of `k_least_literal` bytes.
[[nodiscard]] std::vector<std::string> required_literals(const std::string& pattern);

/// Shorter literals are found everywhere; a pattern without a longer one is refused by the linter.
inline constexpr std::size_t k_least_literal = 4;
/// Shorter ones slow every scan down: warned about.
inline constexpr std::size_t k_good_literal = 6;

/// How common a byte sequence of four (lower case) is in ordinary logs: 0 is rare. A coarse model
/// from the letters and words that every log is full of, not trained on any one log.
[[nodiscard]] int commonness(std::string_view window);

/// Fills `rules.literals` for every pattern that a scanner looks for: done when packs are compiled,
/// since it takes longer than a small analysis.
void add_literals(RuleSet& rules);

}  // namespace triage::rules

#include "rules/literals.hpp"

#include <re2/filtered_re2.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <numeric>

#include "base/pattern_literals.hpp"
#include "base/pattern_tree.hpp"
#include "rules/ordinary_lines.hpp"

namespace triage::rules {
namespace {

using Literals = std::vector<std::string>;

/// More alternatives than these are no fixed text any more.
constexpr std::size_t k_most_literals = 96;

/// One of 64 Ki slots: two windows may share one, which only makes a rare one look common.
std::size_t slot_of(std::string_view window) {
  std::uint32_t word = 0;
  std::memcpy(&word, window.data(), sizeof word);
  return word * 0x9E3779B1U >> 16U;
}

using WindowSet = std::bitset<1U << 16U>;

const WindowSet& ordinary_windows() {
  static const WindowSet windows = [] {
    WindowSet all;
    for (const std::string_view line : k_ordinary_lines)
      for (std::size_t i = 0; i + 4 <= line.size(); ++i) all.set(slot_of(line.substr(i, 4)));
    return all;
  }();
  return windows;
}

constexpr std::array<std::uint8_t, 256> k_letter_scores = [] {
  std::array<std::uint8_t, 256> scores{};
  scores.fill(1);
  for (const char c : std::string_view("etaoinsr ")) scores[static_cast<unsigned char>(c)] = 6;
  for (const char c : std::string_view("0123456789.:-=_/"))
    scores[static_cast<unsigned char>(c)] = 8;
  for (const char c : std::string_view("lcdumpgf")) scores[static_cast<unsigned char>(c)] = 4;
  return scores;
}();

/// What looking for the literal costs a scan: how many kinds of ordinary lines hold it, and whether
/// it is so short that all text must be probed more densely for it.
long cost_of(const std::string& literal) {
  long cost = 2;
  for (const std::string_view line : k_ordinary_lines)
    if (line.find(literal) != std::string_view::npos) cost += 1000;
  if (literal.size() == 4) cost += 12000;
  if (literal.size() == 5) cost += 6000;
  if (literal.size() == 6) cost += 400;
  int rarest = 1000;
  for (std::size_t i = 0; i + 4 <= literal.size(); ++i)
    rarest = std::min(rarest, commonness(std::string_view(literal).substr(i, 4)));
  return cost + rarest;
}

/// Whether the pattern may match a line that holds just these atoms.
bool may_match(const re2::FilteredRE2& filtered, const std::vector<bool>& present) {
  std::vector<int> atoms;
  for (std::size_t i = 0; i < present.size(); ++i)
    if (present[i]) atoms.push_back(static_cast<int>(i));
  std::vector<int> potentials;
  filtered.AllPotentials(atoms, &potentials);
  return !potentials.empty();
}

/// For what is not read by pattern_tree: RE2's own atoms.
Literals by_re2(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  re2::FilteredRE2 filtered(static_cast<int>(k_least_literal));
  int id = 0;
  if (filtered.Add(pattern, options, &id) != re2::RE2::NoError) return {};
  std::vector<std::string> atoms;
  filtered.Compile(&atoms);
  if (atoms.empty()) return {};
  // Every atom, then drop what the clause does not need, the costliest first: what stays is a
  // clause of which one literal must be in the line.
  std::vector<bool> in_clause(atoms.size(), true);
  const std::vector<bool> absent(atoms.size(), false);
  if (may_match(filtered, absent)) return {};
  std::vector<std::size_t> order(atoms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cost_of(atoms[a]) > cost_of(atoms[b]);
  });
  for (const std::size_t candidate : order) {
    in_clause[candidate] = false;
    std::vector<bool> outside(atoms.size());
    for (std::size_t i = 0; i < atoms.size(); ++i) outside[i] = !in_clause[i];
    if (may_match(filtered, outside)) in_clause[candidate] = true;
  }
  Literals clause;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    if (in_clause[i]) clause.push_back(atoms[i]);
  return clause;
}

}  // namespace

int commonness(std::string_view window) {
  if (window.size() != 4) return 60;
  if (ordinary_windows()[slot_of(window)]) return 60;
  int score = 0;
  for (const char c : window) score += k_letter_scores[static_cast<unsigned char>(c)];
  return score;
}

std::vector<std::string> required_literals(const std::string& pattern) {
  if (const auto tree = base::read_pattern(pattern)) {
    Literals literals = base::required_literals(*tree, {k_least_literal, k_most_literals, cost_of});
    if (!literals.empty()) return literals;
  }
  return by_re2(pattern);
}

void add_literals(RuleSet& rules) {
  const auto add = [&](const std::string& pattern) {
    if (rules.literals.count(pattern) == 0)
      rules.literals.emplace(pattern, required_literals(pattern));
  };
  for (const Rule& rule : rules.rules) {
    if (rule.patterns.empty()) continue;
    // A sequence is found by its first pattern.
    const std::size_t looked_for =
        rule.matcher == Rule::Matcher::sequence ? 1 : rule.patterns.size();
    for (std::size_t i = 0; i < looked_for; ++i) add(rule.patterns[i]);
  }
  for (const evidence::UserTextSpan& span : rules.user_text) add(span.start);
}

}  // namespace triage::rules

#include "rules/literals.hpp"

#include <re2/filtered_re2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace triage::rules {
namespace {

/// Whether the pattern may match a line that holds just these atoms.
bool may_match(const re2::FilteredRE2& filtered, const std::vector<bool>& present) {
  std::vector<int> atoms;
  for (std::size_t i = 0; i < present.size(); ++i)
    if (present[i]) atoms.push_back(static_cast<int>(i));
  std::vector<int> potentials;
  filtered.AllPotentials(atoms, &potentials);
  return !potentials.empty();
}

/// Worth of a literal to a scanner: long and rare is good.
int worth(const std::string& literal) {
  int rarest = 1000;
  for (std::size_t i = 0; i + 4 <= literal.size(); ++i)
    rarest = std::min(rarest, commonness(std::string_view(literal).substr(i, 4)));
  const int length = static_cast<int>(std::min<std::size_t>(literal.size(), 12));
  return length * 10 - rarest + (literal.size() >= k_good_literal ? 50 : 0);
}

/// Words that ordinary logs are full of; every window of them is common.
constexpr std::array<std::string_view, 64> k_common_words{
    "info",     "error",     "warning", " the ",   "request",   "response",   "http",   " from ",
    "with",     "time",      "start",   "started", "complete",  "connection", "server", "client",
    "worker",   "process",   "thread",  "model",   "memory",    "gpu ",       "cuda",   "device",
    "running",  "waiting",   "cache",   "token",   "prompt",    "throughput", "engine", "python",
    "/usr/lib", "kernel",    "init",    "load",    "file",      "line",       "failed", "fail",
    "message",  "container", "pod",     "node",    "status",    "200 ok",     "post /", "get /",
    "health",   "metric",    "timeout", "version", "nccl info", "channel",    "rank",   "using",
    "number",   "set ",      "data",    "vllm",    "torch",     "name",       "type",   "level"};

std::uint32_t packed(std::string_view window) {
  std::uint32_t word = 0;
  std::memcpy(&word, window.data(), sizeof word);
  return word;
}

/// Sorted, so that a look-up costs a few comparisons.
const std::vector<std::uint32_t>& common_windows() {
  static const std::vector<std::uint32_t> windows = [] {
    std::vector<std::uint32_t> all;
    for (const std::string_view word : k_common_words)
      for (std::size_t i = 0; i + 4 <= word.size(); ++i) all.push_back(packed(word.substr(i, 4)));
    std::sort(all.begin(), all.end());
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

}  // namespace

int commonness(std::string_view window) {
  if (window.size() != 4) return 60;
  if (std::binary_search(common_windows().begin(), common_windows().end(), packed(window)))
    return 60;
  int score = 0;
  for (const char c : window) score += k_letter_scores[static_cast<unsigned char>(c)];
  return score;
}

std::vector<std::string> required_literals(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  re2::FilteredRE2 filtered(static_cast<int>(k_least_literal));
  int id = 0;
  if (filtered.Add(pattern, options, &id) != re2::RE2::NoError) return {};
  std::vector<std::string> atoms;
  filtered.Compile(&atoms);
  if (atoms.empty()) return {};
  // Every atom, then drop what the clause does not need, the least worthy first: what stays is a
  // clause of which one literal must be in the line.
  std::vector<bool> in_clause(atoms.size(), true);
  std::vector<bool> absent(atoms.size(), false);
  if (may_match(filtered, absent)) return {};
  std::vector<std::size_t> order(atoms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth(atoms[a]) < worth(atoms[b]); });
  for (const std::size_t candidate : order) {
    in_clause[candidate] = false;
    std::vector<bool> outside(atoms.size());
    for (std::size_t i = 0; i < atoms.size(); ++i) outside[i] = !in_clause[i];
    if (may_match(filtered, outside)) in_clause[candidate] = true;
  }
  std::vector<std::string> clause;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    if (in_clause[i]) clause.push_back(atoms[i]);
  return clause;
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

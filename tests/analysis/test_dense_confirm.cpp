#include <doctest/doctest.h>

#include <set>
#include <string>

#include "analysis/dense_confirm.hpp"
#include "rules/loader.hpp"

using namespace triage;
using evidence::Kind;

namespace {

using Hits = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // pattern, offset of the line

Hits matches(const analysis::LineRules& rules, std::string_view block,
             const analysis::Candidates& found) {
  Hits hits;
  for (const analysis::Candidate& line : found.lines)
    for (const std::uint32_t id : found.patterns(line))
      if (rules.patterns()[id].regex.matches(block.substr(line.begin, line.end - line.begin)))
        hits.emplace(id, line.begin);
  return hits;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t k_storm = 600;  // patterns compile slowly there
#else
constexpr std::size_t k_storm = 3000;
#endif

/// The samples of all rules, again and again.
std::string storm(const rules::RuleSet& set, std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines;)
    for (const rules::Rule& rule : set.rules)
      for (const rules::Sample& sample : rule.samples_match)
        if (!sample.lines.empty() && i++ < lines) text += sample.lines + "\n";
  return text;
}

}  // namespace

TEST_CASE("dense confirm: of a storm only what does not match is taken away") {
  const rules::RuleSet& set = rules::built_in_rules();
  const analysis::LineRules rules(set);
  const auto filter = analysis::make_literal_filter(rules);
  analysis::DenseConfirm dense(rules);
  for (const std::size_t lines : {std::size_t{100}, k_storm, k_storm + 50}) {
    const std::string text = storm(set, lines);
    analysis::Candidates found;
    filter->find(text, Kind::unknown_text, {}, found);
    const Hits before = matches(rules, text, found);
    const std::size_t asked = found.pool.size();
    dense.narrow(text, found);
    CHECK(matches(rules, text, found) == before);
    // A block of few lines is not worth it.
    if (lines >= k_storm)
      CHECK(found.pool.size() < asked);
    else
      CHECK(found.pool.size() == asked);
  }
}

TEST_CASE("dense confirm: a very long line is asked once for all patterns") {
  rules::RuleSet set;
  for (const std::string pattern :
       {"alpha [0-9]+ is gone", "alpha [a-z]+ is gone", "^anchored text"}) {
    rules::Rule rule;
    rule.id = "rule-" + std::to_string(set.rules.size());
    rule.patterns = {pattern};
    rule.evidence = {Kind::container_log};
    set.rules.push_back(rule);
  }
  const analysis::LineRules rules(set);
  const auto filter = analysis::make_literal_filter(rules);
  const std::string text = "[x] anchored text " + std::string(300'000, '.') + "alpha 42 is gone\n";
  analysis::Candidates found;
  filter->find(text, Kind::container_log, {}, found);
  REQUIRE(found.lines.size() == 1);
  REQUIRE(found.lines[0].count == 3);
  analysis::DenseConfirm(rules).narrow(text, found);
  REQUIRE(found.lines.size() == 1);
  const auto left = found.patterns(found.lines[0]);
  // The anchored one is for the message behind the prefix, which the set does not see.
  CHECK(std::vector<std::uint32_t>(left.begin(), left.end()) == std::vector<std::uint32_t>{0, 2});
}

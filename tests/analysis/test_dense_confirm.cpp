#include <doctest/doctest.h>

#include <set>
#include <string>
#include <tuple>

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

/// The first samples of some rules, again and again.
std::string storm(const rules::RuleSet& set, std::size_t kinds, std::size_t lines) {
  std::vector<std::string> samples;
  for (const rules::Rule& rule : set.rules)
    if (samples.size() < kinds && !rule.samples->match.empty() &&
        !rule.samples->match.front().lines.empty())
      samples.push_back(rule.samples->match.front().lines);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += samples[i % samples.size()] + "\n";
  return text;
}

}  // namespace

TEST_CASE("dense confirm: of a storm only what does not match is taken away") {
  const rules::RuleSet& set = rules::built_in_rules();
  const analysis::LineRules rules(set);
  const auto filter = analysis::make_literal_filter(rules);
  // A block of few lines is not worth it, and of too many patterns no set is made.
  for (const auto& [kinds, lines, may_pay] : {std::tuple{std::size_t{12}, std::size_t{100}, false},
                                              {12, 1200, true},
                                              {400, 1200, false}}) {
    analysis::DenseConfirm dense(rules);
    for (int block = 0; block < 2; ++block) {
      const std::string text = storm(set, kinds, lines);
      analysis::Candidates found;
      filter->find(text, Kind::unknown_text, {}, found);
      const Hits before = matches(rules, text, found);
      const std::size_t asked = found.pool.size();
      dense.narrow(text, found);
      CHECK(matches(rules, text, found) == before);
      // Where it may pay the clock decides, so that a slow machine may give up.
      CHECK(found.pool.size() <= asked);
      if (!may_pay) CHECK(found.pool.size() == asked);
    }
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

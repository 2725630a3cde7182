#include <doctest/doctest.h>
#include <re2/re2.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "rules/literals.hpp"
#include "rules/loader.hpp"

using namespace triage;
using Literals = std::vector<std::string>;

namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text;
}

bool holds_one(const std::string& text, const Literals& literals) {
  const std::string folded = lower(text);
  return std::any_of(literals.begin(), literals.end(), [&](const std::string& literal) {
    return folded.find(literal) != std::string::npos;
  });
}

re2::RE2::Options latin1() {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

}  // namespace

TEST_CASE("literals: of what a pattern requires the part that ordinary logs lack is looked for") {
  CHECK(rules::required_literals(R"("POST \S+ HTTP/1\.[01]" 50[34])") ==
        Literals{" http/1.0\" 50", " http/1.1\" 50"});
  CHECK(rules::required_literals(R"(KV cache usage: \d+%, preemption storm)") ==
        Literals{"%, preemption storm"});
  CHECK(rules::required_literals("(?i)Request .* zebra") == Literals{" zebra"});
  CHECK(rules::required_literals("(?:left|right) turn|no way out") ==
        Literals{"left turn", "no way out", "right turn"});
}

TEST_CASE("literals: optional parts, classes and assertions require nothing") {
  CHECK(rules::required_literals("(?:maybe this)?").empty());
  CHECK(rules::required_literals("[a-z]+ [0-9]*").empty());
  CHECK(rules::required_literals("(?:fixed text)*|other text").empty());
  CHECK(rules::required_literals("^foo\\b bar$") == Literals{"foo bar"});
  CHECK(rules::required_literals("abc{3}def") == Literals{"abcccdef"});
  CHECK(rules::required_literals("x[^a]long tail") == Literals{"long tail"});
}

TEST_CASE("literals: what the reader of patterns does not know falls back on RE2's own atoms") {
  CHECK_FALSE(rules::required_literals("[[:alpha:]]+ fixed tail").empty());
}

TEST_CASE("literals: every sample that a built-in pattern matches holds one of its literals") {
  std::size_t matched = 0;
  const rules::RuleSet& set = rules::built_in_rules();
  std::vector<std::string> lines;
  for (const rules::Rule& rule : set.rules)
    for (const rules::Sample& sample : rule.samples->match)
      if (!sample.lines.empty()) lines.push_back(sample.lines);
  for (const auto& [pattern, literals] : set.literals) {
    if (literals.empty()) continue;
    const re2::RE2 regex(pattern, latin1());
    for (const std::string& line : lines) {
      if (holds_one(line, literals) || !re2::RE2::PartialMatch(line, regex)) continue;
      FAIL_CHECK(pattern << " matches " << line);
    }
    matched += literals.size();
  }
  CHECK(matched > 1000);
}

TEST_CASE("literals: a text that a random pattern matches holds one of its literals") {
  const std::vector<std::string> pieces{
      "alpha",  "be ta", "[ab]", "\\d+",  "(?:gam|del)", "ma?", "(x|yz){2}", ".*",
      "\\.",    "\\[",   "|",    "ERR",   "[^q]",        "\\s", "(?i)Om",    "\\x41",
      "e{2,3}", "$",     "\\b",  "[A-C]", "(?P<n>id)",   "\\w", "(?:)",      "Q+?"};
  const std::vector<std::string> texts{"alpha", "be ta", "a",  "b",   "7",  "gam", "del", "m",
                                       "ma",    "x",     "yz", "yzx", ".",  "[",   "ERR", "err",
                                       "om",    "A",     "ee", "c",   "id", "Q",   " ",   "QQ"};
  std::mt19937 random(20250603);
  std::size_t matched = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string pattern;
    for (std::size_t i = 0, n = 1 + random() % 7; i < n; ++i)
      pattern += pieces[random() % pieces.size()];
    const re2::RE2 regex(pattern, latin1());
    if (!regex.ok()) continue;
    const Literals literals = rules::required_literals(pattern);
    if (literals.empty()) continue;
    for (int t = 0; t < 60; ++t) {
      std::string text;
      for (std::size_t i = 0, n = 1 + random() % 9; i < n; ++i)
        text += texts[random() % texts.size()];
      if (!re2::RE2::PartialMatch(text, regex)) continue;
      ++matched;
      CHECK_MESSAGE(holds_one(text, literals), pattern << " matches " << text);
    }
  }
  CHECK(matched > 100);
}

#include <doctest/doctest.h>

#include <re2/re2.h>

#include "rules/loader.hpp"
#include "rules/pack_reader.hpp"
#include "rules/patterns.hpp"
#include "rules/samples.hpp"
#include "rules/skeleton.hpp"
#include "rules/yaml_writer.hpp"

using namespace triage::rules;

namespace {

void forget_places(Rule& rule) {
  rule.place = {};
  rule.pack.clear();
  rule.overridden.clear();
  for (Sample& sample : rule.samples.edit().match) sample.place = {};
  for (Sample& sample : rule.samples.edit().reject) sample.place = {};
}

}  // namespace

TEST_CASE("yaml writer: every built-in rule that is shown reads back as the same rule") {
  for (const Rule& rule : built_in_rules().rules) {
    CAPTURE(rule.id);
    const std::string yaml = "pack: p\nrules:\n" + to_yaml(rule);
    CAPTURE(yaml);
    const Pack pack = read_pack(yaml, "p.yaml");
    for (const Diagnostic& d : pack.diagnostics) FAIL_CHECK(d.to_string());
    REQUIRE(pack.rules.size() == 1);
    Rule expected = rule;
    Rule actual = pack.rules.front();
    forget_places(expected);
    forget_places(actual);
    CHECK(actual == expected);
  }
}

TEST_CASE("yaml writer: hostile texts come back as they were") {
  for (const std::string text :
       {"no",           "on",        "012",      "1:30",        "null",     "~",   "a: b",
        "# no comment", "it's",      "a\nb",     "\ttab",       "-",        "- a", "[x]",
        "{x}",          "*a",        "&a",       "!t",          "%d",       "@x",  "`x`",
        "\x01",         "trailing ", " leading", "back\\slash", "quote\"s", "ü"}) {
    CAPTURE(text);
    const Pack pack =
        read_pack("pack: p\nrules:\n  - {id: a, title: " + yaml_scalar(text) + "}\n", "p.yaml");
    REQUIRE(pack.rules.size() == 1);
    CHECK(pack.rules[0].title == text);
  }
}

TEST_CASE("skeleton: the proposed pattern captures what changes and matches its own line") {
  struct Case {
    const char* line;
    const char* pattern;
  };
  const Case cases[] = {
      {"mydrv 0000:3b:00.0: lost link 3 after 12 retries",
       R"(mydrv (?P<pci>[0-9a-fA-F:.]+): lost link (?P<link>\d+) after \d+ retries)"},
      {"worker pid=4711 rank 3 needs 594.00 MiB",
       R"(worker pid=(?P<pid>\d+) rank (?P<rank>\d+) needs (?P<bytes>[\d.]+ ?[KMGT]i?B))"},
      {"code 0x1f at 10.2.3.4:8000 (v1.2.3)",
       R"(code 0x[0-9a-fA-F]+ at (?P<host>[\d.:]+) \(v1\.2\.3\))"},
      {"H100 bf16 kernel gave up", "H100 bf16 kernel gave up"},
      {"cannot open /data/models/llama/shard-1.safetensors", R"(cannot open (?P<path>/[^\s'":]+))"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.line));
    CHECK(propose_pattern(c.line) == c.pattern);
  }
}

TEST_CASE("skeleton: for every sample of the built-in rules it makes a sound pack") {
  std::vector<std::string> lines;
  for (const Rule& rule : built_in_rules().rules)
    for (const Sample& sample : rule.samples->match)
      if (rule.matcher == Rule::Matcher::match && sample.lines.find('\n') == std::string::npos)
        lines.push_back(sample.lines);
  REQUIRE(lines.size() > 100);
  const Pack pack = read_pack(skeleton(lines, {}), "new.yaml");
  for (const Diagnostic& d : pack.diagnostics) FAIL_CHECK(d.to_string());
  REQUIRE(pack.rules.size() == lines.size());
  RuleSet set;
  set.rules = pack.rules;
  for (const Rule& rule : set.rules) {
    CAPTURE(rule.patterns.front());
    for (const SampleResult& sample : test_samples(rule, set)) {
      CAPTURE(sample.shown);
      CHECK(sample.passed);
    }
  }
}

TEST_CASE("skeleton: hostile lines make a sound pack, too") {
  const std::vector<std::string> lines{
      std::string(100'000, 'x'), "\x1b[31m\xff\xfe", "'''\"\"\"", "(((((", "a{b}c", "\\d+", "12345",
      "ünïcödé fehler"};
  const Pack pack = read_pack(skeleton(lines, {}), "new.yaml");
  for (const Diagnostic& d : pack.diagnostics) FAIL_CHECK(d.to_string());
  CHECK(pack.rules.size() == lines.size());
}

TEST_CASE("samples: a pattern that no sample needs is named") {
  Rule rule;
  rule.patterns = {"first wording", "second wording"};
  rule.samples.edit().match.push_back({"the first wording of it", {}, {}, {}});
  CHECK(unsampled_patterns(rule) == std::vector<std::string>{"second wording"});
}

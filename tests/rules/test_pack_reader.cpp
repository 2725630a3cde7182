#include <doctest/doctest.h>

#include "rules/loader.hpp"
#include "rules/pack_reader.hpp"
#include "rules/samples.hpp"
#include "rules/serialise.hpp"

using namespace triage::rules;

TEST_CASE("pack: a rule of every matcher is read with its samples") {
  const Pack pack = read_pack(R"(
pack: p
rules:
  - id: line
    title: T
    class: cuda-fault
    role: root
    match: ['device-side assert (?P<what>\w+)']
    samples: {match: ["CUDA error: device-side assert triggered"], reject: ["assert"]}
  - id: fact
    title: T
    class: hardware
    role: root
    evidence: [gpu-state]
    where: {temperature.gpu: {ge: 90}, memory.used: {lt: 64MiB}}
    samples: {match: [{temperature.gpu: 91, memory.used: 1}], reject: [{temperature.gpu: 91}]}
  - id: both
    title: T
    class: distributed
    role: root
    when: {all: [line, {class: hardware, at_least: 2, within: 5m}], same: pod}
    samples: {match: [[line, fact, fact]], reject: [[line, fact]]}
)",
                              "p.yaml");
  for (const Diagnostic& d : pack.diagnostics) MESSAGE(d.to_string());
  REQUIRE(pack.sound());
  REQUIRE(pack.rules.size() == 3);
  RuleSet set;
  set.rules = pack.rules;
  for (const Rule& rule : set.rules) {
    CAPTURE(rule.id);
    for (const SampleResult& sample : test_samples(rule, set)) {
      CAPTURE(sample.shown);
      CHECK(sample.passed);
    }
  }
  CHECK(pack.rules[1].where.tests[1].values == std::vector<std::string>{"67108864"});
}

TEST_CASE("serialise: what is written is read back, and damage reads as nothing") {
  const RuleSet& rules = built_in_rules();
  const std::string bytes = to_bytes(rules);
  const auto read = from_bytes(bytes);
  REQUIRE(read.has_value());
  CHECK(read->rules == rules.rules);
  CHECK(read->catalogs == rules.catalogs);
  CHECK(read->digest == rules.digest);
  CHECK_FALSE(from_bytes(bytes.substr(0, bytes.size() - 1)).has_value());
  CHECK_FALSE(from_bytes("other" + bytes).has_value());
}

TEST_CASE("built-in rules: every sample holds") {
  const RuleSet& rules = built_in_rules();
  for (const Rule& rule : rules.rules)
    for (const SampleResult& sample : test_samples(rule, rules)) {
      CAPTURE(rule.id);
      CAPTURE(sample.shown);
      CHECK(sample.passed);
    }
}

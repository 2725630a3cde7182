#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rules/catalog.hpp"
#include "rules/check.hpp"
#include "rules/merge.hpp"

using namespace triage::rules;

namespace {

/// A sound pack of two rules; every mistake changes it in one place. Lines count from 1.
const std::string k_sound =
    "pack: sre\n"                                                                       // 1
    "rules:\n"                                                                          // 2
    "  - id: disk-lost\n"                                                               // 3
    "    title: \"Disk {disk} is lost\"\n"                                              // 4
    "    class: loading\n"                                                              // 5
    "    role: root\n"                                                                  // 6
    "    fault_domain: storage\n"                                                       // 7
    "    evidence: [container-log]\n"                                                   // 8
    "    match: ['lost the disk (?P<disk>\\w+) for good']\n"                            // 9
    "    quarantine: {target: node, action: cordon-node}\n"                             // 10
    "    explains: [{rule: disk-slow, same: pod, window: 60s}]\n"                       // 11
    "    next_steps:\n"                                                                 // 12
    "      contain: [{text: \"Cordon\", command: \"kubectl cordon {node}\"}]\n"         // 13
    "      diagnose: [\"Look at the disk\"]\n"                                          // 14
    "      verify: [\"Load a model\"]\n"                                                // 15
    "      avoid: [\"Restarting\"]\n"                                                   // 16
    "    samples:\n"                                                                    // 17
    "      match: [\"lost the disk sda for good\"]\n"                                   // 18
    "      reject: [\"lost the disk\"]\n"                                               // 19
    "  - id: disk-slow\n"                                                               // 20
    "    title: \"The disk is slow\"\n"                                                 // 21
    "    class: loading\n"                                                              // 22
    "    role: symptom\n"                                                               // 23
    "    evidence: [gpu-state]\n"                                                       // 24
    "    where: {temperature.gpu: {ge: 90}}\n"                                          // 25
    "    samples: {match: [{temperature.gpu: 91}], reject: [{temperature.gpu: 1}]}\n";  // 26

std::vector<Diagnostic> lint(const std::string& yaml) {
  Pack pack = read_pack(yaml, "sre.yaml");
  std::vector<Diagnostic> all = check_literals(pack);
  Merger merger{RuleSet()};
  merger.add(std::move(pack));
  const auto more = check_packs(merger.packs(), merger.rules());
  all.insert(all.end(), merger.diagnostics().begin(), merger.diagnostics().end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string planted(const std::string& from, const std::string& to) {
  std::string text = k_sound;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

struct Mistake {
  const char* what;
  const char* from;
  const char* to;
  const char* code;
  std::uint32_t line;
};

const Mistake k_mistakes[] = {
    {"unknown key of a rule", "    fault_domain:", "    fault_domian:", "unknown-key", 7},
    {"unknown key of a pack", "pack: sre\n", "pack: sre\nrule: []\n", "unknown-key", 2},
    {"unknown key inside a step",
     "{text: \"Cordon\", command:", "{text: \"Cordon\", cmd:", "unknown-key", 13},
    {"bad regex", "(?P<disk>\\w+) for", "(?P<disk>\\w+ for", "bad-regex", 9},
    {"lookahead, which RE2 has not", "lost the disk (?P", "lost the disk(?= ) (?P", "bad-regex", 9},
    {"no literal at all", "'lost the disk (?P<disk>\\w+) for good'", "'(?P<disk>\\w+) [a-z]+'",
     "no-literal", 9},
    {"one alternative without a literal", "'lost the disk (?P<disk>\\w+) for good'",
     "'lost the disk|x?(?P<disk>\\w+)'", "no-literal", 9},
    {"weak literal", "'lost the disk (?P<disk>\\w+) for good'", "'lost (?P<disk>\\w+)'",
     "weak-literal", 9},
    {"a literal that every log is full of", "'lost the disk (?P<disk>\\w+) for good'",
     "'warning: (?P<disk>\\w+)'", "common-literal", 9},
    {"explains a rule that is not there", "{rule: disk-slow,", "{rule: disk-slwo,", "unknown-rule",
     11},
    {"explains a tag that no rule has", "{rule: disk-slow,", "{tag: slow-disks,", "unknown-tag",
     11},
    {"rules that explain one another", "where: {temperature.gpu: {ge: 90}}\n",
     "where: {temperature.gpu: {ge: 90}}\n    explains: [disk-lost]\n", "explanation-cycle", 11},
    {"duplicate rule id", "id: disk-slow", "id: disk-lost", "duplicate-id", 20},
    {"duplicate YAML key", "    role: root\n", "    role: root\n    role: symptom\n",
     "duplicate-key", 7},
    {"unknown class", "class: loading", "class: laoding", "unknown-class", 5},
    {"unknown kind", "[container-log]", "[container-logs]", "unknown-kind", 8},
    {"unknown field", "temperature.gpu: {ge", "temperature.gpus: {ge", "unknown-field", 25},
    {"unknown role", "role: root", "role: cause", "unknown-role", 6},
    {"unknown quarantine action", "action: cordon-node", "action: cordon",
     "unknown-quarantine-action", 10},
    {"bare no", "{temperature.gpu: {ge: 90}}", "{name: no}", "yaml-1.1", 25},
    {"bare on as a key", "    role: root\n", "    role: root\n    on: error\n", "yaml-1.1", 7},
    {"a number in base 60", "window: 60s", "window: 1:30:00", "bad-duration", 11},
    {"octal number", "{temperature.gpu: 91}", "{temperature.gpu: 0123}", "yaml-1.1", 26},
    {"no sample that must match", "      match: [\"lost the disk sda for good\"]\n", "",
     "missing-sample", 18},
    {"no look-alike", "      reject: [\"lost the disk\"]\n", "", "missing-sample", 18},
    {"two matchers", "    where: {temperature.gpu",
     "    match: ['some text']\n    where: {temperature.gpu", "two-matchers", 20},
    {"no matcher", "    match: ['lost the disk (?P<disk>\\w+) for good']\n", "", "missing-key", 3},
    {"missing class", "    class: loading\n    role: root", "    role: root", "missing-key", 3},
    {"where without evidence", "    evidence: [gpu-state]\n", "", "missing-key", 20},
    {"where on a log", "[gpu-state]", "[kernel-log]", "bad-kind", 24},
    {"quarantine without action", "{target: node, action: cordon-node}", "{target: node}",
     "missing-key", 10},
    {"a placeholder that nothing fills", "Disk {disk} is lost", "Disk {dsik} is lost",
     "unknown-placeholder", 4},
    {"a test that no value passes", "{ge: 90}}", "{ge: 90, lt: 80}}", "unreachable-rule", 25},
    {"unless excludes match", "    quarantine:",
     "    unless: ['lost the disk (?P<disk>\\w+) for good']\n    quarantine:", "unreachable-rule",
     10},
    {"a catalog that is not there", "    quarantine:",
     "    catalog: {table: disks, key: [disk]}\n    quarantine:", "unknown-table", 10},
    {"tab for indentation", "    class: loading\n    role: root",
     "\tclass: loading\n    role: root", "yaml-syntax", 5},
    {"an unclosed quote", "\"Disk {disk} is lost\"", "\"Disk {disk} is lost", "yaml-syntax", 4},
    {"an unclosed list", "evidence: [container-log]", "evidence: [container-log", "yaml-syntax", 9},
    {"a regex in double quotes", "'lost the disk (?P<disk>\\w+) for good'",
     "\"lost the disk \\w+ for good\"", "yaml-syntax", 9},
    {"an empty value", "    fault_domain: storage", "    fault_domain:", "empty-value", 7},
    {"a second document", "  - id: disk-slow", "---\n  - id: disk-slow", "second-document", 20},
    {"a YAML tag", "title: \"The disk", "title: !ruby/object \"The disk", "yaml-tag", 21},
    {"override of nothing", "  - id: disk-slow\n", "  - override: disk-slwo\n", "unknown-rule", 20},
    {"disable of nothing", "pack: sre\n", "pack: sre\ndisable: [disk-fast]\n", "unknown-rule", 2},
    {"a step that is a number of the wrong kind", "window: 60s", "window: soon", "bad-duration",
     11},
    {"effect without when", "    role: root\n", "    role: root\n    effect: lift\n", "unknown-key",
     7},
    {"an id with blanks", "id: disk-slow", "id: disk slow", "bad-id", 20},
};

}  // namespace

TEST_CASE("lint: the pack that the mistakes are planted in is sound") {
  for (const Diagnostic& d : lint(k_sound)) FAIL_CHECK(d.to_string());
}

TEST_CASE("lint: every planted mistake is reported at its line, with code, snippet and mend") {
  for (const Mistake& mistake : k_mistakes) {
    CAPTURE(std::string(mistake.what));
    const auto found = lint(planted(mistake.from, mistake.to));
    std::string all;
    for (const Diagnostic& d : found) all += d.to_string();
    CAPTURE(all);
    const auto at = std::find_if(found.begin(), found.end(), [&](const Diagnostic& d) {
      return d.code == mistake.code && d.place.line == mistake.line;
    });
    REQUIRE(at != found.end());
    CHECK_FALSE(at->mend.empty());
    CHECK_FALSE(at->message.empty());
    CHECK(at->place.column >= 1);
    // A mistake makes itself heard, not a flood of others.
    CHECK(found.size() <= 4);
  }
}

TEST_CASE("lint: an unknown key is answered with the key that was meant") {
  const auto found = lint(planted("    fault_domain:", "    fault_domian:"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].mend == "did you mean `fault_domain`?");
  CHECK(found[0].place.column == 5);
  CHECK(found[0].to_string() ==
        "sre.yaml:7:5: error: `fault_domian` is no key of `rule` [unknown-key]\n"
        "        fault_domian: storage\n"
        "        ^\n"
        "    mend: did you mean `fault_domain`?\n");
}

TEST_CASE("lint: a regex error points into the pattern") {
  const auto found = lint(planted("good']", "good[']"));
  REQUIRE(!found.empty());
  CHECK(found[0].code == "bad-regex");
  CHECK(found[0].place.line == 9);
  CHECK(found[0].place.column > 40);
}

TEST_CASE("lint: nested aliases do not multiply without bound") {
  std::string bomb = "pack: p\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int n = 0; n < 10; ++n) bomb += before + (n < 9 ? ", " : "]\n");
  }
  const auto found = lint(bomb);
  CHECK(std::any_of(found.begin(), found.end(),
                    [](const Diagnostic& d) { return d.code == "alias-bomb"; }));
}

TEST_CASE("lint: hostile bytes give diagnostics and never a crash") {
  const std::string hostile[] = {
      "",
      "\n\n",
      "null",
      "- a\n- b",
      "just text",
      std::string("pack: p\0q", 9),
      "\xff\xfe p\0a",
      "pack: [",
      "pack: {a: {b: {c: [d, {e: f}",
      "pack: *nothing",
      "pack: &a [*a]",
      std::string(100'000, '['),
      std::string(100'000, '{'),
      "pack: p\nrules: [[[[]]]]",
      "pack: p\nrules: {a: b}",
      "pack: p\nrules: [1, 2, {id: }]",
      "pack: p\nrules:\n  - id: [x]\n    samples: {match: [[[{}]]]}",
      "? [a, b]\n: c",
      "pack: p\nrules:\n  - {when: {all: [{}], same: {}}, refine: [1], explains: {a: b}}",
      "pack: p\nuser_text: [x, {start: '('}, {}]",
      "%YAML 9.9\n---\npack: p",
      "pack: \"\\xZZ\"",
      "pack: p\nrules:\n  - id: a\n    match: ['(?P<x>a)(?P<x>b)', 'x{9999999}', '(((((((((']"};
  for (const std::string& text : hostile) {
    CAPTURE(text.substr(0, 60));
    CHECK_FALSE(lint(text).empty());
  }
}

TEST_CASE("catalog: planted mistakes are reported at line and column") {
  struct Case {
    const char* text;
    const char* code;
    std::uint32_t line, column;
  };
  const Case cases[] = {
      {"xid\tclas\n79\thardware\n", "unknown-column", 1, 5},
      {"xid\tclass\n79\thardwear\n", "unknown-class", 2, 4},
      {"class\tcause\nhardware\tx\n", "missing-key", 1, 1},
      {"xid\tclass\tclass\n", "duplicate-column", 1, 11},
      {"xid\tclass\n79\thardware\textra\n", "too-many-cells", 2, 1},
      {"xid\tquarantine\taction\n79\tgpu\t\n", "bad-quarantine", 2, 1},
      {"mask:intrinfo\tclass\n0101\thardware\n", "bad-mask", 2, 1},
      {"xid\tclass\n79\thardware\n79\truntime\n", "duplicate-row", 3, 1},
      {"xid\tdiagnose\n79\ta :: b :: c :: d\n", "bad-step", 2, 4},
      {"", "empty-table", 1, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    std::vector<Diagnostic> found;
    static_cast<void>(read_catalog(c.text, "t", "t.tsv", found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == c.code);
    CHECK(found[0].place.line == c.line);
    CHECK(found[0].place.column == c.column);
    CHECK_FALSE(found[0].mend.empty());
  }
}

TEST_CASE("catalog: a row that an earlier one hides is reported") {
  const std::string text = "xid\tunit\tclass\n79\t\thardware\n79\tNVL\truntime\n";
  std::vector<Diagnostic> found;
  const CatalogTable table = read_catalog(text, "t", "t.tsv", found);
  REQUIRE(found.empty());
  found = check_catalog(table, text, "t.tsv");
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == "unreachable-row");
  CHECK(found[0].place.line == 3);
}

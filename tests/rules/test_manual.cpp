#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "rules/check.hpp"
#include "rules/loader.hpp"
#include "rules/merge.hpp"
#include "rules/samples.hpp"
#include "rules/schema.hpp"

using namespace triage;
using namespace triage::rules;

namespace {

std::string manual() {
  std::ifstream in(std::string(TRIAGE_SOURCE_DIR) + "/man/triage-rules.5");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The literal displays of the manual that are packs, as a reader sees them.
std::vector<std::string> example_packs() {
  std::vector<std::string> packs;
  const std::string text = manual();
  const std::string begin = ".Bd -literal -offset indent\n";
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    const std::string example = text.substr(at, text.find(".Ed\n", at) - at);
    if (example.rfind("pack: ", 0) == 0) packs.push_back(base::replace_all(example, "\\e", "\\"));
  }
  return packs;
}

/// The keys that the reader knows in a scope, from what it answers to one that it does not know.
std::set<std::string> known_keys(const std::string& yaml, const std::string& scope) {
  for (const Diagnostic& d : read_pack(yaml, "t.yaml").diagnostics) {
    if (d.code != "unknown-key" || d.message.find("`zzzzzzzzzzzzzzzz`") == std::string::npos)
      continue;
    CHECK(d.message.find("`" + scope + "`") != std::string::npos);
    const std::string prefix = "known keys: ";
    REQUIRE(d.mend.rfind(prefix, 0) == 0);
    std::set<std::string> keys;
    for (std::string_view key : base::split(std::string_view(d.mend).substr(prefix.size()), ','))
      keys.emplace(base::trim(key));
    return keys;
  }
  FAIL("the reader did not refuse an unknown key of " << scope);
  return {};
}

std::set<std::string> schema_keys(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
  return keys;
}

struct Scope {
  const char* name;        ///< in diagnostics
  const char* definition;  ///< in the schema; empty: the root
  const char* yaml;        ///< holds the unknown key in that scope
};

constexpr const char* k_unknown = "zzzzzzzzzzzzzzzz: 1";

const Scope k_scopes[] = {
    {"pack", "", "zzzzzzzzzzzzzzzz: 1\n"},
    {"rule", "rule", "rules: [{zzzzzzzzzzzzzzzz: 1}]"},
    {"quarantine", "quarantine", "rules: [{quarantine: {zzzzzzzzzzzzzzzz: 1}}]"},
    {"next_steps", "next_steps", "rules: [{next_steps: {zzzzzzzzzzzzzzzz: 1}}]"},
    {"step", "step", "rules: [{next_steps: {avoid: {zzzzzzzzzzzzzzzz: 1}}}]"},
    {"samples", "samples", "rules: [{samples: {zzzzzzzzzzzzzzzz: 1}}]"},
    {"catalog", "catalog", "rules: [{catalog: {zzzzzzzzzzzzzzzz: 1}}]"},
    {"settled_by", "settled_by", "rules: [{settled_by: [{zzzzzzzzzzzzzzzz: 1}]}]"},
    {"when", "when", "rules: [{when: {zzzzzzzzzzzzzzzz: 1}}]"},
    {"when", "term", "rules: [{when: {all: [{zzzzzzzzzzzzzzzz: 1}]}}]"},
    {"near", "near", "rules: [{refine: [{near: {zzzzzzzzzzzzzzzz: 1}}]}]"},
    {"seen", "seen", "rules: [{refine: [{seen: {zzzzzzzzzzzzzzzz: 1}}]}]"},
    {"fact", "fact", "rules: [{refine: [{fact: {zzzzzzzzzzzzzzzz: 1}}]}]"},
    {"refine", "refine", "rules: [{refine: [{zzzzzzzzzzzzzzzz: 1}]}]"},
    {"set", "set", "rules: [{effect: lift, set: {zzzzzzzzzzzzzzzz: 1}}]"},
    {"explains", "explains", "rules: [{explains: [{zzzzzzzzzzzzzzzz: 1}]}]"},
    {"explained_by", "explained_by", "rules: [{explained_by: [{zzzzzzzzzzzzzzzz: 1}]}]"},
    {"cleared_by", "cleared_by", "rules: [{cleared_by: [{zzzzzzzzzzzzzzzz: 1}]}]"},
    {"user_text", "user_text", "user_text: [{zzzzzzzzzzzzzzzz: 1}]"},
    {"patterns", "patterns", "patterns: [{zzzzzzzzzzzzzzzz: 1}]"},
};

}  // namespace

TEST_CASE("manual: every example pack is sound and its samples hold") {
  const auto packs = example_packs();
  CHECK(packs.size() >= 5);
  for (const std::string& text : packs) {
    CAPTURE(text.substr(0, 40));
    Pack pack = read_pack(text, "example.yaml");
    std::vector<Diagnostic> found = check_literals(pack);
    Merger merger(built_in_rules());
    merger.next_layer();
    merger.add(pack);
    const auto more = check_packs(merger.packs(), merger.rules());
    found.insert(found.end(), merger.diagnostics().begin(), merger.diagnostics().end());
    found.insert(found.end(), more.begin(), more.end());
    for (const Diagnostic& d : found)
      // A warning-severity example needs no steps, and unsaid phases are no mistake here.
      if (d.level == Diagnostic::Level::error) FAIL_CHECK(d.to_string());
    for (const Rule& rule : pack.rules)
      for (const SampleResult& sample : test_samples(rule, merger.rules())) {
        CAPTURE(sample.shown);
        CHECK(sample.passed);
      }
  }
}

TEST_CASE("manual: every key of the language is described") {
  const std::string text = manual();
  // Words of `.Ic` and `.It Ic` lines, without punctuation and values.
  std::set<std::string> words;
  for (std::string_view line : base::split_lines(text)) {
    const auto at = line.find("Ic ");
    if (line.empty() || line.front() != '.' || at == std::string_view::npos) continue;
    for (std::string_view word : base::split_blanks(line.substr(at + 3))) {
      while (!word.empty() &&
             std::string_view("{}[](),:").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
      while (!word.empty() && std::string_view("{[(").find(word.front()) != std::string_view::npos)
        word.remove_prefix(1);
      words.emplace(word);
    }
  }
  for (const KeyInfo& key : all_keys()) {
    CAPTURE(key.scope);
    CAPTURE(key.name);
    CHECK(words.count(std::string(key.name)) == 1);
  }
}

TEST_CASE("schema: it knows the keys that the reader knows, in every scope") {
  const auto schema = nlohmann::json::parse(json_schema());
  for (const Scope& scope : k_scopes) {
    CAPTURE(scope.definition);
    const auto& object =
        *scope.definition == '\0' ? schema : schema.at("definitions").at(scope.definition);
    CHECK(schema_keys(object) == known_keys(scope.yaml, scope.name));
    CHECK(std::string(scope.yaml).find(k_unknown) != std::string::npos);
  }
}

TEST_CASE("schema: every reference leads to a definition") {
  const std::string text = json_schema();
  const auto schema = nlohmann::json::parse(text);
  const std::string prefix = "#/definitions/";
  std::size_t count = 0;
  for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    at += prefix.size();
    const std::string name = text.substr(at, text.find('"', at) - at);
    CAPTURE(name);
    CHECK(schema.at("definitions").contains(name));
    ++count;
  }
  CHECK(count > 10);
}

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "rules/lint.hpp"
#include "rules/loader.hpp"
#include "rules/yaml_writer.hpp"

using namespace triage::rules;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "triage-layers-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string k_rule =
    "pack: site\n"
    "rules:\n"
    "  - id: site-rule\n"
    "    title: T\n"
    "    class: loading\n"
    "    role: symptom\n"
    "    match: ['the site has lost its way']\n"
    "    samples: {match: ['the site has lost its way'], reject: [x]}\n";

LoadOptions options(const Folder& folder, std::vector<std::string> paths) {
  LoadOptions o;
  o.paths = std::move(paths);
  o.system_layers = false;
  o.cache_dir = folder.path() + "/cache";
  return o;
}

Loaded load(const LoadOptions& o) {
  auto loaded = load_rules(o);
  REQUIRE(loaded.ok());
  return std::move(*loaded);
}

}  // namespace

TEST_CASE("layers: a pack adds rules, and the digest says so") {
  const Folder folder;
  const Loaded loaded = load(options(folder, {folder.write("a.yaml", k_rule)}));
  CHECK(loaded.diagnostics.empty());
  CHECK(loaded.rules.rules.size() == built_in_rules().rules.size() + 1);
  CHECK(loaded.rules.find("site-rule") != nullptr);
  CHECK(loaded.rules.digest.size() == 16);
  CHECK(loaded.rules.digest != built_in_rules().digest);
}

TEST_CASE("layers: without packs the built-in rules stand as they are") {
  const Folder folder;
  CHECK(load(options(folder, {})).rules.digest == built_in_rules().digest);
}

TEST_CASE("layers: override replaces the keys it names and says where they come from") {
  const Folder folder;
  const std::string a = folder.write("a.yaml", k_rule);
  const std::string b = folder.write(
      "b.yaml",
      "pack: later\nrules:\n  - override: site-rule\n    title: Other\n    tags: [x, z]\n");
  const Loaded loaded = load(options(folder, {a, b}));
  for (const Diagnostic& d : loaded.diagnostics) FAIL_CHECK(d.to_string());
  const Rule* rule = loaded.rules.find("site-rule");
  REQUIRE(rule != nullptr);
  CHECK(rule->title == "Other");
  CHECK(rule->tags == std::vector<std::string>{"x", "z"});
  CHECK(rule->class_ == "loading");
  CHECK(rule->patterns.size() == 1);
  REQUIRE(rule->overridden.count("title") == 1);
  CHECK(rule->overridden.at("title").file == b);
  CHECK(rule->overridden.at("title").line == 4);
  CHECK(to_yaml(*rule).find("title: Other  # " + b + ":4") != std::string::npos);
}

TEST_CASE("layers: disable takes a rule away") {
  const Folder folder;
  const std::string id = built_in_rules().rules.front().id;
  const Loaded loaded =
      load(options(folder, {folder.write("a.yaml", "pack: p\ndisable: [" + id + "]\n")}));
  CHECK(loaded.rules.find(id) == nullptr);
  CHECK(loaded.rules.rules.size() + 1 == built_in_rules().rules.size());
}

TEST_CASE("layers: a rule of an earlier layer is not replaced in silence") {
  const Folder folder;
  const std::string a = folder.write("a.yaml", k_rule);
  const std::string b = folder.write("b.yaml", k_rule);
  const Loaded loaded = load(options(folder, {a, b}));
  REQUIRE(loaded.diagnostics.size() == 1);
  CHECK(loaded.diagnostics[0].code == "duplicate-id");
  CHECK(loaded.diagnostics[0].mend.find("override: site-rule") != std::string::npos);
}

TEST_CASE("layers: a broken pack is left out whole, its neighbours stay, strict refuses") {
  const Folder folder;
  const std::string good = folder.write("a.yaml", k_rule);
  const std::string bad = folder.write(
      "b.yaml",
      "pack: bad\nrules:\n  - {id: one, title: T, class: loading, role: symptom, match: "
      "['a sound rule here'], samples: {match: ['a sound rule here'], reject: [x]}}\n"
      "  - {id: two, titel: T}\n");
  LoadOptions o = options(folder, {good, bad});
  const Loaded loaded = load(o);
  CHECK(loaded.rules.find("site-rule") != nullptr);
  CHECK(loaded.rules.find("one") == nullptr);
  CHECK(std::any_of(loaded.diagnostics.begin(), loaded.diagnostics.end(),
                    [](const Diagnostic& d) { return d.code == "unknown-key"; }));
  o.strict = true;
  const auto refused = load_rules(o);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.problem().where.rfind(bad + ":", 0) == 0);
  CHECK_FALSE(refused.problem().mend.empty());
}

TEST_CASE("layers: a pattern that the scanner could not find leaves its pack out") {
  const Folder folder;
  std::string text = k_rule;
  text.replace(text.find("['the site has lost its way']"), 29, "['[a-z]+ \\d+']");
  const Loaded loaded = load(options(folder, {folder.write("a.yaml", text)}));
  CHECK(loaded.rules.find("site-rule") == nullptr);
  REQUIRE(!loaded.diagnostics.empty());
  CHECK(loaded.diagnostics[0].code == "no-literal");
}

TEST_CASE("layers: a reference that leads nowhere warns and keeps the rule, strict or not") {
  const Folder folder;
  LoadOptions o =
      options(folder, {folder.write("a.yaml", k_rule + "    explains: [no-such-rule]\n")});
  for (const bool strict : {false, true}) {
    o.strict = strict;
    const Loaded loaded = load(o);
    CHECK(loaded.rules.find("site-rule") != nullptr);
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].code == "unknown-rule");
    CHECK(loaded.diagnostics[0].level == Diagnostic::Level::warning);
  }
}

TEST_CASE("layers: a missing file is a problem, a folder is read in the order of its names") {
  const Folder folder;
  CHECK_FALSE(load_rules(options(folder, {folder.path() + "/none.yaml"})).ok());
  folder.write("10-a.yaml", k_rule);
  folder.write("20-b.yml", "pack: b\nrules: [{override: site-rule, title: B}]\n");
  folder.write("notes.txt", "no pack");
  // One folder is one layer: within it nothing is overridden by accident, but override works.
  const Loaded loaded = load(options(folder, {folder.path()}));
  for (const Diagnostic& d : loaded.diagnostics) FAIL_CHECK(d.to_string());
  CHECK(loaded.rules.find("site-rule")->title == "B");
}

TEST_CASE("layers: a catalog file replaces the table of its name") {
  const Folder folder;
  const std::string file = folder.write("exit-code.tsv", "code\ttitle\n7\tSeven\n");
  const Loaded loaded = load(options(folder, {file}));
  REQUIRE(loaded.rules.catalogs.count("exit-code") == 1);
  CHECK(loaded.rules.catalogs.at("exit-code").rows->size() == 1);
}

TEST_CASE("cache: the second load gives the same rules and the same complaints") {
  const Folder folder;
  const LoadOptions o =
      options(folder, {folder.write("a.yaml", k_rule + "    explains: [no-such-rule]\n")});
  const Loaded first = load(o);
  REQUIRE(fs::exists(folder.path() + "/cache"));
  const Loaded second = load(o);
  CHECK(first.rules.digest == second.rules.digest);
  CHECK(first.rules.rules == second.rules.rules);
  REQUIRE(second.diagnostics.size() == 1);
  CHECK(second.diagnostics[0].to_string() == first.diagnostics[0].to_string());
}

TEST_CASE("cache: an edit is seen at once, damage is not believed, and entries do not pile up") {
  const Folder folder;
  const std::string file = folder.write("a.yaml", k_rule);
  const LoadOptions o = options(folder, {file});
  load(o);
  for (const auto& entry : fs::directory_iterator(folder.path() + "/cache")) {
    CHECK((fs::status(entry.path()).permissions() & fs::perms::others_read) == fs::perms::none);
    std::ofstream(entry.path(), std::ios::binary | std::ios::in) << "damage";
  }
  CHECK(load(o).rules.find("site-rule") != nullptr);
  for (int i = 0; i < 24; ++i) {
    folder.write("a.yaml", k_rule + "    severity: warning\n# " + std::to_string(i) + "\n");
    CHECK(load(o).rules.find("site-rule")->severity == Severity::warning);
  }
  const auto entries = std::distance(fs::directory_iterator(folder.path() + "/cache"), {});
  CHECK(entries <= 16);
}

TEST_CASE("cache: a folder that cannot be written is no error") {
  const Folder folder;
  LoadOptions o = options(folder, {folder.write("a.yaml", k_rule)});
  o.cache_dir = folder.write("file", "no folder") + "/cache";
  CHECK(load(o).rules.find("site-rule") != nullptr);
}

TEST_CASE("lint: a new version of a built-in pack replaces it instead of clashing with it") {
  const Folder folder;
  const std::string pack = built_in_rules().rules.front().pack;
  const std::string file = folder.write(pack + ".yaml", "pack: " + pack + "\nrules: []\n");
  const auto result = lint_files({file}, built_in_rules());
  REQUIRE(result.ok());
  CHECK(std::none_of(result->rules.rules.begin(), result->rules.rules.end(),
                     [&](const Rule& rule) { return rule.pack == pack; }));
}

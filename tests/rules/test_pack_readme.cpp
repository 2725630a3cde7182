#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "base/text.hpp"
#include "rules/loader.hpp"

using namespace triage;

namespace {

struct PackRow {
  std::map<std::string, std::set<std::string>> causes;  ///< of its roots, by class
  std::size_t roots = 0, symptoms = 0, contexts = 0;
};

/// What the built-in packs hold, a row each: their rules, and the causes that can be verdicts.
std::string table() {
  std::map<std::string, PackRow> packs;
  const rules::RuleSet& all = rules::built_in_rules();
  for (const rules::Rule& rule : all.rules) {
    PackRow& row = packs[rule.pack];
    if (rule.role == rules::Role::symptom) ++row.symptoms;
    if (rule.role == rules::Role::context) ++row.contexts;
    if (rule.role != rules::Role::root) continue;
    ++row.roots;
    if (rule.catalog)
      row.causes["by catalog"].insert(fmt::format(
          "{} ({} rows)", rule.catalog->table, all.catalogs.at(rule.catalog->table).rows->size()));
    row.causes[rule.class_].insert(rule.cause);
    for (const rules::Refine& refine : rule.refine)
      if (refine.overlay.cause) {
        const std::string& class_ = refine.overlay.class_.value_or(rule.class_);
        row.causes[class_].insert(*refine.overlay.cause);
      }
  }
  std::string out =
      "| pack | rules: root, symptom, context | classes and causes of its roots |\n|---|---|---|\n";
  for (const auto& [name, row] : packs) {
    std::string causes;
    for (const auto& [class_, names] : row.causes)
      causes += fmt::format("{}**{}** {}", causes.empty() ? "" : "<br>", class_,
                            base::join({names.begin(), names.end()}, ", "));
    out += fmt::format("| `{}` | {}, {}, {} | {} |\n", name, row.roots, row.symptoms, row.contexts,
                       causes);
  }
  return out;
}

constexpr std::string_view k_begin =
    "<!-- made from the rules: TRIAGE_UPDATE_GOLDEN=1 test_rules -->\n";
constexpr std::string_view k_end = "<!-- end -->\n";

}  // namespace

TEST_CASE("rules/packs/README.md: the table says what the packs hold") {
  const std::string path = std::string(TRIAGE_SOURCE_DIR) + "/rules/packs/README.md";
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto begin = text.find(k_begin);
  const auto end = text.find(k_end);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const auto first = begin + k_begin.size();
  if (std::getenv("TRIAGE_UPDATE_GOLDEN") != nullptr) {
    text.replace(first, end - first, table());
    std::ofstream(path) << text;
    return;
  }
  CHECK(text.substr(first, end - first) == table());
}

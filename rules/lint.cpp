#include "rules/lint.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "rules/catalog.hpp"
#include "rules/check.hpp"
#include "rules/merge.hpp"
#include "rules/sources.hpp"

namespace triage::rules {
namespace {

/// Takes out what the new versions replace: rules, spans and pages of packs of the same name.
RuleSet without_packs(RuleSet rules, const std::set<std::string>& packs) {
  rules.rules.erase(std::remove_if(rules.rules.begin(), rules.rules.end(),
                                   [&](const Rule& rule) { return packs.count(rule.pack) > 0; }),
                    rules.rules.end());
  return rules;
}

}  // namespace

std::size_t LintResult::errors() const {
  return static_cast<std::size_t>(
      std::count_if(diagnostics.begin(), diagnostics.end(),
                    [](const Diagnostic& d) { return d.level == Diagnostic::Level::error; }));
}

base::Result<LintResult> lint_files(const std::vector<std::string>& paths, const RuleSet& base) {
  LintResult result;
  std::vector<Pack> packs;
  std::vector<CatalogTable> tables;
  for (const std::string& path : paths) {
    auto files = rule_files(path);
    if (!files.ok()) return files.problem();
    for (const std::string& file : *files) {
      auto text = read_source(file);
      if (!text.ok()) return text.problem();
      ++result.files;
      const std::filesystem::path name(file);
      if (name.extension() == ".tsv") {
        std::vector<Diagnostic> found;
        tables.push_back(read_catalog(*text, name.stem().string(), file, found));
        if (found.empty()) found = check_catalog(tables.back(), *text, file);
        result.diagnostics.insert(result.diagnostics.end(), found.begin(), found.end());
      } else {
        packs.push_back(read_pack(std::move(*text), file));
        const auto found = check_literals(packs.back());
        packs.back().diagnostics.insert(packs.back().diagnostics.end(), found.begin(), found.end());
      }
    }
  }
  std::set<std::string> names;
  for (const Pack& pack : packs) names.insert(pack.name);
  Merger merger(without_packs(base, names));
  merger.next_layer();
  for (CatalogTable& table : tables) merger.add_catalog(std::move(table));
  for (Pack& pack : packs) {
    for (const Rule& rule : pack.rules) result.rule_ids.insert(rule.id);
    for (const Override& override : pack.overrides) result.rule_ids.insert(override.id);
    merger.add(std::move(pack));
  }
  const auto keep = [&](const std::vector<Diagnostic>& more) {
    result.diagnostics.insert(result.diagnostics.end(), more.begin(), more.end());
  };
  keep(merger.diagnostics());
  keep(check_packs(merger.packs(), merger.rules()));
  result.rules = merger.take();
  std::stable_sort(result.diagnostics.begin(), result.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::tie(a.place.file, a.place.line, a.place.column) <
                            std::tie(b.place.file, b.place.line, b.place.column);
                   });
  return result;
}

}  // namespace triage::rules

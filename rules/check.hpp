#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rules/pack_reader.hpp"

/// Third stage of loading: what only compiled patterns, or all packs together, can tell.
namespace triage::rules {

/// Literals: a pattern of a log rule without a fixed text of 4 bytes is an error, since the scanner
/// could not find its lines; under 6 bytes, or only words that every log is full of, a warning.
[[nodiscard]] std::vector<Diagnostic> check_literals(const Pack& pack);

/// References, catalogs, placeholders, reachability and cycles of the rules of `packs`, against
/// `rules` in which they are merged. Errors are what `triage rules lint` refuses; a load keeps such
/// a rule and warns, so that a pack outlives a renamed built-in rule.
[[nodiscard]] std::vector<Diagnostic> check_packs(std::span<const Pack> packs,
                                                  const RuleSet& rules);

/// Rows of a catalog that an earlier row always hides.
[[nodiscard]] std::vector<Diagnostic> check_catalog(const CatalogTable& table,
                                                    std::string_view text, const std::string& file);

/// Everything that a reference may name, sorted.
struct Names {
  explicit Names(const RuleSet& set);
  std::vector<std::string> rules, tags, causes, captures;
};

// Parts of check_packs, one file each.
void check_references(const Pack& pack, const RuleSet& rules, const Names& names,
                      std::vector<Diagnostic>& out);
void check_reachable(const Pack& pack, const RuleSet& rules, std::vector<Diagnostic>& out);
void check_cycles(std::span<const Pack> packs, const RuleSet& rules, std::vector<Diagnostic>& out);

/// Named groups of the rule's patterns and the fields of its facts.
[[nodiscard]] std::vector<std::string> captures_of(const Rule& rule);

/// Calls `visit(node, rule)` for every rule that the pack defines or overrides.
void each_rule(const Pack& pack, const RuleSet& rules,
               const std::function<void(YamlTree::Id node, const Rule& rule)>& visit);

}  // namespace triage::rules

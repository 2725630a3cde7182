#pragma once

#include <set>
#include <string>

#include "rules/rule.hpp"
#include "rules/yaml_reader.hpp"

namespace triage::rules {

/// Sets every key of the YAML map `node` in `rule`; the names of the keys go to `named`. Used for
/// new rules and for overrides alike.
void read_rule_keys(YamlReader& reader, YamlTree::Id node, Rule& rule,
                    std::set<std::string>& named);

/// What a complete rule must satisfy by itself: required keys, exactly one matcher, samples, kinds
/// that fit the matcher, fields that exist. `node` is its YAML map.
void check_rule(YamlReader& reader, YamlTree::Id node, const Rule& rule,
                const std::set<std::string>& named);

[[nodiscard]] std::vector<Kind> read_kinds(YamlReader& reader, YamlTree::Id node);
/// Compiles a pattern only to report what is wrong with it.
void check_pattern(YamlReader& reader, YamlTree::Id node, const std::string& pattern);

// Parts of a rule (rule_parts.cpp).
[[nodiscard]] std::optional<Quarantine> read_quarantine(YamlReader& reader, YamlTree::Id node);
[[nodiscard]] std::vector<Step> read_steps(YamlReader& reader, YamlTree::Id node);
[[nodiscard]] std::vector<Explains> read_explains(YamlReader& reader, YamlTree::Id node,
                                                  std::string_view scope);
[[nodiscard]] std::vector<ClearedBy> read_cleared_by(YamlReader& reader, YamlTree::Id node);
[[nodiscard]] std::vector<SettledBy> read_settled_by(YamlReader& reader, YamlTree::Id node);
[[nodiscard]] std::optional<CatalogUse> read_catalog_use(YamlReader& reader, YamlTree::Id node);
/// The keys that an overlay may set, for use inside refine and set.
[[nodiscard]] std::vector<YamlReader::Key> overlay_keys(YamlReader& reader, Overlay& overlay);

// Conditions (rule_conditions.cpp).
[[nodiscard]] Where read_where(YamlReader& reader, YamlTree::Id node,
                               const std::vector<Kind>& kinds);
[[nodiscard]] When read_when(YamlReader& reader, YamlTree::Id node);
[[nodiscard]] std::vector<Refine> read_refine(YamlReader& reader, YamlTree::Id node);
[[nodiscard]] std::vector<YamlReader::Key> ref_keys(YamlReader& reader, std::optional<Ref>& ref,
                                                    bool kinds);
[[nodiscard]] std::optional<Same> read_same(YamlReader& reader, YamlTree::Id node);

// Samples (rule_samples.cpp).
void read_samples(YamlReader& reader, YamlTree::Id node, Rule& rule);

}  // namespace triage::rules

#include "rules/check.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>

#include "evidence/fields.hpp"
#include "rules/patterns.hpp"

namespace triage::rules {

std::vector<std::string> captures_of(const Rule& rule) {
  std::set<std::string> names;
  const auto add = [&](std::string_view source) {
    const auto pattern = compile_pattern(source);
    if (pattern == nullptr) return;
    for (const auto& [name, index] : pattern->NamedCapturingGroups()) names.insert(name);
  };
  for (const std::string& pattern : rule.patterns)
    if (pattern.find("(?P<") != std::string::npos) add(pattern);
  for (const Test& test : rule.where.tests)
    if (test.op == Test::Op::regex && !test.values.empty()) add(test.values.front());
  for (const Kind kind : rule.evidence)
    for (const evidence::Field& field : evidence::fields_of(kind)) names.emplace(field.name);
  return {names.begin(), names.end()};
}

Names::Names(const RuleSet& set) {
  std::set<std::string> ids;
  std::set<std::string> tag_set{"unmatched-error"};
  std::set<std::string> cause_set;
  std::set<std::string> capture_set;
  const auto overlay = [&](const Overlay& o) {
    tag_set.insert(o.tags.begin(), o.tags.end());
    if (o.cause) cause_set.insert(*o.cause);
  };
  const auto groups = [&](const std::string& pattern) {
    for (auto at = pattern.find("(?P<"); at != std::string::npos; at = pattern.find("(?P<", at)) {
      at += 4;
      capture_set.insert(pattern.substr(at, pattern.find('>', at) - at));
    }
  };
  for (const Rule& rule : set.rules) {
    ids.insert(rule.id);
    tag_set.insert(rule.tags.begin(), rule.tags.end());
    cause_set.insert(rule.cause);
    for (const Refine& refine : rule.refine) overlay(refine.overlay);
    overlay(rule.when.set);
    for (const std::string& pattern : rule.patterns) groups(pattern);
    for (const Test& test : rule.where.tests)
      if (test.op == Test::Op::regex && !test.values.empty()) groups(test.values.front());
  }
  for (const auto& [name, table] : set.catalogs)
    for (const CatalogRow& row : *table.rows) overlay(row.overlay);
  rules.assign(ids.begin(), ids.end());
  tags.assign(tag_set.begin(), tag_set.end());
  causes.assign(cause_set.begin(), cause_set.end());
  captures.assign(capture_set.begin(), capture_set.end());
}

void each_rule(const Pack& pack, const RuleSet& rules,
               const std::function<void(YamlTree::Id, const Rule&)>& visit) {
  std::map<std::string_view, const Rule*> by_id;
  for (const Rule& rule : rules.rules) by_id.emplace(rule.id, &rule);
  for (std::size_t i = 0; i < pack.rules.size(); ++i)
    if (const auto it = by_id.find(pack.rules[i].id); it != by_id.end())
      visit(pack.rule_nodes[i], *it->second);
  for (const Override& override : pack.overrides)
    if (const auto it = by_id.find(override.id); it != by_id.end())
      visit(override.node, *it->second);
}

std::vector<Diagnostic> check_packs(std::span<const Pack> packs, const RuleSet& rules) {
  std::vector<Diagnostic> out;
  const Names names(rules);
  for (const Pack& pack : packs) {
    check_references(pack, rules, names, out);
    check_reachable(pack, rules, out);
  }
  check_cycles(packs, rules, out);
  return out;
}

}  // namespace triage::rules

#include "rules/check.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "evidence/fields.hpp"
#include "rules/patterns.hpp"
#include "rules/yaml_reader.hpp"

namespace triage::rules {
namespace {

using Id = YamlTree::Id;

/// Everything that a reference may name.
struct Names {
  std::vector<std::string> rules, tags, causes;

  explicit Names(const RuleSet& set) {
    std::set<std::string> ids;
    std::set<std::string> tag_set{"unmatched-error"};
    std::set<std::string> cause_set;
    const auto overlay = [&](const Overlay& o) {
      tag_set.insert(o.tags.begin(), o.tags.end());
      if (o.cause) cause_set.insert(*o.cause);
    };
    for (const Rule& rule : set.rules) {
      ids.insert(rule.id);
      tag_set.insert(rule.tags.begin(), rule.tags.end());
      cause_set.insert(rule.cause);
      for (const Refine& refine : rule.refine) overlay(refine.overlay);
      overlay(rule.when.set);
    }
    for (const auto& [name, table] : set.catalogs)
      for (const CatalogRow& row : table.rows) overlay(row.overlay);
    rules.assign(ids.begin(), ids.end());
    tags.assign(tag_set.begin(), tag_set.end());
    causes.assign(cause_set.begin(), cause_set.end());
  }
};

bool has(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

/// `xid-79` and `sxid-20034` are made by catalog rules without a row of their own.
bool is_code_cause(std::string_view cause) {
  for (std::string_view prefix : {"xid-", "sxid-"})
    if (cause.substr(0, prefix.size()) == prefix)
      return base::parse_int(cause.substr(prefix.size())).has_value();
  return false;
}

class PackChecker {
 public:
  PackChecker(const Pack& pack, const RuleSet& rules, std::vector<Diagnostic>& out)
      : pack_(pack), rules_(rules), names_(rules), reader_(pack.tree, pack.text, pack.file, out) {}

  void run() {
    const Id list = pack_.tree.find(pack_.tree.root(), "rules");
    if (list == YamlTree::k_none) return;
    for (const Id node : pack_.tree.at(list).children) {
      const Id key = pack_.tree.find(node, "id");
      const Id over = pack_.tree.find(node, "override");
      const Id name = key != YamlTree::k_none ? key : over;
      if (name == YamlTree::k_none) continue;
      if (const Rule* rule = rules_.find(pack_.tree.at(name).text)) check(node, *rule);
    }
  }

 private:
  void check(Id node, const Rule& rule) {
    references(node, rule);
    literals(node, rule);
    catalog(node, rule);
  }

  [[nodiscard]] Id child(Id map, std::string_view key) const { return pack_.tree.find(map, key); }

  /// Looks at every map below `node` that names rule, tag or cause.
  void references(Id node, const Rule& rule) {
    for (const char* key : {"explains", "explained_by", "cleared_by"}) each_ref(child(node, key));
    if (const Id when = child(node, "when"); when != YamlTree::k_none)
      for (const char* key : {"all", "any", "none"}) each_ref(child(when, key));
    if (const Id refine = child(node, "refine"); refine != YamlTree::k_none)
      for (const Id entry : reader_.items(refine))
        for (const char* key : {"seen", "not_seen"}) each_ref(child(entry, key));
    if (rule.matcher != Rule::Matcher::when) return;
    if (const Id samples = child(node, "samples"); samples != YamlTree::k_none)
      for (const char* key : {"match", "reject"})
        if (const Id list = child(samples, key); list != YamlTree::k_none)
          for (const Id sample : reader_.items(list)) sample_refs(sample);
  }

  void each_ref(Id list) {
    if (list == YamlTree::k_none) return;
    for (const Id item : reader_.items(list)) {
      if (reader_.type(item) == YamlTree::Type::scalar) {
        rule_ref(item);
        continue;
      }
      if (const Id v = child(item, "rule"); v != YamlTree::k_none) rule_ref(v);
      if (const Id v = child(item, "tag"); v != YamlTree::k_none)
        known(v, "tag", names_.tags, "unknown-tag", "no rule has");
      const Id cause = child(item, "cause");
      if (cause != YamlTree::k_none && !is_code_cause(pack_.tree.at(cause).text))
        known(cause, "cause", names_.causes, "unknown-cause", "no rule has");
    }
  }

  void rule_ref(Id value) { known(value, "rule", names_.rules, "unknown-rule", "there is no"); }

  void sample_refs(Id sample) {
    if (reader_.type(sample) != YamlTree::Type::sequence) return;
    for (const Id item : reader_.items(sample)) {
      const Id name = reader_.type(item) == YamlTree::Type::map ? child(item, "rule") : item;
      if (name != YamlTree::k_none)
        known(name, "rule", names_.rules, "unknown-rule", "there is no");
    }
  }

  void known(Id value, const std::string& what, const std::vector<std::string>& names,
             const std::string& code, const std::string& no) {
    const std::string& name = pack_.tree.at(value).text;
    if (has(names, name)) return;
    const std::string near = base::nearest(name, names);
    std::string mend = "did you mean `" + near + "`?";
    if (near.empty())
      mend = "check the spelling; when another pack of yours defines it, name that file, too";
    reader_.error(value, code, no + " " + what + " `" + name + "`", mend);
  }

  void literals(Id node, const Rule& rule) {
    if (rule.matcher != Rule::Matcher::match && rule.matcher != Rule::Matcher::sequence) return;
    const bool logs = std::any_of(rule.evidence.begin(), rule.evidence.end(), evidence::is_log);
    const Id list = child(node, rule.matcher == Rule::Matcher::match ? "match" : "sequence");
    if (!logs || list == YamlTree::k_none) return;
    for (const Id item : reader_.items(list)) {
      const std::string& pattern = pack_.tree.at(item).text;
      if (compile_pattern(pattern) == nullptr) continue;
      if (!has_required_literal(pattern, 4))
        reader_.error(item, "no-literal",
                      "a line can match this pattern without any fixed text of 4 bytes",
                      "write a fixed word of the message into every alternative: the scanner looks "
                      "for it");
      else if (!has_required_literal(pattern, 6))
        reader_.warning(item, "weak-literal",
                        "the fixed text of this pattern is shorter than 6 bytes: it slows the scan",
                        "write more of the message's fixed words into the pattern");
    }
  }

  void catalog(Id node, const Rule& rule) {
    const Id use = child(node, "catalog");
    if (use == YamlTree::k_none || !rule.catalog) return;
    const auto table = rules_.catalogs.find(rule.catalog->table);
    if (table == rules_.catalogs.end()) {
      std::vector<std::string> tables;
      for (const auto& [name, unused] : rules_.catalogs) tables.push_back(name);
      const std::string near = base::nearest(rule.catalog->table, tables);
      reader_.error(
          child(use, "table"), "unknown-table",
          "there is no catalog table `" + rule.catalog->table + "`",
          near.empty() ? "known: " + base::join(tables, ", ") : "did you mean `" + near + "`?");
      return;
    }
    if (table->second.key_columns.size() != rule.catalog->key.size())
      reader_.error(child(use, "key"), "bad-catalog-key",
                    "table `" + table->first + "` is looked up by " +
                        base::join(table->second.key_columns, ", "),
                    "name one capture for each key column, in their order");
    const std::set<std::string> captures = captures_of(rule);
    for (const std::string& name : rule.catalog->key)
      if (captures.count(name) == 0)
        reader_.error(child(use, "key"), "unknown-capture",
                      "no pattern of this rule captures `" + name + "`",
                      "name the group (?P<" + name + ">...)");
  }

  [[nodiscard]] static std::set<std::string> captures_of(const Rule& rule) {
    std::set<std::string> names;
    const auto add = [&](std::string_view source) {
      const auto pattern = compile_pattern(source);
      if (pattern == nullptr) return;
      for (const auto& [name, index] : pattern->NamedCapturingGroups()) names.insert(name);
    };
    for (const std::string& pattern : rule.patterns) add(pattern);
    for (const Test& test : rule.where.tests) {
      names.insert(test.field);
      if (test.op == Test::Op::regex) add(test.values.front());
    }
    for (const Kind kind : rule.evidence)
      for (const evidence::Field& field : evidence::fields_of(kind)) names.emplace(field.name);
    return names;
  }

  const Pack& pack_;
  const RuleSet& rules_;
  Names names_;
  YamlReader reader_;
};

}  // namespace

std::vector<Diagnostic> check_pack(const Pack& pack, const RuleSet& rules) {
  std::vector<Diagnostic> diagnostics;
  PackChecker(pack, rules, diagnostics).run();
  return diagnostics;
}

}  // namespace triage::rules

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "evidence/fields.hpp"
#include "rules/check.hpp"
#include "rules/yaml_reader.hpp"

namespace triage::rules {
namespace {

using Id = YamlTree::Id;

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

/// What the analysis can fill into a text without a capture.
constexpr std::array<std::string_view, 10> k_entities{"pci",      "gpu_uuid",  "gpu_index", "node",
                                                      "pod",      "namespace", "container", "rank",
                                                      "workload", "pid"};

/// Places that `distinct` may name.
constexpr std::array<std::string_view, 13> k_places{
    "pod",      "node", "gpu",     "pid",       "process", "group", "workload",
    "revision", "file", "request", "container", "rank",    "host"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class ReferenceChecker {
 public:
  ReferenceChecker(const Pack& pack, const RuleSet& rules, const Names& names,
                   std::vector<Diagnostic>& out)
      : tree_(pack.tree),
        rules_(rules),
        names_(names),
        reader_(pack.tree, pack.text, pack.file, out) {}

  void check(Id node, const Rule& rule) {
    for (const char* key : {"explains", "explained_by", "cleared_by"}) refs(child(node, key));
    if (const Id when = child(node, "when"); when != YamlTree::k_none)
      for (const char* key : {"all", "any", "none"}) {
        refs(child(when, key));
        distinct(child(when, key));
      }
    if (const Id refine = child(node, "refine"); refine != YamlTree::k_none)
      for (const Id entry : reader_.items(refine))
        for (const char* key : {"seen", "not_seen"}) refs(child(entry, key));
    if (rule.matcher == Rule::Matcher::when) samples(child(node, "samples"));
    catalog(node, rule);
    placeholders(node, rule);
    if (child(node, "id") != YamlTree::k_none) steps(node, rule);
  }

 private:
  [[nodiscard]] Id child(Id map, std::string_view key) const { return tree_.find(map, key); }

  void refs(Id list) {
    if (list == YamlTree::k_none) return;
    for (const Id item : reader_.items(list)) {
      if (reader_.type(item) == YamlTree::Type::scalar) {
        known(item, "rule", names_.rules, "unknown-rule", "there is no");
        continue;
      }
      if (const Id v = child(item, "rule"); v != YamlTree::k_none)
        known(v, "rule", names_.rules, "unknown-rule", "there is no");
      if (const Id v = child(item, "tag"); v != YamlTree::k_none)
        known(v, "tag", names_.tags, "unknown-tag", "no rule has");
      const Id cause = child(item, "cause");
      if (cause != YamlTree::k_none && !is_code_cause(tree_.at(cause).text))
        known(cause, "cause", names_.causes, "unknown-cause", "no rule has");
    }
  }

  void samples(Id samples) {
    for (const char* key : {"match", "reject"}) {
      const Id list = child(samples, key);
      if (list == YamlTree::k_none) continue;
      for (const Id sample : reader_.items(list)) {
        if (reader_.type(sample) != YamlTree::Type::sequence) continue;
        for (const Id item : reader_.items(sample)) {
          const Id name = reader_.type(item) == YamlTree::Type::map ? child(item, "rule") : item;
          if (name != YamlTree::k_none)
            known(name, "rule", names_.rules, "unknown-rule", "there is no");
        }
      }
    }
  }

  void known(Id value, const std::string& what, const std::vector<std::string>& names,
             const std::string& code, const std::string& no) {
    const std::string& name = tree_.at(value).text;
    if (has(names, name)) return;
    const std::string near = base::nearest(name, names);
    std::string mend = "did you mean `" + near + "`?";
    if (near.empty())
      mend = "check the spelling; when another pack of yours defines it, name that file, too";
    reader_.error(value, code, no + " " + what + " `" + name + "`", mend);
  }

  void distinct(Id terms) {
    if (terms == YamlTree::k_none) return;
    for (const Id term : reader_.items(terms)) {
      const Id list = child(term, "distinct");
      if (list == YamlTree::k_none) continue;
      for (const Id item : reader_.items(list)) {
        const std::string& name = tree_.at(item).text;
        if (among(k_places, name) || has(names_.captures, name)) continue;
        std::vector<std::string> all(k_places.begin(), k_places.end());
        const std::string near = base::nearest(name, all);
        reader_.error(item, "unknown-place", "`" + name + "` is no place and no capture",
                      near.empty() ? "known places: " + base::join(all, ", ")
                                   : "did you mean `" + near + "`?");
      }
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
    const std::vector<std::string> captures = captures_of(rule);
    for (const std::string& name : rule.catalog->key)
      if (!has(captures, name))
        reader_.error(child(use, "key"), "unknown-capture",
                      "no pattern of this rule captures `" + name + "`",
                      "name the group (?P<" + name + ">...)");
  }

  /// `{name}` in texts that is filled by nothing: a typing mistake, mostly.
  void placeholders(Id node, const Rule& rule) {
    captures_ = captures_of(rule);
    composite_ = rule.matcher == Rule::Matcher::when;
    text(child(node, "title"));
    steps_texts(child(node, "next_steps"));
    if (const Id settled = child(node, "settled_by"); settled != YamlTree::k_none)
      for (const Id entry : reader_.items(settled))
        for (const char* key : {"what", "why", "command"}) text(child(entry, key));
    if (const Id refine = child(node, "refine"); refine != YamlTree::k_none)
      for (const Id entry : reader_.items(refine)) {
        text(child(entry, "title"));
        steps_texts(child(entry, "next_steps"));
      }
    if (const Id set = child(node, "set"); set != YamlTree::k_none) {
      text(child(set, "title"));
      steps_texts(child(set, "next_steps"));
    }
  }

  void steps_texts(Id phases) {
    if (phases == YamlTree::k_none || reader_.type(phases) != YamlTree::Type::map) return;
    const auto& children = tree_.at(phases).children;
    for (std::size_t i = 1; i < children.size(); i += 2)
      for (const Id step : reader_.items(children[i])) {
        if (reader_.type(step) == YamlTree::Type::map)
          for (const char* key : {"text", "command", "why"}) text(child(step, key));
        else
          text(step);
      }
  }

  void text(Id value) {
    if (value == YamlTree::k_none || reader_.type(value) != YamlTree::Type::scalar) return;
    const std::string& source = tree_.at(value).text;
    for (auto open = source.find('{'); open != std::string::npos;
         open = source.find('{', open + 1)) {
      const auto close = source.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.", open + 1);
      if (close == std::string::npos || source[close] != '}' || close == open + 1) continue;
      // `${NAME}` and JSON paths (`{.items}`) belong to commands.
      if ((open > 0 && source[open - 1] == '$') || source[open + 1] == '.') continue;
      const std::string name = source.substr(open + 1, close - open - 1);
      if (filled(name)) continue;
      std::vector<std::string> all = captures_;
      all.insert(all.end(), k_entities.begin(), k_entities.end());
      const std::string near = base::nearest(name, all);
      reader_.warning(
          value, "unknown-placeholder", "nothing fills {" + name + "}",
          near.empty() ? "capture it: (?P<" + name + ">...)" : "did you mean {" + near + "}?");
    }
  }

  [[nodiscard]] bool filled(const std::string& name) const {
    if (among(k_entities, name) || name.rfind("catalog.", 0) == 0) return true;
    if (has(captures_, name)) return true;
    if (composite_ && has(names_.captures, name)) return true;
    return std::any_of(captures_.begin(), captures_.end(), [&](const std::string& field) {
      return field.size() > 2 && field.substr(field.size() - 2) == ".*" &&
             name.compare(0, field.size() - 1, field, 0, field.size() - 1) == 0;
    });
  }

  /// A root that says nothing of what to do helps nobody at 3 a.m.
  void steps(Id node, const Rule& rule) {
    if (rule.role != Role::root || rule.catalog || rule.severity < Severity::error) return;
    if (rule.matcher == Rule::Matcher::when && rule.when.effect == When::Effect::lift) return;
    const auto phase = [&](Phase wanted) {
      return std::any_of(rule.next_steps->begin(), rule.next_steps->end(),
                         [&](const Step& step) { return step.phase == wanted; });
    };
    std::vector<std::string> missing;
    if (!phase(Phase::contain) && !phase(Phase::recover))
      missing.emplace_back("contain or recover");
    if (!phase(Phase::diagnose)) missing.emplace_back("diagnose");
    if (!phase(Phase::verify)) missing.emplace_back("verify");
    if (!phase(Phase::avoid)) missing.emplace_back("avoid");
    if (!missing.empty())
      reader_.warning(node, "missing-steps",
                      "this root has no next step to " + base::join(missing, ", "),
                      "say what to do now, and what not to do");
  }

  const YamlTree& tree_;
  const RuleSet& rules_;
  const Names& names_;
  YamlReader reader_;
  std::vector<std::string> captures_;
  bool composite_ = false;
};

}  // namespace

void check_references(const Pack& pack, const RuleSet& rules, const Names& names,
                      std::vector<Diagnostic>& out) {
  ReferenceChecker checker(pack, rules, names, out);
  each_rule(pack, rules, [&](Id node, const Rule& rule) { checker.check(node, rule); });
}

}  // namespace triage::rules

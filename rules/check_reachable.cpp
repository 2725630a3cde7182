#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "rules/check.hpp"
#include "rules/yaml_reader.hpp"

namespace triage::rules {
namespace {

using Id = YamlTree::Id;

bool share_a_kind(const Rule& a, const Rule& b) {
  return std::any_of(a.evidence.begin(), a.evidence.end(),
                     [&](Kind kind) { return b.reads(kind); });
}

class ReachChecker {
 public:
  ReachChecker(const Pack& pack, const RuleSet& rules, std::vector<Diagnostic>& out)
      : tree_(pack.tree), rules_(rules), reader_(pack.tree, pack.text, pack.file, out) {}

  void check(Id node, const Rule& rule) {
    switch (rule.matcher) {
      case Rule::Matcher::match:
        same_patterns(node, rule);
        break;
      case Rule::Matcher::where:
        contradiction(node, rule);
        break;
      case Rule::Matcher::when:
        composite(node, rule);
        break;
      default:
        break;
    }
    refine(node, rule);
  }

 private:
  /// A pattern that another rule of the same evidence has, too: one of them is superfluous, or they
  /// are meant to be told apart by `unless`.
  void same_patterns(Id node, const Rule& rule) {
    const Id list = tree_.find(node, "match");
    if (list == YamlTree::k_none) return;
    for (const Id item : reader_.items(list)) {
      const std::string& pattern = tree_.at(item).text;
      for (const Rule* other : rules_with(pattern)) {
        if (other->id == rule.id || !share_a_kind(rule, *other)) continue;
        if (other->unless != rule.unless) continue;
        reader_.warning(item, "shadowed-rule",
                        "rule `" + other->id + "` has the same pattern for the same evidence",
                        "tell them apart with unless or evidence, or keep one");
        break;
      }
    }
    const Id unless = tree_.find(node, "unless");
    if (unless == YamlTree::k_none) return;
    for (const Id item : reader_.items(unless))
      for (const std::string& pattern : rule.patterns)
        if (tree_.at(item).text == pattern)
          reader_.error(item, "unreachable-rule", "`unless` excludes what `match` looks for",
                        "remove it from one of them");
  }

  const std::vector<const Rule*>& rules_with(const std::string& pattern) {
    if (by_pattern_.empty())
      for (const Rule& rule : rules_.rules)
        if (rule.matcher == Rule::Matcher::match)
          for (const std::string& p : rule.patterns) by_pattern_[p].push_back(&rule);
    return by_pattern_[pattern];
  }

  /// Tests of one field that no value can pass.
  void contradiction(Id node, const Rule& rule) {
    struct Range {
      double low = -1e300, high = 1e300;
      std::set<std::string> equal;
      bool exists = false, absent = false;
    };
    std::map<std::string, Range> ranges;
    for (const Test& test : rule.where.tests) {
      Range& range = ranges[test.field];
      const auto number = test.values.empty() ? std::nullopt : base::parse_double(test.values[0]);
      if (test.op == Test::Op::exists && test.values.front() == "false")
        range.absent = true;
      else
        range.exists = true;
      if (test.op == Test::Op::equal && test.values[0].front() != '$')
        range.equal.insert(test.values[0]);
      if (test.op == Test::Op::lt || test.op == Test::Op::le)
        range.high = std::min(range.high, number.value_or(range.high));
      if (test.op == Test::Op::gt || test.op == Test::Op::ge)
        range.low = std::max(range.low, number.value_or(range.low));
    }
    const Id where = tree_.find(node, "where");
    for (const auto& [field, range] : ranges)
      if (range.low > range.high || range.equal.size() > 1 || (range.exists && range.absent))
        reader_.error(where == YamlTree::k_none ? node : where, "unreachable-rule",
                      "no value of `" + field + "` can pass all of these tests",
                      "remove one of them");
  }

  void composite(Id node, const Rule& rule) {
    const Id when = tree_.find(node, "when");
    if (when == YamlTree::k_none) return;
    const Id none = tree_.find(when, "none");
    for (std::size_t i = 0; i < rule.when.none.size(); ++i)
      for (const Term& term : rule.when.all)
        if (term.ref == rule.when.none[i].ref && term.captures == rule.when.none[i].captures &&
            rule.when.none[i].at_least <= term.at_least && rule.when.none[i].order == Order::any) {
          const auto items = reader_.items(none);
          reader_.error(i < items.size() ? items[i] : none, "unreachable-rule",
                        "`none` excludes what `all` asks for", "remove it from one of them");
        }
    for (const char* key : {"all", "any"}) {
      const Id list = tree_.find(when, key);
      const std::vector<Term>& terms = *key == 'a' && key[1] == 'l' ? rule.when.all : rule.when.any;
      if (list == YamlTree::k_none) continue;
      const auto items = reader_.items(list);
      for (std::size_t i = 0; i < terms.size() && i < items.size(); ++i)
        if (terms[i].ref.by == Ref::By::class_ && !some_root_of(terms[i].ref.value))
          reader_.error(items[i], "unreachable-rule",
                        "no rule of class `" + terms[i].ref.value + "` can be a root",
                        "name a class that some root has");
    }
  }

  bool some_root_of(const std::string& class_name) const {
    const auto overlay = [&](const Overlay& o) { return o.class_ == class_name; };
    return std::any_of(rules_.rules.begin(), rules_.rules.end(), [&](const Rule& rule) {
      return (rule.class_ == class_name && rule.role == Role::root) || rule.catalog ||
             std::any_of(rule.refine.begin(), rule.refine.end(),
                         [&](const Refine& r) { return overlay(r.overlay); });
    });
  }

  /// The first entry that holds wins: an equal condition further down never has its turn.
  void refine(Id node, const Rule& rule) {
    const Id list = tree_.find(node, "refine");
    if (list == YamlTree::k_none) return;
    const auto items = reader_.items(list);
    for (std::size_t later = 1; later < rule.refine.size() && later < items.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        Refine a = rule.refine[earlier];
        Refine b = rule.refine[later];
        a.overlay = b.overlay = {};
        if (a == b)
          reader_.error(items[later], "unreachable-refine",
                        "an earlier entry has the same condition, and the first that holds wins",
                        "merge the two entries");
      }
  }

  const YamlTree& tree_;
  const RuleSet& rules_;
  YamlReader reader_;
  std::map<std::string, std::vector<const Rule*>> by_pattern_;
};

/// Depth-first search over `explains` edges between rules that name one another by id.
class CycleFinder {
 public:
  explicit CycleFinder(const RuleSet& rules) {
    for (const Rule& rule : rules.rules) {
      for (const Explains& e : rule.explains)
        if (e.ref.by == Ref::By::rule && e.ref.value != rule.id)
          edges_[rule.id].insert(e.ref.value);
      for (const Explains& e : rule.explained_by)
        if (e.ref.by == Ref::By::rule && e.ref.value != rule.id)
          edges_[e.ref.value].insert(rule.id);
    }
  }

  /// The cycle through `start`, as ids, or nothing.
  std::vector<std::string> through(const std::string& start) {
    std::vector<std::string> path{start};
    std::set<std::string> seen;
    return search(start, start, path, seen) ? path : std::vector<std::string>();
  }

 private:
  bool search(const std::string& at, const std::string& goal, std::vector<std::string>& path,
              std::set<std::string>& seen) {
    const auto next = edges_.find(at);
    if (next == edges_.end() || path.size() > 64) return false;
    for (const std::string& id : next->second) {
      if (id == goal) return true;
      if (!seen.insert(id).second) continue;
      path.push_back(id);
      if (search(id, goal, path, seen)) return true;
      path.pop_back();
    }
    return false;
  }

  std::map<std::string, std::set<std::string>> edges_;
};

}  // namespace

void check_reachable(const Pack& pack, const RuleSet& rules, std::vector<Diagnostic>& out) {
  ReachChecker checker(pack, rules, out);
  each_rule(pack, rules, [&](Id node, const Rule& rule) { checker.check(node, rule); });
}

void check_cycles(std::span<const Pack> packs, const RuleSet& rules, std::vector<Diagnostic>& out) {
  CycleFinder finder(rules);
  std::set<std::string> reported;
  for (const Pack& pack : packs) {
    YamlReader reader(pack.tree, pack.text, pack.file, out);
    each_rule(pack, rules, [&](Id node, const Rule& rule) {
      if (rule.explains.empty() && rule.explained_by.empty()) return;
      if (reported.count(rule.id) > 0) return;
      const auto cycle = finder.through(rule.id);
      if (cycle.empty()) return;
      reported.insert(cycle.begin(), cycle.end());
      Id at = pack.tree.find(node, "explains");
      if (at == YamlTree::k_none) at = pack.tree.find(node, "explained_by");
      std::vector<std::string> ring = cycle;
      ring.push_back(rule.id);
      reader.error(at == YamlTree::k_none ? node : at, "explanation-cycle",
                   "these rules explain one another: " + base::join(ring, " -> "),
                   "let the cause explain the effect, not both");
    });
  }
}

namespace {

/// Whether every text that fits `special` fits `general`, too.
bool covers(const std::string& column, const std::string& general, const std::string& special) {
  if (general.empty() || general == special) return true;
  if (column.rfind("mask:", 0) != 0 || general.size() != 32 || special.size() != 32) return false;
  for (std::size_t i = 0; i < 32; ++i)
    if (general[i] != '-' && general[i] != special[i]) return false;
  return true;
}

}  // namespace

std::vector<Diagnostic> check_catalog(const CatalogTable& table, std::string_view text,
                                      const std::string& file) {
  std::vector<Diagnostic> out;
  for (std::size_t later = 1; later < table.rows->size(); ++later) {
    const CatalogRow& special = (*table.rows)[later];
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const CatalogRow& general = (*table.rows)[earlier];
      bool hidden = true;
      for (std::size_t c = 0; hidden && c < table.key_columns.size(); ++c)
        hidden = covers(table.key_columns[c], general.key[c], special.key[c]);
      if (!hidden || general.key == special.key) continue;  // equal keys are reported on reading
      out.push_back(make_diagnostic(text, {file, special.line, 1}, Diagnostic::Level::error,
                                    "unreachable-row",
                                    "the row in line " + std::to_string(general.line) +
                                        " takes everything that fits this one",
                                    "put the special row above the general one"));
      break;
    }
  }
  return out;
}

}  // namespace triage::rules

#include "analysis/roles.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analysis/fill.hpp"
#include "analysis/line_rules.hpp"
#include "rules/where.hpp"

namespace triage::analysis {

using rules::Order;
using rules::Role;
using rules::Same;

void start_from_rule(Observation& o) {
  const rules::Rule& rule = *o.rule;
  o.role = rule.role;
  o.severity = rule.severity;
  o.cause = rule.cause;
  o.class_ = rule.class_;
  o.title = rule.title;
  o.fault_domain = rule.fault_domain;
  o.confidence_cap = rule.confidence_cap;
  o.quarantine = rule.quarantine;
  o.advice.clear();
  o.tags = rule.tags;
  o.fatal = rule.fatal;
  o.pattern = rule.pattern.value_or("");
  o.scope = rule.scope.value_or("");
  o.stands_alone = rule.stands_alone;
  o.set_aside = false;
}

namespace {

class Settler {
 public:
  Settler(EvidenceModel& model, const rules::RuleSet& rules) : model_(model), rules_(rules) {}

  void run() {
    for (Observation& o : model_.observations) {
      start_from_rule(o);
      overlay_catalog(o);
    }
    build_index();
    for (Observation& o : model_.observations) refine(o);
    for (std::size_t i = 0; i < model_.observations.size(); ++i)
      if (model_.observations[i].fatal) fatal_.push_back(i);
    for (Observation& o : model_.observations) clear(o);
    for (Observation& o : model_.observations) o.title = filled_title(o);
  }

 private:
  /// Observations by rule and by tag: conditions name one of the two.
  void build_index() {
    for (std::size_t i = 0; i < model_.observations.size(); ++i) {
      const Observation& o = model_.observations[i];
      by_rule_[o.rule->id].push_back(i);
      for (const std::string& tag : o.tags) by_tag_[tag].push_back(i);
    }
  }

  /// The observations that `ref` may name, in their order.
  template <class Predicate>
  bool any_named(const rules::Ref& ref, const Predicate& predicate) const {
    const bool indexed = ref.by == rules::Ref::By::rule || ref.by == rules::Ref::By::tag;
    if (indexed) {
      const auto& index = ref.by == rules::Ref::By::rule ? by_rule_ : by_tag_;
      const auto it = index.find(ref.value);
      return it != index.end() &&
             std::any_of(it->second.begin(), it->second.end(),
                         [&](std::size_t i) { return predicate(model_.observations[i]); });
    }
    return std::any_of(
        model_.observations.begin(), model_.observations.end(),
        [&](const Observation& other) { return is_named_by(ref, other) && predicate(other); });
  }

  void overlay_catalog(Observation& o) {
    if (!o.rule->catalog) return;
    const auto table = rules_.catalogs.find(o.rule->catalog->table);
    if (table == rules_.catalogs.end()) return;
    std::vector<std::string> key;
    for (const std::string& name : o.rule->catalog->key) {
      const auto it = o.captures.find(name);
      key.push_back(it == o.captures.end() ? std::string() : it->second);
    }
    const rules::CatalogRow* row = table->second.find(key);
    if (row != nullptr) {
      apply(row->overlay, o);
      o.captures.insert_or_assign("catalog.title", row->title);
      // So that a refine can tell what the table said from what the rule says.
      if (row->overlay.role)
        o.captures.insert_or_assign("catalog.role",
                                    std::string(rules::to_string(*row->overlay.role)));
      if (!row->meaning.empty()) o.captures.insert_or_assign("catalog.meaning", row->meaning);
      o.catalog_line = row->line;
      return;
    }
    no_catalog_row(o);
  }

  /// A code that no table knows: the rule stands under the code's own name, without advice that
  /// nothing supports.
  static void no_catalog_row(Observation& o) {
    for (const char* name : {"xid", "sxid"})
      if (const auto it = o.captures.find(name); it != o.captures.end())
        o.cause = std::string(name) + "-" + it->second;
    o.severity = rules::Severity::warning;
    o.quarantine = {};
    o.confidence_cap = rules::Confidence::low;
  }

  void refine(Observation& o) {
    std::size_t near_index = 0;
    for (const rules::Refine& entry : o.rule->refine) {
      const std::size_t first_near = near_index;
      near_index += entry.near.size();
      if (!holds(entry, o, first_near)) continue;
      const std::size_t tags = o.tags.size();
      apply(entry.overlay, o);
      const auto index = static_cast<std::size_t>(&o - model_.observations.data());
      for (std::size_t i = tags; i < o.tags.size(); ++i) by_tag_[o.tags[i]].push_back(index);
      return;
    }
  }

  bool holds(const rules::Refine& entry, const Observation& o, std::size_t first_near) const {
    for (std::size_t i = 0; i < entry.near.size(); ++i)
      if (first_near + i >= o.near_holds.size() || !o.near_holds[first_near + i]) return false;
    for (const auto& [name, wanted] : entry.captures)
      if (!capture_is(o, name, wanted)) return false;
    if (!entry.evidence.empty()) {
      const evidence::Kind kind = kind_of(model_, o);
      if (std::none_of(entry.evidence.begin(), entry.evidence.end(),
                       [&](evidence::Kind k) { return kind_reads(k, kind); }))
        return false;
    }
    for (const rules::Seen& seen : entry.seen)
      if (is_seen(seen, o) == seen.negate) return false;
    for (const rules::FactCondition& condition : entry.facts)
      if (!fact_holds(condition, o)) return false;
    return true;
  }

  static bool capture_is(const Observation& o, const std::string& name, const std::string& wanted) {
    const auto it = o.captures.find(name);
    const std::string value = it == o.captures.end() ? std::string() : it->second;
    if (!wanted.empty() && wanted[0] == '~') return LazyPattern(wanted.substr(1)).matches(value);
    return value == wanted;
  }

  bool is_seen(const rules::Seen& seen, const Observation& o) const {
    return any_named(seen.ref, [&](const Observation& other) {
      if (&other == &o) return false;
      if (seen.same == Same::file ? other.file != o.file : !agrees(o.place, other.place, seen.same))
        return false;
      for (const auto& [name, wanted] : seen.captures)
        if (!seen_capture(o, other, name, wanted)) return false;
      if (seen.within_ns) {
        // What nothing dates is not known to have been within the time, and rules nothing out.
        const auto apart = time_between(o, other);
        if (apart ? *apart > *seen.within_ns : seen.negate && other.file != o.file) return false;
      }
      const Ordering order =
          seen.order == Order::after ? end_order_of(other, o) : order_of(other, o);
      if (seen.order == Order::before)
        return order != Ordering::after && !(order == Ordering::unknown && other.file == o.file);
      if (seen.order == Order::after)
        return order != Ordering::before && !(order == Ordering::unknown && other.file == o.file);
      return true;
    });
  }

  static bool seen_capture(const Observation& o, const Observation& other, const std::string& name,
                           const std::string& wanted) {
    if (wanted.rfind("!$", 0) == 0) {
      const auto mine = o.captures.find(wanted.substr(2));
      const auto theirs = other.captures.find(name);
      return mine != o.captures.end() && theirs != other.captures.end() && !mine->second.empty() &&
             !theirs->second.empty() && mine->second != theirs->second;
    }
    if (!wanted.empty() && wanted[0] == '$') {
      const auto mine = o.captures.find(wanted.substr(1));
      return mine != o.captures.end() && capture_is(other, name, mine->second);
    }
    return capture_is(other, name, wanted);
  }

  bool fact_holds(const rules::FactCondition& condition, const Observation& o) const {
    rules::FactSet set{model_.facts, model_.fact_times, model_.end};
    for (std::size_t i = 0; i < model_.facts.size(); ++i) {
      const evidence::Fact& fact = model_.facts[i];
      if (fact.kind != condition.kind || !agrees(o.place, fact.place, condition.same)) continue;
      if (rules::holds(condition.where, set, i)) return true;
    }
    return false;
  }

  /// A later success turns the observation into context.
  void clear(Observation& o) {
    for (const rules::ClearedBy& by : o.rule->cleared_by) {
      const bool cleared = any_named(by.ref, [&](const Observation& other) {
        if (&other == &o || end_order_of(other, last_of(o)) != Ordering::after) return false;
        if (by.same == Same::file ? other.file != o.file : !agrees(o.place, other.place, by.same))
          return false;
        const auto apart = time_between(o, other);
        return !by.within_ns || !apart || *apart <= *by.within_ns;
      });
      if (cleared) o.role = Role::context;
    }
    if (o.role == Role::root && outlived_by_start(o)) o.role = Role::context;
  }

  /// A process that complained while it started and then was ready had no fault: it tried something
  /// and did without (a tuner's tactic, a network it need not have). Not so where it ended and
  /// began again in between.
  bool outlived_by_start(const Observation& o) const {
    static const std::set<std::string_view> k_classes{"runtime", "loading", "cuda-fault", "gpu-oom",
                                                      "distributed"};
    if (o.fact >= 0 || o.fatal || k_classes.count(o.class_) == 0 ||
        model_.files[o.file].kind == evidence::Kind::kernel_log)
      return false;
    const std::uint32_t last = std::max(o.line, o.last_line);
    std::uint32_t ready = UINT32_MAX;
    const auto with_tag = [&](const char* tag, const auto& visit) {
      const auto it = by_tag_.find(tag);
      if (it == by_tag_.end()) return;
      for (const std::size_t i : it->second) {
        const Observation& other = model_.observations[i];
        if (other.file == o.file && other.line > last) visit(other);
      }
    };
    with_tag("engine-ready", [&](const Observation& r) { ready = std::min(ready, r.line); });
    if (ready == UINT32_MAX) return false;
    bool ended = false;
    with_tag("engine-start", [&](const Observation& s) { ended = ended || s.line <= ready; });
    return !ended && std::none_of(fatal_.begin(), fatal_.end(), [&](std::size_t i) {
      const Observation& f = model_.observations[i];
      return f.file == o.file && f.line >= o.line && f.line <= ready;
    });
  }

  EvidenceModel& model_;
  const rules::RuleSet& rules_;
  std::map<std::string, std::vector<std::size_t>> by_rule_;
  std::map<std::string, std::vector<std::size_t>> by_tag_;
  std::vector<std::size_t> fatal_;  ///< observations that end a process, container or group
};

}  // namespace

void apply(const rules::Overlay& overlay, Observation& o) {
  const auto set = [](auto& mine, const auto& theirs) {
    if (theirs) mine = *theirs;
  };
  set(o.cause, overlay.cause);
  set(o.class_, overlay.class_);
  set(o.title, overlay.title);
  set(o.fault_domain, overlay.fault_domain);
  set(o.role, overlay.role);
  set(o.severity, overlay.severity);
  if (overlay.confidence) o.confidence_cap = overlay.confidence;
  set(o.quarantine, overlay.quarantine);
  set(o.fatal, overlay.fatal);
  set(o.stands_alone, overlay.stands_alone);
  if (overlay.pattern) o.pattern = *overlay.pattern;
  if (overlay.scope) o.scope = *overlay.scope;
  for (const std::string& tag : overlay.tags)
    if (std::find(o.tags.begin(), o.tags.end(), tag) == o.tags.end()) o.tags.push_back(tag);
  if (!overlay.next_steps.empty()) o.advice.push_back(&overlay.next_steps);
}

std::vector<rules::Step> steps_of(const Observation& o) {
  std::vector<rules::Step> steps = *o.rule->next_steps;
  for (const std::vector<rules::Step>* layer : o.advice) {
    const auto in = [](const std::vector<rules::Step>& list, const rules::Step& step) {
      return std::find(list.begin(), list.end(), step) != list.end();
    };
    // A layer replaces what the layers below say of the phases that it names.
    const auto replaced = [&](const rules::Step& below) {
      return !in(*layer, below) &&
             std::any_of(layer->begin(), layer->end(),
                         [&](const rules::Step& step) { return step.phase == below.phase; });
    };
    steps.erase(std::remove_if(steps.begin(), steps.end(), replaced), steps.end());
    for (const rules::Step& step : *layer)
      if (!in(steps, step)) steps.push_back(step);
  }
  return steps;
}

bool is_named_by(const rules::Ref& ref, const Observation& o) {
  switch (ref.by) {
    case rules::Ref::By::rule:
      return o.rule->id == ref.value;
    case rules::Ref::By::tag:
      return has_tag(o, ref.value);
    case rules::Ref::By::class_:
      return o.class_ == ref.value;
    case rules::Ref::By::cause:
      return o.cause == ref.value;
    case rules::Ref::By::kind_present:
    case rules::Ref::By::kind_absent:
      return false;
  }
  return false;
}

void settle_roles(EvidenceModel& model, const rules::RuleSet& rules) {
  Settler(model, rules).run();
}

std::string filled_title(const Observation& o) {
  // Most titles name nothing: what they might name need not be gathered.
  return o.title.find('{') == std::string::npos ? fill(o.title, {}) : fill(o.title, fill_values(o));
}

}  // namespace triage::analysis

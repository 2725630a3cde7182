#include "analysis/composite.hpp"

#include <algorithm>
#include <optional>

#include "analysis/roles.hpp"
#include "rules/when.hpp"

namespace triage::analysis {

using rules::Role;
using rules::Same;

namespace {

std::string part_of(const EvidenceModel& model, std::size_t index, const std::string& name) {
  const Observation& o = model.observations[index];
  const auto gpu = [&] {
    if (!o.place.pci.empty()) return o.place.node + '/' + o.place.pci;
    return !o.place.gpu_uuid.empty() ? o.place.gpu_uuid : o.place.gpu_index;
  };
  if (name == "pod")
    return !o.place.pod.empty() ? o.place.pod : "file:" + model.inputs[o.file].path;
  if (name == "node") return o.place.node;
  if (name == "gpu") return gpu();
  if (name == "rank") return o.place.rank;
  if (name == "pid") return o.place.pid;
  if (name == "container") return o.place.container;
  if (name == "workload") return o.place.workload;
  if (name == "revision") return o.place.revision;
  if (name == "file") return model.inputs[o.file].path;
  const auto it = o.captures.find(name);
  return it == o.captures.end() ? std::string() : it->second;
}

/// Composites see a bounded number of observations: the first few of each rule, place and cause.
constexpr std::size_t k_most_seen = 3000;

class Composites {
 public:
  Composites(EvidenceModel& model, const rules::RuleSet& rules) : model_(model), rules_(rules) {
    world_.kinds = model_.kinds;
    world_.agrees = [this](std::size_t a, std::size_t b, Same same) {
      const Observation& x = model_.observations[a];
      const Observation& y = model_.observations[b];
      return same == Same::file ? x.file == y.file : agrees(x.place, y.place, same);
    };
    const auto sign = [](Ordering order) {
      return order == Ordering::before ? -1 : order == Ordering::after ? 1 : 0;
    };
    world_.order = [this, sign](std::size_t a, std::size_t b) {
      return sign(order_of(model_.observations[a], model_.observations[b]));
    };
    world_.end_order = [this, sign](std::size_t a, std::size_t b) {
      return sign(end_order_of(model_.observations[a], model_.observations[b]));
    };
    world_.part = [this](std::size_t index, const std::string& name) {
      return part_of(model_, index, name);
    };
  }
  Composites(const Composites&) = delete;
  Composites& operator=(const Composites&) = delete;

  std::vector<Lift> run() {
    std::vector<Lift> lifts;
    for (const rules::Rule& rule : rules_.rules)
      if (rule.matcher == rules::Rule::Matcher::when &&
          rule.when.effect == rules::When::Effect::root)
        add_root(rule);
    for (const rules::Rule& rule : rules_.rules)
      if (rule.matcher == rules::Rule::Matcher::when &&
          rule.when.effect == rules::When::Effect::lift)
        if (auto terms = evaluate(rule)) lifts.push_back({&rule, std::move(*terms)});
    return lifts;
  }

 private:
  std::optional<std::vector<std::size_t>> evaluate(const rules::Rule& rule) {
    collect();
    return rules::evaluate(rule.when, world_);
  }

  void collect() {
    if (collected_ == model_.observations.size()) return;
    collected_ = model_.observations.size();
    seen_.clear();
    std::map<std::string, int> per_place;
    for (std::size_t i = 0; i < model_.observations.size() && seen_.size() < k_most_seen; ++i) {
      const Observation& o = model_.observations[i];
      if (o.set_aside) continue;
      if (model_.observations.size() > k_most_seen) {
        const std::string key = o.rule->id + '|' + o.place.node + '|' + o.place.pod + '|' +
                                o.place.pci + '|' + o.cause + '|' + std::to_string(o.file);
        if (++per_place[key] > 4) continue;
      }
      seen_.push_back({o.rule->id, o.class_, o.cause, o.tags, o.role, o.count,
                       o.time ? std::optional(o.time->ns) : std::nullopt, i});
    }
    world_.observations = rules::NamedObservations(seen_);
  }

  /// A sign of a system at work decides nothing as long as another term shows the fault.
  [[nodiscard]] bool shows_work(const Observation& o) const {
    return std::any_of(o.tags.begin(), o.tags.end(), [](const std::string& tag) {
      return tag == "engine-ready" || tag == "engine-serving" || tag == "container-ready";
    });
  }

  /// A state as it was when somebody looked, against an event, which says when it came about.
  [[nodiscard]] std::optional<evidence::Kind> fact_kind(const Observation& o) const {
    if (o.fact < 0) return std::nullopt;
    return model_.facts[static_cast<std::size_t>(o.fact)].kind;
  }

  /// The earliest line of the terms: of events before states, of faults before signs of work.
  [[nodiscard]] std::size_t deciding_term(const std::vector<std::size_t>& terms) const {
    const auto& all = model_.observations;
    const bool event = std::any_of(terms.begin(), terms.end(), [&](std::size_t i) {
      return fact_kind(all[i]) == evidence::Kind::event;
    });
    const auto last = [&](std::size_t i) {
      return shows_work(all[i]) || (event && fact_kind(all[i]) == evidence::Kind::pod);
    };
    return *std::min_element(terms.begin(), terms.end(), [&](std::size_t a, std::size_t b) {
      return last(a) != last(b) ? last(b) : earlier_for_display(all[a], all[b]);
    });
  }

  /// A composite root stands at its deciding term.
  void add_root(const rules::Rule& rule) {
    const auto terms = evaluate(rule);
    if (!terms || terms->empty()) return;
    const std::size_t first = deciding_term(*terms);
    Observation o = model_.observations[first];
    o.rule = &rule;
    o.near_holds.clear();
    o.catalog_line = 0;
    for (const std::size_t i : *terms) {
      o.place.fill_from(model_.observations[i].place);
      for (const auto& [name, value] : model_.observations[i].captures)
        o.captures.emplace(name, value);
    }
    o.count = 1;
    start_from_rule(o);
    o.title = filled_title(o);
    // Its terms are what it is made of: as roots they would compete with it.
    for (const std::size_t i : *terms)
      if (model_.observations[i].role == Role::root && model_.observations[i].class_ == rule.class_)
        model_.observations[i].role = Role::symptom;
    model_.observations.push_back(std::move(o));
  }

  EvidenceModel& model_;
  const rules::RuleSet& rules_;
  std::vector<rules::WhenObservation> seen_;
  rules::WhenWorld world_;
  std::size_t collected_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::vector<Lift> run_composites(EvidenceModel& model, const rules::RuleSet& rules) {
  return Composites(model, rules).run();
}

}  // namespace triage::analysis

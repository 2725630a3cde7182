#include "rules/when.hpp"

#include <algorithm>

namespace triage::rules {
namespace {

using Indices = NamedObservations::List;

/// Enough of them, at distinct places, within the window.
std::optional<Indices> enough(const Term& term, const WhenWorld& world, Indices found) {
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) {
    return a->time_ns.value_or(INT64_MIN) < b->time_ns.value_or(INT64_MIN);
  });
  const auto place = [&](const WhenObservation& o) {
    std::string key;
    for (const std::string& name : term.distinct) key += world.part(o.index, name) + '\n';
    return key;
  };
  for (std::size_t start = 0; start < found.size(); ++start) {
    std::set<std::string> places;
    std::uint64_t count = 0;
    Indices window;
    for (std::size_t i = start; i < found.size(); ++i) {
      const WhenObservation& o = *found[i];
      const bool too_late = term.within_ns && found[start]->time_ns && o.time_ns &&
                            *o.time_ns - *found[start]->time_ns > *term.within_ns;
      if (too_late) break;
      if (!term.distinct.empty() && !places.insert(place(o)).second) continue;
      window.push_back(&o);
      count += term.distinct.empty() ? o.count : 1;
    }
    if (count >= static_cast<std::uint64_t>(std::max(1, term.at_least))) return window;
    if (!term.within_ns) break;
  }
  return std::nullopt;
}

class Evaluation {
 public:
  Evaluation(const When& when, const WhenWorld& world) : when_(when), world_(world) {}

  std::optional<std::vector<std::size_t>> run() {
    if (!when_.same) return in_bucket(nullptr);
    // Every observation of a positive term may be the one that binds the others.
    for (const WhenObservation* o : anchors())
      if (auto found = in_bucket(o)) return found;
    return std::nullopt;
  }

 private:
  /// Nothing when a term of `all` names nothing at all.
  [[nodiscard]] Indices anchors() const {
    Indices anchors;
    const auto add = [&](const Indices& named) {
      anchors.insert(anchors.end(), named.begin(), named.end());
    };
    for (const Term& term : when_.all) {
      const Indices& named = world_.observations.of(term.ref);
      if (named.empty() && !names_kind(term)) return {};
      add(named);
    }
    for (const Term& term : when_.any) add(world_.observations.of(term.ref));
    std::sort(anchors.begin(), anchors.end());
    anchors.erase(std::unique(anchors.begin(), anchors.end()), anchors.end());
    return anchors;
  }

  static bool names_kind(const Term& term) {
    return term.ref.by == Ref::By::kind_present || term.ref.by == Ref::By::kind_absent;
  }

  std::optional<std::vector<std::size_t>> in_bucket(const WhenObservation* anchor) {
    anchor_ = anchor;
    first_.clear();
    std::vector<std::size_t> all;
    for (const Term& term : when_.all) {
      const auto found = holds(term);
      if (!found) return std::nullopt;
      if (first_.empty()) first_ = *found;
      for (const auto* o : *found) all.push_back(o->index);
    }
    bool any = when_.any.empty();
    for (const Term& term : when_.any)
      if (const auto found = holds(term)) {
        any = true;
        for (const auto* o : *found) all.push_back(o->index);
      }
    if (!any) return std::nullopt;
    for (const Term& term : when_.none)
      if (holds(term)) return std::nullopt;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  std::optional<Indices> holds(const Term& term) const {
    if (names_kind(term)) {
      const auto kind = evidence::kind_from(term.ref.value);
      const bool present = kind && world_.kinds.count(*kind) > 0;
      return present == (term.ref.by == Ref::By::kind_present) ? std::optional<Indices>(Indices{})
                                                               : std::nullopt;
    }
    Indices found;
    for (const WhenObservation* o : world_.observations.of(term.ref))
      if (captures_fit(term, *o) && in_same(*o) && ordered(term, *o)) found.push_back(o);
    if (found.empty()) return std::nullopt;
    return enough(term, world_, std::move(found));
  }

  bool captures_fit(const Term& term, const WhenObservation& o) const {
    return std::all_of(term.captures.begin(), term.captures.end(),
                       [&](const auto& c) { return world_.part(o.index, c.first) == c.second; });
  }

  bool in_same(const WhenObservation& o) const {
    return anchor_ == nullptr || anchor_ == &o ||
           world_.agrees(anchor_->index, o.index, *when_.same);
  }

  /// `before`, `after`: against some observation of the first term of `all`; an unknown order fits.
  bool ordered(const Term& term, const WhenObservation& o) const {
    if (term.order == Order::any || first_.empty()) return true;
    return std::any_of(first_.begin(), first_.end(), [&](const WhenObservation* f) {
      const int order = term.order == Order::after ? world_.end_order(o.index, f->index)
                                                   : world_.order(o.index, f->index);
      return order == 0 || (order < 0) == (term.order == Order::before);
    });
  }

  const When& when_;
  const WhenWorld& world_;
  const WhenObservation* anchor_ = nullptr;
  Indices first_;
};

}  // namespace

NamedObservations::NamedObservations(std::span<const WhenObservation> observations) {
  for (const WhenObservation& o : observations) {
    rules_[o.rule].push_back(&o);
    for (const std::string& tag : o.tags) {
      List& named = tags_[tag];
      if (named.empty() || named.back() != &o) named.push_back(&o);
    }
    if (o.role != Role::root) continue;
    classes_[o.class_].push_back(&o);
    causes_[o.cause].push_back(&o);
  }
}

const NamedObservations::List& NamedObservations::of(const Ref& ref) const {
  static const List none;
  const auto in = [&](const Index& index) -> const List& {
    const auto it = index.find(ref.value);
    return it == index.end() ? none : it->second;
  };
  switch (ref.by) {
    case Ref::By::rule:
      return in(rules_);
    case Ref::By::tag:
      return in(tags_);
    case Ref::By::class_:
      return in(classes_);
    case Ref::By::cause:
      return in(causes_);
    default:
      return none;
  }
}

std::optional<std::vector<std::size_t>> evaluate(const When& when, const WhenWorld& world) {
  return Evaluation(when, world).run();
}

}  // namespace triage::rules

#include "rules/when_test.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "rules/where_test.hpp"

namespace triage::rules {
namespace {

using Indices = std::vector<std::size_t>;

std::string value_of(const WhenObservation& o, std::string_view name) {
  return o.value ? o.value(name) : std::string();
}

class Group {
 public:
  Group(const When& when, std::span<const WhenObservation> all, Indices members,
        const WhenContext& context)
      : when_(when), all_(all), members_(std::move(members)), context_(context) {}

  /// The observations that satisfy all terms, or nothing.
  [[nodiscard]] std::optional<Indices> match() {
    Indices found;
    const auto take = [&](const Indices& more) {
      found.insert(found.end(), more.begin(), more.end());
    };
    for (const Term& term : when_.all) {
      const auto more = satisfy(term);
      if (!more) return std::nullopt;
      if (anchor_.empty()) anchor_ = *more;
      take(*more);
    }
    if (!when_.any.empty()) {
      bool some = false;
      for (const Term& term : when_.any)
        if (const auto more = satisfy(term)) {
          some = true;
          take(*more);
        }
      if (!some) return std::nullopt;
    }
    for (const Term& term : when_.none)
      if (satisfy(term)) return std::nullopt;
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  [[nodiscard]] std::optional<Indices> satisfy(const Term& term) const {
    if (term.ref.by == Ref::By::kind_present || term.ref.by == Ref::By::kind_absent) {
      const auto kind = evidence::kind_from(term.ref.value);
      const bool present = kind && context_.kinds.count(*kind) > 0;
      if (present == (term.ref.by == Ref::By::kind_present)) return Indices();
      return std::nullopt;
    }
    Indices candidates;
    for (const std::size_t i : members_)
      if (refers_to(term.ref, all_[i]) && captures(term, all_[i]) && ordered(term, all_[i]))
        candidates.push_back(i);
    if (candidates.empty()) return std::nullopt;
    return enough(term, candidates);
  }

  [[nodiscard]] static bool captures(const Term& term, const WhenObservation& o) {
    return term.captures.empty() ||
           captures_hold(term.captures, [&](const std::string& n) { return value_of(o, n); }, {});
  }

  [[nodiscard]] bool ordered(const Term& term, const WhenObservation& o) const {
    if (term.order == Order::any || anchor_.empty()) return true;
    return std::any_of(anchor_.begin(), anchor_.end(), [&](std::size_t first) {
      const auto before = stands_before(o, all_[first]);
      return before && *before == (term.order == Order::before);
    });
  }

  /// Counts within the window that begins at each candidate; undated ones belong to every window.
  [[nodiscard]] std::optional<Indices> enough(const Term& term, const Indices& candidates) const {
    if (!term.within_ns) {
      if (count(term, candidates) >= static_cast<std::uint64_t>(term.at_least)) return candidates;
      return std::nullopt;
    }
    Indices dated;
    Indices undated;
    for (const std::size_t i : candidates) (all_[i].time_ns ? dated : undated).push_back(i);
    std::stable_sort(dated.begin(), dated.end(), [&](std::size_t a, std::size_t b) {
      return *all_[a].time_ns < *all_[b].time_ns;
    });
    if (dated.empty())
      return count(term, undated) >= static_cast<std::uint64_t>(term.at_least)
                 ? std::optional(undated)
                 : std::nullopt;
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < dated.size(); ++begin) {
      while (end < dated.size() &&
             *all_[dated[end]].time_ns - *all_[dated[begin]].time_ns <= *term.within_ns)
        ++end;
      Indices window(dated.begin() + static_cast<std::ptrdiff_t>(begin),
                     dated.begin() + static_cast<std::ptrdiff_t>(end));
      window.insert(window.end(), undated.begin(), undated.end());
      if (count(term, window) >= static_cast<std::uint64_t>(term.at_least)) return window;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint64_t count(const Term& term, const Indices& some) const {
    if (term.distinct.empty()) {
      std::uint64_t total = 0;
      for (const std::size_t i : some) total += all_[i].count;
      return total;
    }
    std::set<std::vector<std::string>> tuples;
    for (const std::size_t i : some) {
      std::vector<std::string> tuple;
      for (const std::string& name : term.distinct) tuple.push_back(value_of(all_[i], name));
      tuples.insert(std::move(tuple));
    }
    return tuples.size();
  }

  const When& when_;
  std::span<const WhenObservation> all_;
  Indices members_;
  const WhenContext& context_;
  Indices anchor_;  ///< what satisfies the first term, for `order`
};

bool some_term_refers(const When& when, const WhenObservation& o) {
  const auto refers = [&](const Term& term) { return refers_to(term.ref, o); };
  return std::any_of(when.all.begin(), when.all.end(), refers) ||
         std::any_of(when.any.begin(), when.any.end(), refers);
}

}  // namespace

bool refers_to(const Ref& ref, const WhenObservation& o) {
  switch (ref.by) {
    case Ref::By::rule:
      return o.rule == ref.value;
    case Ref::By::tag:
      return std::find(o.tags.begin(), o.tags.end(), ref.value) != o.tags.end();
    case Ref::By::class_:
      return o.role != Role::context && o.class_ == ref.value;
    case Ref::By::cause:
      return o.role != Role::context && o.cause == ref.value;
    default:
      return false;
  }
}

std::optional<bool> stands_before(const WhenObservation& a, const WhenObservation& b) {
  if (a.file == b.file && a.line != 0 && b.line != 0 && a.line != b.line) return a.line < b.line;
  if (!a.time_ns || !b.time_ns) return std::nullopt;
  const std::int64_t apart = *b.time_ns - *a.time_ns;
  const std::int64_t doubt = a.uncertainty_ns + b.uncertainty_ns;
  if (apart > doubt) return true;
  if (-apart > doubt) return false;
  return std::nullopt;
}

std::vector<WhenMatch> match_when(const When& when, std::span<const WhenObservation> observations,
                                  const WhenContext& context) {
  std::vector<WhenMatch> matches;
  const auto try_group = [&](std::string binding, Indices members) {
    if (auto found = Group(when, observations, std::move(members), context).match())
      matches.push_back({std::move(binding), std::move(*found)});
  };
  if (!when.same || *when.same == Same::any) {
    Indices all(observations.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    try_group({}, std::move(all));
    return matches;
  }
  const std::string_view key = to_string(*when.same);
  std::vector<std::string> values;
  values.reserve(observations.size());
  std::set<std::string> bindings;
  for (const WhenObservation& o : observations) {
    values.push_back(value_of(o, key));
    if (!values.back().empty() && some_term_refers(when, o)) bindings.insert(values.back());
  }
  if (bindings.empty()) bindings.insert("");
  for (const std::string& binding : bindings) {
    Indices members;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].empty() || values[i] == binding) members.push_back(i);
    try_group(binding, std::move(members));
  }
  return matches;
}

}  // namespace triage::rules

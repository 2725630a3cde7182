#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.hpp"

namespace triage::rules {

/// An observation as `when` sees it: effective values, places and captures by name, and where it
/// stands. The analysis and the samples both make these, so that a sample means what happens.
struct WhenObservation {
  std::string_view rule;
  std::string_view cause;
  std::string_view class_;
  Role role = Role::root;
  std::span<const std::string> tags;
  /// `pod`, `node`, `gpu`, `pid`, `process`, `group`, `workload`, `revision`, `file`, or the name
  /// of a capture. Empty: not named, and then it agrees with any.
  std::function<std::string(std::string_view name)> value;
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::optional<std::int64_t> time_ns;
  std::int64_t uncertainty_ns = 0;
  std::uint64_t count = 1;  ///< folded repeats
};

struct WhenContext {
  std::set<Kind> kinds;  ///< present in the evidence
};

struct WhenMatch {
  std::string binding;  ///< the value that `same` binds; empty when the evidence names none
  std::vector<std::size_t> observations;  ///< that satisfy `all` and `any`, ascending
};

/// Whether `ref` names this observation. By class and cause only root and symptom count: a context
/// line of class hardware is no hardware fault.
[[nodiscard]] bool refers_to(const Ref& ref, const WhenObservation& observation);

/// Every way in which `when` holds: one for each value that `same` can take.
///
/// `same: pod` splits the observations by pod; those without a pod belong to every one. A term
/// holds when at least `at_least` of its observations (different in the tuple of `distinct`, when
/// named; folded repeats count when it is not) lie within `within`. An observation without a time
/// is not held against `within`; `order` holds only where line or time order is certain. Without
/// `same`, one match at most.
[[nodiscard]] std::vector<WhenMatch> match_when(const When& when,
                                                std::span<const WhenObservation> observations,
                                                const WhenContext& context);

/// Whether `a` stands before `b`: by line in one file, else by time with its uncertainty; nothing
/// when the evidence does not say.
[[nodiscard]] std::optional<bool> stands_before(const WhenObservation& a, const WhenObservation& b);

}  // namespace triage::rules

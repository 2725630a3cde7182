#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/rule.hpp"

namespace triage::rules {

/// An observation as a composite rule sees it.
struct WhenObservation {
  std::string_view rule, class_, cause;
  std::span<const std::string> tags;
  Role role = Role::root;
  std::uint64_t count = 1;
  std::optional<std::int64_t> time_ns;
  std::size_t index = 0;  ///< of the caller
};

/// The observations, found by what a term names them by: most terms name nothing that is there.
class NamedObservations {
 public:
  using List = std::vector<const WhenObservation*>;  ///< in the order of the observations

  NamedObservations() = default;
  /// Keeps pointers into `observations`.
  explicit NamedObservations(std::span<const WhenObservation> observations);
  [[nodiscard]] const List& of(const Ref& ref) const;

 private:
  using Index = std::unordered_map<std::string_view, List>;
  Index rules_, tags_, classes_, causes_;
};

/// The world around the observations; the caller knows places and clocks.
struct WhenWorld {
  NamedObservations observations;
  std::set<Kind> kinds;
  std::function<bool(std::size_t a, std::size_t b, Same same)> agrees;  ///< by the caller's index
  /// -1: a before b, 1: after, 0: nothing says.
  std::function<int(std::size_t a, std::size_t b)> order;
  /// The same for the last repeat of `a`, which may have folded many lines.
  std::function<int(std::size_t a, std::size_t b)> end_order;
  /// A part of the place (`pod`, `node`, `gpu` ...) or a capture; where pods are unnamed `pod`
  /// gives the file.
  std::function<std::string(std::size_t index, const std::string& name)> part;
};

/// The observations (caller's indices) that a composite rests on, or nothing when it does not hold.
/// `class` and `cause` terms see roots only; `rule` and `tag` terms see every role.
[[nodiscard]] std::optional<std::vector<std::size_t>> evaluate(const When& when,
                                                               const WhenWorld& world);

}  // namespace triage::rules

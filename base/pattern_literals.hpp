#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/pattern_tree.hpp"

namespace triage::base {

/// Which literals whoever searches likes best.
struct LiteralTaste {
  std::size_t least = 4;  ///< bytes of the shortest literal that is of use
  std::size_t most = 96;  ///< alternatives; more are no fixed text any more
  std::function<long(const std::string&)>
      cost;  ///< of looking for one literal; summed over several
};

/// Literals of which every match of the pattern holds at least one, in lower case: among all such
/// sets that the pattern requires, the cheapest. Empty when it requires none that is of use.
[[nodiscard]] std::vector<std::string> required_literals(const PatternNode& pattern,
                                                         const LiteralTaste& taste);

}  // namespace triage::base

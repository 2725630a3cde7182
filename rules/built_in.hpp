#pragma once

#include "rules/rule.hpp"

namespace triage::rules {

/// The built-in rules for the caller alone: reading them anew costs less than copying them.
[[nodiscard]] RuleSet read_built_in_rules();

}  // namespace triage::rules

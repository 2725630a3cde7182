#pragma once

#include "rules/rule.hpp"

namespace triage::rules {

/// The built-in rules for the caller alone: reading them anew costs less than copying them.
[[nodiscard]] RuleSet read_built_in_rules();

/// Their digest, without reading them.
[[nodiscard]] std::string built_in_digest();

}  // namespace triage::rules

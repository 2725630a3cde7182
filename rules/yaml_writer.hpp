#pragma once

#include <string>

#include "rules/rule.hpp"

namespace triage::rules {

/// A rule as an entry of a pack: what `triage rules show` prints. Keys that hold their default are
/// left out; behind a key that a later layer replaced stands where it comes from. Read again, it
/// gives the same rule.
[[nodiscard]] std::string to_yaml(const Rule& rule);

/// A YAML scalar for any text: plain where it is safe, else in quotes.
[[nodiscard]] std::string yaml_scalar(const std::string& text);
/// Always in single quotes: for patterns.
[[nodiscard]] std::string yaml_quoted(const std::string& text);

}  // namespace triage::rules

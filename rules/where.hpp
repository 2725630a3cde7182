#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "evidence/fact.hpp"
#include "evidence/time.hpp"
#include "rules/rule.hpp"

namespace triage::rules {

/// Facts that a `where` is evaluated against: the fact itself, and its siblings for `rises_by` (two
/// scrapes) and the end of the evidence for `older_than`.
struct FactSet {
  std::span<const evidence::Fact> facts;
  std::span<const std::optional<evidence::Time>> times;  ///< may be empty
  std::optional<evidence::Time> end;
};

/// Whether every test holds for fact `index`. A field that the fact does not have fails every test
/// but `exists: false` and `ne`.
[[nodiscard]] bool holds(const Where& where, const FactSet& set, std::size_t index);

/// The line that a match reports: that of `at`, else of the first test's field, else the fact's
/// own.
[[nodiscard]] std::uint32_t deciding_line(const Where& where, const evidence::Fact& fact);

}  // namespace triage::rules

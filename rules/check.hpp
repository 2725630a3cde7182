#pragma once

#include <vector>

#include "rules/pack_reader.hpp"

/// What can only be judged when all packs are known: references, catalogs, literals, reachability.
namespace triage::rules {

/// Judges the rules of `pack` against `rules` (which hold them, merged). Errors are what `triage
/// rules lint` refuses; a load keeps such a rule, since it is harmless.
[[nodiscard]] std::vector<Diagnostic> check_pack(const Pack& pack, const RuleSet& rules);

}  // namespace triage::rules

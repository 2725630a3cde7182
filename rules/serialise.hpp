#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rules/loader.hpp"
#include "rules/rule.hpp"

/// A RuleSet as compact bytes and back: what the build bakes into the binary and what the cache of
/// user packs holds. Private to one version of the program: the first bytes name the format, and
/// what is cut short or foreign reads as nothing. Whoever keeps bytes where they may be damaged
/// keeps a digest of them.
namespace triage::rules {

[[nodiscard]] std::string to_bytes(const RuleSet& rules);
/// `bytes` must outlive the rules: steps, samples and catalogs are read when they are asked for.
[[nodiscard]] std::optional<RuleSet> from_bytes(std::string_view bytes);
/// The digest of such a RuleSet without reading the rest.
[[nodiscard]] std::string digest_from_bytes(std::string_view bytes);

/// The same with what was said of the packs.
[[nodiscard]] std::string to_bytes(const Loaded& loaded);
[[nodiscard]] std::optional<Loaded> loaded_from_bytes(std::string bytes);

}  // namespace triage::rules

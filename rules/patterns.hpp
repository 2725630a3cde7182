#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

/// How patterns of rules are compiled, everywhere: Latin-1, so that any byte can be matched; quiet;
/// bounded in memory.
namespace triage::rules {

struct PatternError {
  std::string message;
  std::string fragment;  ///< the part of the pattern that RE2 names
};

/// The compiled pattern, or nullptr and why.
[[nodiscard]] std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern,
                                                        PatternError* error = nullptr);

enum class LiteralStrength : std::uint8_t {
  none,    ///< a match may hold no fixed text of 4 bytes
  weak,    ///< it is sure to hold one of 4 or 5 bytes
  common,  ///< it may hold none but words for which `is_common` holds
  good,
};

/// How well the scanner can find the lines of a pattern by fixed text alone. Patterns that do not
/// compile count as good: their error is reported elsewhere.
[[nodiscard]] LiteralStrength judge_literals(std::string_view pattern,
                                             bool (*is_common)(std::string_view));

}  // namespace triage::rules

#pragma once

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

/// Whether every match of `pattern` is sure to contain one of some literals of at least `least`
/// bytes: what the scanner filters by.
[[nodiscard]] bool has_required_literal(std::string_view pattern, int least);

}  // namespace triage::rules

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "rules/rule.hpp"

/// From YAML to a RuleSet in stages with a type each: read (with places), merge layers, compile.
/// Errors and warnings are diagnostics with a code, a place, a snippet and a mend; loading never
/// throws.
namespace triage::rules {

struct Diagnostic {
  enum class Level : std::uint8_t { error, warning };
  Level level = Level::error;
  std::string code;  ///< stable, kebab-case: `unknown-key`, `bad-regex`, `weak-literal` ...
  SourcePlace place;
  std::string message;
  std::string snippet;  ///< the YAML line
  std::string mend;
  /// `file:line:column: error: message [code]`, the snippet with a caret, and the mend.
  [[nodiscard]] std::string to_string() const;
};

struct LoadOptions {
  std::vector<std::string> paths;  ///< `--rules FILE|DIR`, in order; later wins
  bool built_in = true;
  bool system_layers = true;  ///< /etc/triage/rules.d and $XDG_CONFIG_HOME/triage/rules.d
  bool strict = false;        ///< `--strict-rules`: any error in a user pack is fatal
  bool cache = true;
  std::string cache_dir;  ///< empty: $XDG_CACHE_HOME/triage; compiled user packs are kept there
};

struct Loaded {
  RuleSet rules;
  std::vector<Diagnostic> diagnostics;  ///< of packs that were left out or warned about
};

/// The rules that an analysis runs with: built-in packs (baked in, never parsed), then the layers.
/// A broken user pack is left out whole and reported, or fatal when strict.
[[nodiscard]] base::Result<Loaded> load_rules(const LoadOptions& options);

/// Built-in packs and catalogs from the data inside the binary.
[[nodiscard]] const RuleSet& built_in_rules();

}  // namespace triage::rules

#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "rules/loader.hpp"

namespace triage::rules {

struct LintResult {
  RuleSet rules;  ///< built-in rules and the sound files together
  std::vector<Diagnostic> diagnostics;
  std::set<std::string> rule_ids;  ///< defined or overridden by the files
  std::size_t files = 0;
  [[nodiscard]] std::size_t errors() const;
};

/// Reads and judges packs and catalogs against the built-in rules `base`. A file whose pack or
/// table has the name of a built-in one is taken for its new version and replaces it.
[[nodiscard]] base::Result<LintResult> lint_files(const std::vector<std::string>& paths,
                                                  const RuleSet& base);

}  // namespace triage::rules

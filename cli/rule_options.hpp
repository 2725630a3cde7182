#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "rules/loader.hpp"

namespace triage::cli {

/// `--rules` and `--strict-rules`, the same for every command that works with rules.
struct RuleOptions {
  std::vector<std::string> paths;
  bool strict = false;
};

void add_rule_options(CLI::App& command, RuleOptions& options);

/// The effective rules: built-in, system layers, `--rules`. What was wrong with a pack goes to
/// standard error; nothing is returned, and the exit status is set, when that is fatal.
[[nodiscard]] std::optional<rules::RuleSet> load_rules(const RuleOptions& options,
                                                       Context& context);

/// Says on standard error what is wrong with packs: the first of it, and where the rest is told.
void say_of_packs(const std::vector<rules::Diagnostic>& diagnostics, const Context& context);

}  // namespace triage::cli

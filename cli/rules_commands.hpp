#pragma once

#include "cli/command.hpp"

// The subcommands of `triage rules`, one file each.
namespace triage::cli {

void add_rules_list(CLI::App& rules, Context& context);
void add_rules_show(CLI::App& rules, Context& context);
void add_rules_lint(CLI::App& rules, Context& context);
void add_rules_test(CLI::App& rules, Context& context);
void add_rules_new(CLI::App& rules, Context& context);
void add_rules_coverage(CLI::App& rules, Context& context);
void add_rules_diff(CLI::App& rules, Context& context);

}  // namespace triage::cli

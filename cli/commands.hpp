#pragma once

#include "cli/command.hpp"

// One line for each subcommand: file cli/<name>.cpp.
namespace triage::cli {

void add_report(CLI::App& app, Context& context);
void add_rules(CLI::App& app, Context& context);

}  // namespace triage::cli

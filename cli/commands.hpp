#pragma once

#include "cli/command.hpp"

// One line for each subcommand: file cli/<name>.cpp.
namespace triage::cli {

void add_analyze(CLI::App& app, Context& context);
void add_ls(CLI::App& app, Context& context);
void add_redact(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_history(CLI::App& app, Context& context);
void add_postmortem(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_collect(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_rules(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);

}  // namespace triage::cli

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.hpp"
#include "base/result.hpp"
#include "cli/command.hpp"
#include "rules/rule.hpp"

namespace triage::cli {

/// The options that every command shares which analyses evidence.
struct AnalysisOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> rules;
  bool strict_rules = false;
  std::string since, until, pod, node, gpu, zone, boot_time;
  std::optional<int> year;
  std::vector<std::string> places;
  int jobs = 0;
  bool digest = false;
};

/// INPUT... and the settings.
void add_analysis_options(CLI::App& command, AnalysisOptions& options);
/// Only the settings, for commands that name their inputs otherwise.
void add_analysis_settings(CLI::App& command, AnalysisOptions& options);

/// Options as the analysis takes them; a problem names the option and how it is written.
[[nodiscard]] base::Result<analysis::AnalyzeOptions> settings_of(const AnalysisOptions& options);

/// The rules to run with; diagnostics of packs go to standard error. Nothing when `--strict-rules`
/// refuses them.
[[nodiscard]] std::optional<rules::RuleSet> load(const AnalysisOptions& options, Context& context);

}  // namespace triage::cli

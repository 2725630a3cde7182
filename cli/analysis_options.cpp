#include "cli/analysis_options.hpp"

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "cli/rule_options.hpp"
#include "cli/zone.hpp"
#include "rules/loader.hpp"

namespace triage::cli {
namespace {

base::Problem bad(const std::string& option, const std::string& value, const std::string& mend) {
  return {"'" + value + "' is not understood", option, mend};
}

base::Result<std::optional<evidence::Time>> moment(const std::string& option,
                                                   const std::string& text) {
  if (text.empty()) return std::optional<evidence::Time>();
  const auto stamp = evidence::parse_rfc3339(text);
  if (!stamp) return bad(option, text, "write a time as 2025-08-14T03:12:07Z");
  return std::optional<evidence::Time>({stamp->ns, 0});
}

}  // namespace

void add_analysis_options(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("INPUT", options.inputs, "Bundles, directories, files, or - for standard input")
      ->required()
      ->option_text(" ");
  add_analysis_settings(command, options);
}

void add_analysis_settings(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("--rules", options.rules,
                  "Add rules from this file or folder; repeatable, later wins")
      ->option_text("FILE|DIR");
  command.add_flag("--strict-rules", options.strict_rules,
                   "Refuse to run with a broken rule pack instead of leaving it out");
  command.add_option("--since", options.since, "Leave out what is certainly earlier")
      ->option_text("TIME");
  command.add_option("--until", options.until, "Leave out what is certainly later")
      ->option_text("TIME");
  command.add_option("--pod", options.pod, "Leave out what names another pod")->option_text("POD");
  command.add_option("--node", options.node, "Leave out what names another node")
      ->option_text("NODE");
  command
      .add_option("--gpu", options.gpu,
                  "Leave out what names another GPU: UUID, PCI address or index")
      ->option_text("ID");
  command
      .add_option("--tz", options.zone, "Zone of stamps that name none: UTC, +02:00, Europe/Berlin")
      ->option_text("ZONE");
  command.add_option("--year", options.year, "Year of stamps that name none")
      ->check(CLI::Range(1971, 2200))
      ->option_text("YEAR");
  command
      .add_option("--boot-time", options.boot_time,
                  "When the node booted, for monotonic kernel stamps")
      ->option_text("TIME");
  command.add_option("--place", options.places, "Where a loose file comes from; repeatable")
      ->option_text("FILE=NODE[/POD]");
  command
      .add_option("--jobs", options.jobs,
                  "Threads that read and scan; default: as many as cores, at most 8")
      ->check(CLI::Range(0, 64))
      ->option_text("N");
  command.add_flag("--digest", options.digest, "Put the SHA-256 of every input into the report");
}

base::Result<analysis::AnalyzeOptions> settings_of(const AnalysisOptions& options) {
  analysis::AnalyzeOptions settings;
  settings.tool_version = TRIAGE_VERSION;
  settings.pod = options.pod;
  settings.node = options.node;
  settings.gpu = options.gpu;
  settings.jobs = options.jobs;
  settings.digest = options.digest;
  settings.dating.year = options.year;
  const auto since = moment("--since", options.since);
  if (!since) return since.problem();
  settings.since = *since;
  const auto until = moment("--until", options.until);
  if (!until) return until.problem();
  settings.until = *until;
  const auto boot = moment("--boot-time", options.boot_time);
  if (!boot) return boot.problem();
  if (*boot) settings.dating.boot_time_ns = (*boot)->ns;
  if (!options.zone.empty()) {
    settings.dating.zone = zone_from(options.zone);
    if (!settings.dating.zone)
      return bad("--tz", options.zone,
                 "write UTC, an offset such as +02:00, or a name such as Europe/Berlin (names need "
                 "the system's time zone database)");
  }
  for (const std::string& text : options.places) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
      return bad("--place", text, "write FILE=NODE or FILE=NODE/POD");
    const auto parts = base::split(std::string_view(text).substr(equals + 1), '/');
    if (parts.size() > 2) return bad("--place", text, "write FILE=NODE or FILE=NODE/POD");
    evidence::Place place;
    place.node = parts[0];
    if (parts.size() == 2) place.pod = parts[1];
    settings.input.places[text.substr(0, equals)] = place;
  }
  return settings;
}

std::optional<rules::RuleSet> load(const AnalysisOptions& options, Context& context) {
  rules::LoadOptions wanted;
  wanted.paths = options.rules;
  wanted.strict = options.strict_rules;
  auto loaded = rules::load_rules(wanted);
  if (!loaded) {
    context.fail(Exit::usage, loaded.problem());
    return std::nullopt;
  }
  say_of_packs(loaded->diagnostics, context);
  return std::move(loaded->rules);
}

}  // namespace triage::cli

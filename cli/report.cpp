#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/load_report.hpp"
#include "cli/report_output.hpp"

namespace triage::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  OutputOptions output;
};

void run(const Options& options, Context& context) {
  (void)format_of(options.output, options.paths.size());
  std::vector<NamedResult> results;
  for (const std::string& path : options.paths) {
    auto report = read_report(path);
    if (!report) return context.fail(Exit::nothing_read, report.problem());
    results.push_back({path, std::move(report).value()});
  }
  show_reports(results, options.output, context);
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("report", "Show stored JSON reports in another format");
  auto& options = context.keep<Options>();
  command->add_option("REPORT", options.paths, "Output of triage analyze -f json; - reads stdin")
      ->required()
      ->option_text(" ");
  add_output_options(*command, options.output);
  command->footer(
      "Examples:\n"
      "  triage analyze bundle.tar.gz -f json -o incident.json\n"
      "  triage report incident.json -o incident.html\n"
      "  triage report incident.json -f markdown | gh issue comment 7 --body-file -\n"
      "  triage report reports/*.json --combine");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

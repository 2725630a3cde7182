#include <CLI/CLI.hpp>

#include "analysis/compare.hpp"
#include "cli/commands.hpp"
#include "cli/load_report.hpp"
#include "cli/output.hpp"
#include "report/comparison.hpp"

namespace triage::cli {
namespace {

struct Options {
  AnalysisOptions analysis;
  std::string good, bad;
  std::string format = "text";
  std::string output;
  bool verbose = false;
};

std::string render(const Options& options, const Context& context,
                   const analysis::Comparison& comparison) {
  if (options.format == "json") return report::render_comparison_json(comparison);
  if (options.format == "markdown") return report::render_comparison_markdown(comparison);
  report::TextOptions text;
  if (options.output.empty() && context.colour_on(stdout))
    text.colour = report::TextOptions::Colour::on;
  if (options.verbose) text.detail = report::TextOptions::Detail::verbose;
  return report::render_comparison_text(comparison, text);
}

void run(Options& options, Context& context) {
  options.analysis.inputs = {options.good};
  const auto good = report_of(options.analysis, context);
  if (!good) return;
  options.analysis.inputs = {options.bad};
  const auto bad = report_of(options.analysis, context);
  if (!bad) return;
  const auto status =
      write_text(options.output, render(options, context, analysis::compare(*good, *bad)));
  if (!status) context.fail(Exit::internal_error, status.problem());
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("diff", "What sets a broken pod, node or time apart from a sound one");
  auto& options = context.keep<Options>();
  command->add_option("GOOD", options.good, "Bundle, folder, file or stored report of a sound one")
      ->required()
      ->option_text(" ");
  command->add_option("BAD", options.bad, "The same of a broken one")->required()->option_text(" ");
  add_analysis_settings(*command, options.analysis);
  command->add_option("-f,--format", options.format, "text, json or markdown")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->option_text("FORMAT");
  command->add_option("-o,--output", options.output, "File to write; default: standard output")
      ->option_text("FILE");
  command->add_flag("-v,--verbose", options.verbose, "All differences");
  command->footer(
      "Examples:\n"
      "  triage diff healthy.tar.gz broken.tar.gz\n"
      "  triage diff pod-a.json pod-b.json -f markdown");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/load_report.hpp"
#include "cli/output.hpp"
#include "report/formats.hpp"

namespace triage::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string format;
  std::string output;
  bool verbose = false;
};

struct Stored {
  std::string name;
  analysis::Report report;
};

report::Format format_of(const Options& options) {
  if (!options.format.empty()) {
    const auto format = report::format_from(options.format);
    if (format) return *format;
    throw UsageError{"unknown format '" + options.format +
                     "': " + base::join(report::format_names(), ", ")};
  }
  return report::format_of_file(options.output).value_or(report::Format::text);
}

void run(const Options& options, Context& context) {
  const report::Format format = format_of(options);
  std::vector<Stored> stored;
  for (const std::string& path : options.paths) {
    auto report = read_report(path);
    if (!report) return context.fail(Exit::nothing_read, report.problem());
    stored.push_back({path, std::move(report).value()});
  }
  std::vector<report::NamedReport> named;
  for (const Stored& item : stored)
    named.push_back({stored.size() > 1 ? item.name : "", &item.report});
  report::TextOptions text;
  const bool to_terminal = options.output.empty() || options.output == "-";
  if (to_terminal && context.colour_on(stdout)) text.colour = report::TextOptions::Colour::on;
  if (options.verbose) text.detail = report::TextOptions::Detail::verbose;
  if (format == report::Format::html && named.size() > 1)
    throw UsageError{"one HTML file holds one report: give one, or --combine"};
  const auto status = write_text(options.output, report::render_each(format, named, text));
  if (!status) context.fail(Exit::internal_error, status.problem());
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("report", "Show a stored JSON report in another format");
  auto& options = context.keep<Options>();
  command->add_option("REPORT", options.paths, "Output of triage analyze -f json; - reads stdin")
      ->required();
  command
      ->add_option("-f,--format", options.format,
                   base::join(report::format_names(), ", ") +
                       "; default: by the name of the output, else text")
      ->option_text("FORMAT");
  command->add_option("-o,--output", options.output, "File to write; default: standard output")
      ->option_text("FILE");
  command->add_flag("-v,--verbose", options.verbose,
                    "Text: also the causal chain, timeline, observations and coverage");
  command->footer(
      "Examples:\n"
      "  triage analyze bundle.tar.gz -f json -o incident.json\n"
      "  triage report incident.json -o incident.html\n"
      "  triage report incident.json -f markdown | gh issue comment 7 --body-file -");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

#include "cli/report_output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "report/fleet.hpp"

namespace triage::cli {
namespace {

using report::Format;

report::TextOptions text_options(const OutputOptions& options, const Context& context) {
  report::TextOptions text;
  const bool to_terminal = options.output.empty() || options.output == "-";
  if (to_terminal && context.colour_on(stdout)) text.colour = report::TextOptions::Colour::on;
  if (options.verbose) text.detail = report::TextOptions::Detail::verbose;
  return text;
}

std::string_view suffix_of(Format format) {
  switch (format) {
    case Format::text:
      return ".txt";
    case Format::json:
      return ".json";
    case Format::ndjson:
      return ".ndjson";
    case Format::markdown:
      return ".md";
    case Format::html:
      return ".html";
    case Format::junit:
      return ".xml";
    case Format::sarif:
      return ".sarif";
  }
  return "";
}

/// The input's own name without what would leave the folder; numbered when two inputs share it.
std::string file_name(const std::string& input, std::set<std::string>& used) {
  std::string stem = std::filesystem::path(input).filename().string();
  if (stem.empty() || stem == "." || stem == ".." || stem == "-") stem = "report";
  if (stem.ends_with(".json")) stem.resize(stem.size() - 5);
  std::string name = stem;
  for (int n = 2; !used.insert(name).second; ++n) name = stem + "-" + std::to_string(n);
  return name;
}

base::Status write_folder(const std::vector<NamedResult>& results, Format format,
                          const OutputOptions& options, const report::TextOptions& text) {
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) return base::Problem{error.message(), options.output, ""};
  std::set<std::string> used;
  for (const NamedResult& result : results) {
    const std::string path =
        options.output + file_name(result.name, used) + std::string(suffix_of(format));
    auto status = write_text(path, report::render(format, {result.name, &result.report}, text));
    if (!status) return status;
  }
  return base::Done{};
}

std::string document(const std::vector<NamedResult>& results, Format format,
                     const OutputOptions& options, const report::TextOptions& text) {
  std::vector<report::NamedReport> named;
  for (const NamedResult& result : results)
    named.push_back({results.size() > 1 || options.combine ? result.name : "", &result.report});
  if (options.combine) return report::render_fleet(format, named, text);
  return report::render_each(format, named, text);
}

}  // namespace

void add_output_options(CLI::App& command, OutputOptions& options) {
  command
      .add_option("-f,--format", options.format,
                  base::join(report::format_names(), ", ") +
                      "; default: by the name of the output, else text")
      ->option_text("FORMAT");
  command
      .add_option("-o,--output", options.output,
                  "File to write, or a folder (ending in /) for a file each; default: standard "
                  "output")
      ->option_text("FILE");
  command.add_flag("-v,--verbose", options.verbose,
                   "Add the causal chain, the timeline and all observations to the text");
  command.add_flag("--combine", options.combine, "One view of all reports: what failed how often");
  add_fail_on(command, options.fail_on);
}

Format format_of(const OutputOptions& options, std::size_t reports) {
  Format format = report::format_of_file(options.output).value_or(Format::text);
  if (!options.format.empty()) {
    const auto named = report::format_from(options.format);
    if (!named)
      throw UsageError{"unknown format '" + options.format +
                       "': " + base::join(report::format_names(), ", ")};
    format = *named;
  }
  const bool to_folder = options.output.ends_with('/');
  if (options.combine && to_folder)
    throw UsageError{"--combine writes one file: name it, not a folder"};
  if (format == Format::html && reports > 1 && !options.combine && !to_folder)
    throw UsageError{"one HTML file holds one report: use --combine, or a folder (-o DIR/)"};
  return format;
}

void show_reports(const std::vector<NamedResult>& results, const OutputOptions& options,
                  Context& context) {
  const Format format = format_of(options, results.size());
  const report::TextOptions text = text_options(options, context);
  const auto status = options.output.ends_with('/')
                          ? write_folder(results, format, options, text)
                          : write_text(options.output, document(results, format, options, text));
  if (!status) return context.fail(Exit::internal_error, status.problem());
  for (const NamedResult& result : results) {
    const Exit exit = status_of(result.report, options.fail_on);
    if (static_cast<int>(exit) > static_cast<int>(context.exit)) context.exit = exit;
  }
}

}  // namespace triage::cli

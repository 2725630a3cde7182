#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/analyze.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "report/display.hpp"

namespace triage::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
};

std::string place_of(const analysis::InputEntry& entry) {
  std::string place = entry.node;
  for (const std::string& part : {entry.pod, entry.container})
    if (!part.empty()) place += (place.empty() ? "" : "/") + part;
  return place.empty() ? "-" : place;
}

void print(const std::vector<analysis::InputEntry>& entries) {
  std::size_t path = 4;
  std::size_t place = 5;
  for (const auto& entry : entries) {
    path = std::max(path, entry.path.size());
    place = std::max(place, place_of(entry).size());
  }
  path = std::min<std::size_t>(path, 60);
  place = std::min<std::size_t>(place, 30);
  fmt::print("{:<{}}  {:<17}  {:<{}}  {:>9}  {:<24}  {}\n", "FILE", path, "KIND", "PLACE", place,
             "LINES", "FIRST", "LAST");
  const auto time = [](const std::optional<evidence::Time>& t) {
    return t ? evidence::to_rfc3339(*t) : std::string("-");
  };
  for (const auto& entry : entries)
    fmt::print("{:<{}}  {:<17}  {:<{}}  {:>9}  {:<24}  {}\n", report::visible(entry.path), path,
               entry.kind, report::visible(place_of(entry)), place, entry.lines, time(entry.first),
               time(entry.last));
}

void run(const Options& options, Context& context) {
  // An inventory needs no rules: the stages before them find kind, place and times.
  const auto report = analysis::analyze(options.inputs, rules::RuleSet{}, {});
  if (!report) return context.fail(Exit::nothing_read, report.problem());
  for (const std::string& warning : report->warnings) context.note("warning: " + warning);
  print(report->inputs);
}

}  // namespace

void add_ls(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "ls", "List what is in a bundle or folder: file, kind, place, lines, first and last time");
  Options& options = context.keep<Options>();
  command
      ->add_option("INPUT", options.inputs, "Bundles, directories, files, or - for standard input")
      ->required()
      ->option_text(" ");
  command->footer("Example:\n  triage ls incident.tar.gz");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

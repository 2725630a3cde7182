#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analysis/analyze.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/allocator.hpp"
#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "cli/history_use.hpp"
#include "cli/output.hpp"
#include "cli/report_output.hpp"
#include "rules/loader.hpp"

namespace triage::cli {
namespace {

constexpr const char* k_examples = R"(Examples:
  triage analyze incident.tar.gz
  triage analyze worker.log dmesg.txt --place dmesg.txt=gpu-07
  kubectl logs vllm-0 --previous | triage analyze -
  triage analyze bundle.tar.zst -o report.html --fail-on quarantine
  triage analyze node-*.tar.gz --combine
  triage analyze bundle.tar.gz --history --record)";

struct Options {
  AnalysisOptions analysis;
  OutputOptions output;
  std::string why_not, incident;
  bool each = false;
  bool history = false;
  bool record = false;
  bool timings = false;
};

/// Rules and engine, in the context's keeping: they are as good as never taken apart.
struct Workbench {
  std::optional<rules::RuleSet> rules;
  std::optional<analysis::Engine> engine;
};

/// Where the time of a command went. Nanoseconds.
struct Spent {
  std::int64_t load = 0, render = 0;
  analysis::Timings analysis;  ///< summed over the inputs
};

void print_timings(const Spent& spent) {
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  const analysis::Timings& t = spent.analysis;
  fmt::print(stderr,
             "timings (ms): load rules {:.1f}; read and scan {:.1f} (filter {:.1f} and confirm "
             "{:.1f} of all threads); parse {:.1f}; date and derive {:.1f}; verdict {:.1f}; "
             "render {:.1f}\n",
             ms(spent.load), ms(t.read_and_scan), ms(t.filter), ms(t.confirm), ms(t.parse),
             ms(t.date_and_derive), ms(t.verdict), ms(spent.render));
}

/// The report of some inputs, in the light of the history when asked for.
std::optional<analysis::Report> report_of(const std::vector<std::string>& inputs,
                                          analysis::Engine& engine,
                                          const analysis::AnalyzeOptions& settings,
                                          const Options& options, analysis::Timings& timings,
                                          Context& context) {
  auto report = engine.analyze(inputs, settings, &timings);
  if (!report) {
    context.fail(Exit::nothing_read, report.problem());
    return std::nullopt;
  }
  for (const std::string& warning : report->warnings) context.note("warning: " + warning);
  if (!options.history) return std::move(report).value();
  auto seen = with_history(*report, "");
  if (seen) return std::move(seen).value();
  context.note("warning: " + seen.problem().to_string() + "; the verdict is without the history");
  return std::move(report).value();
}

/// Adds the reports to the history. It comes after the output: whatever stands in its way, the
/// person has the report.
void record(const std::vector<NamedResult>& results, const Options& options, Context& context) {
  for (const NamedResult& result : results) {
    const auto id = record_run(result.report, "", options.incident);
    if (!id) return context.fail(Exit::internal_error, id.problem());
    context.note(fmt::format("recorded as run {}", *id));
  }
}

void run(const Options& options, Context& context) {
  const auto& inputs = options.analysis.inputs;
  const bool apart = options.each || options.output.combine;
  (void)format_of(options.output, apart ? inputs.size() : 1);
  prepare_allocator();
  Spent spent;
  base::Stopwatch watch;
  auto& workbench = context.keep<Workbench>();
  workbench.rules = load(options.analysis, context);
  if (!workbench.rules) return;
  const rules::RuleSet& rules = *workbench.rules;
  spent.load = watch.lap();
  const auto settings = settings_of(options.analysis);
  if (!settings) throw UsageError{settings.problem().to_string()};
  if (!options.why_not.empty()) {
    const auto known = analysis::check_why_not(options.why_not, rules);
    if (!known) throw UsageError{known.problem().to_string()};
    const auto text = analysis::why_not(options.why_not, inputs, rules, *settings);
    if (!text) return context.fail(Exit::nothing_read, text.problem());
    const auto status = write_text(options.output.output, *text);
    if (!status) context.fail(Exit::internal_error, status.problem());
    return;
  }
  analysis::Engine& engine = workbench.engine.emplace(rules);
  std::vector<NamedResult> results;
  if (!apart) {
    auto report = report_of(inputs, engine, *settings, options, spent.analysis, context);
    if (!report) return;
    results.push_back({inputs.front(), std::move(*report)});
  }
  for (std::size_t i = 0; apart && i < inputs.size(); ++i) {
    auto report = report_of({inputs[i]}, engine, *settings, options, spent.analysis, context);
    if (report) results.push_back({inputs[i], std::move(*report)});
  }
  if (results.empty()) return;
  context.exit = Exit::done;  // one input of many that could not be read was said
  (void)watch.lap();
  show_reports(results, options.output, context);
  spent.render = watch.lap();
  if (options.timings) print_timings(spent);
  if (options.record) record(results, options, context);
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("analyze", "Say what broke first, from a bundle or any evidence at hand");
  Options& options = context.keep<Options>();
  add_analysis_options(*command, options.analysis);
  add_output_options(*command, options.output);
  command->add_flag("--each", options.each,
                    "A report for each input; without it all inputs are one body of evidence");
  command->add_flag("--history", options.history,
                    "Let earlier incidents of the same GPU or failure raise the verdict");
  command->add_flag("--record", options.record, "Add this run to the history");
  command->add_option("--incident", options.incident, "With --record: which incident it is of")
      ->option_text("ID");
  command
      ->add_option("--why-not", options.why_not,
                   "Say what speaks against this cause, class or rule instead of the report")
      ->option_text("CAUSE");
  command->add_flag("--timings", options.timings, "Print where the time went to standard error");
  command->footer(k_examples);
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

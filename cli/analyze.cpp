#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "analysis/analyze.hpp"
#include "base/text.hpp"
#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "rules/loader.hpp"

namespace triage::cli {
namespace {

constexpr const char* k_examples = R"(Examples:
  triage analyze incident.tar.gz
  triage analyze worker.log dmesg.txt --place dmesg.txt=gpu-07
  kubectl logs vllm-0 --previous | triage analyze -
  triage analyze bundle.tar.zst -f json -o report.json --fail-on quarantine)";

enum class FailOn : std::uint8_t { never, fault, quarantine };

struct Options {
  AnalysisOptions analysis;
  std::string format = "text";
  std::string output;
  std::string why_not;
  FailOn fail_on = FailOn::never;
  bool verbose = false;
  bool timings = false;
};

std::string render(const Options& options, const Context& context, const analysis::Report& report) {
  if (options.format == "json") return report::render_json(report);
  report::TextOptions text;
  using enum report::TextOptions::Colour;
  text.colour = options.output.empty() && context.colour_on(stdout) ? on : off;
  text.detail =
      options.verbose ? report::TextOptions::Detail::verbose : report::TextOptions::Detail::brief;
  return report::render_text(report, text);
}

bool write_output(const std::string& path, const std::string& text, Context& context) {
  if (path.empty() || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return true;
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return true;
  context.fail(Exit::internal_error,
               base::Problem{"the report could not be written", path,
                             "is the folder there and writable, and the disk not full?"});
  return false;
}

void print_timings(const analysis::Timings& t) {
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  std::fputs(fmt::format("timings (ms): read and scan {:.1f}, of it filter {:.1f} and confirm "
                         "{:.1f}; parse {:.1f}; date and derive {:.1f}; verdict {:.1f}\n",
                         ms(t.read_and_scan), ms(t.filter), ms(t.confirm), ms(t.parse),
                         ms(t.date_and_derive), ms(t.verdict))
                 .c_str(),
             stderr);
}

Exit status_of(const analysis::Report& report, FailOn fail_on) {
  if (fail_on == FailOn::never) return Exit::done;
  const std::string& target = report.quarantine.target;
  if (target == "gpu" || target == "node") return Exit::quarantine;
  const bool fault = report.verdict.class_ != "none";
  return fault && fail_on == FailOn::fault ? Exit::fault_found : Exit::done;
}

void run(const Options& options, Context& context) {
  const auto rules = load(options.analysis, context);
  if (!rules) return;
  const auto settings = settings_of(options.analysis);
  if (!settings) throw UsageError{settings.problem().to_string()};
  if (!options.why_not.empty()) {
    const auto text =
        analysis::why_not(options.why_not, options.analysis.inputs, *rules, *settings);
    if (!text) return context.fail(Exit::nothing_read, text.problem());
    write_output(options.output, *text, context);
    return;
  }
  analysis::Timings timings;
  const auto report = analysis::analyze(options.analysis.inputs, *rules, *settings, &timings);
  if (!report) return context.fail(Exit::nothing_read, report.problem());
  for (const std::string& warning : report->warnings) context.note("warning: " + warning);
  if (!write_output(options.output, render(options, context, *report), context)) return;
  if (options.timings) print_timings(timings);
  context.exit = status_of(*report, options.fail_on);
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("analyze", "Say what broke first, from a bundle or any evidence at hand");
  Options& options = context.keep<Options>();
  add_analysis_options(*command, options.analysis);
  command->add_option("-f,--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->option_text("FORMAT");
  command->add_option("-o,--output", options.output, "Write the report to this file")
      ->option_text("FILE");
  static const std::map<std::string, FailOn> fail_on{
      {"never", FailOn::never}, {"fault", FailOn::fault}, {"quarantine", FailOn::quarantine}};
  command
      ->add_option("--fail-on", options.fail_on,
                   "Exit 10 when a fault is found (fault), 20 when a GPU or node should be held "
                   "(fault, quarantine); default never")
      ->transform(CLI::CheckedTransformer(fail_on, CLI::ignore_case).description(""))
      ->option_text("WHAT");
  command
      ->add_option("--why-not", options.why_not,
                   "Say what speaks against this cause, class or rule instead of the report")
      ->option_text("CAUSE");
  command->add_flag("-v,--verbose", options.verbose,
                    "Add the causal chain, the timeline and all observations to the text");
  command->add_flag("--timings", options.timings, "Print where the time went to standard error");
  command->footer(k_examples);
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

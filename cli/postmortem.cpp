#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/history_use.hpp"
#include "cli/load_report.hpp"
#include "cli/output.hpp"
#include "report/markers.hpp"
#include "report/postmortem.hpp"

namespace triage::cli {
namespace {

// A document that people write stays far below it.
constexpr std::size_t k_document_limit = std::size_t{64} << 20U;

struct Options {
  AnalysisOptions analysis;
  std::string format;
  std::string output;
  bool history = false;
  bool overwrite = false;
};

report::Language language_of(const Options& options) {
  if (options.format == "html") return report::Language::html;
  if (options.format == "markdown") return report::Language::markdown;
  return options.output.ends_with(".html") || options.output.ends_with(".htm")
             ? report::Language::html
             : report::Language::markdown;
}

/// The page of the verdict's pattern, as the rules hold it.
report::PatternNotes notes_of(const rules::RuleSet& rules, const std::string& pattern) {
  const auto found = rules.patterns.find(pattern);
  if (found == rules.patterns.end()) return {};
  const rules::PatternPage& page = found->second;
  report::PatternNotes notes;
  notes.title = page.title;
  notes.definition = page.definition;
  notes.conditions = page.conditions;
  notes.impacts = page.impacts;
  notes.not_this = page.not_this;
  notes.questions = page.questions;
  notes.containment = page.containment;
  notes.remediation = page.remediation;
  notes.prevention = page.prevention;
  return notes;
}

void say_kept(const report::Merged& merged, Context& context) {
  if (!merged.edited.empty())
    context.note("kept as you edited them: " + base::join(merged.edited, ", "));
  if (!merged.removed.empty())
    context.note("left out, as you removed them: " + base::join(merged.removed, ", "));
  if (!merged.added.empty()) context.note("new, at the end: " + base::join(merged.added, ", "));
}

/// The document to write: around what a person wrote into the one that is there.
std::optional<std::string> document(const Options& options, const std::string& fresh,
                                    Context& context) {
  std::error_code ignored;
  const bool is_there = !options.output.empty() && options.output != "-" &&
                        std::filesystem::is_regular_file(options.output, ignored);
  if (!is_there || options.overwrite) return fresh;
  const auto old_text = read_text(options.output, k_document_limit);
  if (!old_text) {
    context.fail(Exit::internal_error, old_text.problem());
    return std::nullopt;
  }
  if (base::trim(old_text.value()).empty()) return fresh;
  report::Merged merged = report::merge_documents(old_text.value(), fresh);
  if (merged.text.empty()) {
    context.fail(Exit::usage, base::Problem{"is there and is no postmortem of triage",
                                            options.output, "name another file, or --overwrite"});
    return std::nullopt;
  }
  say_kept(merged, context);
  return std::move(merged.text);
}

void run(Options& options, Context& context) {
  options.analysis.digest = true;  // the evidence index names each file by its digest
  auto report = report_of(options.analysis, context);
  if (!report) return;
  if (options.history) {
    auto escalated = with_history(*report, "");
    if (!escalated) return context.fail(Exit::internal_error, escalated.problem());
    report = std::move(escalated).value();
  }
  const auto rules = load(options.analysis, context);
  if (!rules) return;
  const auto text =
      document(options,
               report::render_postmortem(*report, notes_of(*rules, report->verdict.pattern),
                                         language_of(options)),
               context);
  if (!text) return;
  const auto status = write_text(options.output, *text);
  if (!status) return context.fail(Exit::internal_error, status.problem());
}

}  // namespace

void add_postmortem(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "postmortem", "Write a postmortem to edit: what the evidence shows, what is to fill in");
  auto& options = context.keep<Options>();
  add_analysis_options(*command, options.analysis);
  command
      ->add_option("-f,--format", options.format, "markdown or html; default: by the file's name")
      ->check(CLI::IsMember({"markdown", "html"}))
      ->option_text("FORMAT");
  command
      ->add_option("-o,--output", options.output,
                   "File to write, or to write anew around what was added to it")
      ->option_text("FILE");
  command->add_flag("--history", options.history, "Say what earlier incidents say of this one");
  command->add_flag("--overwrite", options.overwrite,
                    "Replace the file, with what was added to it");
  command->footer(
      "Examples:\n"
      "  triage postmortem bundle.tar.gz -o incident.md\n"
      "  triage postmortem report.json -o incident.html");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/redact_files.hpp"
#include "redact/redactor.hpp"
#include "rules/loader.hpp"

namespace triage::cli {
namespace {

constexpr std::size_t k_rules_limit = 4U << 20U;

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::string salt;
  std::string map;
  std::vector<std::string> rules;
  bool check = false;
  bool strict = false;
  bool fixed = false;
};

/// The rules of the person, with every problem said at once.
redact::CustomRules read_rules(const Options& options) {
  redact::CustomRules all;
  for (const std::string& path : options.rules) {
    const auto text = read_text(path, k_rules_limit);
    if (!text) throw UsageError{text.problem().to_string()};
    auto rules = redact::read_custom_rules(*text, path);
    if (!rules) throw UsageError{rules.problem().to_string()};
    all.append(std::move(*rules));
  }
  return all;
}

redact::Options redactor_options(const Options& options) {
  redact::Options made;
  made.salt = options.salt;
  made.strict = options.strict;
  made.custom = read_rules(options);
  made.keep_reverse_map = !options.map.empty();
  if (options.fixed) made.placeholders = redact::Options::Placeholders::fixed;
  // Packs of the person may mark more texts; a broken pack only marks none.
  if (const auto loaded = rules::load_rules({}); loaded) made.user_text = loaded->rules.user_text;
  return made;
}

/// A file for its owner only.
base::Status write_private(const std::string& path, const std::string& text) {
  if (auto status = write_text(path, text); !status) return status;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return base::Done{};  // `/dev/stderr`
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
  if (error) return base::Problem{"its mode cannot be set: " + error.message(), path, {}};
  return base::Done{};
}

std::string plural(std::uint64_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

std::string summary_of(const redact::Counts& counts) {
  std::uint64_t credentials = 0;
  std::uint64_t texts = 0;
  std::uint64_t people = 0;
  std::uint64_t addresses = 0;
  for (std::size_t i = 0; i < counts.by_what.size(); ++i) {
    const auto what = static_cast<redact::What>(i);
    std::uint64_t& sum = redact::is_credential(what) ? credentials
                         : redact::is_content(what)  ? texts
                         : redact::is_address(what)  ? addresses
                                                     : people;
    sum += counts.by_what[i];
  }
  return plural(credentials, "credential") + ", " + plural(texts, "text") + " of users, " +
         plural(people, "personal identifier") + ", " + std::to_string(addresses) +
         (addresses == 1 ? " address" : " addresses");
}

base::Status write_map(const Options& options, const redact::Redactor& redactor) {
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  for (const auto& [placeholder, value] : redactor.reverse_map())
    map[placeholder] = base::to_valid_utf8(value);
  return write_private(options.map, map.dump(1) + "\n");
}

/// Whether `path` is `outer` or lies in it.
bool lies_in(const std::string& path, const std::string& outer) {
  std::error_code error;
  const auto inside =
      std::filesystem::relative(std::filesystem::weakly_canonical(path, error),
                                std::filesystem::weakly_canonical(outer, error), error);
  return !inside.empty() && *inside.begin() != "..";
}

/// The map undoes the redaction: it must not travel with the files, nor take the place of one.
void refuse_bad_map(const Options& options) {
  if (options.map.empty()) return;
  if (options.fixed)
    throw UsageError{
        "--map tells pseudonyms apart, and --fixed gives none: one placeholder stands for many "
        "values"};
  if (options.check) throw UsageError{"--check writes nothing: leave out --map"};
  if (!options.output.empty() && lies_in(options.map, options.output))
    throw UsageError{
        "--map must lie outside the output: it tells what every placeholder stands for"};
  for (const std::string& input : options.inputs)
    if (input != "-" && lies_in(options.map, input))
      throw UsageError{"--map " + options.map +
                       " lies in the evidence: redaction does not write over it"};
}

void run_check(const Options& options, Context& context) {
  redact::Redactor redactor(redactor_options(options));
  const std::vector<std::string> inputs =
      options.inputs.empty() ? std::vector<std::string>{"-"} : options.inputs;
  const auto checked = check_files(redactor, inputs);
  if (!checked) return context.fail(Exit::nothing_read, checked.problem());
  for (const Exposed& exposed : checked->lines) {
    std::vector<std::string> kinds;
    for (const auto& [what, count] : exposed.kinds)
      kinds.push_back(std::string(to_string(what)) +
                      (count > 1 ? " x" + std::to_string(count) : ""));
    std::printf("%s:%llu: %s\n", exposed.file.c_str(),
                static_cast<unsigned long long>(exposed.line), base::join(kinds, ", ").c_str());
  }
  if (checked->lines_total > checked->lines.size())
    std::printf("and %s more\n",
                plural(checked->lines_total - checked->lines.size(), "line").c_str());
  for (const LeftOut& unread : checked->unread)
    context.note(unread.path + ": not read: " + unread.reason);
  context.note(plural(checked->files, "file") + ": " + summary_of(checked->counts));
  const bool exposed = checked->lines_total > 0;
  if (exposed) {
    context.exit = Exit::check_failed;
  } else if (!checked->unread.empty()) {
    context.exit = Exit::with_failures;
  }
}

void run_into(const Options& options, Context& context) {
  redact::Redactor redactor(redactor_options(options));
  const std::vector<std::string> inputs =
      options.inputs.empty() ? std::vector<std::string>{"-"} : options.inputs;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(input, options.output, error))
      throw UsageError{options.output +
                       " is the input: redaction does not write over evidence; give another "
                       "directory with -o"};
  }
  if (auto made = make_directory(options.output); !made)
    return context.fail(Exit::with_failures, made.problem());
  const auto result = redact_into(redactor, inputs, options.output);
  if (!result) return context.fail(Exit::nothing_read, result.problem());
  // A bundle that was redacted before brings a report of its own.
  std::string report = options.output + "/redaction.json";
  if (result->holds_report) report = options.output + "/redaction-again.json";
  if (auto status = write_private(report, redactor.report_json()); !status)
    context.fail(Exit::with_failures, status.problem());
  if (!options.map.empty())
    if (auto status = write_map(options, redactor); !status)
      context.fail(Exit::with_failures, status.problem());
  for (const std::string& note : result->notes) context.note(note);
  for (const LeftOut& left : result->left_out)
    context.fail(Exit::with_failures, base::Problem{"left out: " + left.reason, left.path, {}});
  context.note(plural(result->files, "file") + " in " + options.output + ": " +
               summary_of(redactor.totals()) + " masked");
}

void run(const Options& options, Context& context) {
  refuse_bad_map(options);
  if (options.check) {
    if (!options.output.empty()) throw UsageError{"--check writes nothing: leave out -o"};
    return run_check(options, context);
  }
  if (!options.output.empty()) return run_into(options, context);
  if (options.inputs.size() > 1)
    throw UsageError{"several files need a directory to be written to: -o DIR"};
  redact::Redactor redactor(redactor_options(options));
  const std::string input = options.inputs.empty() ? "-" : options.inputs.front();
  const Filtered filtered = redact_stream(redactor, input);
  if (filtered.several)
    throw UsageError{(input == "-" ? "standard input" : input) +
                     " holds several files: give a directory for them with -o DIR"};
  if (!filtered.status)
    return context.fail(filtered.unwritable ? Exit::with_failures : Exit::nothing_read,
                        filtered.status.problem());
  if (!options.map.empty())
    if (auto written = write_map(options, redactor); !written)
      context.fail(Exit::with_failures, written.problem());
}

}  // namespace

void add_redact(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("redact", "Mask credentials, prompts and personal data in evidence");
  auto& options = context.keep<Options>();
  command
      ->add_option("INPUT", options.inputs,
                   "Files, directories, archives; none: standard input to standard output")
      ->option_text("[FILE|DIR...]");
  command
      ->add_option("-o,--output", options.output,
                   "Directory for the redacted files, by their names")
      ->option_text("DIR");
  command->add_flag("--check", options.check,
                    "Write nothing; list what would be masked, exit 5 if anything would");
  command->add_flag("--strict", options.strict,
                    "Drop every text that could be content, and whole host names");
  command
      ->add_option("--salt", options.salt,
                   "Fixed salt of the pseudonyms; default: drawn anew for every run")
      ->option_text("TEXT");
  command->add_flag("--fixed", options.fixed, "Placeholders without pseudonyms: <redacted:token>");
  command
      ->add_option("--redactions", options.rules,
                   "YAML file with redaction rules of your own; repeatable")
      ->option_text("FILE");
  command
      ->add_option("--map", options.map,
                   "Write what each placeholder stands for; keep it as secret as the evidence")
      ->option_text("FILE");
  command->footer(
      "Examples:\n"
      "  kubectl logs vllm-0 | triage redact > vllm-0.log\n"
      "  triage redact must-gather.tar.gz -o shared/\n"
      "  triage redact --check incident/ && tar czf incident.tar.gz incident/");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

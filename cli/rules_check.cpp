#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.hpp"
#include "cli/incidents.hpp"
#include "cli/output.hpp"
#include "cli/rules_commands.hpp"
#include "report/escape.hpp"
#include "rules/lint.hpp"
#include "rules/samples.hpp"
#include "rules/sources.hpp"

namespace triage::cli {
namespace {

using rules::Diagnostic;

struct Options {
  std::vector<std::string> paths;
  std::string format = "text";
  std::string junit;
  bool watch = false;
  bool warnings_fail = false;
};

// --- lint ---

nlohmann::ordered_json to_json(const Diagnostic& d) {
  return {{"level", d.level == Diagnostic::Level::error ? "error" : "warning"},
          {"code", d.code},
          {"file", d.place.file},
          {"line", d.place.line},
          {"column", d.place.column},
          {"message", base::to_valid_utf8(d.message)},
          {"mend", base::to_valid_utf8(d.mend)}};
}

void lint(const Options& options, Context& context) {
  const auto result = rules::lint_files(options.paths, rules::built_in_rules());
  if (!result.ok()) return context.fail(Exit::nothing_read, result.problem());
  if (options.format == "json") {
    nlohmann::ordered_json out = {{"schema", "triage.lint/v1"}};
    out["diagnostics"] = nlohmann::ordered_json::array();
    for (const Diagnostic& d : result->diagnostics) out["diagnostics"].push_back(to_json(d));
    std::fputs((out.dump(2) + "\n").c_str(), stdout);
  } else if (options.format == "text") {
    for (const Diagnostic& d : result->diagnostics) std::fputs(d.to_string().c_str(), stdout);
  } else {
    throw UsageError{"unknown format '" + options.format + "': text or json"};
  }
  const std::size_t errors = result->errors();
  std::fflush(stdout);
  context.note(std::to_string(result->files) + " files, " +
               std::to_string(result->rule_ids.size()) + " rules: " + std::to_string(errors) +
               " errors, " + std::to_string(result->diagnostics.size() - errors) + " warnings");
  if (errors > 0 || (options.warnings_fail && !result->diagnostics.empty()))
    context.exit = Exit::check_failed;
}

// --- test ---

/// One thing that was tried; `failure` empty: it holds.
struct Check {
  std::string suite;  ///< pack or `incidents`
  std::string name;
  std::string place;  ///< file:line:column
  std::string failure;
};

struct Outcome {
  std::vector<Check> checks;
  [[nodiscard]] std::size_t failed() const {
    return static_cast<std::size_t>(std::count_if(
        checks.begin(), checks.end(), [](const Check& c) { return !c.failure.empty(); }));
  }
};

std::string to_string(const rules::SourcePlace& place) {
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

void test_rules(const rules::LintResult& lint, bool all, Outcome& outcome) {
  for (const Diagnostic& d : lint.diagnostics) {
    // What keeps a pack from being read at all fails here, too; other findings are for lint.
    if (d.level != Diagnostic::Level::error || d.code.rfind("unknown-rule", 0) == 0 ||
        d.code.rfind("unknown-tag", 0) == 0 || d.code.rfind("unknown-cause", 0) == 0)
      continue;
    outcome.checks.push_back(
        {d.place.file, "is sound", to_string(d.place),
         d.message + " [" + d.code + "]" + (d.mend.empty() ? "" : "; mend: " + d.mend)});
  }
  for (const rules::Rule& rule : lint.rules.rules) {
    if (!all && lint.rule_ids.count(rule.id) == 0) continue;
    int number = 0;
    for (const rules::SampleResult& sample : rules::test_samples(rule, lint.rules)) {
      ++number;
      outcome.checks.push_back(
          {rule.pack,
           rule.id + " sample " + std::to_string(number) +
               (sample.must_match ? " matches" : " does not match"),
           to_string(sample.place),
           sample.passed ? "" : rule.id + ": " + sample.reason + "\n    " + sample.shown});
    }
  }
}

void test_incident(const std::string& path, const rules::RuleSet& rules, Outcome& outcome) {
  Check check{"incidents", path, path, {}};
  const auto incident = read_incident(path);
  if (!incident.ok()) {
    check.failure = incident.problem().to_string();
    outcome.checks.push_back(std::move(check));
    return;
  }
  check.name = incident->id;
  const auto report = analyse_incident(path, rules);
  if (!report.ok())
    check.failure = report.problem().to_string();
  else
    check.failure = base::join(differences(*incident, *report), "; ");
  if (!check.failure.empty()) check.failure = incident->id + ": " + check.failure;
  outcome.checks.push_back(std::move(check));
}

base::Result<Outcome> run_tests(const Options& options) {
  Outcome outcome;
  std::vector<std::string> packs;
  std::vector<std::string> incidents;
  for (const std::string& path : options.paths) {
    auto found = find_incidents(path);
    if (found.empty()) packs.push_back(path);
    incidents.insert(incidents.end(), found.begin(), found.end());
  }
  auto lint = rules::lint_files(packs, rules::built_in_rules());
  if (!lint.ok()) return lint.problem();
  if (!packs.empty() || options.paths.empty()) test_rules(*lint, options.paths.empty(), outcome);
  for (const std::string& path : incidents) test_incident(path, lint->rules, outcome);
  return outcome;
}

std::string to_junit(const Outcome& outcome) {
  std::map<std::string, std::vector<const Check*>> suites;
  for (const Check& check : outcome.checks) suites[check.suite].push_back(&check);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"" +
                    std::to_string(outcome.checks.size()) + "\" failures=\"" +
                    std::to_string(outcome.failed()) + "\">\n";
  for (const auto& [name, checks] : suites) {
    const auto failures = std::count_if(checks.begin(), checks.end(),
                                        [](const Check* c) { return !c->failure.empty(); });
    out += "  <testsuite name=\"" + report::xml_text(name) + "\" tests=\"" +
           std::to_string(checks.size()) + "\" failures=\"" + std::to_string(failures) +
           "\" errors=\"0\">\n";
    for (const Check* check : checks) {
      out += "    <testcase classname=\"" + report::xml_text(name) + "\" name=\"" +
             report::xml_text(check->name) + "\"";
      if (check->failure.empty()) {
        out += "/>\n";
        continue;
      }
      out += ">\n      <failure message=\"" + report::xml_text(check->place) + "\">" +
             report::xml_text(check->failure) + "</failure>\n    </testcase>\n";
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

void print(const Outcome& outcome) {
  for (const Check& check : outcome.checks)
    if (!check.failure.empty())
      std::printf("%s: %s\n", check.place.c_str(), base::to_valid_utf8(check.failure).c_str());
  std::printf("%zu passed, %zu failed\n", outcome.checks.size() - outcome.failed(),
              outcome.failed());
  std::fflush(stdout);
}

/// Newest change of the files named, so that an edit is noticed.
std::filesystem::file_time_type newest(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  fs::file_time_type time = fs::file_time_type::min();
  std::error_code error;
  for (const std::string& path : paths) {
    if (const auto t = fs::last_write_time(path, error); !error) time = std::max(time, t);
    const auto files = rules::rule_files(path);
    if (!files.ok()) continue;
    for (const std::string& file : *files)
      if (const auto t = fs::last_write_time(file, error); !error) time = std::max(time, t);
  }
  return time;
}

void test_once(const Options& options, Context& context) {
  const auto outcome = run_tests(options);
  if (!outcome.ok()) return context.fail(Exit::nothing_read, outcome.problem());
  print(*outcome);
  context.exit = outcome->failed() > 0 ? Exit::check_failed : Exit::done;
  if (options.junit.empty()) return;
  const auto status = write_text(options.junit, to_junit(*outcome));
  if (!status) context.fail(Exit::internal_error, status.problem());
}

void test(const Options& options, Context& context) {
  if (!options.watch) return test_once(options, context);
  if (options.paths.empty()) throw UsageError{"--watch needs the files to watch"};
  // Ends by Ctrl-C, as any watch does.
  for (auto last = std::filesystem::file_time_type::min();;) {
    if (const auto now = newest(options.paths); now != last) {
      last = now;
      std::printf("--- %s\n", base::join(options.paths, " ").c_str());
      test_once(options, context);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

}  // namespace

void add_rules_lint(CLI::App& rules, Context& context) {
  CLI::App* command = rules.add_subcommand("lint", "Name every mistake in packs and catalogs");
  auto& options = context.keep<Options>();
  command->add_option("FILE", options.paths, "Packs (*.yaml), catalogs (*.tsv) or folders of them")
      ->required();
  command->add_option("-f,--format", options.format, "text or json")->option_text("FORMAT");
  command->add_flag("-W,--warnings", options.warnings_fail, "Warnings fail, too (status 5)");
  command->footer(
      "Exit status 5 when there is an error. References are looked up in the built-in rules and "
      "in\n"
      "all files named; a file whose pack has the name of a built-in one replaces it.\n"
      "Example:\n  triage rules lint /etc/triage/rules.d my.yaml");
  command->callback([&options, &context] { lint(options, context); });
}

void add_rules_test(CLI::App& rules, Context& context) {
  CLI::App* command = rules.add_subcommand(
      "test", "Run the samples of packs, and labelled incidents (none named: the built-in packs)");
  auto& options = context.keep<Options>();
  command->add_option("FILE|DIR", options.paths,
                      "Packs, folders of packs, or folders of incidents (each with a case.json)");
  command->add_flag("--watch", options.watch, "Run again whenever a file changes");
  command->add_option("--junit", options.junit, "Write the results as JUnit XML, too")
      ->option_text("FILE");
  command->footer(
      "Exit status 5 when something failed.\n"
      "Examples:\n"
      "  triage rules test my.yaml --watch\n"
      "  triage rules test my.yaml incidents/ --junit results.xml\n"
      "case.json: {\"id\": \"...\", \"expect\": {\"class\": \"gpu-oom\", \"cause\": \"cuda-oom\",\n"
      "  \"first_error\": {\"file\": \"worker.log\", \"line\": 12}, \"quarantine\": \"worker\"}}");
  command->callback([&options, &context] { test(options, context); });
}

}  // namespace triage::cli

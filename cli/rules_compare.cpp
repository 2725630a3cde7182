#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/analyze.hpp"
#include "base/text.hpp"
#include "cli/incidents.hpp"
#include "cli/rule_options.hpp"
#include "cli/rules_commands.hpp"
#include "report/display.hpp"
#include "rules/lint.hpp"
#include "rules/samples.hpp"

namespace triage::cli {
namespace {

using rules::Rule;
using rules::RuleSet;

/// A folder of incidents is many inputs; anything else is one.
std::vector<std::string> inputs_below(const std::vector<std::string>& paths) {
  std::vector<std::string> inputs;
  for (const std::string& path : paths) {
    const auto incidents = find_incidents(path);
    if (incidents.empty())
      inputs.push_back(path);
    else
      inputs.insert(inputs.end(), incidents.begin(), incidents.end());
  }
  return inputs;
}

// --- coverage ---

struct CoverageOptions {
  std::vector<std::string> inputs;
  std::string format = "text";
  RuleOptions rules;
};

struct Unsampled {
  const Rule* rule;
  std::string pattern;
};

std::vector<Unsampled> unsampled_patterns(const RuleSet& set) {
  std::vector<Unsampled> found;
  for (const Rule& rule : set.rules)
    for (const std::string& pattern : rules::unsampled_patterns(rule))
      found.push_back({&rule, pattern});
  return found;
}

struct Seen {
  std::set<std::string> rules;
  std::vector<std::pair<std::string, analysis::UnmatchedCluster>> unmatched;
  std::vector<std::string> problems;
};

Seen observe(const std::vector<std::string>& inputs, const RuleSet& set) {
  Seen seen;
  for (const std::string& input : inputs) {
    const auto report = analyse_incident(input, set);
    if (!report.ok()) {
      seen.problems.push_back(report.problem().to_string());
      continue;
    }
    for (const auto& o : report->observations) seen.rules.insert(o.rule);
    for (const auto& link : report->causal_chain) seen.rules.insert(link.rule);
    if (report->coverage)
      for (const auto& cluster : report->coverage->unmatched_errors)
        seen.unmatched.emplace_back(input, cluster);
  }
  return seen;
}

void coverage_json(const RuleSet& set, const std::vector<Unsampled>& unsampled, const Seen& seen,
                   bool with_inputs) {
  nlohmann::ordered_json out = {{"schema", "triage.rule-coverage/v1"}};
  out["rules"] = set.rules.size();
  out["patterns_without_sample"] = nlohmann::ordered_json::array();
  for (const Unsampled& u : unsampled)
    out["patterns_without_sample"].push_back({{"rule", u.rule->id}, {"pattern", u.pattern}});
  if (with_inputs) {
    out["rules_without_incident"] = nlohmann::ordered_json::array();
    for (const Rule& rule : set.rules)
      if (seen.rules.count(rule.id) == 0) out["rules_without_incident"].push_back(rule.id);
    out["unmatched_errors"] = nlohmann::ordered_json::array();
    for (const auto& [input, c] : seen.unmatched)
      out["unmatched_errors"].push_back({{"input", input},
                                         {"file", c.file},
                                         {"line", c.line},
                                         {"count", c.count},
                                         {"text", base::to_valid_utf8(c.example)}});
  }
  std::fputs((out.dump(2) + "\n").c_str(), stdout);
}

void coverage(const CoverageOptions& options, Context& context) {
  if (options.format != "text" && options.format != "json")
    throw UsageError{"unknown format '" + options.format + "': text or json"};
  const auto set = load_rules(options.rules, context);
  if (!set) return;
  const auto unsampled = unsampled_patterns(*set);
  const auto inputs = inputs_below(options.inputs);
  const Seen seen = observe(inputs, *set);
  for (const std::string& problem : seen.problems) context.note("warning: " + problem);
  if (!inputs.empty() && seen.problems.size() == inputs.size())
    return context.fail(Exit::nothing_read, "no input could be read");
  if (options.format == "json") return coverage_json(*set, unsampled, seen, !inputs.empty());
  std::printf("%zu patterns that no sample exercises\n", unsampled.size());
  for (const Unsampled& u : unsampled)
    std::printf("  %-36s %s\n", u.rule->id.c_str(), report::visible(u.pattern, 100).c_str());
  if (inputs.empty()) return;
  std::vector<std::string> silent;
  for (const Rule& rule : set->rules)
    if (seen.rules.count(rule.id) == 0) silent.push_back(rule.id);
  std::printf("%zu of %zu rules that no input of %zu shows\n", silent.size(), set->rules.size(),
              inputs.size());
  for (const std::string& id : silent) std::printf("  %s\n", id.c_str());
  std::printf("%zu kinds of lines that look like errors and no rule explains\n",
              seen.unmatched.size());
  for (const auto& [input, c] : seen.unmatched)
    std::printf("  %s %s:%u (%llu) %s\n", input.c_str(), c.file.c_str(), c.line,
                static_cast<unsigned long long>(c.count), report::visible(c.example, 120).c_str());
}

// --- diff ---

struct DiffOptions {
  std::string before, after;
  std::vector<std::string> inputs;
  std::string format = "text";
};

/// `built-in`, or the built-in rules with these packs laid over (or put in place of those of the
/// same name).
base::Result<RuleSet> rules_named(const std::string& name) {
  if (name == "built-in") return rules::built_in_rules();
  auto lint = rules::lint_files({name}, rules::built_in_rules());
  if (!lint.ok()) return lint.problem();
  for (const rules::Diagnostic& d : lint->diagnostics)
    if (d.level == rules::Diagnostic::Level::error)
      return base::Problem{
          d.message + " [" + d.code + "]",
          d.place.file + ":" + std::to_string(d.place.line) + ":" + std::to_string(d.place.column),
          d.mend};
  return std::move(lint->rules);
}

using Verdict = std::vector<std::pair<const char*, std::string>>;

Verdict verdict_of(const analysis::Report& report) {
  const auto& v = report.verdict;
  const std::string first =
      v.first_error ? v.first_error->file + ":" + std::to_string(v.first_error->line) : "none";
  return {{"class", v.class_},
          {"cause", v.cause},
          {"first_error", first},
          {"fault_domain", v.fault_domain},
          {"scope", v.scope},
          {"pattern", v.pattern},
          {"confidence", v.confidence},
          {"quarantine", report.quarantine.target},
          {"action", report.quarantine.action}};
}

struct Change {
  std::string input;
  std::string field, before, after;
};

void diff(const DiffOptions& options, Context& context) {
  if (options.format != "text" && options.format != "json")
    throw UsageError{"unknown format '" + options.format + "': text or json"};
  const auto before = rules_named(options.before);
  if (!before.ok()) return context.fail(Exit::check_failed, before.problem());
  const auto after = rules_named(options.after);
  if (!after.ok()) return context.fail(Exit::check_failed, after.problem());
  std::vector<Change> changes;
  std::size_t read = 0;
  std::size_t changed = 0;
  for (const std::string& input : inputs_below(options.inputs)) {
    const auto a = analyse_incident(input, *before);
    const auto b = analyse_incident(input, *after);
    if (!a.ok() || !b.ok()) {
      context.note("warning: " + (a.ok() ? b.problem() : a.problem()).to_string());
      continue;
    }
    ++read;
    const Verdict x = verdict_of(*a);
    const Verdict y = verdict_of(*b);
    const std::size_t known = changes.size();
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i].second != y[i].second)
        changes.push_back({input, x[i].first, x[i].second, y[i].second});
    if (changes.size() > known) ++changed;
  }
  if (read == 0) return context.fail(Exit::nothing_read, "no input could be read");
  if (options.format == "json") {
    nlohmann::ordered_json out = {
        {"schema", "triage.rule-diff/v1"}, {"inputs", read}, {"changed", changed}};
    out["changes"] = nlohmann::ordered_json::array();
    for (const Change& c : changes)
      out["changes"].push_back(
          {{"input", c.input}, {"field", c.field}, {"before", c.before}, {"after", c.after}});
    std::fputs((out.dump(2) + "\n").c_str(), stdout);
    return;
  }
  std::string last;
  for (const Change& c : changes) {
    if (c.input != last) std::printf("%s\n", c.input.c_str());
    last = c.input;
    std::printf("  %-13s %s -> %s\n", c.field.c_str(), c.before.empty() ? "none" : c.before.c_str(),
                c.after.empty() ? "none" : c.after.c_str());
  }
  std::printf("%zu of %zu verdicts change\n", changed, read);
}

}  // namespace

void add_rules_coverage(CLI::App& rules, Context& context) {
  CLI::App* command = rules.add_subcommand(
      "coverage", "Rules that nothing exercises, and error lines that no rule explains");
  auto& options = context.keep<CoverageOptions>();
  command->add_option("INPUT", options.inputs,
                      "Bundles, files, or folders of incidents; none: samples only");
  command->add_option("-f,--format", options.format, "text or json")->option_text("FORMAT");
  add_rule_options(*command, options.rules);
  command->footer("Example:\n  triage rules coverage --rules my.yaml incidents/");
  command->callback([&options, &context] { coverage(options, context); });
}

void add_rules_diff(CLI::App& rules, Context& context) {
  CLI::App* command =
      rules.add_subcommand("diff", "Which verdicts change between two sets of rules");
  auto& options = context.keep<DiffOptions>();
  command->add_option("BEFORE", options.before, "A pack, a folder of packs, or built-in")
      ->required();
  command->add_option("AFTER", options.after, "A pack, a folder of packs, or built-in")->required();
  command->add_option("INPUT", options.inputs, "Bundles, files, or folders of incidents")
      ->required();
  command->add_option("-f,--format", options.format, "text or json")->option_text("FORMAT");
  command->footer(
      "A pack lies over the built-in rules; one of the same name as a built-in pack replaces it.\n"
      "Example:\n  triage rules diff built-in my.yaml bundles/");
  command->callback([&options, &context] { diff(options, context); });
}

}  // namespace triage::cli

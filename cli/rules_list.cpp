#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/rule_options.hpp"
#include "cli/rules_commands.hpp"
#include "rules/yaml_writer.hpp"

namespace triage::cli {
namespace {

using rules::Rule;

struct Options {
  std::string class_, tag, kind, role, pack, cause;
  std::string format = "table";
  std::string id;
  RuleOptions rules;
};

bool wanted(const Rule& rule, const Options& options, const std::optional<evidence::Kind>& kind) {
  const auto is = [](const std::string& filter, std::string_view value) {
    return filter.empty() || filter == value;
  };
  return is(options.class_, rule.class_) && is(options.role, to_string(rule.role)) &&
         is(options.pack, rule.pack) && is(options.cause, rule.cause) &&
         (options.tag.empty() || rule.has_tag(options.tag)) && (!kind || rule.reads(*kind));
}

const char* name_of(Rule::Matcher matcher) {
  static constexpr const char* names[] = {"match", "sequence", "where", "when"};
  return names[static_cast<std::size_t>(matcher)];
}

nlohmann::ordered_json to_json(const Rule& rule) {
  nlohmann::ordered_json evidence = nlohmann::ordered_json::array();
  for (const evidence::Kind kind : rule.evidence) evidence.push_back(to_string(kind));
  nlohmann::ordered_json out = {
      {"id", rule.id},
      {"cause", rule.cause},
      {"title", rule.title},
      {"class", rule.class_},
      {"role", to_string(rule.role)},
      {"severity", to_string(rule.severity)},
      {"fault_domain", rule.fault_domain},
      {"matcher", name_of(rule.matcher)},
      {"evidence", evidence},
      {"tags", rule.tags},
      {"quarantine", {{"target", rule.quarantine.target}, {"action", rule.quarantine.action}}},
      {"pack", rule.pack},
      {"place", {{"file", rule.place.file}, {"line", rule.place.line}}},
      {"references", rule.references}};
  nlohmann::ordered_json overridden = nlohmann::ordered_json::object();
  for (const auto& [key, place] : rule.overridden)
    overridden[key] = {{"file", place.file}, {"line", place.line}};
  out["overridden"] = std::move(overridden);
  return out;
}

void print_table(const std::vector<const Rule*>& rules) {
  std::size_t widest = 4;
  for (const Rule* rule : rules)
    widest = std::max(widest, std::min<std::size_t>(rule->id.size(), 40));
  const int width = static_cast<int>(widest);
  std::printf("%-*s %-12s %-7s %-14s %s\n", width, "ID", "CLASS", "ROLE", "PACK", "TITLE");
  for (const Rule* rule : rules)
    std::printf("%-*s %-12s %-7s %-14s %s\n", width, rule->id.c_str(), rule->class_.c_str(),
                std::string(to_string(rule->role)).c_str(), rule->pack.c_str(),
                rule->title.c_str());
}

std::string cell(const std::string& text) {
  return base::replace_all(base::replace_all(text, "|", "\\|"), "<", "&lt;");
}

/// One row for each rule, by pack: the table of the packs' README.
void print_markdown(const std::vector<const Rule*>& rules) {
  std::string pack;
  for (const Rule* rule : rules) {
    if (rule->pack != pack) {
      pack = rule->pack;
      std::printf("\n### %s\n\n| rule | class | role | cause | title |\n|---|---|---|---|---|\n",
                  pack.c_str());
    }
    std::printf("| `%s` | %s | %s | %s | %s |\n", rule->id.c_str(), rule->class_.c_str(),
                std::string(to_string(rule->role)).c_str(), rule->cause.c_str(),
                cell(rule->title).c_str());
  }
}

void list(const Options& options, Context& context) {
  std::optional<evidence::Kind> kind;
  if (!options.kind.empty()) {
    kind = evidence::kind_from(options.kind);
    if (!kind)
      throw UsageError{"unknown kind '" + options.kind + "'; triage rules kinds lists them"};
  }
  const auto set = load_rules(options.rules, context);
  if (!set) return;
  std::vector<const Rule*> found;
  for (const Rule& rule : set->rules)
    if (wanted(rule, options, kind)) found.push_back(&rule);
  if (options.format == "json") {
    nlohmann::ordered_json out = {{"schema", "triage.rules/v1"}, {"digest", set->digest}};
    out["rules"] = nlohmann::ordered_json::array();
    for (const Rule* rule : found) out["rules"].push_back(to_json(*rule));
    std::fputs((out.dump(2) + "\n").c_str(), stdout);
  } else if (options.format == "names") {
    for (const Rule* rule : found) std::printf("%s\n", rule->id.c_str());
  } else if (options.format == "markdown") {
    print_markdown(found);
  } else if (options.format == "table") {
    print_table(found);
    context.note(std::to_string(found.size()) + " rules of " + std::to_string(set->rules.size()) +
                 ", digest " + set->digest);
  } else {
    throw UsageError{"unknown format '" + options.format + "': table, names, json or markdown"};
  }
}

void show(const Options& options, Context& context) {
  const auto set = load_rules(options.rules, context);
  if (!set) return;
  const Rule* rule = set->find(options.id);
  if (rule == nullptr) {
    std::vector<std::string> ids;
    for (const Rule& r : set->rules) ids.push_back(r.id);
    const std::string near = base::nearest(options.id, ids);
    return context.fail(Exit::nothing_read, {"there is no rule " + options.id,
                                             {},
                                             near.empty() ? "triage rules list shows the ids"
                                                          : "did you mean " + near + "?"});
  }
  if (options.format == "json") {
    std::fputs((to_json(*rule).dump(2) + "\n").c_str(), stdout);
    return;
  }
  std::printf("# %s:%u\n", rule->place.file.c_str(), rule->place.line);
  std::fputs(to_yaml(*rule).c_str(), stdout);
}

}  // namespace

void add_rules_list(CLI::App& rules, Context& context) {
  CLI::App* command = rules.add_subcommand("list", "List the effective rules");
  auto& options = context.keep<Options>();
  command->add_option("--class", options.class_, "Only this class")->option_text("CLASS");
  command->add_option("--tag", options.tag, "Only rules with this tag")->option_text("TAG");
  command->add_option("--kind", options.kind, "Only rules that read this kind of evidence")
      ->option_text("KIND");
  command->add_option("--role", options.role, "Only root, symptom or context")->option_text("ROLE");
  command->add_option("--pack", options.pack, "Only this pack")->option_text("PACK");
  command->add_option("--cause", options.cause, "Only rules of this cause")->option_text("CAUSE");
  command->add_option("-f,--format", options.format, "table, names, json or markdown")
      ->option_text("FORMAT");
  add_rule_options(*command, options.rules);
  command->footer(
      "Examples:\n"
      "  triage rules list --class gpu-oom --role root\n"
      "  triage rules list --kind kernel-log -f json | jq '.rules[].id'");
  command->callback([&options, &context] { list(options, context); });
}

void add_rules_show(CLI::App& rules, Context& context) {
  CLI::App* command =
      rules.add_subcommand("show", "Show one effective rule, and which file each key comes from");
  auto& options = context.keep<Options>();
  options.format = "yaml";
  command->add_option("ID", options.id, "Rule, as triage rules list names it")->required();
  command->add_option("-f,--format", options.format, "yaml or json")->option_text("FORMAT");
  add_rule_options(*command, options.rules);
  command->footer("Example:\n  triage rules show torch-oom --rules /etc/my-rules");
  command->callback([&options, &context] { show(options, context); });
}

}  // namespace triage::cli

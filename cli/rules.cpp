#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/rules_commands.hpp"
#include "evidence/fields.hpp"
#include "evidence/kind.hpp"
#include "rules/schema.hpp"

namespace triage::cli {
namespace {

void print_kinds() {
  for (const evidence::Kind kind : evidence::all_kinds())
    std::printf("%-18s %s\n", std::string(to_string(kind)).c_str(),
                std::string(describe(kind)).c_str());
}

void print_fields(const std::string& name, Context& context) {
  const auto kind = evidence::kind_from(name);
  if (!kind) throw UsageError{"unknown kind '" + name + "'; triage rules kinds lists them"};
  const auto fields = evidence::fields_of(*kind);
  if (fields.empty())
    return context.note("'" + name + "' is read line by line: it has no fields, use match");
  for (const evidence::Field& field : fields)
    std::printf("%-36s %-8s %s\n", std::string(field.name).c_str(),
                std::string(to_string(field.type)).c_str(), std::string(field.meaning).c_str());
}

}  // namespace

void add_rules(CLI::App& app, Context& context) {
  CLI::App* rules = app.add_subcommand("rules", "Write, check and read the rules");
  rules->require_subcommand(1);
  rules->footer(
      "To write a rule: triage rules new 'the log line' > my.yaml, edit it, then\n"
      "  triage rules lint my.yaml        every mistake with its place and how to mend it\n"
      "  triage rules test my.yaml        the samples\n"
      "  triage analyze --rules my.yaml INPUT\n"
      "The language is described in man triage-rules.");
  add_rules_list(*rules, context);
  add_rules_show(*rules, context);
  add_rules_lint(*rules, context);
  add_rules_test(*rules, context);
  add_rules_new(*rules, context);
  rules->add_subcommand("schema", "JSON Schema of packs, for editors")
      ->footer(
          "Example:\n  triage rules schema > triage-rules.schema.json\n"
          "and in the pack: # yaml-language-server: $schema=triage-rules.schema.json")
      ->callback([] { std::fputs(rules::json_schema().c_str(), stdout); });
  rules->add_subcommand("kinds", "Kinds of evidence that a rule can read")->callback([] {
    print_kinds();
  });
  CLI::App* fields = rules->add_subcommand("fields", "Fields of a kind, for where");
  auto& kind = context.keep<std::string>();
  fields->add_option("KIND", kind, "Kind, as triage rules kinds lists them")->required();
  fields->footer("Example:\n  triage rules fields gpu-state");
  fields->callback([&kind, &context] { print_fields(kind, context); });
  add_rules_coverage(*rules, context);
  add_rules_diff(*rules, context);
}

}  // namespace triage::cli

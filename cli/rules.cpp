#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "evidence/fields.hpp"
#include "evidence/kind.hpp"

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
  if (fields.empty()) {
    context.note("'" + name + "' is read line by line: it has no fields, use match");
    return;
  }
  for (const evidence::Field& field : fields)
    std::printf("%-36s %-8s %s\n", std::string(field.name).c_str(),
                std::string(to_string(field.type)).c_str(), std::string(field.meaning).c_str());
}

}  // namespace

void add_rules(CLI::App& app, Context& context) {
  CLI::App* rules = app.add_subcommand("rules", "Write, check and read the rules");
  rules->require_subcommand(1);
  rules->add_subcommand("kinds", "Kinds of evidence that a rule can read")->callback([] {
    print_kinds();
  });
  CLI::App* fields = rules->add_subcommand("fields", "Fields of a kind, for where");
  auto& kind = context.keep<std::string>();
  fields->add_option("KIND", kind, "Kind, as triage rules kinds lists them")->required();
  fields->callback([&kind, &context] { print_fields(kind, context); });
}

}  // namespace triage::cli

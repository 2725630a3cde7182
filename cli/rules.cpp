#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "evidence/fields.hpp"
#include "evidence/kind.hpp"
#include "rules/lint.hpp"
#include "rules/samples.hpp"

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

using Paths = std::vector<std::string>;

void print_diagnostics(const std::vector<rules::Diagnostic>& diagnostics) {
  for (const rules::Diagnostic& d : diagnostics) std::fputs(d.to_string().c_str(), stdout);
}

void lint(const Paths& paths, Context& context) {
  const auto result = rules::lint_files(paths, rules::built_in_rules());
  if (!result.ok()) return context.fail(Exit::nothing_read, result.problem());
  print_diagnostics(result->diagnostics);
  const std::size_t errors = result->errors();
  context.note(std::to_string(result->files) + " files, " +
               std::to_string(result->rule_ids.size()) + " rules: " + std::to_string(errors) +
               " errors, " + std::to_string(result->diagnostics.size() - errors) + " warnings");
  if (errors > 0) context.exit = Exit::check_failed;
}

void test(const Paths& paths, Context& context) {
  const auto result = rules::lint_files(paths, rules::built_in_rules());
  if (!result.ok()) return context.fail(Exit::nothing_read, result.problem());
  std::size_t failed = 0;
  std::size_t passed = 0;
  for (const rules::Diagnostic& d : result->diagnostics)
    if (d.level == rules::Diagnostic::Level::error) {
      std::fputs(d.to_string().c_str(), stdout);
      ++failed;
    }
  for (const rules::Rule& rule : result->rules.rules) {
    if (!paths.empty() && result->rule_ids.count(rule.id) == 0) continue;
    for (const rules::SampleResult& sample : rules::test_samples(rule, result->rules)) {
      ++(sample.passed ? passed : failed);
      if (sample.passed) continue;
      std::printf("%s:%u:%u: %s: %s\n    %s\n", sample.place.file.c_str(), sample.place.line,
                  sample.place.column, rule.id.c_str(), sample.reason.c_str(),
                  sample.shown.c_str());
    }
  }
  std::printf("%zu samples passed, %zu failed\n", passed, failed);
  if (failed > 0) context.exit = Exit::check_failed;
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
  auto& paths = context.keep<Paths>();
  CLI::App* lint_command =
      rules->add_subcommand("lint", "Name every mistake in packs and catalogs");
  lint_command->add_option("FILE", paths, "Packs (*.yaml), catalogs (*.tsv) or folders of them")
      ->required();
  lint_command->callback([&paths, &context] { lint(paths, context); });
  CLI::App* test_command =
      rules->add_subcommand("test", "Run the samples of packs (none named: the built-in ones)");
  test_command->add_option("FILE", paths, "Packs or folders of them");
  test_command->callback([&paths, &context] { test(paths, context); });
}

}  // namespace triage::cli

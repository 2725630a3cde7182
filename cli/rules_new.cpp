#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/pasted_line.hpp"
#include "cli/rules_commands.hpp"
#include "rules/skeleton.hpp"

namespace triage::cli {
namespace {

struct Options {
  std::vector<std::string> lines;
  std::string id;
  std::string pack = "my-rules";
  std::string output;
};

void run(const Options& options, Context& context) {
  std::vector<std::string> messages;
  for (const std::string& argument : options.lines) {
    std::string text = argument;
    if (argument == "-") {
      auto read = read_text("-", std::size_t{1} << 20U);
      if (!read.ok()) return context.fail(Exit::nothing_read, read.problem());
      text = std::move(*read);
    }
    for (std::string_view line : base::split_lines(text))
      if (!base::trim(line).empty()) messages.push_back(message_of(std::string(line)));
  }
  if (messages.empty()) return context.fail(Exit::nothing_read, "there is no line to begin with");
  const auto status =
      write_text(options.output, rules::skeleton(messages, {options.pack, options.id}));
  if (!status) context.fail(Exit::internal_error, status.problem());
}

}  // namespace

void add_rules_new(CLI::App& rules, Context& context) {
  CLI::App* command = rules.add_subcommand("new", "Start a rule from a pasted log line");
  auto& options = context.keep<Options>();
  command->add_option("LINE", options.lines, "Log lines, each in quotes; - reads them from stdin")
      ->required();
  command->add_option("--id", options.id, "Name of the rule; default: words of the line")
      ->option_text("ID");
  command->add_option("--pack", options.pack, "Name of the pack")->option_text("NAME");
  command->add_option("-o,--output", options.output, "File to write; default: standard output")
      ->option_text("FILE");
  command->footer(
      "Example:\n"
      "  triage rules new 'mydrv 0000:3b:00.0: lost link 3 after 12 retries' > mydrv.yaml\n"
      "  triage rules test mydrv.yaml");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

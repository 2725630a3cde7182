#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "cli/commands.hpp"

namespace {

using triage::cli::Colour;
using triage::cli::Context;
using triage::cli::Exit;

/// `kubectl triage ...` runs a binary of the name kubectl-triage.
std::string program_name(std::string_view argv0) {
  const auto slash = argv0.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? argv0 : argv0.substr(slash + 1);
  return name == "kubectl-triage" ? "kubectl triage" : "triage";
}

void add_commands(CLI::App& app, Context& context) {
  triage::cli::add_analyze(app, context);
  triage::cli::add_show(app, context);
  triage::cli::add_ls(app, context);
  triage::cli::add_redact(app, context);
  triage::cli::add_collect(app, context);
  triage::cli::add_verify(app, context);
  triage::cli::add_report(app, context);
  triage::cli::add_postmortem(app, context);
  triage::cli::add_diff(app, context);
  triage::cli::add_history(app, context);
  triage::cli::add_explain(app, context);
  triage::cli::add_rules(app, context);
}

/// A repeatable option takes one value each time, so that it never swallows the input behind it.
void one_value_each(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (!option->get_positional()) option->allow_extra_args(false);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    one_value_each(*command);
}

/// CLI11 says of `triage frobnicate` only that the word was not expected.
std::string unknown_command(const CLI::App& app) {
  if (!app.get_subcommands().empty() || app.remaining_size() == 0) return {};
  const std::string word = app.remaining().front();
  if (word.starts_with('-')) return {};
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  const std::string near = triage::base::nearest(word, known);
  return "there is no command '" + word + "'" +
         (near.empty() ? near : "; did you mean " + near + "?");
}

/// Everything is written and every file closed by now. Taking rules and evidence apart would cost
/// as much as a stage of the analysis; the leak checker wants it done.
int leave(Exit exit) {
#if !defined(__SANITIZE_ADDRESS__)
  std::_Exit(static_cast<int>(exit));
#endif
  return static_cast<int>(exit);
}

int run(int argc, char** argv) {
  Context context;
  context.command_line.assign(argv, argv + argc);
  CLI::App app("Says what broke first in a GPU inference service, and what to do now.",
               program_name(argc > 0 ? argv[0] : "triage"));
  app.set_version_flag("--version", std::string("triage ") + TRIAGE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("-q,--quiet", context.quiet, "Say nothing on standard error but failures");
  static const std::map<std::string, Colour> colours{
      {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};
  app.add_option("--color,--colour", context.colour, "auto, always or never")
      ->transform(CLI::CheckedTransformer(colours, CLI::ignore_case).description(""))
      ->option_text("WHEN");
  add_commands(app, context);
  one_value_each(app);
  if (argc <= 1) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(Exit::usage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return triage::cli::flush_output() ? 0 : static_cast<int>(Exit::internal_error);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_command(app);
    std::fprintf(stderr, "triage: %s\nRun with --help for more information.\n",
                 unknown.empty() ? error.what() : unknown.c_str());
    return static_cast<int>(Exit::usage);
  } catch (const triage::cli::UsageError& error) {
    std::fprintf(stderr, "triage: %s\n", error.message.c_str());
    return static_cast<int>(Exit::usage);
  }
  if (!triage::cli::flush_output() && context.exit == Exit::done) {
    context.fail(Exit::internal_error, "standard output could not be written");
  }
  return leave(context.exit);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "triage: internal error: %s\n", error.what());
  } catch (...) {
    std::fputs("triage: internal error\n", stderr);
  }
  return static_cast<int>(Exit::internal_error);
}

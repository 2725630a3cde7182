#include "cli/rule_options.hpp"

#include <CLI/CLI.hpp>
#include <set>

#include "base/process.hpp"
#include "base/text.hpp"

namespace triage::cli {

void add_rule_options(CLI::App& command, RuleOptions& options) {
  command
      .add_option("--rules", options.paths,
                  "More rules: a pack, a catalog, or a folder of them; repeatable, later wins")
      ->option_text("FILE|DIR")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command.add_flag("--strict-rules", options.strict,
                   "A mistake in a pack is fatal; otherwise the pack is left out");
}

std::optional<rules::RuleSet> load_rules(const RuleOptions& options, Context& context) {
  rules::LoadOptions load;
  load.paths = options.paths;
  load.strict = options.strict;
  auto loaded = rules::load_rules(load);
  if (!loaded.ok()) {
    const bool unreadable = loaded.problem().where.find(':') == std::string::npos;
    context.fail(unreadable ? Exit::nothing_read : Exit::check_failed, loaded.problem());
    return std::nullopt;
  }
  say_of_packs(loaded->diagnostics, context);
  return std::move(loaded->rules);
}

void say_of_packs(const std::vector<rules::Diagnostic>& diagnostics, const Context& context) {
  constexpr std::size_t k_shown = 10;
  std::size_t wanted = 0;
  std::set<std::string> files;  // of what is not shown
  for (const rules::Diagnostic& d : diagnostics) {
    if (context.quiet && d.level != rules::Diagnostic::Level::error) continue;
    if (++wanted <= k_shown)
      std::fputs(d.to_string().c_str(), stderr);
    else
      files.insert(base::shell_words({d.place.file}));
  }
  if (wanted > k_shown)
    std::fprintf(stderr, "and %zu more: `triage rules lint %s` names them all\n", wanted - k_shown,
                 base::join({files.begin(), files.end()}, " ").c_str());
}

}  // namespace triage::cli

#include "cli/fail_on.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace triage::cli {

void add_fail_on(CLI::App& command, FailOn& fail_on) {
  static const std::map<std::string, FailOn> names{
      {"never", FailOn::never}, {"fault", FailOn::fault}, {"quarantine", FailOn::quarantine}};
  command
      .add_option("--fail-on", fail_on,
                  "Exit 10 when a fault is found (fault), 20 when a GPU or node should be held "
                  "(fault, quarantine); default never")
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
      ->option_text("WHAT");
}

Exit status_of(const analysis::Report& report, FailOn fail_on) {
  if (fail_on == FailOn::never) return Exit::done;
  const std::string& target = report.quarantine.target;
  if (target == "gpu" || target == "node") return Exit::quarantine;
  const bool fault = report.verdict.class_ != "none";
  return fault && fail_on == FailOn::fault ? Exit::fault_found : Exit::done;
}

}  // namespace triage::cli

#pragma once

#include <string>

/// Outside programs and files that some tests use and skip, visibly, where they are missing.
namespace triage::tests {

struct Ran {
  int status = -1;
  std::string output;  ///< stdout and stderr together
};
/// Runs a shell command.
Ran run_shell(const std::string& command);
bool has_program(const std::string& name);
/// Folder of the public schemas, empty where this checkout has none.
std::string schema_folder();
/// Limits of time are meant for an optimised build: how many times longer this build may take.
int slowness();
/// More than four runnable programs a processor: what waits for a browser would fail by the clock.
bool is_busy();
/// Writes a file under a temporary folder of this process and gives its path.
std::string write_temporary(const std::string& name, const std::string& text);

}  // namespace triage::tests

#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
}

/// The frame that every subcommand stands in. A subcommand is one file with one function
/// `void add_<name>(CLI::App& app, Context& context)` that adds it to `app` and sets a callback;
/// the callback does the work and leaves the exit status in `context.exit`. To add one: write the
/// file, declare the function below, call it in main.cpp.
namespace triage::cli {

/// Exit status, the same in every command and format.
enum class Exit : int {
  done = 0,
  internal_error = 1,
  usage = 2,
  nothing_read = 3,   ///< nothing usable could be read
  with_failures = 4,  ///< collected or redacted with failures: the output exists
  check_failed = 5,   ///< rules lint, rules test, verify, redact --check
  fault_found = 10,   ///< --fail-on
  quarantine = 20,    ///< --fail-on: quarantine of a gpu or node is recommended
  interrupted = 130,
};

enum class Colour : std::uint8_t { automatic, always, never };

class Context {
 public:
  bool quiet = false;
  Colour colour = Colour::automatic;
  Exit exit = Exit::done;
  std::vector<std::string> command_line;  ///< as typed, with the program's name

  /// Colour for this stream: asked for, or a terminal without NO_COLOR.
  [[nodiscard]] bool colour_on(std::FILE* stream) const;

  /// One line on standard error, and the status.
  void fail(Exit status, const base::Problem& problem);
  void fail(Exit status, const std::string& message) {
    fail(status, base::Problem{message, {}, {}});
  }
  /// Something the person should know, on standard error; silent with --quiet.
  void note(const std::string& message) const;

  /// Storage for a command's options that lives as long as the context: CLI11 keeps references.
  template <class Options>
  Options& keep() {
    auto holder = std::make_unique<Holder<Options>>();
    Options& options = holder->value;
    kept_.push_back(std::move(holder));
    return options;
  }

 private:
  struct Kept {
    virtual ~Kept() = default;
  };
  template <class Options>
  struct Holder : Kept {
    Options value;
  };
  std::vector<std::unique_ptr<Kept>> kept_;
};

/// Thrown by a callback for a mistake on the command line that CLI11 cannot see; main prints it and
/// exits with status 2.
struct UsageError {
  std::string message;
};

/// Everything that was written to standard output really arrived (a full disk, a closed file).
[[nodiscard]] bool flush_output();

}  // namespace triage::cli

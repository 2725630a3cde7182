#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Running another program so that it cannot hurt this one: a process group of its own, a deadline
/// that holds even for a child that no signal ends, output taken in pieces, standard input closed.
namespace triage::base {

struct Command {
  std::vector<std::string> argv;  ///< argv[0] is looked up in PATH
  std::chrono::milliseconds deadline{30'000};
  /// Added to the environment; an empty value removes the variable.
  std::vector<std::pair<std::string, std::string>> environment;
  /// How long a program may take to end after SIGTERM, and after SIGKILL, before the next step.
  std::chrono::milliseconds grace{2'000};
  std::size_t stderr_limit = std::size_t{64} * 1024;  ///< of standard error, its beginning is kept
};

struct Ended {
  enum class How : std::uint8_t {
    exited,       ///< by itself; `exit_code` tells
    signalled,    ///< by a signal that was not ours
    timed_out,    ///< killed at its deadline
    cancelled,    ///< killed because `cancel` became true
    stopped,      ///< killed because `take` wanted no more
    unkillable,   ///< still there after SIGKILL: it hangs inside the kernel; it was left alone
    not_found,    ///< no such program
    not_started,  ///< could not be started; `error_text` says why
  };
  How how = How::exited;
  int exit_code = 0;
  int signal = 0;
  std::chrono::milliseconds duration{0};
  std::uint64_t bytes = 0;   ///< of standard output
  std::string error_text;    ///< standard error, or why the program did not start
  bool output_held = false;  ///< a grandchild kept the output open after the program ended
  /// Of an unkillable or hung program: what the kernel says of it (`stat`, `wchan`, `stack`).
  std::string kernel_state;

  [[nodiscard]] bool ok() const { return how == How::exited && exit_code == 0; }
};

/// Takes standard output in pieces; false stops the program.
using TakeOutput = std::function<bool(std::string_view)>;

/// Runs `command` to its end or its deadline. `cancel` is looked at ten times a second.
[[nodiscard]] Ended run(const Command& command, const TakeOutput& take,
                        const std::atomic<bool>* cancel = nullptr);

/// Where PATH finds `program`, or nothing.
[[nodiscard]] std::optional<std::string> find_program(const std::string& program);

/// For people and manifests: quoted where a shell would need it.
[[nodiscard]] std::string shell_words(const std::vector<std::string>& argv);

}  // namespace triage::base

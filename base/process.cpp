#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/text.hpp"

extern char** environ;

namespace triage::base {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds k_tick{100};

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  [[nodiscard]] bool ok() const { return ends_[0] >= 0; }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_read() { close_one(ends_[0]); }
  void close_write() { close_one(ends_[1]); }

 private:
  static void close_one(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

std::vector<std::string> make_environment(const Command& command) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const auto name = variable.substr(0, variable.find('='));
    const bool replaced = std::any_of(command.environment.begin(), command.environment.end(),
                                      [&](const auto& pair) { return pair.first == name; });
    if (!replaced) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : command.environment)
    if (!value.empty()) variables.push_back(name + "=" + value);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::string read_small_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

/// What the kernel says of a process: where it hangs tells a dead GPU from a slow disk.
std::string kernel_state_of(pid_t pid) {
  std::string text;
  for (const char* name : {"comm", "stat", "wchan", "stack"}) {
    const std::string content = read_small_file("/proc/" + std::to_string(pid) + "/" + name);
    if (content.empty()) continue;
    text += std::string(name) + ": " + std::string(trim(content)) + "\n";
  }
  return text;
}

class Child {
 public:
  Child(const Command& command, const TakeOutput& take, const std::atomic<bool>* cancel)
      : command_(command), take_(take), cancel_(cancel), started_(Clock::now()) {}

  Ended run() {
    if (!start()) return std::move(result_);
    drain();
    finish();
    result_.duration = std::chrono::duration_cast<milliseconds>(Clock::now() - started_);
    return std::move(result_);
  }

 private:
  bool start() {
    if (command_.argv.empty() || !out_.ok() || !err_.ok()) {
      result_.how = Ended::How::not_started;
      result_.error_text = command_.argv.empty() ? "no program was named" : std::strerror(errno);
      return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out_.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_.write_end(), STDERR_FILENO);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t none;
    sigset_t reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) sigaddset(&reset, number);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    std::vector<std::string> arguments = command_.argv;
    std::vector<std::string> variables = make_environment(command_);
    auto argv = pointers(arguments);
    auto envp = pointers(variables);
    const int error =
        ::posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    out_.close_write();
    err_.close_write();
    if (error == 0) return true;
    result_.how = error == ENOENT ? Ended::How::not_found : Ended::How::not_started;
    result_.error_text = std::strerror(error);
    return false;
  }

  [[nodiscard]] milliseconds left() const {
    return std::chrono::duration_cast<milliseconds>(started_ + command_.deadline - Clock::now());
  }
  [[nodiscard]] bool cancelled() const {
    return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed);
  }

  /// Reads both outputs until they end, the deadline comes, or somebody wants no more.
  void drain() {
    std::vector<char> buffer(k_buffer);
    while (out_.read_end() >= 0 || err_.read_end() >= 0) {
      if (cancelled()) return stop(Ended::How::cancelled);
      const milliseconds rest = left();
      if (rest.count() <= 0) return stop(Ended::How::timed_out);
      std::array<pollfd, 2> watched{{{out_.read_end(), POLLIN, 0}, {err_.read_end(), POLLIN, 0}}};
      const int ready =
          ::poll(watched.data(), watched.size(), static_cast<int>(std::min(rest, k_tick).count()));
      if (ready < 0 && errno != EINTR) return stop(Ended::How::timed_out);
      if (ready <= 0) {
        // A program that ended while a grandchild holds its output: nobody knows for how long.
        if (reap() && ++ticks_after_end_ > k_ticks_of_grandchildren) {
          result_.output_held = true;
          ::kill(-pid_, SIGKILL);
          return;
        }
        continue;
      }
      if (watched[0].revents != 0 && !read_output(buffer)) return stop(Ended::How::stopped);
      if (watched[1].revents != 0) read_errors(buffer);
    }
  }

  bool read_output(std::vector<char>& buffer) {
    const ssize_t got = ::read(out_.read_end(), buffer.data(), buffer.size());
    if (got > 0) {
      result_.bytes += static_cast<std::uint64_t>(got);
      return take_({buffer.data(), static_cast<std::size_t>(got)});
    }
    if (got == 0 || errno != EINTR) out_.close_read();
    return true;
  }

  void read_errors(std::vector<char>& buffer) {
    const ssize_t got = ::read(err_.read_end(), buffer.data(), buffer.size());
    if (got > 0) {
      const std::size_t room = command_.stderr_limit - result_.error_text.size();
      result_.error_text.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    } else if (got == 0 || errno != EINTR) {
      err_.close_read();
    }
  }

  bool reap() {
    if (reaped_) return true;
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    reaped_ = true;
    if (got == pid_ && !stopping_) {
      if (WIFSIGNALED(status)) {
        result_.how = Ended::How::signalled;
        result_.signal = WTERMSIG(status);
      } else {
        result_.exit_code = WEXITSTATUS(status);
      }
    } else if (got == pid_ && WIFSIGNALED(status)) {
      result_.signal = WTERMSIG(status);
    }
    return true;
  }

  bool wait_for(milliseconds most) {
    const auto until = Clock::now() + most;
    milliseconds pause{1};
    while (!reap()) {
      if (Clock::now() >= until) return false;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, milliseconds{50});
    }
    return true;
  }

  /// SIGTERM, SIGKILL, and then it is left alone.
  void stop(Ended::How why) {
    stopping_ = true;
    result_.how = why;
    if (reaped_) {
      ::kill(-pid_, SIGKILL);
      return;
    }
    if (why == Ended::How::timed_out) result_.kernel_state = kernel_state_of(pid_);
    ::kill(-pid_, SIGTERM);
    if (!wait_for(command_.grace)) {
      ::kill(-pid_, SIGKILL);
      if (!wait_for(command_.grace)) {
        result_.how = Ended::How::unkillable;
        result_.kernel_state = kernel_state_of(pid_);
        reaped_ = true;  // nothing more can be done; init inherits it
        return;
      }
    }
    // Whatever it started and did not take along.
    ::kill(-pid_, SIGKILL);
  }

  void finish() {
    if (stopping_ || reaped_) return;
    // Both outputs are closed; a daemon may live on, but not beyond the deadline.
    while (!wait_for(std::min(std::max(left(), milliseconds{0}), k_tick))) {
      if (cancelled()) return stop(Ended::How::cancelled);
      if (left().count() <= 0) return stop(Ended::How::timed_out);
    }
  }

  static constexpr std::size_t k_buffer = std::size_t{128} * 1024;
  static constexpr int k_ticks_of_grandchildren = 10;

  const Command& command_;
  const TakeOutput& take_;
  const std::atomic<bool>* cancel_;
  Clock::time_point started_;
  Pipe out_;
  Pipe err_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  bool stopping_ = false;
  int ticks_after_end_ = 0;
  Ended result_;
};

}  // namespace

Ended run(const Command& command, const TakeOutput& take, const std::atomic<bool>* cancel) {
  return Child(command, take, cancel).run();
}

std::optional<std::string> find_program(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? std::optional(program) : std::nullopt;
  const char* path = std::getenv("PATH");
  for (const auto directory : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::string candidate = std::string(directory.empty() ? "." : directory) + "/" + program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

std::string shell_words(const std::vector<std::string>& argv) {
  std::string line;
  for (const auto& word : argv) {
    if (!line.empty()) line += ' ';
    const bool plain =
        !word.empty() && word.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-_./:=,@%+{}<>") == std::string::npos;
    line += plain ? word : "'" + replace_all(word, "'", "'\\''") + "'";
  }
  return line;
}

}  // namespace triage::base

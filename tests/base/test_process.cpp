#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/process.hpp"

using namespace triage;
using base::Ended;
using std::chrono::milliseconds;

namespace {

base::Command shell(const std::string& script, milliseconds deadline = milliseconds{10'000}) {
  base::Command command;
  command.argv = {"sh", "-c", script};
  command.deadline = deadline;
  command.grace = milliseconds{200};
  return command;
}

struct Output {
  std::string text;
  Ended ended;
};

Output run(const base::Command& command) {
  Output output;
  output.ended = base::run(command, [&](std::string_view piece) {
    output.text += piece;
    return true;
  });
  return output;
}

}  // namespace

TEST_CASE("output, errors and exit code of a program are taken apart") {
  const auto got = run(shell("echo out; echo err >&2; exit 3"));
  CHECK(got.text == "out\n");
  CHECK(got.ended.error_text == "err\n");
  CHECK(got.ended.how == Ended::How::exited);
  CHECK(got.ended.exit_code == 3);
  CHECK(got.ended.bytes == 4);
  CHECK_FALSE(got.ended.ok());
}

TEST_CASE("a program that is not there is told from one that fails") {
  base::Command command;
  command.argv = {"no-such-program-here"};
  CHECK(run(command).ended.how == Ended::How::not_found);
  CHECK_FALSE(base::find_program("no-such-program-here").has_value());
  CHECK(base::find_program("sh").has_value());
}

TEST_CASE("a program that sleeps is killed at its deadline, with what it had said") {
  const auto before = std::chrono::steady_clock::now();
  const auto got = run(shell("echo early; sleep 60", milliseconds{300}));
  CHECK(got.ended.how == Ended::How::timed_out);
  CHECK(got.text == "early\n");
  CHECK(std::chrono::steady_clock::now() - before < milliseconds{5'000});
}

TEST_CASE("a program that ignores SIGTERM is killed all the same") {
  const auto got =
      run(shell("trap '' TERM; echo up; while :; do sleep 0.05; done", milliseconds{300}));
  CHECK(got.ended.how == Ended::How::timed_out);
  CHECK(got.ended.signal == SIGKILL);
  CHECK(got.text == "up\n");
}

TEST_CASE("a grandchild that keeps the output open does not hold the run up") {
  const auto before = std::chrono::steady_clock::now();
  const auto got = run(shell("sleep 60 & echo done"));
  CHECK(got.text == "done\n");
  CHECK(got.ended.ok());
  CHECK(got.ended.output_held);
  CHECK(std::chrono::steady_clock::now() - before < milliseconds{5'000});
}

TEST_CASE("the whole group of a program dies with it") {
  // The inner shell writes its pid, which is gone when the run is over.
  const auto got = run(shell("sh -c 'echo $$; exec sleep 60' & wait", milliseconds{300}));
  REQUIRE_FALSE(got.text.empty());
  const pid_t inner = std::stoi(got.text);
  // A container's first process may never collect the dead: a zombie is dead enough.
  const auto alive = [&] {
    std::ifstream stat("/proc/" + std::to_string(inner) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto state = text.rfind(") ");
    return state != std::string::npos && text[state + 2] != 'Z';
  };
  for (int i = 0; i < 50 && alive(); ++i) std::this_thread::sleep_for(milliseconds{20});
  CHECK_FALSE(alive());
}

TEST_CASE("a flood stops when the taker wants no more") {
  std::uint64_t taken = 0;
  const auto ended = base::run(shell("yes flood"), [&](std::string_view piece) {
    taken += piece.size();
    return taken < 1'000'000;
  });
  CHECK(ended.how == Ended::How::stopped);
  CHECK(taken < 2'000'000);
}

TEST_CASE("errors are kept to their limit while they flood") {
  auto command = shell("yes error | head -c 1000000 >&2");
  command.stderr_limit = 1000;
  const auto got = run(command);
  CHECK(got.ended.ok());
  CHECK(got.ended.error_text.size() == 1000);
}

TEST_CASE("cancelling ends a running program") {
  std::atomic<bool> cancel{false};
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds{200});
    cancel = true;
  });
  const auto ended = base::run(
      shell("sleep 60"), [](std::string_view) { return true; }, &cancel);
  later.join();
  CHECK(ended.how == Ended::How::cancelled);
  CHECK(ended.duration < milliseconds{5'000});
}

TEST_CASE("a signal that a program dies of is told") {
  const auto got = run(shell("kill -SEGV $$"));
  CHECK(got.ended.how == Ended::How::signalled);
  CHECK(got.ended.signal == SIGSEGV);
}

TEST_CASE("the environment is added to, and standard input is empty") {
  auto command = shell("cat; echo $TRIAGE_X-$HOME");
  command.environment = {{"TRIAGE_X", "7"}, {"HOME", ""}};
  CHECK(run(command).text == "7-\n");
}

TEST_CASE("words are quoted as a shell would need them") {
  CHECK(base::shell_words({"kubectl", "-n", "llm", "get", "pod"}) == "kubectl -n llm get pod");
  CHECK(base::shell_words({"sh", "-c", "echo 'a b'"}) == "sh -c 'echo '\\''a b'\\'''");
  CHECK(base::shell_words({""}) == "''");
}

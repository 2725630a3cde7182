#include <doctest/doctest.h>

#include <thread>

#include "collectors/queue.hpp"
#include "collectors/session.hpp"

using namespace triage;
using base::Ended;

namespace {

std::string status_of(const std::string& error, int code = 1, Ended::How how = Ended::How::exited,
                      const std::vector<std::string>& absent = {}) {
  Ended ended;
  ended.how = how;
  ended.exit_code = code;
  ended.error_text = error;
  return collectors::read_failure(ended, absent).status;
}

}  // namespace

TEST_CASE("what kubectl and tools say of a failure becomes a status") {
  CHECK(status_of("", 0) == "ok");
  CHECK(status_of("Error from server (Forbidden): pods is forbidden") == "denied");
  CHECK(status_of("error: You must be logged in to the server (Unauthorized)") == "denied");
  CHECK(status_of("dmesg: read kernel buffer failed: Operation not permitted") == "denied");
  CHECK(status_of("Error from server (NotFound): pods \"a\" not found") == "missing");
  CHECK(status_of("exec: \"nvidia-smi\": executable file not found in $PATH: unknown", 126) ==
        "missing");
  CHECK(status_of("Unable to connect to the server: dial tcp: i/o timeout") == "timeout");
  CHECK(status_of("The connection to the server 127.0.0.1:1 was refused") == "error");
  CHECK(status_of("", 9) == "error");
  CHECK(status_of("", 0, Ended::How::timed_out) == "timeout");
  CHECK(status_of("", 0, Ended::How::unkillable) == "timeout");
  CHECK(status_of("", 0, Ended::How::not_found) == "missing");
  CHECK(status_of("", 0, Ended::How::cancelled) == "skipped");
  CHECK(status_of("previous terminated container \"x\" in pod \"y\" not found", 1,
                  Ended::How::exited, {"previous terminated container"}) == "missing");
}

TEST_CASE("the reason of a failure is kubectl's own line, not what its libraries log before it") {
  Ended ended;
  ended.exit_code = 1;
  ended.error_text =
      "E1130 08:02:21.123456   16298 memcache.go:287] \"Unhandled Error\" err=\"couldn't get "
      "resource list for metrics.k8s.io/v1beta1\"\n"
      "Error from server (Forbidden): events is forbidden: User \"u\" cannot list\n";
  const auto failure = collectors::read_failure(ended, {});
  CHECK(failure.status == "denied");
  CHECK(failure.reason.find("Error from server (Forbidden)") == 0);
  ended.error_text = "E1130 08:02:21.123456   16298 memcache.go:287] only this\n";
  CHECK(collectors::read_failure(ended, {}).reason.find("only this") != std::string::npos);
}

TEST_CASE("the queue runs by order, and work may add work that comes earlier") {
  collectors::Queue queue;
  std::string seen;
  queue.push(30, [&] { seen += 'c'; });
  queue.push(10, [&] {
    seen += 'a';
    queue.push(20, [&] { seen += 'b'; });
  });
  queue.push(30, [&] { seen += 'd'; });
  queue.run(1, [] { return false; });
  CHECK(seen == "abcd");
}

TEST_CASE("work that waits for its time does not hold other work up, and is hurried at the end") {
  collectors::Queue queue;
  std::string seen;
  bool over = false;
  queue.push(
      1, [&] { seen += 'z'; }, collectors::Queue::Clock::now() + std::chrono::hours(1));
  queue.push(2, [&] { seen += 'a'; });
  queue.push(3, [&] {
    seen += 'b';
    over = true;
  });
  queue.run(1, [&] { return over; });
  CHECK(seen == "abz");
}

TEST_CASE("many workers do all the work once") {
  collectors::Queue queue;
  std::atomic<int> done{0};
  for (int i = 0; i < 200; ++i)
    queue.push(i % 7, [&] {
      if (done++ < 50) queue.push(3, [&] { ++done; });
    });
  queue.run(8, [] { return false; });
  CHECK(done == 250);
}

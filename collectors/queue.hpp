#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace triage::collectors {

/// Work by order of perishability. Work may add work: what a pod's object tells leads to more.
class Queue {
 public:
  using Clock = std::chrono::steady_clock;

  void push(int order, std::function<void()> work, Clock::time_point not_before = {});
  /// Runs everything with `workers` threads; returns when nothing is left and nothing runs. `over`
  /// true ends all waiting for `not_before`.
  void run(int workers, const std::function<bool()>& over);

 private:
  struct Entry {
    std::function<void()> work;
    Clock::time_point not_before;
  };
  void work_loop(const std::function<bool()>& over);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, std::uint64_t>, Entry> waiting_;
  std::uint64_t pushed_ = 0;
  int running_ = 0;
};

}  // namespace triage::collectors

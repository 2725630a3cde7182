#include "collectors/queue.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/thread.hpp"

namespace triage::collectors {

void Queue::push(int order, std::function<void()> work, Clock::time_point not_before) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(std::pair(order, pushed_++), Entry{std::move(work), not_before});
  }
  changed_.notify_one();
}

void Queue::run(int workers, const std::function<bool()>& over) {
  std::vector<std::thread> threads;
  for (int i = 1; i < workers; ++i) {
    std::thread helper = base::thread_or_none([&] { work_loop(over); });
    if (!helper.joinable()) break;
    threads.push_back(std::move(helper));
  }
  work_loop(over);
  for (auto& thread : threads) thread.join();
}

void Queue::work_loop(const std::function<bool()>& over) {
  constexpr std::chrono::milliseconds k_tick{100};
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto now = Clock::now();
    const bool hurry = over();
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
      return hurry || entry.second.not_before <= now;
    });
    if (next != waiting_.end()) {
      const auto work = std::move(next->second.work);
      waiting_.erase(next);
      ++running_;
      lock.unlock();
      work();
      lock.lock();
      --running_;
      changed_.notify_all();
      continue;
    }
    if (waiting_.empty() && running_ == 0) return;
    changed_.wait_for(lock, k_tick);
  }
}

}  // namespace triage::collectors

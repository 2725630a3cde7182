#include "analysis/scan_crew.hpp"

#include <algorithm>
#include <exception>

#include "base/thread.hpp"

namespace triage::analysis {
namespace {

constexpr int k_most_jobs = 8;
constexpr std::size_t k_held = 4U << 20U;              ///< bytes that may wait
constexpr std::size_t k_worth_a_thread = 256U << 10U;  ///< bytes

}  // namespace

int jobs_of(int wanted) {
  if (wanted > 0) return wanted;
  const unsigned cores = std::thread::hardware_concurrency();
  return std::clamp(static_cast<int>(cores), 1, k_most_jobs);
}

ScanCrew::ScanCrew(const LineRules& rules, LineFilter& filter, int jobs)
    : rules_(rules), filter_(filter), jobs_(jobs_of(jobs)), own_scanner_(rules, filter) {}

ScanCrew::~ScanCrew() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ScanCrew::submit(std::size_t bytes, Job job) {
  std::unique_lock lock(mutex_);
  waiting_.push_back({bytes, std::move(job)});
  held_ += bytes;
  // A job without bytes is a whole file on disk.
  const bool worth_it = bytes == 0 || held_ >= k_worth_a_thread;
  if (worth_it && threads_.size() + 1 < static_cast<std::size_t>(jobs_) &&
      waiting_.size() + running_ > threads_.size()) {
    if (std::thread helper = base::thread_or_none([this] { work(); }); helper.joinable())
      threads_.push_back(std::move(helper));
    else
      jobs_ = static_cast<int>(threads_.size()) + 1;
  }
  changed_.notify_one();
  while ((held_ > k_held || waiting_.size() > 2 * static_cast<std::size_t>(jobs_)) &&
         run_one(own_scanner_, lock)) {
  }
}

void ScanCrew::finish() {
  std::unique_lock lock(mutex_);
  while (run_one(own_scanner_, lock)) {
  }
  changed_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ScanCrew::work() {
  Scanner scanner(rules_, filter_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    run_one(scanner, lock);
  }
}

bool ScanCrew::run_one(Scanner& scanner, std::unique_lock<std::mutex>& lock) {
  if (waiting_.empty()) return false;
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  ++running_;
  lock.unlock();
  std::exception_ptr failure;
  try {
    next.job(scanner);
  } catch (...) {
    failure = std::current_exception();
  }
  next.job = nullptr;  // frees what it held
  lock.lock();
  --running_;
  held_ -= next.bytes;
  if (failure && !failure_) failure_ = failure;
  changed_.notify_all();
  return true;
}

}  // namespace triage::analysis

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "analysis/scanner.hpp"

namespace triage::analysis {

/// The threads that `--jobs` means; 0: as many as cores, at most 8.
[[nodiscard]] int jobs_of(int wanted);

/// Scans files side by side: a few threads, each with a scanner of its own, and the thread that
/// reads, which lends a hand when too much waits. Nothing starts before there is work for two.
class ScanCrew {
 public:
  using Job = std::function<void(Scanner&)>;

  /// `jobs`: threads, the caller's included; 0: as many as cores, at most 8.
  ScanCrew(const LineRules& rules, LineFilter& filter, int jobs);
  ~ScanCrew();
  ScanCrew(const ScanCrew&) = delete;
  ScanCrew& operator=(const ScanCrew&) = delete;

  [[nodiscard]] bool parallel() const { return jobs_ > 1; }
  /// For what the caller scans itself.
  [[nodiscard]] Scanner& own_scanner() { return own_scanner_; }
  /// `bytes` are held by the job until it is done. Runs jobs on this thread while more bytes or
  /// jobs wait than memory is meant for.
  void submit(std::size_t bytes, Job job);
  /// Runs what waits and returns when all is done. Throws what a job threw.
  void finish();

 private:
  struct Waiting {
    std::size_t bytes;
    Job job;
  };

  void work();
  bool run_one(Scanner& scanner, std::unique_lock<std::mutex>& lock);

  const LineRules& rules_;
  LineFilter& filter_;
  int jobs_;
  Scanner own_scanner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::size_t held_ = 0;  ///< bytes of the jobs that wait or run
  std::size_t running_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace triage::analysis

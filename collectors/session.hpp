#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bundle/spool.hpp"
#include "collectors/failure.hpp"
#include "collectors/job.hpp"
#include "collectors/queue.hpp"
#include "collectors/request.hpp"
#include "redact/redactor.hpp"

namespace triage::collectors {

/// The wall clock of a collection. A fixed one (SOURCE_DATE_EPOCH) makes bundles reproducible:
/// every time is that second and every duration 0.
class WallClock {
 public:
  explicit WallClock(std::optional<std::int64_t> fixed_s = std::nullopt) : fixed_s_(fixed_s) {}
  [[nodiscard]] bool fixed() const { return fixed_s_.has_value(); }
  [[nodiscard]] std::int64_t now_ns() const;
  [[nodiscard]] std::int64_t milliseconds(std::chrono::milliseconds measured) const {
    return fixed() ? 0 : measured.count();
  }

 private:
  std::optional<std::int64_t> fixed_s_;
};

/// Everything that the steps of one collection share. Nothing but redacted bytes leaves memory.
class Session {
 public:
  Session(const Request& request, bundle::Spool& spool, redact::Redactor& redactor, WallClock clock,
          std::uint64_t size_budget, const std::atomic<bool>& interrupted,
          const Progress& progress);

  /// Puts a job into the queue, unless a resumed spool has its evidence already.
  void add(Job job, Queue::Clock::time_point not_before = {});
  /// A row for evidence that cannot be had, without running anything.
  void add_absent(const Job& job, const std::string& status, const std::string& reason);
  /// Evidence that the program itself wrote down (clock.json).
  void add_text(const Job& job, const std::string& text);
  /// Other work at its place in the order.
  void add_work(int order, std::function<void()> work) { queue_.push(order, std::move(work)); }
  /// A command whose output is not kept, only looked at.
  [[nodiscard]] base::Ended ask(const std::vector<std::string>& argv,
                                std::chrono::milliseconds deadline, std::string& output,
                                std::size_t limit = 64 << 20U);

  void run(int workers);
  /// Takes over what an interrupted run had got.
  void resume(const bundle::Manifest& manifest);

  [[nodiscard]] bool over() const { return interrupted() || deadline_hit(); }
  [[nodiscard]] bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool deadline_hit() const { return left().count() <= 0; }
  [[nodiscard]] std::chrono::milliseconds left() const;
  /// The spool could not be written: nothing more can be saved.
  [[nodiscard]] std::optional<base::Problem> fatal();

  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] redact::Redactor& redactor() { return redactor_; }
  [[nodiscard]] bundle::Spool& spool() { return spool_; }
  [[nodiscard]] const WallClock& clock() const { return clock_; }
  /// A host's name as the bundle may show it.
  [[nodiscard]] std::string shown_host(const std::string& host);
  /// A line of collect.log, redacted.
  void log(const std::string& line);

  /// Changes the manifest under its lock.
  void edit_manifest(const std::function<void(bundle::Manifest&)>& edit);
  [[nodiscard]] bundle::Manifest manifest();
  [[nodiscard]] std::string log_text();

 private:
  void execute(const Job& job);
  /// The job's path, or one beside it where another piece of evidence has that: two files of
  /// different directories may be called the same.
  [[nodiscard]] std::string claim_path(const std::string& path);
  void record(const Job& job, Result& result);
  void judge(const Job& job, Result& result) const;
  [[nodiscard]] bundle::ManifestItem start_row(const Job& job);
  void report(const Job& job, const bundle::ManifestItem* finished,
              std::chrono::milliseconds duration);
  void save_manifest_now_and_then(bool now);

  const Request& request_;
  bundle::Spool& spool_;
  redact::Redactor& redactor_;
  WallClock clock_;
  const std::atomic<bool>& interrupted_;
  const Progress& progress_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  Queue queue_;
  std::atomic<std::uint64_t> size_left_;

  std::mutex mutex_;
  bundle::Manifest manifest_;
  std::map<std::string, bundle::ManifestItem> resumed_;  ///< by path
  std::set<std::string> claimed_;                        ///< paths of this run
  std::string log_;
  std::optional<base::Problem> fatal_;
  std::chrono::steady_clock::time_point saved_;

  std::mutex progress_mutex_;
  std::size_t total_ = 0;
  std::size_t ended_ = 0;
};

}  // namespace triage::collectors

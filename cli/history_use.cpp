#include "cli/history_use.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "analysis/escalate.hpp"
#include "base/text.hpp"
#include "history/recurrence.hpp"
#include "report/json.hpp"

namespace triage::cli {
namespace {

base::Result<std::string> path_of(const std::string& path) {
  if (!path.empty()) return path;
  return history::default_path();
}

}  // namespace

base::Result<history::Store> open_history(const std::string& path, history::Store::Mode mode) {
  const auto file = path_of(path);
  if (!file) return file.problem();
  return history::Store::open(file.value(), mode);
}

std::int64_t now_ns() {
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH"))
    if (const auto seconds = base::parse_int(fixed); seconds && *seconds < 9'000'000'000)
      return *seconds * 1'000'000'000;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

base::Result<analysis::Report> with_history(const analysis::Report& report,
                                            const std::string& path) {
  const auto file = path_of(path);
  if (!file) return file.problem();
  std::error_code ignored;
  if (!std::filesystem::exists(file.value(), ignored)) return analysis::escalate(report, {});
  const auto store = history::Store::open(file.value(), history::Store::Mode::read_write);
  if (!store) return store.problem();
  const auto prior = history::prior_incidents(store.value(), history::run_of(report, {}, now_ns()));
  if (!prior) return prior.problem();
  return analysis::escalate(report, prior.value());
}

base::Result<std::int64_t> record_run(const analysis::Report& report, const std::string& path,
                                      const std::string& incident) {
  auto store = open_history(path, history::Store::Mode::read_write);
  if (!store) return store.problem();
  return store->record(history::run_of(report, report::render_json(report), now_ns(), incident));
}

}  // namespace triage::cli

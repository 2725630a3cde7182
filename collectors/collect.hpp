#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "bundle/manifest.hpp"
#include "bundle/writer.hpp"
#include "collectors/plan.hpp"
#include "collectors/request.hpp"
#include "redact/redactor.hpp"

/// One collection from request to bundle. The most perishable evidence first; every wanted item
/// gets a row in the manifest, had or not; Ctrl-C and deadlines leave a valid bundle; nothing that
/// is not redacted touches a disk.
namespace triage::collectors {

struct CollectOptions {
  Request request;
  Plan plan;
  std::string output;  ///< file; empty: `<bundle id>.tar.gz` in the current directory
  std::string resume;  ///< spool directory of an interrupted run
  std::string tool_version;
  std::string rules_version;
  std::vector<std::string> command_line;      ///< as typed, for the manifest
  std::map<std::string, std::string> labels;  ///< a person's own, for the manifest
  redact::Options redaction;
  std::string map_file;                      ///< the private reverse map, outside the bundle
  std::optional<std::int64_t> fixed_time_s;  ///< SOURCE_DATE_EPOCH
  /// Called with the finished bundle; what it returns, by path, goes into the bundle too. This
  /// folder knows nothing of analysis: the report is the caller's.
  std::function<std::map<std::string, std::string>(const std::string& bundle)> add_report;
};

struct Outcome {
  bundle::Manifest manifest;
  bundle::Written bundle;
  std::string spool;  ///< kept when the run was cut short: `--resume` goes on there
  std::vector<std::string> notes;
  bool interrupted = false;
  bool map_failed = false;  ///< the private map could not be written

  /// Rows that were wanted, must not fail, and did.
  [[nodiscard]] std::vector<bundle::ManifestItem> failures() const;
  std::vector<std::string> optional_items;  ///< ids whose denial is no failure
};

/// A problem means that there is no bundle; nothing half-written is left then.
[[nodiscard]] base::Result<Outcome> collect(const CollectOptions& options,
                                            const std::atomic<bool>& interrupted,
                                            const Progress& progress);

/// Every command that the plan would run for the request, one a line; asks nobody. What only the
/// cluster can tell stands as `<pod>`.
[[nodiscard]] std::string dry_run(const CollectOptions& options);

}  // namespace triage::collectors

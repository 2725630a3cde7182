#include "history/schema.hpp"

#include <fmt/format.h>

namespace triage::history {
namespace {

// 0 -> 1: runs, and the names that they are found by.
constexpr std::string_view k_create = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  recorded_ns INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  class TEXT NOT NULL, cause TEXT NOT NULL, title TEXT NOT NULL, severity TEXT NOT NULL,
  confidence TEXT NOT NULL, scope TEXT NOT NULL, pattern TEXT NOT NULL, fault_domain TEXT NOT NULL,
  quarantine_target TEXT NOT NULL, quarantine_action TEXT NOT NULL,
  first_error_ns INTEGER, first_error_file TEXT NOT NULL, first_error_line INTEGER NOT NULL,
  first_error_text TEXT NOT NULL,
  driver TEXT NOT NULL, cuda TEXT NOT NULL, engine TEXT NOT NULL, engine_version TEXT NOT NULL,
  tool_version TEXT NOT NULL, rules_digest TEXT NOT NULL,
  report TEXT NOT NULL
);
CREATE TABLE names (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,           -- node, pod, image, gpu
  name TEXT NOT NULL,           -- of a gpu: its UUID
  pci TEXT NOT NULL DEFAULT '', node TEXT NOT NULL DEFAULT '', gpu_index TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT ''
);
CREATE INDEX runs_by_fingerprint ON runs(fingerprint);
CREATE INDEX names_by_name ON names(kind, name);
CREATE INDEX names_by_run ON names(run);
)sql";

// 1 -> 2: runs over the same evidence share an incident, and a run keeps its identity when stores
// are copied into each other. Earlier runs count as incidents of their own.
constexpr std::string_view k_identify = R"sql(
ALTER TABLE runs ADD COLUMN uid TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN incident TEXT NOT NULL DEFAULT '';
UPDATE runs SET uid = lower(hex(randomblob(16)));
UPDATE runs SET incident = substr(uid, 1, 16);
CREATE UNIQUE INDEX runs_by_uid ON runs(uid);
CREATE INDEX runs_by_incident ON runs(incident);
CREATE INDEX names_by_pci ON names(pci) WHERE pci <> '';
)sql";

base::Result<std::int64_t> version_of(Database& database) {
  auto statement = database.prepare("PRAGMA user_version");
  if (!statement) return statement.problem();
  const auto row = statement->step();
  if (!row) return row.problem();
  return statement->integer(0);
}

base::Problem newer(std::int64_t version, const std::string& path) {
  return {fmt::format("the history is of version {}, this triage knows {}", version,
                      migrations().size()),
          path, "use the newer triage"};
}

}  // namespace

const std::vector<std::string_view>& migrations() {
  static const std::vector<std::string_view> steps{k_create, k_identify};
  return steps;
}

base::Status check_version(Database& database, const std::string& path) {
  const auto version = version_of(database);
  if (!version) return version.problem();
  const auto known = static_cast<std::int64_t>(migrations().size());
  if (version.value() == known) return base::Done{};
  if (version.value() > known) return newer(version.value(), path);
  return base::Problem{"the history is of an older version and cannot be brought up to date here",
                       path, "run triage history list where it can be written"};
}

base::Status migrate(Database& database, const std::string& path) {
  const auto known = static_cast<std::int64_t>(migrations().size());
  auto version = version_of(database);
  if (!version) return version.problem();
  if (version.value() == known) return base::Done{};
  auto transaction = Transaction::begin(database);
  if (!transaction) return transaction.problem();
  version = version_of(database);  // another opener may have been first
  if (!version) return version.problem();
  if (version.value() > known || version.value() < 0)
    return base::Problem{
        fmt::format("the history is of version {}, this triage knows {}", version.value(), known),
        path, "use the newer triage"};
  for (std::int64_t step = version.value(); step < known; ++step) {
    auto status = database.execute(std::string(migrations()[static_cast<std::size_t>(step)]));
    if (!status) return status;
  }
  auto status = database.execute(fmt::format("PRAGMA user_version = {}", known));
  if (!status) return status;
  return transaction->commit();
}

}  // namespace triage::history

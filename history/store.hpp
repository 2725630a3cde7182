#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "history/run.hpp"

namespace triage::history {

/// What to find; empty parts do not restrict. Newest first.
struct Filter {
  std::string class_, cause, fingerprint, node, pod, image;
  std::string gpu;                                 ///< UUID or PCI address
  std::optional<std::int64_t> since_ns, until_ns;  ///< of the incident's time
  std::size_t limit = SIZE_MAX;
};

/// The memory of incidents: one SQLite file in WAL mode. Safe under many writers at once (they
/// queue for the lock, up to 30 s), under kill -9 and a full disk (a row is there whole once
/// `record` has returned its number, or not at all). Rows are only ever removed by `prune`.
///
/// The interface is small on purpose: a shared database may stand behind it later.
class Store {
 public:
  /// Opens, and unless `read_only` creates (folder 0700, file 0600) and migrates.
  enum class Mode : std::uint8_t { read_write, read_only };
  [[nodiscard]] static base::Result<Store> open(const std::string& path, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Adds a row and gives its number. An empty uid is filled.
  [[nodiscard]] base::Result<std::int64_t> record(Run run);
  /// Adds the row of another store unless its uid is here already; true when it was added.
  [[nodiscard]] base::Result<bool> import(Run run);

  /// Runs without their reports.
  [[nodiscard]] base::Result<std::vector<Run>> find(const Filter& filter) const;
  /// One run with its report, by number or by the beginning of its uid or incident (the newest).
  [[nodiscard]] base::Result<std::optional<Run>> get(const std::string& id) const;
  /// All runs with their reports, oldest first.
  [[nodiscard]] base::Status for_each(const std::function<void(const Run&)>& visit) const;

  /// Removes runs recorded before `before_ns`, but keeps the newest `keep`. Says how many went.
  enum class Dry : bool { no, yes };
  [[nodiscard]] base::Result<std::uint64_t> prune(std::int64_t before_ns, std::size_t keep,
                                                  Dry dry);

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// `$TRIAGE_HISTORY`, else `$XDG_STATE_HOME/triage/history.db`, else under `~/.local/state`.
[[nodiscard]] base::Result<std::string> default_path();

}  // namespace triage::history

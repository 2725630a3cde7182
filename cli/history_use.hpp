#pragma once

#include <cstdint>
#include <string>

#include "analysis/report_types.hpp"
#include "base/result.hpp"
#include "history/store.hpp"

/// How the commands use the history: `--history` reads it, `--record` adds to it.
namespace triage::cli {

/// The store that `path` names, else the default one.
[[nodiscard]] base::Result<history::Store> open_history(const std::string& path,
                                                        history::Store::Mode mode);

/// Now, in nanoseconds since 1970 (`SOURCE_DATE_EPOCH` fixes it for tests).
[[nodiscard]] std::int64_t now_ns();

/// The report in the light of what the store holds (analysis/escalate.hpp). A store that is not
/// there yet holds nothing.
[[nodiscard]] base::Result<analysis::Report> with_history(const analysis::Report& report,
                                                          const std::string& path);

/// Adds the report as a run; gives its number.
[[nodiscard]] base::Result<std::int64_t> record_run(const analysis::Report& report,
                                                    const std::string& path,
                                                    const std::string& incident);

}  // namespace triage::cli

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "history/recurrence.hpp"
#include "history/run.hpp"

namespace triage::cli {

/// Name of the export's schema.
inline constexpr std::string_view k_history_schema = "triage.history/v1";

/// A table for the terminal, newest first as given.
[[nodiscard]] std::string runs_text(const std::vector<history::Run>& runs);
/// One object a run, without reports.
[[nodiscard]] std::string runs_json(const std::vector<history::Run>& runs);
[[nodiscard]] std::string runs_csv(const std::vector<history::Run>& runs);
/// What a person asks of a GPU, a node or an image: how often, of what, since when.
[[nodiscard]] std::string summary_text(const std::string& what,
                                       const std::vector<history::Run>& runs);
[[nodiscard]] std::string similar_text(const std::vector<history::Similar>& similar);
[[nodiscard]] std::string similar_json(const std::vector<history::Similar>& similar);

/// One run of an export, with its report as JSON.
[[nodiscard]] std::string export_run(const history::Run& run);
/// All runs of an export; a problem when it is none.
[[nodiscard]] base::Result<std::vector<history::Run>> read_export(const std::string& text);

}  // namespace triage::cli

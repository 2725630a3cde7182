#pragma once

#include <optional>
#include <string>

#include "analysis/report_types.hpp"
#include "cli/analysis_options.hpp"

namespace triage::cli {

/// Most that a stored report may take: one of a hundred thousand observations has about 60 MB.
inline constexpr std::size_t k_report_limit = std::size_t{1} << 30U;

/// Whether a file begins like the output of `analyze -f json`.
[[nodiscard]] bool is_stored_report(const std::string& path);

/// A stored report.
[[nodiscard]] base::Result<analysis::Report> read_report(const std::string& path);

/// The report of the options' inputs: read when it is one stored report, else analysed. Nothing
/// when that failed; the reason and the exit status are then in the context.
[[nodiscard]] std::optional<analysis::Report> report_of(const AnalysisOptions& options,
                                                        Context& context);

}  // namespace triage::cli

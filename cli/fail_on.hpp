#pragma once

#include <string>

#include "analysis/report_types.hpp"
#include "cli/command.hpp"

namespace triage::cli {

enum class FailOn : std::uint8_t { never, fault, quarantine };

/// `--fail-on`, the same for every command that ends with a report.
void add_fail_on(CLI::App& command, FailOn& fail_on);

/// 20 when a GPU or node should be held (wins), 10 when a fault is found and asked for, else 0; the
/// same in every format.
[[nodiscard]] Exit status_of(const analysis::Report& report, FailOn fail_on);

}  // namespace triage::cli

#pragma once

#include <string>

#include "analysis/report_types.hpp"
#include "report/json_writer.hpp"

namespace triage::report {

/// The schema's name, in every report and every NDJSON header.
inline constexpr std::string_view k_schema = "triage.report/v1";

/// The report as `triage.report/v1`: the keys of the schema in their order, further keys (`rank`,
/// `metrics`, `excerpts`, ...) behind them in each object. `read_json` gives the same report back.
/// Ends with a newline.
[[nodiscard]] std::string render_json(const analysis::Report& report);

/// Parts that other formats share.
void write_verdict(JsonWriter& out, const analysis::VerdictEntry& verdict);
void write_quarantine(JsonWriter& out, const analysis::QuarantineEntry& quarantine);
void write_observation_members(JsonWriter& out, const analysis::ObservationEntry& observation);
void write_place(JsonWriter& out, const evidence::Place& place);
/// Nanoseconds as milliseconds, with a fraction when there is one.
void write_milliseconds(JsonWriter& out, std::int64_t ns);

}  // namespace triage::report

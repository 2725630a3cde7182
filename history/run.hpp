#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report_types.hpp"

namespace triage::history {

/// One recorded run of `analyze`: what is asked of it later, and the whole report as JSON.
struct Run {
  std::int64_t id = 0;           ///< number in this store
  std::string uid;               ///< 32 hex digits, the same in every store that it is copied to
  std::int64_t recorded_ns = 0;  ///< when it was recorded
  /// Which incident it is of: runs over the same evidence share it, so that looking twice does not
  /// make an incident recur.
  std::string incident;
  std::string fingerprint;
  std::string class_, cause, title, severity, confidence, scope, pattern, fault_domain;
  std::string quarantine_target, quarantine_action;
  std::optional<std::int64_t> first_error_ns;
  std::string first_error_file;
  std::uint32_t first_error_line = 0;
  std::string first_error_text;
  std::string driver, cuda, engine, engine_version, tool_version, rules_digest;
  std::vector<std::string> nodes, pods, images;
  std::vector<analysis::GpuEntity> gpus;
  std::string report_json;

  /// When it happened: the first error's time, else when it was recorded.
  [[nodiscard]] std::int64_t time_ns() const { return first_error_ns.value_or(recorded_ns); }
};

/// The first error without what differs between two occurrences of one fault: numbers, addresses,
/// UUIDs, paths' numbers. Lower case, at most 200 bytes.
[[nodiscard]] std::string normalise_error(std::string_view text);

/// Cause and normalised first error, as 16 hex digits.
[[nodiscard]] std::string fingerprint_of(const analysis::VerdictEntry& verdict);

/// What to record of a report. `incident` empty: derived from fingerprint, time and entities (and,
/// for undated evidence, from the inputs).
[[nodiscard]] Run run_of(const analysis::Report& report, std::string report_json,
                         std::int64_t recorded_ns, std::string incident = {});

}  // namespace triage::history

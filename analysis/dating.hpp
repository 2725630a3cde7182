#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/observation.hpp"
#include "evidence/fact.hpp"

namespace triage::analysis {

/// What is known of one line stream before dating.
struct StreamInfo {
  std::uint32_t file = 0;
  evidence::Kind kind = evidence::Kind::unknown_text;
  evidence::Place place;
  std::optional<std::int64_t> boot_time_ns;   ///< from a manifest
  std::optional<std::int64_t> clock_skew_ns;  ///< from a manifest: this clock minus the collector's
  std::optional<evidence::Stamp> first, last;  ///< stamps of its first and last stamped lines
  std::optional<evidence::Time> first_time, last_time;  ///< set by date_evidence
};

struct DatingOptions {
  std::optional<int> year;                     ///< `--year`
  std::optional<std::int64_t> zone_offset_ns;  ///< `--tz`: local time minus UTC
  std::optional<std::int64_t> boot_time_ns;    ///< `--boot-time`
};

/// Gives every observation, fact and stream its time in UTC with an uncertainty, as far as the
/// evidence allows (design, section 2.3): a stamp without zone is UTC unless told, without year
/// takes that of the nearest dated evidence, a monotonic one needs a boot time (manifest, option,
/// `btime`, `uptime -s`, a dated twin of the same message on the same node). What has no base stays
/// without a time. Returns warnings for the person.
[[nodiscard]] std::vector<std::string> date_evidence(
    std::vector<Observation>& observations, std::vector<evidence::Fact>& facts,
    std::vector<std::optional<evidence::Time>>& fact_times, std::vector<StreamInfo>& streams,
    const DatingOptions& options);

}  // namespace triage::analysis

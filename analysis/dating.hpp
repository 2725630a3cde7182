#pragma once

#include <cstdint>
#include <functional>
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
  std::string path;                                     ///< for warnings
};

struct DatingOptions {
  std::optional<int> year;  ///< `--year`: of the newest stamps
  /// `--tz`: local time minus UTC at a local time, both in nanoseconds; empty: not told.
  std::function<std::int64_t(std::int64_t local_ns)> zone;
  std::optional<std::int64_t> boot_time_ns;  ///< `--boot-time`
};

/// Gives every observation, fact and stream its time in UTC with an uncertainty, as far as the
/// evidence allows (design, section 2.3). What it does, in this order:
///
/// - a stamp without zone is UTC, or `--tz`, or as far from UTC as the same message in a zoned
///   stream of the node says (whole quarters of an hour);
/// - a stamp without year takes the year that puts its stream nearest to dated evidence, following
///   turns of the year in line order; with none, such streams are placed against one another and
///   marked `year_known = false`;
/// - a time of day takes the day in the same way, or stays without a time;
/// - a monotonic stamp needs the node's boot time: `--boot-time`, manifest, a `boot_time` fact of
///   the environment, the same message in a dated stream of the node, or the same Xid there;
/// - a recorded clock skew of a second or more is taken off, a smaller one is uncertainty.
///
/// What has no base stays without a time. Line order inside a file is never changed: stamps that go
/// back keep their own time. Returns warnings for the person.
[[nodiscard]] std::vector<std::string> date_evidence(
    std::vector<Observation>& observations, std::vector<evidence::Fact>& facts,
    std::vector<std::optional<evidence::Time>>& fact_times, std::vector<StreamInfo>& streams,
    const DatingOptions& options);

}  // namespace triage::analysis

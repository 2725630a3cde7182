#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dating.hpp"
#include "analysis/entities.hpp"
#include "analysis/observation.hpp"
#include "analysis/report_types.hpp"
#include "bundle/input.hpp"
#include "evidence/fact.hpp"

namespace triage::analysis {

/// Everything read from the inputs, before and while the verdict is found. Indices are stable:
/// observations and facts are only appended.
struct EvidenceModel {
  std::vector<bundle::EvidenceFile> files;
  std::vector<InputEntry> inputs;               ///< one for each file, as the report prints them
  std::vector<StreamInfo> streams;              ///< one for each file
  std::vector<std::vector<std::string>> hosts;  ///< host names in the line prefixes of each file
  std::vector<Observation> observations;
  std::vector<evidence::Fact> facts;
  std::vector<std::optional<evidence::Time>> fact_times;
  std::vector<UnmatchedCluster> unmatched;
  std::set<evidence::Kind> kinds;
  EntityTable entities;
  std::optional<evidence::Time> end;  ///< the newest time anywhere
  std::vector<std::string> unread;
  std::vector<std::string> warnings;
};

/// Whether the observation carries the tag by now: its rule's, its catalog row's or a refine's.
[[nodiscard]] bool has_tag(const Observation& o, std::string_view tag);
/// The kind of the fact that the observation was made of, else of its file.
[[nodiscard]] evidence::Kind kind_of(const EvidenceModel& model, const Observation& o);

enum class Ordering : std::uint8_t { before, after, unknown };

/// Whether `a` happened before `b`. In one file line order decides; between files the times, when
/// they differ by more than both may be off. Clocks of different nodes, or of nodes that the
/// evidence does not name, may differ by `k_clock_tolerance_ns` more.
[[nodiscard]] Ordering order_of(const Observation& a, const Observation& b);
inline constexpr std::int64_t k_clock_tolerance_ns = 10'000'000'000;

/// Where and when a folded observation's last repeat stands; the observation's own place otherwise.
[[nodiscard]] Observation last_of(const Observation& o);
/// `order_of` for "a comes after b": a folded observation counts by its last repeat.
[[nodiscard]] Ordering end_order_of(const Observation& a, const Observation& b);

/// Distance in time, when both have one: 0 when the uncertainties overlap.
[[nodiscard]] std::optional<std::int64_t> time_between(const Observation& a, const Observation& b);

/// The latest moment at which the line may have been written: its own stamp, else the next stamped
/// line's.
[[nodiscard]] std::optional<std::int64_t> latest_ns(const Observation& o);

/// For sorting: known time first, then file and line. Not a claim about causality.
[[nodiscard]] bool earlier_for_display(const Observation& a, const Observation& b);

}  // namespace triage::analysis

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evidence/place.hpp"
#include "evidence/time.hpp"

/// The finished report (`triage.report/v1`). Types only: `report/` renders them and decides
/// nothing, `history/` stores them. Every text in here has passed redaction: excerpts are safe to
/// attach.
namespace triage::analysis {

struct GpuEntity {
  std::string uuid, pci, index, node, name;
  bool operator==(const GpuEntity&) const = default;
};

struct Entities {
  std::vector<std::string> nodes, pods, containers;
  std::vector<GpuEntity> gpus;
  std::vector<std::string> ranks;
};

/// A line of evidence: `file` relative to the input, `line` 1-based in the original file.
struct Cited {
  std::string file;
  std::uint32_t line = 0;
  std::optional<evidence::Time> time;
  std::string text;
  std::string rank;  ///< empty: the line names none
};

struct VerdictEntry {
  std::string class_ = "unknown";
  std::string cause = "unknown";
  std::string title;
  std::string severity = "info";
  std::string confidence = "low";
  std::vector<std::string> confidence_reasons;
  std::string fault_domain;  ///< empty: null
  std::string scope = "unknown";
  std::string pattern;  ///< empty: null
  std::optional<Cited> first_error;
  std::optional<Cited> first_cuda_error;
  Entities entities;
};

struct QuarantineSubject {
  std::string kind;  ///< worker, group, gpu, node
  std::string name, uuid, pci, node;
};

struct QuarantineEntry {
  std::string target = "none";
  std::string action = "none";
  std::vector<QuarantineSubject> subjects;
  std::string reason;
  std::string lift_when;
  std::vector<std::string> commands;
};

struct NextStep {
  std::string phase, text, command, why;  ///< empty command: null
};

struct ChainLink {
  std::string rule, cause, role;
  Cited at;
  std::vector<std::size_t> explains;  ///< indices into the chain
};

struct TimelineEntry {
  Cited at;
  std::string rule, role;
  evidence::Place place;
};

struct ObservationEntry {
  std::string rule, cause, class_, role, severity;
  Cited at;
  evidence::Place place;
  std::uint64_t count = 1;
  std::optional<evidence::Time> first, last;
  std::map<std::string, std::string> captures;
};

struct OtherIncident {
  VerdictEntry verdict;
  QuarantineEntry quarantine;
};

struct MissingEvidence {
  std::string what, why, command;
};

struct InputEntry {
  std::string path, kind, format;
  std::string sha256;  ///< empty: null
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::string node, pod, container;
  std::optional<evidence::Time> first, last;
};

struct EngineInfo {
  std::string name, version;
  std::map<std::string, std::string> args;
};

struct Environment {
  std::string driver, cuda;
  std::vector<GpuEntity> gpus;
  EngineInfo engine;
  std::vector<std::string> images;
  std::map<std::string, std::string> kubernetes;
};

/// A number with the line that says it, for the sections below.
struct Sourced {
  std::string value;
  std::string file;
  std::uint32_t line = 0;
};
/// A derived section of the report (load, loading, replicas, capacity, memory budget): name ->
/// value with its source.
using Section = std::map<std::string, Sourced>;

/// One metric over the scrapes that the evidence holds, for charts.
struct MetricSeries {
  std::string name;
  std::map<std::string, std::string> labels;
  std::vector<std::pair<std::optional<evidence::Time>, double>> points;
  std::string file;
  std::uint32_t line = 0;
};

/// Lines around a cited one, for reports that show context.
struct Excerpt {
  std::string file;
  std::uint32_t first_line = 0;
  std::vector<std::string> lines;
  std::uint32_t cited_line = 0;
};

struct UnmatchedCluster {
  std::string example;
  std::string file;
  std::uint32_t line = 0;
  std::uint64_t count = 1;
};

struct Coverage {
  std::uint64_t files = 0, files_read = 0, lines = 0, bytes = 0;
  std::vector<std::string> unread;                 ///< `path: reason`
  std::vector<UnmatchedCluster> unmatched_errors;  ///< error-like lines that no rule explains
};

struct Recurrence {
  std::uint64_t same_fingerprint = 0;
  std::uint64_t same_gpu_critical_30d = 0;
  std::uint64_t same_gpu_remediations_7d = 0;
  std::vector<std::string> incident_ids;
  std::string note;
};

struct Report {
  std::string tool_version;
  std::string rules_digest;
  std::vector<InputEntry> inputs;
  VerdictEntry verdict;
  QuarantineEntry quarantine;
  std::vector<NextStep> next_steps;
  std::vector<ChainLink> causal_chain;
  std::vector<OtherIncident> other_incidents;
  std::vector<TimelineEntry> timeline;
  std::vector<ObservationEntry> observations;
  Environment environment;
  std::optional<Coverage> coverage;
  std::optional<Section> memory_budget, load, loading, replicas, capacity;
  std::optional<Recurrence> recurrence;
  std::vector<MissingEvidence> missing_evidence;
  std::vector<std::string> warnings;
  std::vector<MetricSeries> metrics;
  std::vector<Excerpt> excerpts;
  /// What the loudest lines are when they are not the root: `16 ranks: NCCL watchdog timeout, 600 s
  /// later`.
  std::string loudest;
};

/// What a store of earlier incidents says of this one (history/), for `escalate`.
struct PriorIncidents {
  std::uint64_t same_fingerprint = 0;
  std::uint64_t same_fingerprint_nodes = 0;  ///< distinct nodes with the same fingerprint
  bool fingerprint_follows_change = false;   ///< all of them after one image or driver change
  std::string change;                        ///< that image or driver
  std::map<std::string, std::uint64_t>
      gpu_critical_30d;  ///< by GPU UUID, critical faults in 30 days before this
  std::map<std::string, std::uint64_t> gpu_remediations_7d;  ///< by GPU UUID
  std::vector<std::string> incident_ids;
};

}  // namespace triage::analysis

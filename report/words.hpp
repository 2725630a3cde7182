#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report_types.hpp"

/// Wordings that the formats for people share (terminal, Markdown, HTML, postmortem). They return
/// raw text: each format escapes it in its own way.
namespace triage::report {

/// `gpu-oom` -> `GPU OUT OF MEMORY`.
[[nodiscard]] std::string class_label(std::string_view class_name);
/// What a class means, one sentence.
[[nodiscard]] std::string class_meaning(std::string_view class_name);

enum class Outcome : std::uint8_t { fault, healthy, unknown };
[[nodiscard]] Outcome outcome_of(const analysis::VerdictEntry& verdict);

/// `node-b/dmesg.txt:41`; a line of 0 is left out.
[[nodiscard]] std::string cite(const analysis::Cited& cited);
[[nodiscard]] std::string cite(std::string_view file, std::uint32_t line);
/// `2025-08-14T03:12:07Z ±0.1 s`, or empty.
[[nodiscard]] std::string time_words(const std::optional<evidence::Time>& time);
/// `0.4 s later`, `2 min earlier`, `at the same time`; empty when one time is unknown or the
/// uncertainties overlap so far that no order is known.
[[nodiscard]] std::string distance_words(const std::optional<evidence::Time>& from,
                                         const std::optional<evidence::Time>& to);

/// `GPU 5 · 0000:52:00.0 · GPU-1018...`, as far as known.
[[nodiscard]] std::string gpu_words(const analysis::GpuEntity& gpu);
/// Nodes, pods, containers, GPUs and ranks of a verdict, each list cut to `limit` names.
[[nodiscard]] std::vector<std::string> where_words(const analysis::Entities& entities,
                                                   std::size_t limit);
/// `a, b, c and 5 more`.
[[nodiscard]] std::string list_words(const std::vector<std::string>& names, std::size_t limit);
/// `node node-b`, `GPU 0000:52:00.0 of node-b`.
[[nodiscard]] std::string subject_words(const analysis::QuarantineSubject& subject);
/// `node node-b · reboot-node`.
[[nodiscard]] std::string quarantine_words(const analysis::QuarantineEntry& quarantine);
/// Parts of a place that are known, `node-b · pod worker-1 · rank 13`.
[[nodiscard]] std::string place_words(const evidence::Place& place);

/// The steps of one phase, in order.
[[nodiscard]] std::vector<const analysis::NextStep*> steps_of(const analysis::Report& report,
                                                              std::string_view phase);
/// Phases in the order in which a person takes them, without `avoid`.
[[nodiscard]] const std::vector<std::string_view>& step_phases();

}  // namespace triage::report

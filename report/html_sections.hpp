#pragma once

#include <string>

#include "analysis/report_types.hpp"

/// Sections of the HTML report; each is empty when the report has nothing for it.
namespace triage::report {

// --- What a person reads first (html_summary.cpp) ---
[[nodiscard]] std::string html_verdict(const analysis::Report& report);
[[nodiscard]] std::string html_quarantine(const analysis::Report& report);
[[nodiscard]] std::string html_steps(const analysis::Report& report);
[[nodiscard]] std::string html_missing(const analysis::Report& report);
[[nodiscard]] std::string html_others(const analysis::Report& report);
[[nodiscard]] std::string html_warnings(const analysis::Report& report);

// --- What happened and what was seen (html_evidence.cpp) ---
[[nodiscard]] std::string html_chain(const analysis::Report& report);
[[nodiscard]] std::string html_timeline(const analysis::Report& report);
[[nodiscard]] std::string html_excerpts(const analysis::Report& report);
/// With room for the rows of the page's script, when there is packed data.
[[nodiscard]] std::string html_observations(const analysis::Report& report);

// --- Where it happened (html_context.cpp) ---
[[nodiscard]] std::string html_gpus(const analysis::Report& report);
[[nodiscard]] std::string html_metrics(const analysis::Report& report);
[[nodiscard]] std::string html_figures(const analysis::Report& report);
[[nodiscard]] std::string html_environment(const analysis::Report& report);
[[nodiscard]] std::string html_coverage(const analysis::Report& report);

/// `<section id="..."><h2>...</h2>...</section>`; empty when `body` is.
[[nodiscard]] std::string html_section(std::string_view id, std::string_view heading,
                                       std::string_view body, std::string_view class_name = {});
/// `<pre class="command">`, one block for each command, with the script's copy button.
[[nodiscard]] std::string html_command(std::string_view command);
[[nodiscard]] std::string html_place(const analysis::Cited& cited);

}  // namespace triage::report

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/named_report.hpp"
#include "report/text.hpp"

namespace triage::report {

/// Output formats: one file each, all reading one finished report. To add one: its file, a line in
/// the table of formats.cpp.
enum class Format : std::uint8_t { text, json, ndjson, markdown, html, junit, sarif };

[[nodiscard]] std::string_view to_string(Format format);
[[nodiscard]] std::optional<Format> format_from(std::string_view name);
/// Names for `--help` and completion.
[[nodiscard]] const std::vector<std::string>& format_names();
/// The format that a file's name asks for (`.html`, `.md`, `.sarif`, `.xml` ...).
[[nodiscard]] std::optional<Format> format_of_file(std::string_view path);

/// One report in a format. `text` options matter for the terminal only.
[[nodiscard]] std::string render(Format format, const NamedReport& report,
                                 const TextOptions& text = {});

/// Several reports as one document, where the format can hold several (ndjson, junit, sarif); for
/// the others one after another (text, markdown, json: one document a report).
[[nodiscard]] std::string render_each(Format format, Reports reports, const TextOptions& text = {});

}  // namespace triage::report

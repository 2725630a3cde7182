#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Text helpers that know nothing of GPUs or incidents. All work on bytes (ASCII rules, any
/// encoding passes through).
namespace triage::base {

[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] bool contains(std::string_view text, std::string_view part);
[[nodiscard]] bool icontains(std::string_view text, std::string_view part);
[[nodiscard]] bool iequals(std::string_view a, std::string_view b);

/// Splits at every `separator`; keeps empty parts; an empty text gives one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Splits at runs of blanks and tabs; no empty parts.
[[nodiscard]] std::vector<std::string_view> split_blanks(std::string_view text);
/// Lines without their ends (LF or CRLF); a final line without an end counts.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Whole text must be the number; surrounding blanks are refused.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);
[[nodiscard]] std::optional<double> parse_double(std::string_view text);

/// `90s`, `1h30m`, `250ms`, `2d`, plain numbers are seconds. Result in nanoseconds.
[[nodiscard]] std::optional<std::int64_t> parse_duration_ns(std::string_view text);
/// `50MiB`, `1.5 GiB`, `64K`, `2GB`, plain numbers are bytes.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);
/// `600 s`, `2 h 5 min`: short and for people.
[[nodiscard]] std::string format_duration_ns(std::int64_t ns);
/// `12.4 MiB`.
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

/// Edit distance of Levenshtein, for suggestions.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);
/// The nearest of `known` to `word` when it is near enough to be a typing mistake, else empty.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// Valid UTF-8 as it is; every other byte becomes U+FFFD, so that JSON can carry it.
[[nodiscard]] std::string to_valid_utf8(std::string_view bytes);
/// Without the sequences that colour a terminal (`dmesg --color`, a logger that thinks it has one).
[[nodiscard]] std::string without_colours(std::string_view text);
/// Cuts at `limit` bytes without splitting a UTF-8 sequence and marks the cut with an ellipsis.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t limit);

}  // namespace triage::base

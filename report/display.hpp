#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Log text is hostile: it may hold terminal escapes, bidirectional overrides, invisible characters
/// and bytes that are no UTF-8. Every format shows it through these functions.
namespace triage::report {

/// One character of a UTF-8 text; an invalid byte reads as U+FFFD of length 1.
struct Character {
  char32_t code = 0xFFFD;
  std::size_t length = 1;
};
[[nodiscard]] Character character_at(std::string_view text, std::size_t at);

/// Characters that a reader does not see as themselves: C0 and C1 controls, bidirectional marks and
/// overrides, zero-width and filler characters, line and paragraph separators, tag characters.
[[nodiscard]] bool is_deceptive(char32_t code);

/// The text as one line that any terminal shows as it is: deceptive characters become visible
/// escapes (`\x1b`, `\u202e`), a tab a blank, an invalid byte U+FFFD.
[[nodiscard]] std::string visible(std::string_view text);
/// The same cut to `limit` characters, with an ellipsis when cut.
[[nodiscard]] std::string visible(std::string_view text, std::size_t limit);

/// Columns that a terminal needs for a text that went through `visible`.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Breaks a text at blanks into lines of at most `width` columns, inside words only when a word is
/// wider than a line. With `max_lines`, the last line ends with an ellipsis when text is left.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width,
                                            std::size_t max_lines = SIZE_MAX);

}  // namespace triage::report

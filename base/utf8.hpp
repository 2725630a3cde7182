#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// UTF-8 and the hexadecimal escapes that stand for characters in JSON and source text.
namespace triage::base {

/// Appends the bytes of a code point; halves of surrogate pairs are written as they are, so that a
/// damaged escape stays visible.
void append_utf8(std::string& out, std::uint32_t code);

/// Bytes of the well-formed character at `at`, 0 when there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

/// The number that the first `digits` hexadecimal digits of `text` write; nothing when one is none.
[[nodiscard]] std::optional<std::uint32_t> hex_number(std::string_view text, std::size_t digits);

}  // namespace triage::base

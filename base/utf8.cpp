#include "base/utf8.hpp"

namespace triage::base {

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    out += static_cast<char>(0x80U | ((code >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (at >= text.size()) return 0;
  if (byte(at) < 0x80) return 1;
  const std::size_t length = byte(at) >= 0xf0 ? 4 : byte(at) >= 0xe0 ? 3 : byte(at) >= 0xc2 ? 2 : 0;
  if (length == 0 || byte(at) > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0U) != 0x80U) return 0;
  return length;
}

std::optional<std::uint32_t> hex_number(std::string_view text, std::size_t digits) {
  if (text.size() < digits || digits > 8) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c >= '0' && c <= '9')
      value = value * 16 + static_cast<std::uint32_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + static_cast<std::uint32_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      value = value * 16 + static_cast<std::uint32_t>(c - 'A' + 10);
    else
      return std::nullopt;
  }
  return value;
}

}  // namespace triage::base

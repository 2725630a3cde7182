#include "report/display.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace triage::report {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool in_ranges(char32_t code, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const Range& r) { return code >= r.first && code <= r.last; });
}

// Unicode 15: Cc, Cf and the letters that draw nothing (Hangul fillers).
constexpr std::array<Range, 15> k_deceptive{{{0x00, 0x1F},
                                             {0x7F, 0x9F},
                                             {0xAD, 0xAD},
                                             {0x61C, 0x61C},
                                             {0x115F, 0x1160},
                                             {0x180E, 0x180E},
                                             {0x200B, 0x200F},
                                             {0x2028, 0x202E},
                                             {0x2060, 0x206F},
                                             {0x3164, 0x3164},
                                             {0xFEFF, 0xFEFF},
                                             {0xFFA0, 0xFFA0},
                                             {0xFFF9, 0xFFFB},
                                             {0x1D173, 0x1D17A},
                                             {0xE0000, 0xE0FFF}}};

// East Asian Wide and Fullwidth, and emoji: two columns.
constexpr std::array<Range, 9> k_wide{{{0x1100, 0x115E},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF01, 0xFF60},
                                       {0x1F300, 0x1FAFF},
                                       {0x20000, 0x3FFFD}}};

// Combining marks and variation selectors: no column of their own.
constexpr std::array<Range, 6> k_combining{{{0x0300, 0x036F},
                                            {0x0483, 0x0489},
                                            {0x1AB0, 0x1AFF},
                                            {0x1DC0, 0x1DFF},
                                            {0x20D0, 0x20FF},
                                            {0xFE00, 0xFE0F}}};

std::size_t columns(char32_t code) {
  if (code < 0x300) return 1;
  if (in_ranges(code, k_combining)) return 0;
  return in_ranges(code, k_wide) ? 2 : 1;
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

void drop_last_character(std::string& text) {
  while (text.size() > 1 && is_continuation(text.back())) text.pop_back();
  text.pop_back();
}

bool is_printable_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c - 0x20) >= 0x5F) return false;
  return true;
}

/// Bytes of `text` from `at` that fit `width` columns; at least one character.
std::size_t fitting_bytes(std::string_view text, std::size_t at, std::size_t width) {
  std::size_t used = 0;
  std::size_t end = at;
  while (end < text.size()) {
    const Character c = character_at(text, end);
    if (used + columns(c.code) > width && end > at) break;
    used += columns(c.code);
    end += c.length;
  }
  return end - at;
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  std::size_t length = 0;
  char32_t code = 0;
  char32_t minimum = 0;
  if ((first & 0xE0U) == 0xC0U) {
    length = 2, code = first & 0x1FU, minimum = 0x80;
  } else if ((first & 0xF0U) == 0xE0U) {
    length = 3, code = first & 0x0FU, minimum = 0x800;
  } else if ((first & 0xF8U) == 0xF0U) {
    length = 4, code = first & 0x07U, minimum = 0x10000;
  }
  if (length == 0 || at + length > text.size()) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < minimum || code > 0x10FFFF || surrogate) return {};
  return {code, length};
}

bool is_deceptive(char32_t code) {
  if (code >= 0x20 && code < 0x7F) return false;
  return in_ranges(code, k_deceptive);
}

std::string visible(std::string_view text) {
  return visible(text, SIZE_MAX);
}

std::string visible(std::string_view text, std::size_t limit) {
  if (text.size() <= limit && is_printable_ascii(text)) return std::string(text);
  std::string out;
  out.reserve(std::min(text.size(), limit) + 8);
  std::size_t shown = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (shown++ == limit) return out + "…";
    const Character c = character_at(text, at);
    if (c.code == '\t') {
      out += ' ';
    } else if (is_deceptive(c.code)) {
      out += c.code < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c.code))
                            : fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    } else if (c.code == 0xFFFD) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(at, c.length);
    }
    at += c.length;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    width += columns(c.code);
    at += c.length;
  }
  return width;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t max_lines) {
  width = std::max<std::size_t>(width, 8);
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size() && lines.size() < max_lines) {
    std::size_t take = fitting_bytes(text, at, width);
    std::size_t next = at + take;
    if (next < text.size() && text[next] != ' ') {
      const std::size_t blank = text.substr(at, take).rfind(' ');
      // A blank in the first third would leave a ragged hole: cut the long word instead.
      if (blank != std::string_view::npos && blank >= take / 3) {
        take = blank;
        next = at + blank;
      }
    }
    std::string line(text.substr(at, take));
    while (!line.empty() && line.back() == ' ') line.pop_back();
    at = next;
    while (at < text.size() && text[at] == ' ') ++at;
    lines.push_back(std::move(line));
  }
  if (at < text.size() && !lines.empty()) {
    std::string& last = lines.back();
    while (!last.empty() && display_width(last) + 1 > width) drop_last_character(last);
    last += "…";
  }
  return lines;
}

}  // namespace triage::report

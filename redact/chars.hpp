#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/text.hpp"

/// Classes of bytes for reading text by hand; bytes of UTF-8 sequences count as letters.
namespace triage::redact {

enum ByteClass : std::uint16_t {
  k_is_word = 1,  ///< may stand inside a word as this code cuts them: letters, digits and -_./+%@~$
  k_is_digit = 2,
  k_is_upper = 4,
  k_is_lower = 8,
  k_is_dot = 16,
  k_is_at = 32,
  k_is_joint = 64,  ///< - and _
  k_is_slash = 128,
  k_is_percent = 256,
  k_is_high = 512,
  k_is_base64 = 1024,  ///< + (and /, which has its own class too)
  k_is_quote = 2048,
  k_is_open = 4096,
  k_is_close = 8192,
  k_is_other_mark = 16384,  ///< ? and <, which begin something
};

constexpr std::array<std::uint16_t, 256> make_byte_classes() {
  std::array<std::uint16_t, 256> classes{};
  const auto set = [&](unsigned char c, unsigned bits) {
    classes[c] = static_cast<std::uint16_t>(classes[c] | bits);
  };
  for (unsigned char c = '0'; c <= '9'; ++c) set(c, k_is_word | k_is_digit);
  for (unsigned char c = 'A'; c <= 'Z'; ++c) set(c, k_is_word | k_is_upper);
  for (unsigned char c = 'a'; c <= 'z'; ++c) set(c, k_is_word | k_is_lower);
  for (unsigned c = 0x80; c <= 0xFF; ++c) set(static_cast<unsigned char>(c), k_is_word | k_is_high);
  set('-', k_is_word | k_is_joint);
  set('_', k_is_word | k_is_joint);
  set('.', k_is_word | k_is_dot);
  set('/', k_is_word | k_is_slash);
  set('+', k_is_word | k_is_base64);
  set('%', k_is_word | k_is_percent);
  set('@', k_is_word | k_is_at);
  set('~', k_is_word);
  set('$', k_is_word);
  set('"', k_is_quote);
  set('\'', k_is_quote);
  set('`', k_is_quote);
  set('(', k_is_open);
  set('[', k_is_open);
  set('{', k_is_open);
  set(')', k_is_close);
  set(']', k_is_close);
  set('}', k_is_close);
  set('?', k_is_other_mark);
  set('<', k_is_other_mark);
  set(':', k_is_other_mark);
  return classes;
}

inline constexpr std::array<std::uint16_t, 256> k_byte_classes = make_byte_classes();

[[nodiscard]] constexpr unsigned class_of(char c) {
  return k_byte_classes[static_cast<unsigned char>(c)];
}
[[nodiscard]] constexpr bool is_digit(char c) {
  return (class_of(c) & k_is_digit) != 0;
}
[[nodiscard]] constexpr bool is_lower(char c) {
  return (class_of(c) & k_is_lower) != 0;
}
[[nodiscard]] constexpr bool is_upper(char c) {
  return (class_of(c) & k_is_upper) != 0;
}
[[nodiscard]] constexpr bool is_alpha(char c) {
  return (class_of(c) & (k_is_upper | k_is_lower)) != 0;
}
[[nodiscard]] constexpr bool is_alnum(char c) {
  return (class_of(c) & (k_is_upper | k_is_lower | k_is_digit)) != 0;
}
[[nodiscard]] constexpr bool is_high(char c) {
  return (class_of(c) & k_is_high) != 0;
}
[[nodiscard]] constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Behind the spaces at `at`; JSON is full of them.
[[nodiscard]] inline std::size_t behind_spaces(std::string_view text, std::size_t at) {
  while (at + 8 <= text.size() && std::memcmp(text.data() + at, "        ", 8) == 0) at += 8;
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

/// A set of bytes: `find_first_of` of the standard library asks for each byte with a call.
class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view bytes) {
    for (const char c : bytes) in_[static_cast<unsigned char>(c)] = true;
  }
  [[nodiscard]] constexpr bool has(char c) const { return in_[static_cast<unsigned char>(c)]; }
  [[nodiscard]] constexpr bool any_in(std::string_view text) const {
    for (const char c : text)
      if (has(c)) return true;
    return false;
  }

 private:
  std::array<bool, 256> in_{};
};

/// Most texts that are compared differ in length: no call for these.
[[nodiscard]] inline bool iequals(std::string_view a, std::string_view b) {
  return a.size() == b.size() && base::iequals(a, b);
}

template <class Words>
[[nodiscard]] bool is_one_of(std::string_view word, const Words& words) {
  for (const std::string_view w : words)
    if (iequals(w, word)) return true;
  return false;
}
[[nodiscard]] inline bool is_one_of(std::string_view word,
                                    std::initializer_list<std::string_view> words) {
  return is_one_of<std::initializer_list<std::string_view>>(word, words);
}

}  // namespace triage::redact

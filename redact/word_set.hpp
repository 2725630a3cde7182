#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace triage::redact {

/// Words of a table, found by binary search.
template <std::size_t N>
class WordSet {
 public:
  constexpr explicit WordSet(std::array<std::string_view, N> words) : words_(words) {
    std::sort(words_.begin(), words_.end());
  }
  [[nodiscard]] constexpr bool has(std::string_view word) const {
    return std::binary_search(words_.begin(), words_.end(), word);
  }
  [[nodiscard]] constexpr const std::array<std::string_view, N>& all() const { return words_; }

 private:
  std::array<std::string_view, N> words_;
};

template <class... T>
constexpr auto words(T... word) {
  return WordSet<sizeof...(T)>(std::array<std::string_view, sizeof...(T)>{word...});
}

/// The first two letters of words in either case, and how long the words are: rules nearly every
/// word of a log out.
class Beginnings {
 public:
  constexpr void add(std::string_view word) {
    lengths_[place(word[0], word[1])] |= std::uint32_t{1} << (word.size() & 31U);
  }
  [[nodiscard]] constexpr bool may_be(char first, char second, std::size_t length) const {
    return (lengths_[place(first, second)] >> (length & 31U) & 1U) != 0;
  }

 private:
  static constexpr std::size_t place(char first, char second) {
    return static_cast<std::size_t>(first & 0x1F) << 5U | static_cast<std::size_t>(second & 0x1F);
  }
  std::array<std::uint32_t, 1024> lengths_{};
};

}  // namespace triage::redact

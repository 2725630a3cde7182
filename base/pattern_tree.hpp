#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace triage::base {

/// A pattern as far as its fixed text is concerned: what a match must spell out. Letters are in
/// lower case, groups and assertions have gone, concatenations are flat.
struct PatternNode {
  enum class Type : std::uint8_t {
    bytes,   ///< one byte of `set`
    concat,  ///< the children one after another; none: the empty text
    any_of,  ///< one of the children
    repeat,  ///< the child, `least` to `most` times
  };
  Type type = Type::concat;
  std::bitset<256> set;
  std::vector<PatternNode> children;
  int least = 0;
  int most = 0;  ///< -1: without end
};

/// Reads RE2 syntax. Nothing when the pattern holds something that is not read here (POSIX and
/// Unicode classes, say): whoever asks must then do without. Never reads a pattern as narrower than
/// it is.
[[nodiscard]] std::optional<PatternNode> read_pattern(std::string_view pattern);

}  // namespace triage::base

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redact/finding.hpp"

namespace triage::redact {

enum class Escapes : std::uint8_t {
  backslash,  ///< JSON, Python, Go, C: `\n \" \u00e9 \xe9`; unknown ones stay as they are
  percent,    ///< `%20`, and `+` for a blank
};

/// A decoded text and where its bytes stood in the source: edits are found in decoded text and made
/// in the source, so that what is not masked keeps its bytes.
struct Decoded {
  std::string text;
  std::string_view source;  ///< must stay while the places in it are asked for
  Escapes escapes = Escapes::backslash;
  /// Where decoding may be taken up again, one for each k_stride bytes of the text: an offset for
  /// each byte would make a line of 50 MB cost five times its size.
  struct Mark {
    std::uint32_t text;
    std::uint32_t source;
  };
  static constexpr std::size_t k_stride = 64;
  std::vector<Mark> marks;

  /// The offset in the source of what gave the byte at `at`, or of the end.
  [[nodiscard]] std::size_t source_of(std::size_t at) const;
};

[[nodiscard]] Decoded decode(std::string_view source, Escapes escapes);

/// Moves edits of `decoded` to the source at `base`, with replacements written in its escapes.
void map_to_source(const Decoded& decoded, std::size_t base, Edits& edits, Edits& out);

/// Base64 of either alphabet, padded or not, when the result is text; `most` bounds the source.
[[nodiscard]] std::optional<std::string> decode_base64_text(std::string_view source,
                                                            std::size_t most = 256U << 10U);
/// The same without asking for text.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view source);

}  // namespace triage::redact

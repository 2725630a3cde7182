#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redact/finding.hpp"

namespace triage::redact {

/// A decoded text and where each of its bytes stood in the source: edits are found in decoded text
/// and made in the source, so that what is not masked keeps its bytes.
struct Decoded {
  std::string text;
  std::vector<std::uint32_t> source;  ///< offset in the source of each byte, and of the end

  [[nodiscard]] bool empty() const { return text.empty(); }
};

enum class Escapes : std::uint8_t {
  backslash,  ///< JSON, Python, Go, C: `\n \" \u00e9 \xe9`; unknown ones stay as they are
  percent,    ///< `%20`, and `+` for a blank
};

[[nodiscard]] Decoded decode(std::string_view source, Escapes escapes);

/// Moves edits of `decoded` to the source at `base`, with replacements written in its escapes.
void map_to_source(const Decoded& decoded, Escapes escapes, std::size_t base, Edits& edits,
                   Edits& out);

/// Base64 of either alphabet, padded or not, when the result is text; `most` bounds the source.
[[nodiscard]] std::optional<std::string> decode_base64_text(std::string_view source,
                                                            std::size_t most = 256U << 10U);
/// The same without asking for text.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view source);

}  // namespace triage::redact

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redact/finding.hpp"

namespace triage::redact {

/// A line without the escape sequences by which programs colour a terminal, and where its bytes
/// stood: `ESC[32;1m[tool/end]ESC[0m ...` begins a record as much as `[tool/end]` does.
class Uncoloured {
 public:
  explicit Uncoloured(std::string_view line);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Moves edits of the text to the line. Sequences around what is masked stay.
  void map_to_line(Edits& edits, Edits& out) const;

 private:
  [[nodiscard]] std::size_t place_of(std::size_t at) const;

  std::string text_;
  /// Where sequences stood, by the place in the text, and how many bytes they took up to there.
  struct Gap {
    std::size_t text;
    std::size_t removed;
  };
  std::vector<Gap> gaps_;
};

[[nodiscard]] inline bool is_coloured(std::string_view line) {
  return line.find('\x1B') != std::string_view::npos;
}

}  // namespace triage::redact

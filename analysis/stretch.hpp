#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/line_filter.hpp"
#include "analysis/line_prefix.hpp"
#include "evidence/format.hpp"
#include "evidence/kind.hpp"

namespace triage::analysis {

/// Some whole lines of a stream, as they are searched: JSON lines as the messages that the program
/// wrote, coloured ones without their colours, line for line; everything else as it is.
class Stretch {
 public:
  Stretch(evidence::Kind kind, evidence::Format format) : kind_(kind), format_(format) {}

  /// `raw` begins at `begin` of the window's buffer and must outlive the use of this stretch.
  void open(std::string_view raw, std::size_t begin);

  [[nodiscard]] std::string_view raw() const { return raw_; }
  /// What is searched; candidates are offsets in it.
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string_view text_of(const Candidate& line) const {
    return text_.substr(line.begin, line.end - line.begin);
  }
  /// The prefix of a candidate's line, as the file holds it.
  [[nodiscard]] LinePrefix prefix_of(const Candidate& line) const;
  /// The prefix of any line of the file.
  [[nodiscard]] LinePrefix read_prefix_of(std::string_view raw_line) const;
  /// Any line of the file as it is searched; `memory` holds it where that differs.
  [[nodiscard]] std::string_view searched(std::string_view raw_line, std::string& memory) const;
  /// Offsets in the window's buffer of a candidate's line as the file holds it.
  [[nodiscard]] std::size_t begin_in_window(const Candidate& line) const;
  [[nodiscard]] std::size_t end_in_window(const Candidate& line) const;

 private:
  struct RawLine {
    std::size_t decoded_begin, begin, end;
  };
  /// Makes the searched text from the raw lines, each as `text_of_line` says.
  template <class TextOfLine>
  void decode(const TextOfLine& text_of_line);
  [[nodiscard]] const RawLine* raw_line(std::size_t decoded_offset) const;

  evidence::Kind kind_;
  evidence::Format format_;
  std::string_view raw_;
  std::string_view text_;
  std::size_t begin_ = 0;
  bool coloured_ = false;
  std::string decoded_;
  std::vector<RawLine> raw_lines_;  ///< of decoded lines
};

}  // namespace triage::analysis

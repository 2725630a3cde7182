#pragma once

#include <string>
#include <string_view>

#include "report/text.hpp"

namespace triage::report {

enum class Paint : std::uint8_t { none, fault, sound, unsure, heading, place, dim };

/// Lays out lines of a terminal page: labelled rows that wrap, indented text, painted words.
class TextPage {
 public:
  explicit TextPage(const TextOptions& options) : options_(options) {}

  void blank_line();
  /// A line at the left margin: a painted label, text behind it that wraps below itself.
  void heading(std::string_view label, Paint paint, std::string_view rest = {});
  /// `  label    text`, wrapped; the label may be empty to go on below a row.
  void row(std::string_view label, std::string_view text, Paint paint = Paint::none,
           std::size_t max_lines = 8);
  /// Log text below a row, indented two further; `max_lines` bounds a long line.
  void quote(std::string_view text, std::size_t max_lines = 4);
  /// A command: one line, never wrapped, since a person copies it. Below a row, or behind a label.
  void command(std::string_view text);
  void command_row(std::string_view label, std::string_view text);
  /// Two texts on one line, the second at the right margin, or on a row of its own when both do not
  /// fit.
  void headline(std::string_view label, Paint paint, std::string_view title,
                std::string_view right);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string painted(std::string_view text, Paint paint) const;

  TextOptions options_;
  std::string out_;
};

}  // namespace triage::report

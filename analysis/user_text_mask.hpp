#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"

namespace triage::analysis {

/// Blanks logged prompts and outputs, so that no fault rule sees them; a prompt may go on over many
/// lines and blocks.
class UserTextMask {
 public:
  explicit UserTextMask(const LineRules& rules) : rules_(rules) {}

  /// The next lines of the stream, from line `first_line` on.
  void open(std::string_view text, std::uint64_t first_line);
  /// Whether the line lies within an open prompt.
  [[nodiscard]] bool hides(std::uint64_t line) const { return line <= until_line_; }
  /// The candidate's line with its prompts blanked, in `masked` when there are any. Offsets keep.
  [[nodiscard]] std::string_view mask(const Candidate& candidate,
                                      std::span<const std::uint32_t> patterns, std::uint64_t number,
                                      std::string& masked);

 private:
  void follow(std::uint64_t number, std::size_t begin);

  const LineRules& rules_;
  std::string_view text_;
  const LineRules::UserText* open_ = nullptr;  ///< a span over several lines
  std::size_t open_lines_ = 0;
  std::uint64_t until_line_ = 0;
};

}  // namespace triage::analysis

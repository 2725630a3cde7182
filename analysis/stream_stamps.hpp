#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/observation.hpp"
#include "analysis/stretch.hpp"
#include "analysis/window.hpp"

namespace triage::analysis {

/// The stamps of one stream: its range, and for lines without a stamp the nearest ones around them.
/// What was looked at for one line is not looked at again: a log without stamps costs one pass.
class StreamStamps {
 public:
  StreamStamps(const Window& window, const Stretch& stretch) : window_(window), stretch_(stretch) {}

  /// Reads the stamps of the stretch's first and last lines, and hosts; not of a piece of a line.
  void open_stretch(bool whole_lines);
  /// A line that was read for another reason.
  void note(const LinePrefix& prefix) { note(prefix, false); }

  /// Gives a line without a stamp that of the nearest stamped line before it, and the next one as
  /// its bound.
  void borrow(Observation& observation, const Candidate& line);
  /// The stamp of the nearest stamped line before the candidate's.
  [[nodiscard]] std::optional<evidence::Stamp> before(const Candidate& line);
  /// A line with a stamp of its own, at that offset of the file.
  void know(std::uint64_t offset, const std::optional<evidence::Stamp>& stamp);

  [[nodiscard]] const std::optional<evidence::Stamp>& first() const { return first_; }
  [[nodiscard]] const std::optional<evidence::Stamp>& last() const { return last_; }
  /// The last stamp before this stretch.
  [[nodiscard]] const std::optional<evidence::Stamp>& before_stretch() const {
    return before_stretch_;
  }
  /// Host names in line prefixes.
  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }

 private:
  void note(const LinePrefix& prefix, bool at_start);
  void find_next(std::size_t at, std::uint32_t line_number);

  const Window& window_;
  const Stretch& stretch_;
  std::optional<evidence::Stamp> first_, last_, before_stretch_;
  std::vector<std::string> hosts_;
  bool end_is_stamped_ = false;     ///< this stretch's last lines gave `last_`
  std::uint64_t known_offset_ = 0;  ///< lines before it are accounted for in before_known_
  std::optional<evidence::Stamp> before_known_;
  std::uint64_t next_known_offset_ = 0;  ///< lines before it share next_
  std::optional<evidence::Stamp> next_;
  std::uint32_t next_line_ = 0;
};

}  // namespace triage::analysis

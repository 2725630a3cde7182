#include "analysis/stream_stamps.hpp"

#include <algorithm>

namespace triage::analysis {
namespace {

constexpr std::size_t k_searched = 200;  ///< lines
constexpr int k_edge = 50;               ///< lines
constexpr std::size_t k_most_hosts = 16;

}  // namespace

void StreamStamps::open_stretch(bool whole_lines) {
  before_stretch_ = last_;
  if (!whole_lines) return;
  end_is_stamped_ = false;
  const std::string_view text = stretch_.raw();
  if (!first_) {
    std::size_t begin = 0;
    for (int i = 0; i < k_edge && begin < text.size() && !first_; ++i) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      note(stretch_.read_prefix_of(text.substr(begin, end - begin)), true);
      begin = end + 1;
    }
  }
  std::size_t end = text.size();
  for (int i = 0; i < k_edge && end > 0; ++i) {
    const std::size_t stop = text[end - 1] == '\n' ? end - 1 : end;
    const std::size_t before = stop == 0 ? std::string_view::npos : text.rfind('\n', stop - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const LinePrefix prefix = stretch_.read_prefix_of(text.substr(begin, stop - begin));
    note(prefix, false);
    end_is_stamped_ = prefix.stamp.has_value();
    if (end_is_stamped_ || begin == 0) break;
    end = begin;
  }
}

void StreamStamps::note(const LinePrefix& prefix, bool at_start) {
  if (prefix.stamp && !end_is_stamped_) {
    if (at_start && !first_) first_ = prefix.stamp;
    last_ = prefix.stamp;
  }
  if (!prefix.place.node.empty() && hosts_.size() < k_most_hosts &&
      std::find(hosts_.begin(), hosts_.end(), prefix.place.node) == hosts_.end())
    hosts_.push_back(prefix.place.node);
}

void StreamStamps::know(std::uint64_t offset, const std::optional<evidence::Stamp>& stamp) {
  known_offset_ = offset;
  before_known_ = stamp;
}

std::optional<evidence::Stamp> StreamStamps::before(const Candidate& candidate) {
  const std::size_t at = stretch_.begin_in_window(candidate);
  std::optional<evidence::Stamp> found = before_known_;
  std::size_t looked_at = 0;
  for (auto line = window_.line_before(at, at); line && looked_at < k_searched;
       line = window_.line_before(line->begin, at)) {
    if (window_.file_offset(line->begin) < known_offset_) break;
    ++looked_at;
    if (LinePrefix prefix = stretch_.read_prefix_of(line->text); prefix.stamp) {
      found = prefix.stamp;
      break;
    }
  }
  know(window_.file_offset(at), found);
  return found;
}

void StreamStamps::borrow(Observation& observation, const Candidate& candidate) {
  observation.stamp = before(candidate);
  observation.stamp_is_own = false;
  const std::size_t at = stretch_.end_in_window(candidate);
  if (window_.file_offset(at) >= next_known_offset_) find_next(at, observation.line);
  observation.next_stamp = next_;
  observation.next_line = next_line_;
}

/// Looks ahead once; lines up to where it looked share the answer.
void StreamStamps::find_next(std::size_t at, std::uint32_t line_number) {
  next_.reset();
  std::size_t looked_at = 0;
  std::size_t end = at;
  for (auto line = window_.line_after(at, at); line && looked_at < k_searched;
       line = window_.line_after(line->begin, at)) {
    ++looked_at;
    end = line->begin;
    if (LinePrefix prefix = stretch_.read_prefix_of(line->text); prefix.stamp) {
      next_ = prefix.stamp;
      next_line_ = line_number + static_cast<std::uint32_t>(looked_at);
      break;
    }
  }
  next_known_offset_ = window_.file_offset(end);
}

}  // namespace triage::analysis

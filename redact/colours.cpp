#include "redact/colours.hpp"

#include <algorithm>

namespace triage::redact {
namespace {

/// Length of the sequence that begins with the escape at the start of `text` (ECMA-48: CSI, OSC);
/// the escape alone when none follows.
std::size_t sequence_length(std::string_view text) {
  constexpr std::size_t k_longest_title = 512;
  if (text.size() < 2) return 1;
  if (text[1] == '[') {
    std::size_t at = 2;
    while (at < text.size() && text[at] >= ' ' && text[at] <= '?') ++at;
    return at < text.size() && text[at] >= '@' && text[at] <= '~' ? at + 1 : 1;
  }
  if (text[1] == ']') {
    const std::size_t end = text.substr(0, k_longest_title).find_first_of("\x07\x1B", 2);
    if (end == std::string_view::npos) return 1;
    return text[end] == '\x07' ? end + 1 : std::min(end + 2, text.size());
  }
  return 1;
}

}  // namespace

Uncoloured::Uncoloured(std::string_view line) {
  text_.reserve(line.size());
  std::size_t removed = 0;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t escape = std::min(line.find('\x1B', at), line.size());
    text_ += line.substr(at, escape - at);
    at = escape;
    if (at >= line.size()) break;
    const std::size_t length = sequence_length(line.substr(at));
    removed += length;
    at += length;
    gaps_.push_back({text_.size(), removed});
  }
}

/// Where the byte at `at` stood in the line.
std::size_t Uncoloured::place_of(std::size_t at) const {
  const auto behind = std::partition_point(gaps_.begin(), gaps_.end(),
                                           [&](const Gap& gap) { return gap.text <= at; });
  return behind == gaps_.begin() ? at : at + std::prev(behind)->removed;
}

void Uncoloured::map_to_line(Edits& edits, Edits& out) const {
  for (Edit& edit : edits) {
    const std::size_t last = edit.end > edit.begin ? place_of(edit.end - 1) + 1 : 0;
    edit.begin = place_of(edit.begin);
    edit.end = std::max(last, edit.begin);
    out.push_back(std::move(edit));
  }
}

}  // namespace triage::redact

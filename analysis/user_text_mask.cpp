#include "analysis/user_text_mask.hpp"

#include <algorithm>

namespace triage::analysis {

void UserTextMask::open(std::string_view text, std::uint64_t first_line) {
  text_ = text;
  follow(first_line, 0);
}

std::string_view UserTextMask::mask(const Candidate& candidate,
                                    std::span<const std::uint32_t> patterns, std::uint64_t number,
                                    std::string& masked) {
  const std::string_view line = text_.substr(candidate.begin, candidate.end - candidate.begin);
  for (const std::uint32_t id : patterns) {
    const LineRules::Pattern& pattern = rules_.patterns()[id];
    if (pattern.use != LineRules::Use::user_text_start) continue;
    const LineRules::UserText& span = rules_.user_text()[pattern.owner];
    const std::string_view seen = masked.empty() ? line : std::string_view(masked);
    const auto start = pattern.regex.find(seen);
    if (!start) continue;
    std::size_t stop = line.size();
    bool ended = !span.end.has_value();
    if (span.end)
      if (const auto end = span.end->find(seen.substr(start->second))) {
        stop = start->second + end->first;
        ended = true;
      }
    if (masked.empty()) masked = std::string(line);
    std::fill(masked.begin() + static_cast<std::ptrdiff_t>(start->second),
              masked.begin() + static_cast<std::ptrdiff_t>(stop), ' ');
    if (!ended && span.span->multiline) {
      open_ = &span;
      open_lines_ = 0;
      follow(number + 1, std::min<std::size_t>(candidate.end + 1, text_.size()));
    }
  }
  return masked.empty() ? line : std::string_view(masked);
}

/// Walks the lines of an open span up to its end or the text's.
void UserTextMask::follow(std::uint64_t number, std::size_t begin) {
  while (open_ != nullptr && begin < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    const bool closes = open_->end && open_->end->find(text_.substr(begin, end - begin));
    if (closes || ++open_lines_ >= open_->span->max_lines) {
      open_ = nullptr;
      if (!closes) return;
    }
    until_line_ = number++;
    begin = end + 1;
  }
}

}  // namespace triage::analysis

// What belongs to a person by its form: phone, card and insurance numbers, pictures.

#include <algorithm>

#include "redact/chars.hpp"
#include "redact/scanner.hpp"

namespace triage::redact {

/// `+49 170 5550123`, `+1 (555) 010-1234`: ten to fifteen digits in groups.
std::size_t Scanner::on_phone(std::size_t begin, std::size_t end) {
  if (!env_.profile.content || (begin > 0 && is_alnum(text_[begin - 1]))) return 0;
  std::size_t at = begin + 1;
  std::size_t digits = 0;
  std::size_t groups = 0;
  std::size_t stop = at;
  while (at < end && digits <= 15) {
    std::size_t last = at;
    while (last < end && is_digit(text_[last])) ++last;
    if (last == at) break;
    digits += last - at;
    ++groups;
    stop = last;
    at = last;
    std::size_t signs = 0;
    while (at < end && signs < 2 &&
           std::string_view(" -()/").find(text_[at]) != std::string_view::npos)
      ++at, ++signs;
  }
  const bool goes_on =
      stop < end && (is_alnum(text_[stop]) || text_[stop] == '.' || text_[stop] == ':');
  if (groups < 3 || digits < 10 || digits > 15 || text_[begin + 1] == '0' || goes_on) return 0;
  mask(begin, stop, What::user, part(begin, stop));
  return stop;
}

/// US social security numbers and card numbers written in groups (bare digits are ids and counts).
std::size_t Scanner::on_personal_number(std::size_t begin, std::size_t word_end, std::size_t end) {
  if (!env_.profile.content) return 0;
  const auto groups = [&](std::size_t at, std::initializer_list<std::size_t> sizes,
                          char mark) -> std::size_t {
    bool first = true;
    for (const std::size_t size : sizes) {
      if (!first && (at >= end || text_[at++] != mark)) return 0;
      first = false;
      for (std::size_t i = 0; i < size; ++i)
        if (at >= end || !is_digit(text_[at++])) return 0;
    }
    const bool goes_on = at < end && (is_alnum(text_[at]) || text_[at] == '-' || text_[at] == '_');
    return goes_on ? 0 : at;
  };
  if (word_end - begin == 11) {
    const std::size_t stop = groups(begin, {3, 2, 4}, '-');
    if (stop != 0) {
      mask(begin, stop, What::user, part(begin, stop));
      return stop;
    }
  }
  const bool blanks = word_end - begin == 4;
  if (!blanks && word_end - begin != 19) return 0;
  const std::size_t stop = groups(begin, {4, 4, 4, 4}, blanks ? ' ' : '-');
  if (stop == 0) return 0;
  int sum = 0;
  int position = 0;
  for (std::size_t i = stop; i-- > begin;) {
    if (!is_digit(text_[i])) continue;
    int digit = text_[i] - '0';
    if (position++ % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  if (sum % 10 != 0) return 0;
  mask(begin, stop, What::user, part(begin, stop));
  return stop;
}

/// `data:image/png;base64,...`: a picture or a recording that somebody sent.
std::size_t Scanner::on_data_url(std::size_t begin, std::size_t end) {
  const std::string_view rest = part(begin, std::min(end, begin + 96));
  const auto comma = rest.find(";base64,");
  if (comma == std::string_view::npos || rest.substr(0, comma).find(' ') != std::string_view::npos)
    return begin;
  const std::size_t first = begin + comma + 8;
  std::size_t stop = first;
  while (stop < end && (is_alnum(text_[stop]) || text_[stop] == '+' || text_[stop] == '/' ||
                        text_[stop] == '=' || text_[stop] == '-' || text_[stop] == '_'))
    ++stop;
  if (stop - first >= 16) mask(first, stop, What::text, part(first, stop));
  return stop;
}

}  // namespace triage::redact

// Lists of token ids, by their key or by the look of their numbers.

#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

/// No vocabulary is larger.
constexpr unsigned long k_largest_id = 300'000;
constexpr std::size_t k_fewest_ids = 8;
/// So many numbers of a long list are enough to judge it.
constexpr std::size_t k_sample = 64;

/// What the words before a list say of its numbers.
bool speaks_of_measures(std::string_view before) {
  const std::string lower = base::to_lower(before);
  const auto holds = [&](std::string_view word) { return base::contains(lower, word); };
  static constexpr auto k_always = std::to_array<std::string_view>(
      {"num", "count", "len", "pid", "size", "usage", "byte", "per_", "block", "slot", "expert",
       "rank", "port", "cpu", "req", "page", "node", "mem", "bucket"});
  if (std::any_of(k_always.begin(), k_always.end(), holds)) return true;
  if (holds("token") || holds("_id") || holds("ids")) return false;
  static constexpr auto k_measures = std::to_array<std::string_view>(
      {"time",  "laten", "shape", "freq",  "clock", "temp",   "power",  "util", "offset", "addr",
       "seed",  "hist",  "_ms",   "_us",   "durat", "stride", "free",   "used", "total",  "kb",
       "mib",   "index", "indic", "rate",  "stamp", "versio", "hit",    "sec",  "speed",  "perf",
       "value", "score", "dim",   "quant", "layer", "step",   "thread", "fd",   "irq",    "mhz"});
  return std::any_of(k_measures.begin(), k_measures.end(), holds);
}

}  // namespace

/// Whether numbers from `at` on look like token ids whatever their key: large, below the size of a
/// vocabulary, in no order. A list with several -100 holds the labels of a training sample.
bool Scanner::looks_like_ids(std::size_t at, std::size_t end) const {
  std::size_t next = at;
  while (next < end && (is_digit(text_[next]) || text_[next] == '-')) ++next;
  if (next >= end || text_[next] != ',') return false;
  std::array<unsigned long, k_sample> numbers;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::size_t count = 0;
  std::size_t ignored = 0;
  const std::size_t first = at;
  while (at < end && count < k_sample) {
    if (text_[at] == ' ' || text_[at] == ',') {
      ++at;
      continue;
    }
    if (part(at, end).starts_with("-100")) {
      ++ignored;
      at += 4;
      continue;
    }
    unsigned long number = 0;
    std::size_t digits = 0;
    while (at < end && is_digit(text_[at]) && digits < 8) {
      number = number * 10 + static_cast<unsigned long>(text_[at] - '0');
      ++at;
      ++digits;
    }
    if (digits == 0) break;
    if (number >= k_largest_id) return false;
    numbers[count++] = number;
  }
  const bool ended = count == k_sample || (at < end ? text_[at] == ']' : line_end_) ||
                     part(at, end).starts_with("...");
  if (!ended) return false;
  if (ignored >= 2 && count + ignored >= k_fewest_ids) return true;
  if (count < k_fewest_ids) return false;
  std::size_t large = 0;
  std::size_t falls = 0;
  std::size_t repeats = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] > 999) ++large;
    if (i > 0 && numbers[i] < numbers[i - 1]) ++falls;
    if (i > 0 && numbers[i] == numbers[i - 1]) ++repeats;
  }
  const auto [least, most] =
      std::minmax_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count));
  const bool spread = *most >= 9000 && *most >= *least * 4;
  if (!spread || large * 2 < count || falls < 2 || falls * 5 < count || repeats * 4 > count)
    return false;
  const std::size_t begin = first > 40 ? first - 40 : 0;
  return !speaks_of_measures(text_.substr(begin, first - begin));
}

/// `output_token_logprobs: [(-0.01, 8812, None), ...]`: ids, pieces and how likely they were,
/// masked as one up to the bracket that closes the list.
std::size_t Scanner::logprob_list(std::size_t bracket, std::size_t end) {
  constexpr std::size_t k_longest = 64U << 10U;
  const std::size_t last = std::min(end, bracket + k_longest);
  int depth = 0;
  bool number = false;
  for (std::size_t at = bracket; at < last; ++at) {
    const char c = text_[at];
    number = number || is_digit(c);
    if (c == '[' || c == '(') ++depth;
    if ((c != ']' && c != ')') || --depth > 0) continue;
    if (!number) break;
    const std::string_view list = part(bracket + 1, at);
    std::string name = shown(env_.namer.name(What::token_ids, list));
    if (quote_ != '"') name = '"' + name + '"';
    add_edit({bracket + 1, at, What::token_ids, std::move(name)});
    return at;
  }
  return bracket;
}

/// A run of numbers in a list of token ids, masked as one.
std::size_t Scanner::id_list(std::size_t at, std::size_t end) {
  std::size_t first = at;
  while (first < end && (text_[first] == ' ' || text_[first] == '[' || text_[first] == '\t')) {
    if (text_[first] == '[') push('[', {});
    ++first;
  }
  std::size_t stop = first;
  std::size_t last = first;
  std::size_t count = 0;
  unsigned long largest = 0;
  unsigned long previous = 0;
  bool rising = true;
  const auto minus = [&](std::size_t place) {  // the labels of a training sample hold -100
    return text_[place] == '-' && place + 1 < end && is_digit(text_[place + 1]) &&
           (place == first || text_[place - 1] == ' ' || text_[place - 1] == ',');
  };
  while (stop < end && (is_digit(text_[stop]) || text_[stop] == ',' || text_[stop] == ' ' ||
                        text_[stop] == '\t' || minus(stop))) {
    if (is_digit(text_[stop])) {
      unsigned long number = 0;
      while (stop < end && is_digit(text_[stop])) {
        if (number < 100'000'000)
          number = number * 10 + static_cast<unsigned long>(text_[stop] - '0');
        ++stop;
      }
      largest = std::max(largest, number);
      rising = rising && (count == 0 || number > previous);
      previous = number;
      ++count;
      last = stop;
    } else {
      ++stop;
    }
  }
  if (count == 0) return first;
  const bool decimal = last < end && text_[last] == '.';
  const bool running_on = stop >= end && line_end_;  // over several lines
  const bool ids = frame().inherited.kind == KeyKind::token_ids;
  const bool enough =
      (count >= 2 && largest > 255) || count >= 12 || (running_on && ids && count >= 1);
  // `ids: [41287, 41290, 41293, ...]`: of processes.
  const bool in_order = rising && count >= 5 && frame().inherited.kind == KeyKind::pieces;
  if (decimal || !enough || in_order) return last;
  std::string name = shown(env_.namer.name(What::token_ids, part(first, last)));
  // A string among numbers keeps JSON and Python valid, where the text around allows quotes.
  if (quote_ != '"') name = '"' + name + '"';
  add_edit({first, last, What::token_ids, std::move(name)});
  return last;
}

/// The bytes of a piece of text: `{"token": " Ada", "logprob": -0.1, "bytes": [32, 65, 100, 97]}`.
std::size_t Scanner::bytes_of_piece(std::size_t bracket, std::size_t end) {
  if (!env_.profile.content) return bracket;
  const std::size_t begin = bracket > 96 ? bracket - 96 : 0;
  const std::size_t close = text_.substr(0, std::min(end, bracket + 512)).find(']', bracket);
  if (close == std::string_view::npos ||
      !base::contains(text_.substr(begin, bracket - begin), "logprob"))
    return bracket;
  const std::string_view list = part(bracket + 1, close);
  if (list.find_first_not_of("0123456789, ") != std::string_view::npos ||
      list.find(',') == std::string_view::npos)
    return bracket;
  std::string name = shown(env_.namer.name(What::token_ids, list));
  if (quote_ != '"') name = '"' + name + '"';
  add_edit({bracket + 1, close, What::token_ids, std::move(name)});
  return close;
}

}  // namespace triage::redact

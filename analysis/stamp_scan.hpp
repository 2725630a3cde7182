#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "evidence/time.hpp"

/// Scanners for the parts of which time stamps are made. Each reads at `at` and moves it only when
/// it succeeds. No regex: a prefix costs some tens of nanoseconds, and it is read for every line
/// that might matter.
namespace triage::analysis {

struct Scanner {
  std::string_view text;
  std::size_t at = 0;

  [[nodiscard]] bool at_end() const { return at >= text.size(); }
  /// The character `offset` behind the position, or NUL behind the end.
  [[nodiscard]] char peek(std::size_t offset = 0) const {
    return at + offset < text.size() ? text[at + offset] : '\0';
  }
  [[nodiscard]] std::string_view rest() const {
    return at < text.size() ? text.substr(at) : std::string_view();
  }
  bool eat(char c) {
    if (peek() != c || at_end()) return false;
    ++at;
    return true;
  }
  bool eat(std::string_view word) {
    if (rest().substr(0, word.size()) != word) return false;
    at += word.size();
    return true;
  }
  /// Skips blanks and tabs, gives how many.
  std::size_t blanks();
  /// Characters up to the first one for which `stop` holds (or the end).
  template <class Stop>
  std::string_view take_until(Stop stop) {
    const std::size_t first = at;
    while (at < text.size() && !stop(text[at])) ++at;
    return text.substr(first, at - first);
  }
  /// Exactly `count` decimal digits.
  std::optional<int> digits(std::size_t count);
  /// 1 to 18 decimal digits.
  std::optional<std::int64_t> number();
};

[[nodiscard]] inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
[[nodiscard]] inline bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
[[nodiscard]] inline bool is_letter(char c) {
  return is_upper(c) || is_lower(c);
}
[[nodiscard]] inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// A time of day or a fraction of one, in nanoseconds, and how fine it is.
struct Clock {
  std::int64_t ns = 0;
  std::int64_t resolution_ns = 1'000'000'000;
};

/// `15:04:05`, with a fraction behind `.` or `,`.
[[nodiscard]] std::optional<Clock> scan_clock(Scanner& in);
/// `.123456`: nanoseconds of the fraction and its resolution; whole seconds when there is none.
[[nodiscard]] std::optional<Clock> scan_fraction(Scanner& in);
/// `2025-01-02` with the given separator: days since 1970.
[[nodiscard]] std::optional<std::int64_t> scan_year_month_day(Scanner& in, char separator);
/// `Jan` .. `Dec`: 1 to 12.
[[nodiscard]] std::optional<unsigned> scan_month_name(Scanner& in);
/// `Mon` .. `Sun`.
[[nodiscard]] bool scan_weekday(Scanner& in);
/// `Z`, `+02:00`, `+0200`, `+02`: nanoseconds east of UTC.
[[nodiscard]] std::optional<std::int64_t> scan_zone(Scanner& in);
/// The same, or ` UTC`, ` GMT`, ` +0000` behind a blank.
[[nodiscard]] std::optional<std::int64_t> scan_spaced_zone(Scanner& in);

/// `2025-01-02T15:04:05.123Z` and its kin: `T` or a blank between, any fraction, any zone or none.
[[nodiscard]] std::optional<evidence::Stamp> scan_iso(Scanner& in);
/// `Sun Feb 23 16:24:18 2025`, also `Sun Feb 23 16:24:18 UTC 2025` (date, dmesg -T, nvidia-smi).
[[nodiscard]] std::optional<evidence::Stamp> scan_asctime(Scanner& in);
/// `Feb  9 12:00:01`, with a fraction: a stamp without year.
[[nodiscard]] std::optional<evidence::Stamp> scan_month_day(Scanner& in);
/// `22/Apr/2026:15:01:11 +0000` (access logs).
[[nodiscard]] std::optional<evidence::Stamp> scan_access_date(Scanner& in);
/// Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size; with a
/// fraction only seconds. Numbers outside 2001 to 2100 are none.
[[nodiscard]] std::optional<evidence::Stamp> scan_epoch(Scanner& in);
/// A stamp of month and day without year; nothing when there is no such day.
[[nodiscard]] std::optional<evidence::Stamp> make_no_year(unsigned month, unsigned day,
                                                          const Clock& clock);

/// Any of the absolute forms above filling the whole text, for values of structured evidence.
[[nodiscard]] std::optional<evidence::Stamp> parse_any_stamp(std::string_view text);

}  // namespace triage::analysis

#include "evidence/time.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace triage::evidence {
namespace {

constexpr std::int64_t k_second = 1'000'000'000;
constexpr std::int64_t k_day = 86400 * k_second;

struct Civil {
  std::int64_t year;
  unsigned month;
  unsigned day;
};

Civil civil_from_days(std::int64_t z) {
  z += 719468;
  const std::int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const auto doe = static_cast<unsigned>(z - era * 146097);
  const unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const unsigned mp = (5 * doy + 2) / 153;
  const unsigned day = doy - (153 * mp + 2) / 5 + 1;
  const unsigned month = mp < 10 ? mp + 3 : mp - 9;
  return {static_cast<std::int64_t>(yoe) + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

/// Reads exactly `digits` decimal digits at `at`.
std::optional<int> digits_at(const std::string& s, std::size_t at, std::size_t digits) {
  if (at + digits > s.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (s[i] < '0' || s[i] > '9') return std::nullopt;
    value = value * 10 + (s[i] - '0');
  }
  return value;
}

}  // namespace

std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto yoe = static_cast<unsigned>(year - era * 400);
  const unsigned doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + static_cast<std::int64_t>(doe) - 719468;
}

namespace {

/// The whole days before a moment, rounded down, without leaving 64 bits at either end.
std::int64_t days_before(std::int64_t ns) {
  return ns / k_day - (ns % k_day < 0 ? 1 : 0);
}

}  // namespace

std::int64_t year_of(std::int64_t ns) {
  return civil_from_days(days_before(ns)).year;
}

std::string to_rfc3339(const Time& time) {
  if (!time.year_known) return {};
  const std::int64_t rest = (time.ns % k_day + k_day) % k_day;
  const Civil date = civil_from_days(days_before(time.ns));
  const std::int64_t seconds = rest / k_second;
  const std::int64_t fraction = rest % k_second;
  std::string out = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date.year, date.month,
                                date.day, seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (time.uncertainty_ns < 1'000'000 && fraction % 1'000'000 != 0)
    out += fmt::format(".{:06}", fraction / 1000);
  else if (time.uncertainty_ns < k_second && fraction != 0)
    out += fmt::format(".{:03}", fraction / 1'000'000);
  return out + "Z";
}

std::int64_t written_ns(const Time& time) {
  const std::int64_t unit = time.uncertainty_ns < 1'000'000  ? 1'000
                            : time.uncertainty_ns < k_second ? 1'000'000
                                                             : k_second;
  const std::int64_t rest = (time.ns % unit + unit) % unit;
  // Stamps of hostile logs may lie at the very beginning of what 64 bits can say.
  return time.ns < INT64_MIN + rest ? time.ns : time.ns - rest;
}

std::string to_words(const Time& time) {
  if (time.year_known) return to_rfc3339(time);
  Time dated = time;
  dated.year_known = true;
  std::string text = to_rfc3339(dated).substr(5);  // behind `1972-`
  text.pop_back();
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::optional<Stamp> parse_rfc3339(const std::string& text) {
  const auto year = digits_at(text, 0, 4);
  const auto month = digits_at(text, 5, 2);
  const auto day = digits_at(text, 8, 2);
  const auto hour = digits_at(text, 11, 2);
  const auto minute = digits_at(text, 14, 2);
  const auto second = digits_at(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  if (*month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour > 23 || *minute > 59 ||
      *second > 60)
    return std::nullopt;
  // Years outside this range do not fit nanoseconds in 64 bits.
  if (*year < 1700 || *year > 2250) return std::nullopt;
  Stamp stamp;
  stamp.base = Stamp::Base::no_zone;
  stamp.resolution_ns = k_second;
  stamp.ns =
      days_from_civil(*year, static_cast<unsigned>(*month), static_cast<unsigned>(*day)) * k_day +
      (*hour * 3600LL + *minute * 60LL + *second) * k_second;
  std::size_t at = 19;
  if (at < text.size() && (text[at] == '.' || text[at] == ',')) {
    std::int64_t unit = k_second / 10;
    ++at;
    const std::size_t first = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
      stamp.ns += (text[at] - '0') * unit;
    const std::size_t count = at - first;
    if (count == 0) return std::nullopt;
    stamp.resolution_ns = count >= 9 ? 1 : static_cast<std::int64_t>(std::pow(10, 9 - count));
  }
  if (at == text.size()) return stamp;
  if (text[at] == 'Z' && at + 1 == text.size()) {
    stamp.base = Stamp::Base::utc;
    return stamp;
  }
  if (text[at] != '+' && text[at] != '-') return std::nullopt;
  const bool colon = at + 3 < text.size() && text[at + 3] == ':';
  const auto zone_hour = digits_at(text, at + 1, 2);
  const auto zone_minute = digits_at(text, at + (colon ? 4 : 3), 2);
  if (!zone_hour || !zone_minute || at + (colon ? 6 : 5) != text.size()) return std::nullopt;
  const std::int64_t offset = (*zone_hour * 3600LL + *zone_minute * 60LL) * k_second;
  stamp.ns -= text[at] == '+' ? offset : -offset;
  stamp.base = Stamp::Base::utc;
  return stamp;
}

}  // namespace triage::evidence

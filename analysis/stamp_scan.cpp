#include "analysis/stamp_scan.hpp"

#include <array>

#include "base/text.hpp"

namespace triage::analysis {
namespace {

using evidence::Stamp;

constexpr std::int64_t k_second = 1'000'000'000;
constexpr std::int64_t k_hour = 3600 * k_second;
constexpr std::int64_t k_day = 24 * k_hour;
// A leap year, so that every day of a stamp without year exists (evidence/time.hpp).
constexpr std::int64_t k_yearless = 1972;

/// Three letters as one number: names are compared at once.
constexpr std::uint32_t pack(std::string_view name) {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(name[0])) << 16U |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[1])) << 8U |
         static_cast<std::uint32_t>(static_cast<unsigned char>(name[2]));
}

constexpr std::array<std::uint32_t, 12> k_months{
    pack("Jan"), pack("Feb"), pack("Mar"), pack("Apr"), pack("May"), pack("Jun"),
    pack("Jul"), pack("Aug"), pack("Sep"), pack("Oct"), pack("Nov"), pack("Dec")};
constexpr std::array<std::uint32_t, 7> k_weekdays{
    pack("Mon"), pack("Tue"), pack("Wed"), pack("Thu"), pack("Fri"), pack("Sat"), pack("Sun")};

unsigned days_in(unsigned month, std::int64_t year) {
  static constexpr std::array<unsigned, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : days.at(month - 1);
}

bool is_day(std::int64_t year, unsigned month, unsigned day) {
  // Years beyond these do not fit nanoseconds in 64 bits.
  return year >= 1900 && year <= 2200 && month >= 1 && month <= 12 && day >= 1 &&
         day <= days_in(month, year);
}

Stamp make_stamp(Stamp::Base base, std::int64_t days, const Clock& clock) {
  Stamp stamp;
  stamp.base = base;
  stamp.ns = days * k_day + clock.ns;
  stamp.resolution_ns = clock.resolution_ns;
  return stamp;
}

/// Two digits, or a blank and one: syslog pads days with blanks. One digit alone is taken too.
std::optional<unsigned> scan_padded_day(Scanner& in) {
  Scanner next = in;
  next.eat(' ');
  const char first = next.peek();
  if (!is_digit(first)) return std::nullopt;
  ++next.at;
  auto day = static_cast<unsigned>(first - '0');
  if (is_digit(next.peek())) day = day * 10 + static_cast<unsigned>(next.peek() - '0'), ++next.at;
  if (is_digit(next.peek()) || day == 0 || day > 31) return std::nullopt;
  in = next;
  return day;
}

}  // namespace

std::size_t Scanner::blanks() {
  const std::size_t first = at;
  while (is_blank(peek())) ++at;
  return at - first;
}

std::optional<int> Scanner::digits(std::size_t count) {
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const char c = peek(i);
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  at += count;
  return value;
}

std::optional<std::int64_t> Scanner::number() {
  std::int64_t value = 0;
  std::size_t count = 0;
  for (; is_digit(peek(count)); ++count) {
    if (count == 18) return std::nullopt;
    value = value * 10 + (peek(count) - '0');
  }
  if (count == 0) return std::nullopt;
  at += count;
  return value;
}

std::optional<Clock> scan_fraction(Scanner& in) {
  Clock clock;
  if ((in.peek() != '.' && in.peek() != ',') || !is_digit(in.peek(1))) return clock;
  ++in.at;
  std::int64_t unit = k_second;
  // Digits behind the ninth are less than a nanosecond: read over.
  for (; is_digit(in.peek()); ++in.at)
    if (unit > 1) {
      unit /= 10;
      clock.ns += (in.peek() - '0') * unit;
    }
  clock.resolution_ns = unit;
  return clock;
}

std::optional<Clock> scan_clock(Scanner& in) {
  Scanner next = in;
  const auto hour = next.digits(2);
  if (!hour || !next.eat(':')) return std::nullopt;
  const auto minute = next.digits(2);
  if (!minute || !next.eat(':')) return std::nullopt;
  const auto second = next.digits(2);
  // 60 is a leap second.
  if (!second || *hour > 23 || *minute > 59 || *second > 60 || is_digit(next.peek()))
    return std::nullopt;
  auto clock = scan_fraction(next);
  clock->ns += *hour * k_hour + (*minute * 60 + *second) * k_second;
  in = next;
  return clock;
}

std::optional<std::int64_t> scan_year_month_day(Scanner& in, char separator) {
  Scanner next = in;
  const auto year = next.digits(4);
  if (!year || !next.eat(separator)) return std::nullopt;
  const auto month = next.digits(2);
  if (!month || !next.eat(separator)) return std::nullopt;
  const auto day = next.digits(2);
  if (!day || !is_day(*year, static_cast<unsigned>(*month), static_cast<unsigned>(*day)))
    return std::nullopt;
  in = next;
  return evidence::days_from_civil(*year, static_cast<unsigned>(*month),
                                   static_cast<unsigned>(*day));
}

std::optional<unsigned> scan_month_name(Scanner& in) {
  const std::string_view name = in.rest().substr(0, 3);
  if (name.size() < 3) return std::nullopt;
  const std::uint32_t packed = pack(name);
  for (unsigned i = 0; i < k_months.size(); ++i)
    if (k_months.at(i) == packed) {
      in.at += 3;
      return i + 1;
    }
  return std::nullopt;
}

bool scan_weekday(Scanner& in) {
  const std::string_view name = in.rest().substr(0, 3);
  if (name.size() < 3) return false;
  const std::uint32_t packed = pack(name);
  for (const std::uint32_t weekday : k_weekdays)
    if (weekday == packed) {
      in.at += 3;
      return true;
    }
  return false;
}

std::optional<std::int64_t> scan_zone(Scanner& in) {
  Scanner next = in;
  if (next.eat('Z')) {
    if (is_letter(next.peek()) || is_digit(next.peek())) return std::nullopt;
    in = next;
    return 0;
  }
  const char sign = next.peek();
  if (sign != '+' && sign != '-') return std::nullopt;
  ++next.at;
  const auto hour = next.digits(2);
  if (!hour || *hour > 14) return std::nullopt;
  const Scanner short_form = next;
  next.eat(':');
  const auto minute = next.digits(2);
  if (!minute) next = short_form;
  if (minute.value_or(0) > 59 || is_digit(next.peek())) return std::nullopt;
  in = next;
  const std::int64_t offset = *hour * k_hour + minute.value_or(0) * std::int64_t{60} * k_second;
  return sign == '+' ? offset : -offset;
}

std::optional<std::int64_t> scan_spaced_zone(Scanner& in) {
  if (const auto zone = scan_zone(in)) return zone;
  Scanner next = in;
  if (!next.eat(' ')) return std::nullopt;
  if (next.eat("UTC") || next.eat("GMT")) {
    if (is_letter(next.peek()) || is_digit(next.peek())) return std::nullopt;
    in = next;
    return 0;
  }
  // Behind a blank only the full form: ` -5` may belong to the message.
  const std::size_t first = next.at;
  const auto zone = scan_zone(next);
  if (!zone || next.at - first < 5) return std::nullopt;
  in = next;
  return zone;
}

std::optional<Stamp> scan_iso(Scanner& in) {
  Scanner next = in;
  const auto days = scan_year_month_day(next, '-');
  if (!days) return std::nullopt;
  if (!next.eat('T') && !next.eat(' ') && !next.eat('t')) return std::nullopt;
  const auto clock = scan_clock(next);
  if (!clock) return std::nullopt;
  Stamp stamp = make_stamp(Stamp::Base::no_zone, *days, *clock);
  if (const auto zone = scan_spaced_zone(next)) {
    stamp.base = Stamp::Base::utc;
    stamp.ns -= *zone;
  }
  in = next;
  return stamp;
}

std::optional<Stamp> scan_asctime(Scanner& in) {
  Scanner next = in;
  if (!scan_weekday(next) || !next.eat(' ')) return std::nullopt;
  const auto month = scan_month_name(next);
  if (!month || !next.eat(' ')) return std::nullopt;
  const auto day = scan_padded_day(next);
  if (!day || !next.eat(' ')) return std::nullopt;
  const auto clock = scan_clock(next);
  if (!clock || !next.eat(' ')) return std::nullopt;
  Stamp::Base base = Stamp::Base::no_zone;
  if (next.eat("UTC ") || next.eat("GMT ")) {
    base = Stamp::Base::utc;
  } else if (is_upper(next.peek())) {
    // Another zone's letters: which one they mean is ambiguous (CST), so the stamp has no zone.
    next.take_until([](char c) { return !is_letter(c); });
    if (!next.eat(' ')) return std::nullopt;
  }
  const auto year = next.digits(4);
  if (!year || is_digit(next.peek()) || !is_day(*year, *month, *day)) return std::nullopt;
  in = next;
  return make_stamp(base, evidence::days_from_civil(*year, *month, *day), *clock);
}

std::optional<Stamp> make_no_year(unsigned month, unsigned day, const Clock& clock) {
  if (!is_day(k_yearless, month, day)) return std::nullopt;
  return make_stamp(Stamp::Base::no_year, evidence::days_from_civil(k_yearless, month, day), clock);
}

std::optional<Stamp> scan_month_day(Scanner& in) {
  Scanner next = in;
  const auto month = scan_month_name(next);
  if (!month || !next.eat(' ')) return std::nullopt;
  const auto day = scan_padded_day(next);
  if (!day || !next.eat(' ')) return std::nullopt;
  // `Jul 23 2024 07:53:55`: fabric manager, and syslogs configured to write the year.
  Scanner with_year = next;
  if (const auto year = with_year.digits(4); year && with_year.eat(' ')) {
    const auto clock = scan_clock(with_year);
    if (!clock || !is_day(*year, *month, *day)) return std::nullopt;
    in = with_year;
    return make_stamp(Stamp::Base::no_zone, evidence::days_from_civil(*year, *month, *day), *clock);
  }
  const auto clock = scan_clock(next);
  if (!clock) return std::nullopt;
  const auto stamp = make_no_year(*month, *day, *clock);
  if (stamp) in = next;
  return stamp;
}

std::optional<Stamp> scan_access_date(Scanner& in) {
  Scanner next = in;
  const auto day = next.digits(2);
  if (!day || !next.eat('/')) return std::nullopt;
  const auto month = scan_month_name(next);
  if (!month || !next.eat('/')) return std::nullopt;
  const auto year = next.digits(4);
  if (!year || !next.eat(':')) return std::nullopt;
  const auto clock = scan_clock(next);
  if (!clock || !is_day(*year, *month, static_cast<unsigned>(*day))) return std::nullopt;
  Stamp stamp =
      make_stamp(Stamp::Base::no_zone,
                 evidence::days_from_civil(*year, *month, static_cast<unsigned>(*day)), *clock);
  if (const auto zone = scan_spaced_zone(next)) {
    stamp.base = Stamp::Base::utc;
    stamp.ns -= *zone;
  }
  in = next;
  return stamp;
}

std::optional<Stamp> scan_epoch(Scanner& in) {
  Scanner next = in;
  const auto value = next.number();
  // From 9 September 2001 (ten digits) to 2100.
  constexpr std::int64_t first = 1'000'000'000;
  constexpr std::int64_t last = 4'102'444'800;
  if (!value || *value < first) return std::nullopt;
  Stamp stamp;
  if (*value <= last) {
    const auto fraction = scan_fraction(next);
    stamp.ns = *value * k_second + fraction->ns;
    stamp.resolution_ns = fraction->resolution_ns;
    in = next;
    return stamp;
  }
  for (std::int64_t unit = 1000; unit <= k_second; unit *= 1000)
    if (*value / unit >= first && *value / unit <= last) {
      // A fraction of a millisecond or less (`1700000000123.5`) is read over.
      if (next.peek() == '.') ++next.at, next.number();
      stamp.ns = *value * (k_second / unit);
      stamp.resolution_ns = k_second / unit;
      in = next;
      return stamp;
    }
  // Nineteen digits of nanoseconds do not fit Scanner::number.
  return std::nullopt;
}

std::optional<Stamp> parse_any_stamp(std::string_view text) {
  text = base::trim(text);
  // Nanoseconds since 1970 have 19 digits: cut to microseconds, which is what a report shows.
  std::string_view digits = text;
  if (digits.size() == 19 && digits.find_first_not_of("0123456789") == std::string_view::npos)
    text = digits.substr(0, 16);
  using Scan = std::optional<Stamp> (*)(Scanner&);
  static constexpr std::array<Scan, 5> scans{scan_iso, scan_asctime, scan_month_day,
                                             scan_access_date, scan_epoch};
  for (const Scan scan : scans) {
    Scanner in{text};
    if (auto stamp = scan(in); stamp && in.at_end()) return stamp;
  }
  Scanner slashes{text};
  if (const auto days = scan_year_month_day(slashes, '/'); days && slashes.eat(' ')) {
    if (const auto clock = scan_clock(slashes); clock && slashes.at_end())
      return make_stamp(Stamp::Base::no_zone, *days, *clock);
  }
  return std::nullopt;
}

}  // namespace triage::analysis

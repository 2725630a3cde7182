#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace triage::evidence {

/// A moment in UTC with how far it may be off. Nanoseconds since 1970.
struct Time {
  std::int64_t ns = 0;
  std::int64_t uncertainty_ns = 0;
  /// False when nothing in the evidence names the year: good for comparing with other such times,
  /// never printed as a date (`to_rfc3339` is empty, `to_words` leaves the year out).
  bool year_known = true;
  bool operator==(const Time&) const = default;
};

/// A time stamp as a line carries it, before anything outside the line completes it.
struct Stamp {
  enum class Base : std::uint8_t {
    utc,        ///< `ns` since 1970 in UTC
    no_zone,    ///< `ns` since 1970 as if its wall clock were UTC: `--tz` moves it
    no_year,    ///< `ns` since 1970 as if UTC and the year were 1972 (a leap year): the nearest
                ///< dated evidence gives the year
    no_date,    ///< `ns` since midnight: the nearest dated evidence gives the day
    monotonic,  ///< `ns` since the node booted: the boot time dates it
  };
  Base base = Base::utc;
  std::int64_t ns = 0;
  std::int64_t resolution_ns = 0;  ///< how fine the stamp is: 1e9 for whole seconds
  bool operator==(const Stamp&) const = default;
};

/// RFC 3339 in UTC with as many digits as the time is worth (`2025-08-14T03:12:07.250Z`). Empty
/// when the year is not known.
[[nodiscard]] std::string to_rfc3339(const Time& time);

/// Nanoseconds of what `to_rfc3339` writes: a picture drawn from a stored report must be that of
/// the report at hand.
[[nodiscard]] std::int64_t written_ns(const Time& time);
/// For people: RFC 3339, or `08-14 03:12:07` when the year is not known.
[[nodiscard]] std::string to_words(const Time& time);
/// Days since 1970 of a civil date (Howard Hinnant's algorithm); months and days count from 1.
[[nodiscard]] std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day);
/// The civil year of a moment in UTC.
[[nodiscard]] std::int64_t year_of(std::int64_t ns);
/// `2025-08-14T03:12:07Z`, with fraction and zone offset, and the forms with a blank for `T`.
/// Nothing when it is none.
[[nodiscard]] std::optional<Stamp> parse_rfc3339(const std::string& text);

}  // namespace triage::evidence

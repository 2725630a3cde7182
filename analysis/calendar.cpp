#include "analysis/calendar.hpp"

#include <algorithm>
#include <array>

#include "evidence/time.hpp"

namespace triage::analysis {

std::int64_t distance(std::int64_t a, std::int64_t b) {
  const auto gap = a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                         : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(gap, INT64_MAX));
}

std::optional<std::int64_t> in_year(std::int64_t ns, std::int64_t year) {
  constexpr std::int64_t day_ns = 86'400'000'000'000;
  static constexpr std::array<unsigned, 12> month_days{31, 29, 31, 30, 31, 30,
                                                       31, 31, 30, 31, 30, 31};
  const std::int64_t begin = evidence::days_from_civil(1972, 1, 1) * day_ns;
  if (ns < begin || ns >= begin + 366 * day_ns) return std::nullopt;
  auto day = static_cast<unsigned>((ns - begin) / day_ns);
  unsigned month = 0;
  while (day >= month_days.at(month)) day -= month_days.at(month++);
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (month == 1 && day == 28 && !leap) return std::nullopt;
  return evidence::days_from_civil(year, month + 1, day + 1) * day_ns + (ns - begin) % day_ns;
}

Vote most_agreed(std::vector<std::int64_t> values, std::int64_t tolerance) {
  std::sort(values.begin(), values.end());
  Vote best;
  std::size_t first = 0;
  for (std::size_t last = 0; last < values.size(); ++last) {
    while (distance(values[last], values[first]) > tolerance) ++first;
    if (last - first + 1 > best.votes) best = {values[(first + last) / 2], last - first + 1};
  }
  return best;
}

}  // namespace triage::analysis

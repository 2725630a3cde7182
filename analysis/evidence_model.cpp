#include "analysis/evidence_model.hpp"

#include <algorithm>
#include <cstdlib>

namespace triage::analysis {
namespace {

// Uncertainties of hours (zone not known) are common; sums must not overflow.
constexpr std::int64_t k_forever = INT64_MAX / 4;

std::int64_t margin(const Observation& a, const Observation& b) {
  const bool one_clock = !a.place.node.empty() && a.place.node == b.place.node;
  return one_clock ? 0 : k_clock_tolerance_ns;
}

std::int64_t earliest(const Observation& o) {
  return o.time->ns - std::min(o.time->uncertainty_ns, k_forever);
}

/// A line without a stamp was written between the stamped lines around it.
std::int64_t latest(const Observation& o) {
  if (o.stamp_is_own) return o.time->ns + std::min(o.time->uncertainty_ns, k_forever);
  return o.not_after ? o.not_after->ns + std::min(o.not_after->uncertainty_ns, k_forever)
                     : k_forever * 3;
}

/// An age is cut to the unit that it is printed in: `14m` may be a minute more, `27h` an hour.
std::int64_t unit_of_age(std::int64_t seconds) {
  constexpr std::int64_t k_minute = 60;
  constexpr std::int64_t k_hour = 60 * k_minute;
  constexpr std::int64_t k_day = 24 * k_hour;
  if (seconds < 10 * k_minute) return 1;
  if (seconds < 8 * k_hour) return k_minute;
  return seconds < 8 * k_day ? k_hour : k_day;
}

bool by_age(const Observation& a, const Observation& b) {
  return a.file == b.file && a.age && b.age && !(a.time && b.time);
}

/// By when each was first seen.
Ordering order_of_ages(const Observation& a, const Observation& b) {
  if (a.age->first >= b.age->first + unit_of_age(b.age->first)) return Ordering::before;
  if (b.age->first >= a.age->first + unit_of_age(a.age->first)) return Ordering::after;
  if (!a.age->sorted || a.line == b.line) return Ordering::unknown;
  return a.line < b.line ? Ordering::before : Ordering::after;
}

}  // namespace

bool has_tag(const Observation& o, std::string_view tag) {
  return std::find(o.tags.begin(), o.tags.end(), tag) != o.tags.end();
}

evidence::Kind kind_of(const EvidenceModel& model, const Observation& o) {
  return o.fact >= 0 ? model.facts[static_cast<std::size_t>(o.fact)].kind
                     : model.files[o.file].kind;
}

Ordering order_of(const Observation& a, const Observation& b) {
  if (a.file == b.file && a.fact < 0 && b.fact < 0) {
    if (a.line == b.line) return Ordering::unknown;
    return a.line < b.line ? Ordering::before : Ordering::after;
  }
  if (by_age(a, b)) return order_of_ages(a, b);
  if (!a.time || !b.time) return Ordering::unknown;
  if (latest(a) + margin(a, b) < earliest(b)) return Ordering::before;
  if (latest(b) + margin(a, b) < earliest(a)) return Ordering::after;
  return Ordering::unknown;
}

Observation last_of(const Observation& o) {
  Observation last;
  last.file = o.file;
  last.line = std::max(o.line, o.last_line);
  last.fact = o.fact;
  last.place = o.place;
  last.time = o.last_time ? o.last_time : o.time;
  if (o.age) last.age = Age{o.age->last, o.age->last, o.age->sorted};
  return last;
}

Ordering end_order_of(const Observation& a, const Observation& b) {
  const bool repeated =
      a.last_line > a.line || a.last_time || (a.age && a.age->last != a.age->first);
  return repeated ? order_of(last_of(a), b) : order_of(a, b);
}

std::optional<std::int64_t> time_between(const Observation& a, const Observation& b) {
  if (by_age(a, b)) {
    constexpr std::int64_t k_second = 1'000'000'000;
    const std::int64_t apart =
        std::abs(a.age->first - b.age->first) - unit_of_age(std::min(a.age->first, b.age->first));
    return std::max<std::int64_t>(0, apart) * k_second;
  }
  if (!a.time || !b.time) return std::nullopt;
  const std::int64_t gap = std::max(earliest(b) - latest(a), earliest(a) - latest(b));
  return std::max<std::int64_t>(0, gap - margin(a, b));
}

std::optional<std::int64_t> latest_ns(const Observation& o) {
  if (!o.time) return std::nullopt;
  return o.stamp_is_own || !o.not_after ? o.time->ns : o.not_after->ns;
}

bool earlier_for_display(const Observation& a, const Observation& b) {
  if (a.file == b.file && a.fact < 0 && b.fact < 0) return a.line < b.line;
  if (a.time && b.time && a.time->ns != b.time->ns) return a.time->ns < b.time->ns;
  if (a.time.has_value() != b.time.has_value()) return a.time.has_value();
  if (by_age(a, b) && a.age->first != b.age->first) return a.age->first > b.age->first;
  if (a.file != b.file) return a.file < b.file;
  return a.line < b.line;
}

}  // namespace triage::analysis

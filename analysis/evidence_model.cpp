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

}  // namespace

Ordering order_of(const Observation& a, const Observation& b) {
  if (a.file == b.file && a.fact < 0 && b.fact < 0) {
    if (a.line == b.line) return Ordering::unknown;
    return a.line < b.line ? Ordering::before : Ordering::after;
  }
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
  return last;
}

Ordering end_order_of(const Observation& a, const Observation& b) {
  return a.last_line > a.line || a.last_time ? order_of(last_of(a), b) : order_of(a, b);
}

std::optional<std::int64_t> time_between(const Observation& a, const Observation& b) {
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
  if (a.file != b.file) return a.file < b.file;
  return a.line < b.line;
}

}  // namespace triage::analysis

#include "analysis/evidence_model.hpp"

#include <algorithm>
#include <cstdlib>

namespace triage::analysis {
namespace {

std::int64_t slack(const Observation& a, const Observation& b) {
  const bool one_clock = !a.place.node.empty() && a.place.node == b.place.node;
  // Uncertainties of hours (zone not known) are common; the sum must not overflow.
  constexpr std::int64_t k_most = INT64_MAX / 4;
  const std::int64_t sum =
      std::min(a.time->uncertainty_ns, k_most) + std::min(b.time->uncertainty_ns, k_most);
  return sum + (one_clock ? 0 : k_clock_tolerance_ns);
}

}  // namespace

Ordering order_of(const Observation& a, const Observation& b) {
  if (a.file == b.file && a.fact < 0 && b.fact < 0) {
    if (a.line == b.line) return Ordering::unknown;
    return a.line < b.line ? Ordering::before : Ordering::after;
  }
  if (!a.time || !b.time) return Ordering::unknown;
  const std::int64_t margin = slack(a, b);
  if (a.time->ns + margin < b.time->ns) return Ordering::before;
  if (b.time->ns + margin < a.time->ns) return Ordering::after;
  return Ordering::unknown;
}

std::optional<std::int64_t> time_between(const Observation& a, const Observation& b) {
  if (!a.time || !b.time) return std::nullopt;
  return std::max<std::int64_t>(0, std::abs(a.time->ns - b.time->ns) - slack(a, b));
}

bool earlier_for_display(const Observation& a, const Observation& b) {
  if (a.file == b.file && a.fact < 0 && b.fact < 0) return a.line < b.line;
  if (a.time && b.time && a.time->ns != b.time->ns) return a.time->ns < b.time->ns;
  if (a.time.has_value() != b.time.has_value()) return a.time.has_value();
  if (a.file != b.file) return a.file < b.file;
  return a.line < b.line;
}

}  // namespace triage::analysis

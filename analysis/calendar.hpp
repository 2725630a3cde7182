#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Arithmetic on times that dating needs.
namespace triage::analysis {

/// |a - b|, INT64_MAX when that does not fit.
[[nodiscard]] std::int64_t distance(std::int64_t a, std::int64_t b);

/// The same moment of 1972 in another year; nothing for 29 February of a common year and for
/// moments outside 1972.
[[nodiscard]] std::optional<std::int64_t> in_year(std::int64_t ns, std::int64_t year);

/// What the greatest number of values agree on.
struct Vote {
  std::int64_t value = 0;
  std::size_t votes = 0;
};
/// Values within `tolerance` of one another agree.
[[nodiscard]] Vote most_agreed(std::vector<std::int64_t> values, std::int64_t tolerance);

}  // namespace triage::analysis

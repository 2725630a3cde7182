#pragma once

#include <cstddef>
#include <string>

#include "analysis/report_types.hpp"

namespace triage::report {

struct PackedData {
  std::string base64;      ///< zlib-compressed JSON
  std::size_t packed = 0;  ///< observations in it; fewer than the report's when it would be too big
};

/// Most that a report's data may take in the page: with it, a page stays under 5 MB.
inline constexpr std::size_t k_packed_limit = 3'600'000;

/// The observations for the page's script: columns of small numbers and tables of the texts they
/// point at, compressed. 100,000 observations take about 1.5 MB.
[[nodiscard]] PackedData pack_observations(const analysis::Report& report);

}  // namespace triage::report

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report_types.hpp"

namespace triage::analysis {

/// One thing that differs between a sound and a broken pod, node or time. An empty side: not there.
struct Difference {
  std::string
      area;  ///< image, driver, cuda, engine, argument, kubernetes, gpu, place, metric, figure
  std::string name;
  std::string good, bad;
  std::string good_source, bad_source;  ///< `file:line`, where one is known
};

/// What sets a broken one apart from a sound one.
struct Comparison {
  enum class Kind : std::uint8_t {
    same,        ///< BAD shows no fault
    local,       ///< the software is the same: the place is at fault
    regression,  ///< the software differs and the fault is one that software makes
    load,        ///< software and place are the same: what was asked of it differs
    unknown
  };
  Kind kind = Kind::unknown;
  std::vector<std::string> reasons;
  std::vector<Difference> differences;  ///< what tells most first
  VerdictEntry good, bad;
};

[[nodiscard]] inline std::string_view to_string(Comparison::Kind kind) {
  constexpr std::array<std::string_view, 5> k_names{"same", "local", "regression", "load",
                                                    "unknown"};
  return k_names[static_cast<std::size_t>(kind)];
}

/// Compares two finished reports.
[[nodiscard]] Comparison compare(const Report& good, const Report& bad);

}  // namespace triage::analysis

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/report_types.hpp"

namespace triage::report {

struct TextOptions {
  enum class Colour : std::uint8_t { off, on };
  enum class Detail : std::uint8_t {
    brief,   ///< what a person reads in ten seconds
    verbose  ///< and the chain, timeline, observations, environment and coverage
  };
  Colour colour = Colour::off;
  Detail detail = Detail::brief;
  std::size_t width = 80;
};

/// The report for a terminal: verdict, first error, what to hold out of service, what to do next
/// and what not to do. Log text is shown through `visible`; colour only adds, never says alone.
[[nodiscard]] std::string render_text(const analysis::Report& report,
                                      const TextOptions& options = {});

}  // namespace triage::report

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/named_report.hpp"

namespace triage::report {

/// Reports of one cause.
struct FleetGroup {
  std::string class_, cause, title;
  std::vector<const NamedReport*> members;  ///< earliest first
  std::vector<std::string> nodes;
  /// Images, driver, engine version that all members have and no sound report has.
  std::vector<std::string> shared;
  [[nodiscard]] bool is_fault() const { return class_ != "none"; }
};

/// Faults first, the most frequent of them first; then unknown, then sound.
[[nodiscard]] std::vector<FleetGroup> group_reports(Reports reports);

}  // namespace triage::report

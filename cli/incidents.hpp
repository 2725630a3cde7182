#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report_types.hpp"
#include "base/result.hpp"
#include "rules/rule.hpp"

namespace triage::cli {

/// A folder with evidence files and a case.json that says what the verdict must be.
struct Incident {
  std::string path;
  std::string id;
  std::string title;
  /// From `expect`: field -> accepted values (`class`, `cause`, `fault_domain`, `quarantine` ...).
  std::map<std::string, std::vector<std::string>> expect;
  std::vector<std::string> not_class;
  std::string first_file;
  std::uint32_t first_line = 0;
};

/// Every folder below `path` (itself included) that holds a case.json, sorted.
[[nodiscard]] std::vector<std::string> find_incidents(const std::string& path);
[[nodiscard]] base::Result<Incident> read_incident(const std::string& path);

/// Analyses the incident's evidence, its case.json left aside.
[[nodiscard]] base::Result<analysis::Report> analyse_incident(const std::string& path,
                                                              const rules::RuleSet& rules);

/// What the report says otherwise than the label: `class: hardware, expected gpu-oom`. Empty: as
/// expected.
[[nodiscard]] std::vector<std::string> differences(const Incident& incident,
                                                   const analysis::Report& report);

}  // namespace triage::cli

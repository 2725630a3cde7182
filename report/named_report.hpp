#pragma once

#include <span>
#include <string>

#include "analysis/report_types.hpp"

namespace triage::report {

/// A report and what to call it where several stand together (the input's name); empty when it
/// stands alone.
struct NamedReport {
  std::string name;
  const analysis::Report* report = nullptr;
};
using Reports = std::span<const NamedReport>;

}  // namespace triage::report

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"

namespace triage::collectors {

/// What kubectl's error text means for a row: status and the line that says it.
struct Failure {
  std::string status;
  std::string reason;
};
[[nodiscard]] Failure read_failure(const base::Ended& ended,
                                   const std::vector<std::string>& absent);

/// The first line that is not blank, shortened.
[[nodiscard]] std::string first_line(std::string_view text);

/// Whether an output says nothing but that there is nothing (`-- No entries --`).
[[nodiscard]] bool says_nothing(std::string_view output, const std::vector<std::string>& absent);

}  // namespace triage::collectors

#pragma once

#include <string>
#include <string_view>

namespace triage::report {

/// RFC 4648, with padding, on one line.
[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace triage::report

#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace triage::cli {

/// What `--tz` names: `UTC`, `Z`, `+02:00`, `-0530`, or a name of the system's time zone database
/// (`Europe/Berlin`, with its summer times). Gives local time minus UTC at a local time, both in
/// nanoseconds; empty when the text names no zone. A name becomes the process's own zone, so only
/// one can be in use.
[[nodiscard]] std::function<std::int64_t(std::int64_t local_ns)> zone_from(const std::string& text);

}  // namespace triage::cli

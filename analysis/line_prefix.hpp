#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/kind.hpp"
#include "evidence/place.hpp"
#include "evidence/time.hpp"

namespace triage::analysis {

/// What stands before a log line's message: stamps of collectors, runtimes and loggers, one after
/// another
/// (`2025-...Z stderr F (EngineCore_0 pid=41) ERROR 05-10 16:00:15 [core.py:1138] msg`).
struct LinePrefix {
  std::size_t message = 0;  ///< where the message begins; 0 when there is no prefix
  std::optional<evidence::Stamp>
      stamp;              ///< the most trustworthy of the stamps: the one with date and zone wins
  evidence::Place place;  ///< host, pod, container, pid, rank as far as the prefix names them
  std::string level;      ///< trace, debug, info, warning, error, critical or empty
  std::string host;  ///< host name in the line; inside containers it is the pod's (NCCL), so only
                     ///< system logs put it into place.node as well
  std::string program;  ///< program name of a system log line (`kernel`, `kubelet`)
};

/// Reads the prefix of one line (no line end). Table-driven: forms and samples stand in
/// stamp_forms.cpp. Never throws, never reads beyond the first 512 bytes.
[[nodiscard]] LinePrefix read_prefix(std::string_view line, evidence::Kind kind);

/// Names of the forms that make the line's prefix, in their order: for tests and for people.
[[nodiscard]] std::vector<std::string_view> forms_of(std::string_view line, evidence::Kind kind);

}  // namespace triage::analysis

#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "collectors/collect.hpp"
#include "collectors/session.hpp"

namespace triage::collectors {

struct Finished {
  bundle::Manifest manifest;
  bundle::Written bundle;
  bool map_failed = false;  ///< the person's map could not be written
  std::vector<std::string> notes;
};

/// The end of a run: every file is looked at again, now that all secrets of the run are known, and
/// what cannot be made clean is left out; then README, log, redaction report, manifest, archive.
[[nodiscard]] base::Result<Finished> finish(Session& session, const CollectOptions& options,
                                            int exit_code);

}  // namespace triage::collectors

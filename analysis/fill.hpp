#pragma once

#include <map>
#include <string>
#include <string_view>

#include "analysis/observation.hpp"

namespace triage::analysis {

/// Fills `{name}` from `values`. A name without a value goes, together with the word that leads to
/// it (`on GPU {pci}`), so that the sentence still reads.
[[nodiscard]] std::string fill(std::string_view text,
                               const std::map<std::string, std::string>& values);

/// The same for a command line: a name without a value stands as a placeholder (`NODE`), since a
/// command that lost a word does something else (`nvidia-smi --gpu-reset -i {pci}`).
[[nodiscard]] std::string fill_command(std::string_view text,
                                       const std::map<std::string, std::string>& values);

/// What texts of an observation may name: its captures and the parts of its place.
[[nodiscard]] std::map<std::string, std::string> fill_values(const Observation& observation);

}  // namespace triage::analysis

#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "rules/merge.hpp"

namespace triage::rules {

/// A file as it is, or the *.yaml, *.yml and *.tsv below a directory, sorted by name.
[[nodiscard]] base::Result<std::vector<std::string>> rule_files(const std::string& path);

/// Reads the text of a pack or catalog and lays it over the rules.
void add_source(Merger& merger, const std::string& file, std::string text);

/// The bytes of a file, at most 16 MiB.
[[nodiscard]] base::Result<std::string> read_source(const std::string& file);

}  // namespace triage::rules

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/loader.hpp"

/// Catalog tables: TSV to CatalogTable. The format is documented in rules/catalog/README.md.
namespace triage::rules {

/// Reads one table; `name` is the file name without folder and ending.
[[nodiscard]] CatalogTable read_catalog(std::string_view text, const std::string& name,
                                        const std::string& file,
                                        std::vector<Diagnostic>& diagnostics);

}  // namespace triage::rules

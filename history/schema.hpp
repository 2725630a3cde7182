#pragma once

#include <string_view>
#include <vector>

#include "history/sqlite.hpp"

namespace triage::history {

/// Each step takes a store from the version of its index to the next; a new store runs them all. A
/// step that has been released is never changed: write another.
[[nodiscard]] const std::vector<std::string_view>& migrations();

/// Brings the store to this program's version, in one transaction that other openers wait for. A
/// store of a later version is a problem: it is left as it is.
[[nodiscard]] base::Status migrate(Database& database, const std::string& path);

/// For a store that cannot be written: a version that is not this program's is a problem.
[[nodiscard]] base::Status check_version(Database& database, const std::string& path);

}  // namespace triage::history

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evidence/kind.hpp"
#include "evidence/place.hpp"

/// What a path says: the known layouts of bundles and the names people give to loose files.
namespace triage::bundle {

struct LayoutHint {
  std::string layout;  ///< name of the known layout, or empty
  /// Kind by a known layout's path: wins over content, unless content is unmistakable.
  std::optional<evidence::Kind> kind;
  /// Kind by a name alone: only decides when content does not.
  std::optional<evidence::Kind> weak_kind;
  evidence::Place place;
  bool previous = false;  ///< log of an earlier container instance
  bool ignore = false;    ///< bookkeeping of the collecting tool, no evidence
};

[[nodiscard]] LayoutHint read_path(std::string_view path);

/// `./a//b` -> `a/b`; control characters become `?`. Nothing when a part is `..`: such a name means
/// harm or a mistake. A leading `/` is dropped.
[[nodiscard]] std::optional<std::string> clean_member_name(std::string_view name);

}  // namespace triage::bundle

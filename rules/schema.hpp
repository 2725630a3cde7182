#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace triage::rules {

/// JSON Schema (draft 7) of a pack, for editors: `# yaml-language-server: $schema=FILE`.
[[nodiscard]] std::string json_schema();

/// Every key of the language: where it stands, its shape and its meaning. The schema is made of it;
/// tests hold the reader and the manual to it.
struct KeyInfo {
  std::string_view scope;  ///< `pack`, `rule`, `refine`, `when`, `explains` ...
  std::string_view name;
  std::string_view shape;
  std::string_view meaning;
};
[[nodiscard]] const std::vector<KeyInfo>& all_keys();

}  // namespace triage::rules

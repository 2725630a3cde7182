#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/loader.hpp"
#include "rules/yaml_tree.hpp"

/// First stage of loading: one YAML file to a Pack. Everything that can be judged without other
/// packs is judged here and reported with its place.
namespace triage::rules {

/// `override: ID` with the keys it replaces, kept as YAML until the rule it changes is known.
struct Override {
  std::string id;
  SourcePlace place;
  YamlTree::Id node = YamlTree::k_none;
};

struct Disabled {
  std::string id;
  SourcePlace place;
};

struct Pack {
  std::string name;
  std::string file;
  std::string text;  ///< the YAML, for snippets
  YamlTree tree;
  std::vector<Rule> rules;
  std::vector<YamlTree::Id> rule_nodes;  ///< the YAML map of each of `rules`
  std::vector<Override> overrides;
  std::vector<Disabled> disabled;
  std::vector<evidence::UserTextSpan> user_text;
  std::vector<PatternPage> patterns;
  std::vector<Diagnostic> diagnostics;

  [[nodiscard]] bool sound() const;
};

[[nodiscard]] Pack read_pack(std::string text, const std::string& file);

/// Lays the keys that an override names over `rule` and notes where they come from.
void apply_override(const Pack& pack, const Override& override, Rule& rule,
                    std::vector<Diagnostic>& diagnostics);

/// A diagnostic at a place of a text, with its snippet.
[[nodiscard]] Diagnostic make_diagnostic(std::string_view text, SourcePlace place,
                                         Diagnostic::Level level, std::string code,
                                         std::string message, std::string mend);

}  // namespace triage::rules

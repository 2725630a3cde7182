#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/loader.hpp"

/// YAML as a tree whose every node knows its line and column. Built from yaml-cpp's events, not its
/// nodes, because those lose duplicate keys, quoting and aliases: the three things that packs must
/// be checked for.
namespace triage::rules {

class YamlTree {
 public:
  using Id = std::uint32_t;
  static constexpr Id k_none = 0xffffffff;
  enum class Type : std::uint8_t { null, scalar, sequence, map };

  struct Node {
    Type type = Type::null;
    bool plain = false;  ///< a scalar without quotes: YAML 1.1 may read it as something else
    std::uint32_t line = 0, column = 0;  ///< 1-based
    std::string text;
    std::vector<Id> children;  ///< of a map: key, value, key, value ...
  };

  /// Parses one document. Syntax errors, duplicate keys, alias bombs, tags and a second document
  /// become diagnostics; after an error the tree must not be used.
  [[nodiscard]] static YamlTree parse(std::string_view text, const std::string& file,
                                      std::vector<Diagnostic>& diagnostics);

  [[nodiscard]] const Node& at(Id id) const { return nodes_[id]; }
  [[nodiscard]] Id root() const { return root_; }
  /// The value of a key of a map, or k_none.
  [[nodiscard]] Id find(Id map, std::string_view key) const;

 private:
  friend class TreeBuilder;
  std::vector<Node> nodes_;
  Id root_ = k_none;
};

/// Words and numbers that YAML 1.1 readers take for something other than the text they are: `on`,
/// `no`, `010`, `12:30:00`. Empty when the word is safe, else what it would become.
[[nodiscard]] std::string_view yaml_1_1_reading(std::string_view plain_scalar);

/// One line of a text, 1-based, without its end; empty beyond the end.
[[nodiscard]] std::string_view line_of(std::string_view text, std::uint32_t line);

}  // namespace triage::rules

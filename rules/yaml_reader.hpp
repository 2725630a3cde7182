#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/loader.hpp"
#include "rules/yaml_tree.hpp"

namespace triage::rules {

/// Reads typed values out of a YamlTree. Whatever does not fit becomes a diagnostic at its place,
/// and reading goes on, so that one run names every mistake.
class YamlReader {
 public:
  using Id = YamlTree::Id;
  YamlReader(const YamlTree& tree, std::string_view text, std::string file,
             std::vector<Diagnostic>& diagnostics)
      : tree_(tree), text_(text), file_(std::move(file)), diagnostics_(diagnostics) {}

  [[nodiscard]] const YamlTree& tree() const { return tree_; }
  [[nodiscard]] SourcePlace place(Id id) const;
  [[nodiscard]] YamlTree::Type type(Id id) const { return tree_.at(id).type; }

  void error(Id id, std::string code, std::string message, std::string mend = {});
  void warning(Id id, std::string code, std::string message, std::string mend = {});
  /// At a place inside a scalar: `fragment` is looked up in the line of `id`.
  void error_at_fragment(Id id, std::string_view fragment, std::string code, std::string message,
                         std::string mend);

  using Handler = std::function<void(Id value)>;
  struct Key {
    std::string_view name;
    Handler handle;
  };
  /// Calls the handler of each key of a map; unknown keys are errors with a suggestion. False when
  /// `map` is no map.
  bool each_key(Id map, std::string_view scope, const std::vector<Key>& keys);
  /// Calls `handle` for every key and value of a map whose keys are free.
  bool each_pair(Id map, std::string_view what,
                 const std::function<void(Id key, Id value)>& handle);

  /// A text that is not empty; quoted numbers and words are text, bare YAML 1.1 words are errors.
  [[nodiscard]] std::optional<std::string> text(Id id);
  [[nodiscard]] std::optional<bool> boolean(Id id);
  [[nodiscard]] std::optional<std::int64_t> integer(Id id, std::int64_t least,
                                                    std::int64_t greatest);
  [[nodiscard]] std::optional<std::int64_t> duration(Id id);
  /// A text, or a list of texts.
  [[nodiscard]] std::vector<std::string> texts(Id id);
  /// The items of a list; a value that is no list counts as a list of one.
  [[nodiscard]] std::vector<Id> items(Id id) const;
  /// One of a closed vocabulary.
  [[nodiscard]] std::optional<std::string> one_of(Id id, std::string_view what,
                                                  const std::vector<std::string>& known);

 private:
  void add(Id id, Diagnostic::Level level, std::string code, std::string message, std::string mend);

  const YamlTree& tree_;
  std::string_view text_;
  std::string file_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace triage::rules

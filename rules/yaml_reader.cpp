#include "rules/yaml_reader.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "rules/pack_reader.hpp"

namespace triage::rules {

SourcePlace YamlReader::place(Id id) const {
  return {file_, tree_.at(id).line, tree_.at(id).column};
}

void YamlReader::add(Id id, Diagnostic::Level level, std::string code, std::string message,
                     std::string mend) {
  diagnostics_.push_back(make_diagnostic(text_, place(id), level, std::move(code),
                                         std::move(message), std::move(mend)));
}

void YamlReader::error(Id id, std::string code, std::string message, std::string mend) {
  add(id, Diagnostic::Level::error, std::move(code), std::move(message), std::move(mend));
}

void YamlReader::warning(Id id, std::string code, std::string message, std::string mend) {
  add(id, Diagnostic::Level::warning, std::move(code), std::move(message), std::move(mend));
}

void YamlReader::error_at_fragment(Id id, std::string_view fragment, std::string code,
                                   std::string message, std::string mend) {
  error(id, std::move(code), std::move(message), std::move(mend));
  Diagnostic& d = diagnostics_.back();
  const auto from = d.place.column > 0 ? d.place.column - 1 : 0;
  const auto at = fragment.empty() ? std::string::npos : d.snippet.find(fragment, from);
  if (at != std::string::npos) d.place.column = static_cast<std::uint32_t>(at) + 1;
}

bool YamlReader::each_key(Id map, std::string_view scope, const std::vector<Key>& keys) {
  if (type(map) != YamlTree::Type::map) {
    error(map, "wrong-type", "`" + std::string(scope) + "` must be a map of keys and values",
          "write `key: value` lines below it");
    return false;
  }
  const std::vector<Id>& children = tree_.at(map).children;
  for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
    const std::string& name = tree_.at(children[i]).text;
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == name; });
    if (key != keys.end()) {
      key->handle(children[i + 1]);
      continue;
    }
    std::vector<std::string> known;
    known.reserve(keys.size());
    for (const Key& k : keys) known.emplace_back(k.name);
    const std::string near = base::nearest(name, known);
    std::sort(known.begin(), known.end());
    error(children[i], "unknown-key", "`" + name + "` is no key of `" + std::string(scope) + "`",
          near.empty() ? "known keys: " + base::join(known, ", ") : "did you mean `" + near + "`?");
  }
  return true;
}

bool YamlReader::each_pair(Id map, std::string_view what,
                           const std::function<void(Id, Id)>& handle) {
  if (type(map) != YamlTree::Type::map) {
    error(map, "wrong-type", std::string(what) + " must be a map", "write `name: value`");
    return false;
  }
  const std::vector<Id>& children = tree_.at(map).children;
  for (std::size_t i = 0; i + 1 < children.size(); i += 2) handle(children[i], children[i + 1]);
  return true;
}

std::optional<std::string> YamlReader::text(Id id) {
  const YamlTree::Node& node = tree_.at(id);
  if (node.type == YamlTree::Type::null ||
      (node.type == YamlTree::Type::scalar && node.text.empty())) {
    error(id, "empty-value", "this value is empty", "give a value or remove the key");
    return std::nullopt;
  }
  if (node.type != YamlTree::Type::scalar) {
    error(id, "wrong-type", "one text is expected here, not a list or map",
          "put text with brackets, braces or ': ' into single quotes");
    return std::nullopt;
  }
  if (node.plain) {
    const std::string_view reading = yaml_1_1_reading(node.text);
    if (!reading.empty()) {
      const bool is_word = reading == "a boolean";
      error(id, "yaml-1.1", "YAML 1.1 reads bare `" + node.text + "` as " + std::string(reading),
            "write '" + node.text + "'" +
                (is_word ? " for the word, true or false for yes and no" : ""));
      return std::nullopt;
    }
  }
  return node.text;
}

std::optional<bool> YamlReader::boolean(Id id) {
  const YamlTree::Node& node = tree_.at(id);
  if (node.type == YamlTree::Type::scalar && node.text == "true") return true;
  if (node.type == YamlTree::Type::scalar && node.text == "false") return false;
  error(id, "wrong-type", "true or false is expected here", "write true or false, in lower case");
  return std::nullopt;
}

std::optional<std::int64_t> YamlReader::integer(Id id, std::int64_t least, std::int64_t greatest) {
  const YamlTree::Node& node = tree_.at(id);
  const auto value = base::parse_int(node.type == YamlTree::Type::scalar ? node.text : "");
  const std::string range = std::to_string(least) + " to " + std::to_string(greatest);
  if (value && *value >= least && *value <= greatest) return value;
  error(id, "wrong-type", "a whole number is expected here", "write a number from " + range);
  return std::nullopt;
}

std::optional<std::int64_t> YamlReader::duration(Id id) {
  const YamlTree::Node& node = tree_.at(id);
  const auto value = base::parse_duration_ns(node.type == YamlTree::Type::scalar ? node.text : "");
  if (value && *value >= 0) return value;
  error(id, "bad-duration", "a duration is expected here", "write one such as 90s, 15m or 1h30m");
  return std::nullopt;
}

std::vector<YamlReader::Id> YamlReader::items(Id id) const {
  if (tree_.at(id).type == YamlTree::Type::sequence) return tree_.at(id).children;
  return {id};
}

std::vector<std::string> YamlReader::texts(Id id) {
  std::vector<std::string> values;
  for (const Id item : items(id))
    if (auto value = text(item)) values.push_back(std::move(*value));
  if (items(id).empty())
    error(id, "empty-value", "this list is empty", "fill it or remove the key");
  return values;
}

std::optional<std::string> YamlReader::one_of(Id id, std::string_view what,
                                              const std::vector<std::string>& known) {
  auto value = text(id);
  if (!value || std::find(known.begin(), known.end(), *value) != known.end()) return value;
  const std::string near = base::nearest(*value, known);
  error(id, "unknown-" + base::replace_all(std::string(what), " ", "-"),
        "`" + *value + "` is no " + std::string(what),
        near.empty() ? "known: " + base::join(known, ", ") : "did you mean `" + near + "`?");
  return std::nullopt;
}

}  // namespace triage::rules

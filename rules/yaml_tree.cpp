#include "rules/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/text.hpp"

namespace triage::rules {
namespace {

/// A pack written by hand has a few thousand nodes; a hundred thousand after aliases is a bomb.
constexpr std::uint64_t k_max_expanded_nodes = 200'000;
constexpr std::size_t k_max_bytes = 4U << 20U;
constexpr std::size_t k_max_depth = 64;

struct Stop {
  Diagnostic diagnostic;
};

SourcePlace place_of(const std::string& file, const YAML::Mark& mark) {
  return {file, mark.line < 0 ? 0U : static_cast<std::uint32_t>(mark.line) + 1,
          mark.column < 0 ? 0U : static_cast<std::uint32_t>(mark.column) + 1};
}

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace

std::string_view line_of(std::string_view text, std::uint32_t line) {
  for (std::uint32_t at = 1; at < line; ++at) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string_view yaml_1_1_reading(std::string_view word) {
  static constexpr std::string_view booleans[] = {"y", "yes", "on", "n", "no", "off"};
  for (std::string_view b : booleans)
    if (base::iequals(word, b)) return "a boolean";
  static constexpr std::string_view digits = "0123456789";
  if (word.size() > 1 && word[0] == '0' && all_of(word, digits)) return "an octal number";
  if (word.find(':') != std::string_view::npos && all_of(word, "0123456789:.") &&
      digits.find(word.front()) != std::string_view::npos &&
      digits.find(word.back()) != std::string_view::npos &&
      word.find("::") == std::string_view::npos)
    return "a number in base 60";
  if (word.find('_') != std::string_view::npos && all_of(word, "0123456789_.") &&
      digits.find(word.front()) != std::string_view::npos)
    return "a number with separators";
  return {};
}

/// Receives yaml-cpp's events. Aliases share the anchor's node; the expanded size of every node is
/// counted, so that nested aliases cannot multiply without bound.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, std::string file, std::vector<Diagnostic>& diagnostics)
      : text_(text), file_(std::move(file)), diagnostics_(diagnostics) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      stop(mark, "second-document", "a pack is one YAML document, and here a second one begins",
           "put it into a file of its own");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, anchor, YamlTree::Type::null);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end())
      stop(mark, "yaml-syntax", "this alias stands inside its own anchor", "write the value out");
    attach(it->second, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    const YamlTree::Id id = add(mark, anchor, YamlTree::Type::scalar);
    tree_.nodes_[id].text = value;
    tree_.nodes_[id].plain = tag == "?";
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(mark, anchor, YamlTree::Type::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(mark, anchor, YamlTree::Type::map);
  }
  void OnMapEnd() override { close(); }

  [[noreturn]] void stop(const YAML::Mark& mark, std::string code, std::string message,
                         std::string mend) {
    throw Stop{
        diagnostic(place_of(file_, mark), std::move(code), std::move(message), std::move(mend))};
  }
  Diagnostic diagnostic(SourcePlace place, std::string code, std::string message,
                        std::string mend) const {
    Diagnostic d;
    d.code = std::move(code);
    d.snippet = std::string(line_of(text_, place.line));
    d.place = std::move(place);
    d.message = std::move(message);
    d.mend = std::move(mend);
    return d;
  }
  YamlTree take() { return std::move(tree_); }

 private:
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      stop(mark, "yaml-tag", "tags such as " + tag + " have no meaning in a pack",
           "remove the tag");
  }

  YamlTree::Id add(const YAML::Mark& mark, YAML::anchor_t anchor, YamlTree::Type type) {
    YamlTree::Node node;
    node.type = type;
    node.line = static_cast<std::uint32_t>(mark.line) + 1;
    node.column = static_cast<std::uint32_t>(mark.column) + 1;
    // What is not there has no place of its own: it is shown at its key.
    if (type == YamlTree::Type::null && !open_.empty()) {
      const YamlTree::Node& parent = tree_.nodes_[open_.back().id];
      if (parent.type == YamlTree::Type::map && parent.children.size() % 2 == 1) {
        node.line = tree_.nodes_[parent.children.back()].line;
        node.column = tree_.nodes_[parent.children.back()].column;
      }
    }
    tree_.nodes_.push_back(std::move(node));
    expanded_.push_back(1);
    const auto id = static_cast<YamlTree::Id>(tree_.nodes_.size() - 1);
    attach(id, mark);
    if (anchor != YAML::NullAnchor && type != YamlTree::Type::sequence &&
        type != YamlTree::Type::map)
      anchors_[anchor] = id;
    return id;
  }

  void attach(YamlTree::Id id, const YAML::Mark& mark) {
    if (open_.empty()) {
      tree_.root_ = id;
      return;
    }
    tree_.nodes_[open_.back().id].children.push_back(id);
    std::uint64_t total = expanded_[id];
    for (Open& container : open_) {
      expanded_[container.id] += expanded_[id];
      total = std::max(total, expanded_[container.id]);
    }
    if (total > k_max_expanded_nodes)
      stop(mark, "alias-bomb", "aliases and lists expand to more than 200000 values here",
           "write the values out, or split the pack");
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlTree::Type type) {
    if (open_.size() >= k_max_depth)
      stop(mark, "yaml-syntax", "values are nested deeper than 64", "flatten them");
    const YamlTree::Id id = add(mark, anchor, type);
    open_.push_back({id, anchor});
  }

  void close() {
    const Open container = open_.back();
    open_.pop_back();
    if (tree_.nodes_[container.id].type == YamlTree::Type::map) check_keys(container.id);
    if (container.anchor != YAML::NullAnchor) anchors_[container.anchor] = container.id;
  }

  /// Duplicate keys, keys that are no text, and keys that YAML 1.1 reads as booleans.
  void check_keys(YamlTree::Id map) {
    const std::vector<YamlTree::Id> children = tree_.nodes_[map].children;
    std::map<std::string_view, YamlTree::Id> seen;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      const YamlTree::Node& key = tree_.nodes_[children[i]];
      const SourcePlace place{file_, key.line, key.column};
      if (key.type != YamlTree::Type::scalar) {
        diagnostics_.push_back(
            diagnostic(place, "bad-key", "a key must be a word", "write `key: value`"));
        continue;
      }
      if (key.plain && key.text == "<<") {
        diagnostics_.push_back(diagnostic(place, "yaml-1.1", "`<<` merges maps in YAML 1.1 only",
                                          "write the keys out"));
        continue;
      }
      if (key.plain && !yaml_1_1_reading(key.text).empty())
        diagnostics_.push_back(diagnostic(place, "yaml-1.1",
                                          "YAML 1.1 reads the key `" + key.text + "` as " +
                                              std::string(yaml_1_1_reading(key.text)),
                                          "write '" + key.text + "'"));
      const auto [it, fresh] = seen.emplace(key.text, children[i]);
      if (!fresh)
        diagnostics_.push_back(diagnostic(place, "duplicate-key",
                                          "`" + key.text +
                                              "` stands twice in one map, first in line " +
                                              std::to_string(tree_.nodes_[it->second].line),
                                          "keep one of them"));
    }
  }

  struct Open {
    YamlTree::Id id;
    YAML::anchor_t anchor;
  };

  std::string_view text_;
  std::string file_;
  std::vector<Diagnostic>& diagnostics_;
  YamlTree tree_;
  std::vector<std::uint64_t> expanded_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlTree::Id> anchors_;
  int documents_ = 0;
};

namespace {

/// Where a quoted text begins that is still open at `until`: a quote that was never closed shows as
/// some other mistake, many lines further down. Line 0 when none is open, or it is on that line.
SourcePlace open_quote(std::string_view text, const SourcePlace& until) {
  SourcePlace start{until.file, 0, 0};
  char quote = 0;
  std::uint32_t number = 0;
  for (std::string_view line : base::split_lines(text)) {
    if (++number > until.line) break;
    char before = ' ';
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (number == until.line && i + 1 >= until.column) break;
      const char c = line[i];
      if (quote != 0) {
        if (quote == '"' && c == '\\')
          ++i;
        else if (c == quote)
          quote = 0;
      } else if (c == '#' && before == ' ') {
        break;
      } else if ((c == '"' || c == '\'') &&
                 std::string_view(" [{,").find(before) != std::string_view::npos) {
        quote = c;
        start.line = number;
        start.column = static_cast<std::uint32_t>(i) + 1;
      }
      before = c;
    }
  }
  if (quote == 0 || start.line == until.line) start.line = 0;
  return start;
}

std::string mend_for(const std::string& message, std::string_view snippet) {
  if (snippet.find('\t') != std::string_view::npos &&
      snippet.find_first_not_of(" \t") > snippet.find('\t'))
    return "indent with blanks: YAML allows no tabs";
  if (base::contains(message, "unknown escape"))
    return "write patterns in single quotes: '...' keeps backslashes as they are";
  if (base::contains(message, "end of"))
    return "close the bracket, brace or quote that is still open";
  if (base::contains(message, "illegal map value") || base::contains(message, "block"))
    return "put text that contains ': ' or begins with one of [{*&!|>%@` into single quotes";
  if (base::contains(message, "alias") || base::contains(message, "anchor"))
    return "text that begins with * or & needs quotes";
  return "check indentation, quotes and brackets on this line and the one before";
}

}  // namespace

YamlTree YamlTree::parse(std::string_view text, const std::string& file,
                         std::vector<Diagnostic>& diagnostics) {
  TreeBuilder builder(text, file, diagnostics);
  const auto report = [&](SourcePlace place, std::string code, std::string message,
                          std::string mend) {
    diagnostics.push_back(
        builder.diagnostic(std::move(place), std::move(code), std::move(message), std::move(mend)));
    return YamlTree();
  };
  if (text.size() > k_max_bytes)
    return report({file, 1, 1}, "too-large", "a pack is at most 4 MiB", "split it");
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    const auto line = static_cast<std::uint32_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n'));
    return report({file, line + 1, 1}, "yaml-syntax", "this is no text: it holds a NUL byte",
                  "save it as UTF-8");
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stopped) {
    diagnostics.push_back(stopped.diagnostic);
    return {};
  } catch (const YAML::Exception& error) {
    const SourcePlace place = place_of(file, error.mark);
    if (const SourcePlace quote = open_quote(text, place); quote.line > 0)
      return report(quote, "yaml-syntax",
                    "this quote is not closed (noticed in line " + std::to_string(place.line) + ")",
                    "close it at the end of the text");
    return report(place, "yaml-syntax", error.msg, mend_for(error.msg, line_of(text, place.line)));
  }
  return builder.take();
}

YamlTree::Id YamlTree::find(Id map, std::string_view key) const {
  if (map == k_none || nodes_[map].type != Type::map) return k_none;
  const std::vector<Id>& children = nodes_[map].children;
  for (std::size_t i = 0; i + 1 < children.size(); i += 2)
    if (nodes_[children[i]].type == Type::scalar && nodes_[children[i]].text == key)
      return children[i + 1];
  return k_none;
}

}  // namespace triage::rules

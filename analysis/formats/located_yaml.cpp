#include <algorithm>
#include <exception>
#include <optional>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "analysis/formats/located_tree.hpp"

namespace triage::analysis::formats {
namespace {

// yaml-cpp reads some 10 MB/s: what lies beyond this of one file is left out, so that a huge dump
// costs seconds and not minutes.
constexpr std::size_t k_max_yaml_bytes = 32U << 20U;
constexpr std::size_t k_max_document_nodes = 2'000'000;

/// Builds the tree from the parser's events, so that damaged input keeps what came before the
/// damage and aliases cannot multiply.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const DocumentVisitor& visit, std::uint32_t first_line)
      : visit_(visit), first_line_(first_line) {}

  void OnDocumentStart(const YAML::Mark&) override { open_.clear(); }
  void OnDocumentEnd() override { finish(); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add_scalar(mark, {}, true); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { add_scalar(mark, {}, true); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    // "!" marks a quoted scalar; a plain ~ or null is YAML's null.
    const bool null = tag != "!" && (value == "null" || value == "~" || value.empty());
    add_scalar(mark, value, null, tag == "!");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    push(mark, LocatedNode::Type::array);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    push(mark, LocatedNode::Type::object);
  }
  void OnSequenceEnd() override { pop(); }
  void OnMapEnd() override { pop(); }

  /// Closes what a damaged document left open and delivers it.
  void finish() {
    while (open_.size() > 1) pop();
    if (open_.empty()) return;
    LocatedNode document = std::move(open_.front().node);
    open_.clear();
    nodes_ = 0;
    if (document.is_object() && !stopped_ && !visit_(document)) stopped_ = true;
  }

  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  struct Open {
    LocatedNode node;
    std::optional<std::string> key;  ///< of an object: read, its value not yet
  };

  [[nodiscard]] std::uint32_t line_of(const YAML::Mark& mark) const {
    return first_line_ + static_cast<std::uint32_t>(std::max(mark.line, 0));
  }

  void add_scalar(const YAML::Mark& mark, const std::string& value, bool null,
                  bool quoted = false) {
    LocatedNode node;
    node.type = null ? LocatedNode::Type::null : LocatedNode::Type::scalar;
    node.quoted = quoted;
    node.line = line_of(mark);
    node.text = value;
    attach(std::move(node));
  }

  void push(const YAML::Mark& mark, LocatedNode::Type type) {
    Open open;
    open.node.type = type;
    open.node.line = line_of(mark);
    open_.push_back(std::move(open));
  }

  void pop() {
    if (open_.size() < 2) return;  // the document itself stays for `finish`
    LocatedNode node = std::move(open_.back().node);
    open_.pop_back();
    if (is_list_of_objects() && node.is_object()) {
      nodes_ = 0;
      if (!stopped_ && !visit_(node)) stopped_ = true;
      return;
    }
    attach(std::move(node));
  }

  /// The innermost open node is a Kubernetes List's `items`, or a top-level sequence.
  [[nodiscard]] bool is_list_of_objects() const {
    if (!open_.back().node.is_array()) return false;
    return open_.size() == 1 || (open_.size() == 2 && open_.front().key == "items");
  }

  void attach(LocatedNode&& node) {
    if (open_.empty() || ++nodes_ > k_max_document_nodes) return;
    Open& parent = open_.back();
    if (parent.node.is_array()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = node.text;
    } else {
      parent.node.members.push_back({std::move(*parent.key), std::move(node)});
      parent.key.reset();
    }
  }

  const DocumentVisitor& visit_;
  std::uint32_t first_line_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  bool stopped_ = false;
};

/// The end of the document that begins at `from`: the next line that begins with `---`. Inside a
/// document no line of a Kubernetes object does, since block text is indented.
std::size_t document_end(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (true) {
    at = text.find("\n---", at);
    if (at == std::string_view::npos) return text.size();
    const std::size_t after = at + 4;
    if (after >= text.size() || text[after] == '\n' || text[after] == '\r' || text[after] == ' ')
      return at + 1;
    at = after;
  }
}

}  // namespace

void read_located_yaml(std::string_view text, const DocumentVisitor& visit) {
  text = text.substr(0, k_max_yaml_bytes);
  std::size_t from = 0;
  std::uint32_t line = 1;
  while (from < text.size()) {
    const std::size_t end = document_end(text, from);
    const std::string_view document = text.substr(from, end - from);
    TreeBuilder builder(visit, line);
    try {
      std::istringstream stream{std::string(document)};
      YAML::Parser parser(stream);
      while (!builder.stopped() && parser.HandleNextDocument(builder)) {
      }
    } catch (const std::exception&) {
      // Damaged or cut short: what was read until here counts.
    }
    builder.finish();
    if (builder.stopped()) return;
    line += static_cast<std::uint32_t>(std::count(document.begin(), document.end(), '\n'));
    from = end;
  }
}

}  // namespace triage::analysis::formats

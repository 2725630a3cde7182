#include "analysis/formats/located_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/utf8.hpp"

namespace triage::analysis::formats {
namespace {

/// Recursive descent over the text. Every `read_*` returns false when the text is damaged or ends;
/// what was read until then stays in the tree.
class JsonReader {
 public:
  JsonReader(std::string_view text, const DocumentVisitor& visit, const JsonLimits& limits)
      : text_(text), visit_(visit), limits_(limits) {}

  void read_all() {
    while (!stopped_ && find_document()) read_document();
  }

 private:
  /// Moves to the next `{` or `[` that begins a line or follows only other text.
  bool find_document() {
    while (at_ < text_.size() && text_[at_] != '{' && text_[at_] != '[') step();
    return at_ < text_.size();
  }

  void read_document() {
    nodes_ = 0;
    const std::size_t began = at_;
    if (text_[at_] == '[') {
      read_elements();
    } else {
      LocatedNode document;
      document.type = LocatedNode::Type::object;
      document.line = line_;
      step();
      read_members(document, 0, true);
      if (!list_delivered_ || !document.members.empty()) deliver(document);
    }
    list_delivered_ = false;
    if (at_ == began) step();
  }

  void deliver(const LocatedNode& node) {
    if (!stopped_ && node.is_object() && !visit_(node)) stopped_ = true;
  }

  /// Reads an array and delivers each of its objects as a document of its own.
  bool read_elements() {
    step();
    while (true) {
      skip_blanks();
      if (at_ >= text_.size()) return false;
      if (text_[at_] == ']') {
        step();
        return true;
      }
      if (text_[at_] == ',') {
        step();
        continue;
      }
      nodes_ = 0;
      LocatedNode element;
      const bool sound = read_value(element, 1);
      deliver(element);
      if (!sound || stopped_) return false;
    }
  }

  bool read_members(LocatedNode& object, int depth, bool top) {
    while (true) {
      skip_blanks();
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '}') {
        step();
        return true;
      }
      if (text_[at_] == ',') {
        step();
        continue;
      }
      if (text_[at_] != '"') return false;
      std::string name;
      if (!read_string(name)) return false;
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != ':') return false;
      step();
      skip_blanks();
      if (top && name == "items" && at_ < text_.size() && text_[at_] == '[') {
        list_delivered_ = true;
        if (!read_elements()) return false;
        continue;
      }
      LocatedNode value;
      const bool sound = read_value(value, depth + 1);
      if (nodes_ < limits_.max_nodes) object.members.push_back({std::move(name), std::move(value)});
      if (!sound) return false;
    }
  }

  bool read_value(LocatedNode& out, int depth) {
    skip_blanks();
    if (at_ >= text_.size()) return false;
    out.line = line_;
    ++nodes_;
    const char c = text_[at_];
    if (c == '"') {
      out.type = LocatedNode::Type::scalar;
      out.quoted = true;
      return read_string(out.text);
    }
    if (c == '{' || c == '[') {
      if (depth > limits_.max_depth) return skip_nested();
      out.type = c == '{' ? LocatedNode::Type::object : LocatedNode::Type::array;
      step();
      return c == '{' ? read_members(out, depth, false) : read_items(out, depth);
    }
    return read_literal(out);
  }

  bool read_items(LocatedNode& array, int depth) {
    while (true) {
      skip_blanks();
      if (at_ >= text_.size()) return false;
      if (text_[at_] == ']') {
        step();
        return true;
      }
      if (text_[at_] == ',') {
        step();
        continue;
      }
      LocatedNode value;
      const bool sound = read_value(value, depth + 1);
      if (nodes_ < limits_.max_nodes) array.items.push_back(std::move(value));
      if (!sound) return false;
    }
  }

  bool read_literal(LocatedNode& out) {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool part = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
      if (!part) break;
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return false;
    if (word == "null") return true;
    out.type = LocatedNode::Type::scalar;
    out.text = std::string(word);
    return true;
  }

  bool read_string(std::string& out) {
    step();
    while (at_ < text_.size()) {
      // Long runs without escapes are the rule: copy them whole.
      const std::size_t run = text_.find_first_of("\"\\\n", at_);
      const std::size_t stop = run == std::string_view::npos ? text_.size() : run;
      out.append(text_.substr(at_, stop - at_));
      at_ = stop;
      if (at_ >= text_.size()) return false;
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\n') {  // not JSON, but seen in pasted evidence: the string goes on
        out += c;
        step();
        continue;
      }
      ++at_;
      if (!read_escape(out)) return false;
    }
    return false;
  }

  bool read_escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c != '\n') ++at_;
    switch (c) {
      case 'n':
        out += '\n';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'r':
        out += '\r';
        return true;
      case 'b':
      case 'f':
        out += ' ';
        return true;
      case 'u':
        return read_unicode(out);
      case '\n':
        return true;
      default:
        out += c;
        return true;
    }
  }

  std::optional<std::uint32_t> read_hex4() {
    const auto value = base::hex_number(text_.substr(std::min(at_, text_.size())), 4);
    if (value) at_ += 4;
    return value;
  }

  bool read_unicode(std::string& out) {
    auto code = read_hex4();
    if (!code) return at_ < text_.size();
    if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const std::size_t back = at_;
      at_ += 2;
      const auto low = read_hex4();
      if (low && *low >= 0xDC00 && *low < 0xE000)
        code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
      else
        at_ = back;
    }
    base::append_utf8(out, *code >= 0xD800 && *code < 0xE000 ? 0xFFFD : *code);
    return true;
  }

  /// Passes over a value that is nested too deep.
  bool skip_nested() {
    std::size_t open = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        std::string ignored;
        if (!read_string(ignored)) return false;
        continue;
      }
      step();
      if (c == '{' || c == '[') ++open;
      if ((c == '}' || c == ']') && --open == 0) return true;
    }
    return false;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
      step();
    }
  }

  void step() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  std::string_view text_;
  const DocumentVisitor& visit_;
  const JsonLimits& limits_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t nodes_ = 0;
  bool list_delivered_ = false;
  bool stopped_ = false;
};

const LocatedNode k_null_node;

}  // namespace

const LocatedNode& LocatedNode::at(std::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return value;
  return k_null_node;
}

void read_located_json(std::string_view text, const DocumentVisitor& visit,
                       const JsonLimits& limits) {
  JsonReader(text, visit, limits).read_all();
}

}  // namespace triage::analysis::formats

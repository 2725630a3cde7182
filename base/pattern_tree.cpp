#include "base/pattern_tree.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace triage::base {
namespace {

using Set = std::bitset<256>;
using Type = PatternNode::Type;

constexpr int k_deepest = 200;
constexpr int k_most_repeats = 1000;

std::size_t index_of(char c) {
  return static_cast<unsigned char>(c);
}

/// Comparison ignores case, so that `(?i)` makes no difference. What lies beyond ASCII counts as
/// any byte: case is another matter there.
Set lowered(const Set& set) {
  Set out = set;
  for (std::size_t c = 'A'; c <= 'Z'; ++c)
    if (out[c]) out[c + 32] = true, out[c] = false;
  for (std::size_t c = 128; c < 256; ++c)
    if (out[c]) return Set().set();
  return out;
}

Set range(unsigned first, unsigned last) {
  Set set;
  for (unsigned c = first; c <= last; ++c) set[c] = true;
  return set;
}

Set perl_class(char name) {
  Set set;
  switch (name) {
    case 'd':
    case 'D':
      set = range('0', '9');
      break;
    case 'w':
    case 'W':
      set = range('0', '9') | range('a', 'z') | range('A', 'Z');
      set['_'] = true;
      break;
    default:
      for (const char c : std::string_view("\t\n\f\r ")) set[index_of(c)] = true;
  }
  return name == 'D' || name == 'W' || name == 'S' ? ~set : set;
}

bool is_perl_class(char c) {
  return std::string_view("dDwWsS").find(c) != std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<PatternNode> read() {
    auto node = alternatives(0);
    if (!node || at_ != text_.size()) return std::nullopt;
    return node;
  }

 private:
  using Maybe = std::optional<PatternNode>;

  [[nodiscard]] bool more() const { return at_ < text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }
  bool eat(std::string_view what) {
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }

  static PatternNode of(const Set& set) {
    PatternNode node;
    node.type = Type::bytes;
    node.set = lowered(set);
    return node;
  }

  Maybe alternatives(int depth) {
    if (depth > k_deepest) return std::nullopt;
    PatternNode node;
    node.type = Type::any_of;
    do {
      auto branch = sequence(depth);
      if (!branch) return std::nullopt;
      node.children.push_back(std::move(*branch));
    } while (eat("|"));
    if (node.children.size() == 1) return std::move(node.children[0]);
    return node;
  }

  Maybe sequence(int depth) {
    PatternNode node;
    while (more() && peek() != '|' && peek() != ')') {
      auto piece = atom(depth);
      if (!piece) return std::nullopt;
      if (!repeats(*piece)) return std::nullopt;
      if (piece->type == Type::concat)
        std::move(piece->children.begin(), piece->children.end(),
                  std::back_inserter(node.children));
      else
        node.children.push_back(std::move(*piece));
    }
    if (node.children.size() == 1) return std::move(node.children[0]);
    return node;
  }

  Maybe atom(int depth) {
    const char c = peek();
    switch (c) {
      case '(':
        return group(depth);
      case '[':
        return bracket();
      case '\\':
        return escape();
      case '.':
        ++at_;
        return of(Set().set());
      case '^':
      case '$':
        ++at_;
        return PatternNode{};
      case '*':
      case '+':
      case '?':
        return std::nullopt;
      default:
        ++at_;
        return of(Set().set(index_of(c)));
    }
  }

  Maybe group(int depth) {
    ++at_;
    if (eat("?P<") || eat("?<")) {
      const std::size_t end = text_.find('>', at_);
      if (end == std::string_view::npos) return std::nullopt;
      at_ = end + 1;
    } else if (eat("?")) {
      while (more() && std::string_view("imsU-").find(peek()) != std::string_view::npos) ++at_;
      if (eat(")")) return PatternNode{};
      if (!eat(":")) return std::nullopt;
    }
    auto inner = alternatives(depth + 1);
    if (!inner || !eat(")")) return std::nullopt;
    return inner;
  }

  Maybe escape() {
    ++at_;
    if (!more()) return std::nullopt;
    const char c = peek();
    if (c == 'b' || c == 'B' || c == 'A' || c == 'z') {
      ++at_;
      return PatternNode{};
    }
    if (is_perl_class(c)) {
      ++at_;
      return of(perl_class(c));
    }
    const auto byte = escaped_byte();
    if (!byte) return std::nullopt;
    return of(Set().set(*byte));
  }

  /// Behind the backslash: a byte by name or number, or punctuation.
  std::optional<std::size_t> escaped_byte() {
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'x':
        return hexadecimal();
      default:
        break;
    }
    const bool letter_or_digit =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter_or_digit || index_of(c) >= 128) return std::nullopt;
    return index_of(c);
  }

  std::optional<std::size_t> hexadecimal() {
    std::size_t value = 0;
    for (int i = 0; i < 2; ++i) {
      if (!more()) return std::nullopt;
      const auto digit =
          std::string_view("0123456789abcdef").find(static_cast<char>(peek() | 0x20));
      if (digit == std::string_view::npos || peek() < '0') return std::nullopt;
      value = value * 16 + digit;
      ++at_;
    }
    return value;
  }

  Maybe bracket() {
    ++at_;
    const bool negated = eat("^");
    Set set;
    for (bool first = true; more() && (peek() != ']' || first); first = false) {
      if (text_.substr(at_, 2) == "[:") return std::nullopt;
      if (peek() == '\\' && at_ + 1 < text_.size() && is_perl_class(text_[at_ + 1])) {
        set |= perl_class(text_[at_ + 1]);
        at_ += 2;
        continue;
      }
      const auto low = member();
      if (!low) return std::nullopt;
      auto high = low;
      if (at_ + 1 < text_.size() && peek() == '-' && text_[at_ + 1] != ']') {
        ++at_;
        high = member();
        if (!high || *high < *low) return std::nullopt;
      }
      set |= range(static_cast<unsigned>(*low), static_cast<unsigned>(*high));
    }
    if (!eat("]")) return std::nullopt;
    // Negation comes before letters lose their case, and `(?i)` might make it narrower: any byte.
    if (negated) return of(Set().set());
    return of(set);
  }

  std::optional<std::size_t> member() {
    if (peek() != '\\') return index_of(text_[at_++]);
    ++at_;
    if (!more()) return std::nullopt;
    return escaped_byte();
  }

  std::optional<int> number() {
    int value = 0;
    const std::size_t first = at_;
    while (more() && peek() >= '0' && peek() <= '9' && value <= k_most_repeats)
      value = value * 10 + (text_[at_++] - '0');
    if (at_ == first || value > k_most_repeats) return std::nullopt;
    return value;
  }

  /// `*`, `+`, `?`, `{2,5}` behind the piece, greedy or not.
  bool repeats(PatternNode& piece) {
    int least = 1;
    int most = 1;
    if (eat("*")) {
      least = 0, most = -1;
    } else if (eat("+")) {
      most = -1;
    } else if (eat("?")) {
      least = 0;
    } else if (more() && peek() == '{') {
      const std::size_t start = at_++;
      const auto low = number();
      if (!low) {  // RE2 takes `{` that counts nothing as a byte
        at_ = start;
        return true;
      }
      least = most = *low;
      if (eat(",")) {
        most = -1;
        if (more() && peek() != '}') {
          const auto high = number();
          if (!high) return false;
          most = *high;
        }
      }
      if (!eat("}")) return false;
    } else {
      return true;
    }
    eat("?");
    if (more() && std::string_view("*+?{").find(peek()) != std::string_view::npos) return false;
    if (least == 1 && most == 1) return true;
    PatternNode node;
    node.type = Type::repeat;
    node.least = least;
    node.most = most;
    node.children.push_back(std::move(piece));
    piece = std::move(node);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<PatternNode> read_pattern(std::string_view pattern) {
  return Reader(pattern).read();
}

}  // namespace triage::base

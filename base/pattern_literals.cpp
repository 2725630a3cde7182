#include "base/pattern_literals.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace triage::base {
namespace {

using Literals = std::vector<std::string>;

constexpr std::size_t k_longest_literal = 64;
constexpr std::size_t k_most_members = 4;  ///< of a class that is spelled out

/// Literals of which a match must hold one.
struct Clause {
  Literals literals;
  long cost = 0;
};

/// What a part of a pattern must spell out.
struct Spelled {
  std::optional<Literals> exact;  ///< all texts that it can match, when they are few
  std::optional<Clause> clause;   ///< the cheapest one found
};

void unify(Literals& literals) {
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
}

/// A literal that holds another of the same clause adds nothing.
void drop_longer(Literals& literals) {
  unify(literals);
  Literals kept;
  for (const std::string& literal : literals)
    if (std::none_of(literals.begin(), literals.end(), [&](const std::string& other) {
          return &other != &literal && literal.find(other) != std::string::npos;
        }))
      kept.push_back(literal);
  literals = std::move(kept);
}

std::size_t longest(const Literals& literals) {
  std::size_t size = 0;
  for (const std::string& literal : literals) size = std::max(size, literal.size());
  return size;
}

class Speller {
 public:
  explicit Speller(const LiteralTaste& taste) : taste_(taste) {}

  [[nodiscard]] Spelled spelled(const PatternNode& node) const;
  /// Takes the literals for the clause when they are cheaper than what was found so far.
  void consider(std::optional<Clause>& best, Literals literals) const;

 private:
  static Spelled of_bytes(const PatternNode& node);
  [[nodiscard]] Spelled of_concat(const PatternNode& node) const;
  [[nodiscard]] Spelled of_any(const PatternNode& node) const;
  [[nodiscard]] Spelled of_repeat(const PatternNode& node) const;

  const LiteralTaste& taste_;
};

void Speller::consider(std::optional<Clause>& best, Literals literals) const {
  if (literals.empty() || literals.size() > taste_.most) return;
  for (const std::string& literal : literals)
    if (literal.size() < taste_.least) return;
  drop_longer(literals);
  long cost = 0;
  for (const std::string& literal : literals) cost += taste_.cost(literal);
  if (!best || cost < best->cost) best = Clause{std::move(literals), cost};
}

Spelled Speller::of_bytes(const PatternNode& node) {
  if (node.set.count() > k_most_members) return {};
  Spelled out;
  out.exact.emplace();
  for (std::size_t c = 0; c < node.set.size(); ++c)
    if (node.set[c]) out.exact->push_back(std::string(1, static_cast<char>(c)));
  return out;
}

Spelled Speller::of_concat(const PatternNode& node) const {
  Spelled out;
  Literals run{""};   // all texts of the parts since the last that cannot be spelled out
  std::string fixed;  // the text since the last part with several forms
  bool whole = true;
  const auto end_fixed = [&] {
    consider(out.clause, {fixed});
    fixed.clear();
  };
  for (const PatternNode& child : node.children) {
    Spelled part = spelled(child);
    if (part.clause && (!out.clause || part.clause->cost < out.clause->cost))
      out.clause = part.clause;
    if (!part.exact) {
      consider(out.clause, run);
      end_fixed();
      run = {""};
      whole = false;
      continue;
    }
    if (part.exact->size() == 1) {
      fixed += part.exact->front();
    } else {
      consider(out.clause, run);
      consider(out.clause, *part.exact);
      end_fixed();
    }
    if (run.size() * part.exact->size() > taste_.most ||
        longest(run) + longest(*part.exact) > k_longest_literal) {
      consider(out.clause, run);
      run = {""};
      whole = false;
    }
    Literals longer;
    for (const std::string& head : run)
      for (const std::string& tail : *part.exact) longer.push_back(head + tail);
    run = std::move(longer);
    unify(run);
  }
  consider(out.clause, run);
  end_fixed();
  if (whole) out.exact = std::move(run);
  return out;
}

Spelled Speller::of_any(const PatternNode& node) const {
  Spelled out;
  Literals exact;
  Literals clause;
  bool all_exact = true;
  bool all_clauses = true;
  for (const PatternNode& child : node.children) {
    Spelled part = spelled(child);
    if (part.exact) {
      consider(part.clause, *part.exact);
      exact.insert(exact.end(), part.exact->begin(), part.exact->end());
    }
    all_exact = all_exact && part.exact && exact.size() <= taste_.most;
    all_clauses = all_clauses && part.clause;
    if (part.clause)
      clause.insert(clause.end(), part.clause->literals.begin(), part.clause->literals.end());
  }
  if (all_clauses) consider(out.clause, std::move(clause));
  if (all_exact) {
    unify(exact);
    out.exact = std::move(exact);
  }
  return out;
}

Spelled Speller::of_repeat(const PatternNode& node) const {
  Spelled inner = spelled(node.children.front());
  Spelled out;
  if (node.least > 0) out.clause = inner.clause;
  if (!inner.exact) return out;
  if (node.least == 0 && node.most == 1) {
    out.exact = std::move(inner.exact);
    out.exact->emplace_back();
    unify(*out.exact);
  } else if (node.least == node.most && inner.exact->size() == 1 &&
             inner.exact->front().size() * static_cast<std::size_t>(node.least) <=
                 k_longest_literal) {
    std::string text;
    for (int i = 0; i < node.least; ++i) text += inner.exact->front();
    out.exact = Literals{std::move(text)};
  }
  return out;
}

Spelled Speller::spelled(const PatternNode& node) const {
  switch (node.type) {
    case PatternNode::Type::bytes:
      return of_bytes(node);
    case PatternNode::Type::concat:
      return of_concat(node);
    case PatternNode::Type::any_of:
      return of_any(node);
    case PatternNode::Type::repeat:
      break;
  }
  return of_repeat(node);
}

}  // namespace

std::vector<std::string> required_literals(const PatternNode& pattern, const LiteralTaste& taste) {
  const Speller speller(taste);
  Spelled whole = speller.spelled(pattern);
  if (whole.exact) speller.consider(whole.clause, *whole.exact);
  return whole.clause ? std::move(whole.clause->literals) : Literals{};
}

}  // namespace triage::base

#include "rules/literals.hpp"

#include <re2/filtered_re2.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <numeric>
#include <optional>

#include "rules/ordinary_lines.hpp"
#include "rules/pattern_tree.hpp"

namespace triage::rules {
namespace {

using Literals = std::vector<std::string>;

/// More alternatives than these are no fixed text any more.
constexpr std::size_t k_most_literals = 96;
constexpr std::size_t k_longest_literal = 64;
constexpr std::size_t k_most_members = 4;  ///< of a class that is spelled out

/// One of 64 Ki slots: two windows may share one, which only makes a rare one look common.
std::size_t slot_of(std::string_view window) {
  std::uint32_t word = 0;
  std::memcpy(&word, window.data(), sizeof word);
  return word * 0x9E3779B1U >> 16U;
}

using WindowSet = std::bitset<1U << 16U>;

const WindowSet& ordinary_windows() {
  static const WindowSet windows = [] {
    WindowSet all;
    for (const std::string_view line : k_ordinary_lines)
      for (std::size_t i = 0; i + 4 <= line.size(); ++i) all.set(slot_of(line.substr(i, 4)));
    return all;
  }();
  return windows;
}

constexpr std::array<std::uint8_t, 256> k_letter_scores = [] {
  std::array<std::uint8_t, 256> scores{};
  scores.fill(1);
  for (const char c : std::string_view("etaoinsr ")) scores[static_cast<unsigned char>(c)] = 6;
  for (const char c : std::string_view("0123456789.:-=_/"))
    scores[static_cast<unsigned char>(c)] = 8;
  for (const char c : std::string_view("lcdumpgf")) scores[static_cast<unsigned char>(c)] = 4;
  return scores;
}();

/// What looking for the literal costs a scan: how many kinds of ordinary lines hold it, and whether
/// it is so short that all text must be probed more densely for it.
long cost_of(const std::string& literal) {
  long cost = 2;
  for (const std::string_view line : k_ordinary_lines)
    if (line.find(literal) != std::string_view::npos) cost += 1000;
  if (literal.size() == 4) cost += 12000;
  if (literal.size() == 5) cost += 6000;
  if (literal.size() == 6) cost += 400;
  int rarest = 1000;
  for (std::size_t i = 0; i + 4 <= literal.size(); ++i)
    rarest = std::min(rarest, commonness(std::string_view(literal).substr(i, 4)));
  return cost + rarest;
}

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

void consider(std::optional<Clause>& best, Literals literals) {
  if (literals.empty() || literals.size() > k_most_literals) return;
  for (const std::string& literal : literals)
    if (literal.size() < k_least_literal) return;
  drop_longer(literals);
  long cost = 0;
  for (const std::string& literal : literals) cost += cost_of(literal);
  if (!best || cost < best->cost) best = Clause{std::move(literals), cost};
}

std::size_t longest(const Literals& literals) {
  std::size_t size = 0;
  for (const std::string& literal : literals) size = std::max(size, literal.size());
  return size;
}

Spelled spelled(const PatternNode& node);

Spelled of_bytes(const PatternNode& node) {
  if (node.set.count() > k_most_members) return {};
  Spelled out;
  out.exact.emplace();
  for (std::size_t c = 0; c < node.set.size(); ++c)
    if (node.set[c]) out.exact->push_back(std::string(1, static_cast<char>(c)));
  return out;
}

Spelled of_concat(const PatternNode& node) {
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
    if (run.size() * part.exact->size() > k_most_literals ||
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

Spelled of_any(const PatternNode& node) {
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
    all_exact = all_exact && part.exact && exact.size() <= k_most_literals;
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

Spelled of_repeat(const PatternNode& node) {
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

Spelled spelled(const PatternNode& node) {
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

/// Whether the pattern may match a line that holds just these atoms.
bool may_match(const re2::FilteredRE2& filtered, const std::vector<bool>& present) {
  std::vector<int> atoms;
  for (std::size_t i = 0; i < present.size(); ++i)
    if (present[i]) atoms.push_back(static_cast<int>(i));
  std::vector<int> potentials;
  filtered.AllPotentials(atoms, &potentials);
  return !potentials.empty();
}

/// For what is not read by pattern_tree: RE2's own atoms.
Literals by_re2(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  re2::FilteredRE2 filtered(static_cast<int>(k_least_literal));
  int id = 0;
  if (filtered.Add(pattern, options, &id) != re2::RE2::NoError) return {};
  std::vector<std::string> atoms;
  filtered.Compile(&atoms);
  if (atoms.empty()) return {};
  // Every atom, then drop what the clause does not need, the costliest first: what stays is a
  // clause of which one literal must be in the line.
  std::vector<bool> in_clause(atoms.size(), true);
  const std::vector<bool> absent(atoms.size(), false);
  if (may_match(filtered, absent)) return {};
  std::vector<std::size_t> order(atoms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cost_of(atoms[a]) > cost_of(atoms[b]);
  });
  for (const std::size_t candidate : order) {
    in_clause[candidate] = false;
    std::vector<bool> outside(atoms.size());
    for (std::size_t i = 0; i < atoms.size(); ++i) outside[i] = !in_clause[i];
    if (may_match(filtered, outside)) in_clause[candidate] = true;
  }
  Literals clause;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    if (in_clause[i]) clause.push_back(atoms[i]);
  return clause;
}

}  // namespace

int commonness(std::string_view window) {
  if (window.size() != 4) return 60;
  if (ordinary_windows()[slot_of(window)]) return 60;
  int score = 0;
  for (const char c : window) score += k_letter_scores[static_cast<unsigned char>(c)];
  return score;
}

std::vector<std::string> required_literals(const std::string& pattern) {
  if (const auto tree = read_pattern(pattern)) {
    Spelled whole = spelled(*tree);
    if (whole.exact) consider(whole.clause, *whole.exact);
    if (whole.clause) return std::move(whole.clause->literals);
  }
  return by_re2(pattern);
}

void add_literals(RuleSet& rules) {
  const auto add = [&](const std::string& pattern) {
    if (rules.literals.count(pattern) == 0)
      rules.literals.emplace(pattern, required_literals(pattern));
  };
  for (const Rule& rule : rules.rules) {
    if (rule.patterns.empty()) continue;
    // A sequence is found by its first pattern.
    const std::size_t looked_for =
        rule.matcher == Rule::Matcher::sequence ? 1 : rule.patterns.size();
    for (std::size_t i = 0; i < looked_for; ++i) add(rule.patterns[i]);
  }
  for (const evidence::UserTextSpan& span : rules.user_text) add(span.start);
}

}  // namespace triage::rules

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.hpp"

namespace re2 {
class RE2;
}

namespace triage::analysis {

/// Patterns compile on first use: of some hundred rules an incident touches a few. Latin-1, so that
/// any byte matches.
class LazyPattern {
 public:
  explicit LazyPattern(std::string source);
  ~LazyPattern();
  LazyPattern(LazyPattern&&) noexcept;
  LazyPattern& operator=(LazyPattern&&) = delete;

  [[nodiscard]] const std::string& source() const { return source_; }
  /// Whether a `^` may make a difference between the whole line and its message.
  [[nodiscard]] bool anchored() const { return anchored_; }
  [[nodiscard]] bool matches(std::string_view text) const;
  /// Adds named groups that took part to `captures`; false when the text does not match.
  [[nodiscard]] bool capture(std::string_view text,
                             std::map<std::string, std::string>& captures) const;
  /// Where the first match lies.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> find(
      std::string_view text) const;

 private:
  [[nodiscard]] const re2::RE2& compiled() const;

  std::string source_;
  bool anchored_;
  struct State;
  std::unique_ptr<State> state_;
};

/// The line rules of a rule set, ready for scanning. Immutable after construction; safe to share
/// between threads.
class LineRules {
 public:
  /// What a pattern is for.
  enum class Use : std::uint8_t {
    rule,
    user_text_start,
    error_like,  ///< a line that looks like an error: kept when no rule explains it
  };
  struct Pattern {
    LazyPattern regex;
    Use use = Use::rule;
    std::uint32_t owner = 0;  ///< index into rules() or user_text()
  };
  struct LineRule {
    const rules::Rule* rule = nullptr;
    std::vector<std::uint32_t>
        patterns;  ///< indices into patterns(): any of (match), the first one (sequence)
    std::vector<LazyPattern> continued;  ///< sequence: the second pattern and on
    std::vector<LazyPattern> unless;
    std::vector<std::vector<LazyPattern>>
        near;  ///< one list for each `near` of the refines, in order
    std::vector<rules::Near> near_spec;
    /// Its matches tell devices apart (captures xid, sxid or pci), or need neighbours: every match
    /// is looked at in full.
    bool needs_every_match = false;
  };
  struct UserText {
    const evidence::UserTextSpan* span = nullptr;
    std::uint32_t start_pattern = 0;
    std::optional<LazyPattern> end;
  };

  explicit LineRules(const rules::RuleSet& rules);

  [[nodiscard]] std::span<const Pattern> patterns() const { return patterns_; }
  [[nodiscard]] std::span<const LineRule> rules() const { return rules_; }
  [[nodiscard]] std::span<const UserText> user_text() const { return user_text_; }
  /// The kinds of files whose lines may match the pattern: bit = Kind.
  [[nodiscard]] std::uint32_t kinds(std::uint32_t pattern) const { return kind_mask_[pattern]; }
  /// Whether lines of a file of `kind` may match the pattern.
  [[nodiscard]] bool applies(std::uint32_t pattern, evidence::Kind kind) const {
    return (kind_mask_[pattern] >> static_cast<unsigned>(kind) & 1U) != 0;
  }

  /// Literals of which a matching line must hold at least one; empty when the pattern requires
  /// none.
  [[nodiscard]] const std::vector<std::string>& literals(std::uint32_t pattern) const {
    return literals_[pattern];
  }

 private:
  void add_pattern(const std::string& source, Use use, std::uint32_t owner, std::uint32_t mask,
                   const rules::RuleSet& set);

  std::vector<Pattern> patterns_;
  std::vector<std::vector<std::string>> literals_;
  std::vector<LineRule> rules_;
  std::vector<UserText> user_text_;
  std::vector<std::uint32_t> kind_mask_;  ///< bit = Kind
};

/// Whether a rule that names `wanted` reads files of `kind`: mixed logs hold the lines of several
/// kinds.
[[nodiscard]] bool kind_reads(evidence::Kind wanted, evidence::Kind kind);

}  // namespace triage::analysis

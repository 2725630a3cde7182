#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/kind.hpp"
#include "evidence/user_text.hpp"
#include "redact/finding.hpp"

namespace re2 {
class RE2;
}

namespace triage::redact {

/// The `user_text` entries of rule packs, compiled. An entry whose pattern is not valid is left
/// out: the loader of rules reports it.
class UserTextSpans {
 public:
  explicit UserTextSpans(const std::vector<evidence::UserTextSpan>& spans);
  ~UserTextSpans();

  struct Entry {
    evidence::UserTextSpan span;
    std::unique_ptr<re2::RE2> start;
    std::unique_ptr<re2::RE2> end;  ///< null: to the end of the line
    std::vector<std::string>
        literals;  ///< of which every start holds one; read once for all streams
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// Texts in lower case of which every match of `pattern` holds one, in any case; empty when none is
/// long enough to be of use.
[[nodiscard]] std::vector<std::string> required_literals(std::string_view pattern);

/// Follows the spans through the lines of one stream.
class UserTextTracker {
 public:
  UserTextTracker(const UserTextSpans& spans, evidence::Kind kind);

  /// The lines to come lie in `text`: a search through it for what the starts must hold rules most
  /// of them out. Without it, patterns took two thirds of the time of a redaction.
  void block(std::string_view text);

  struct Part {
    std::size_t begin;
    std::size_t end;
  };
  void line(std::string_view line, std::vector<Part>& parts);

 private:
  [[nodiscard]] bool may_start_in(std::string_view line);
  /// The next literal in the block at or behind `from`.
  [[nodiscard]] std::size_t next_start(std::size_t from) const;
  template <class Found>
  void each_literal(std::string_view text, std::size_t from, Found found) const;
  /// One bit for each entry of which a literal stands in the line.
  [[nodiscard]] std::uint64_t entries_in(std::string_view line) const;

  std::vector<const UserTextSpans::Entry*> entries_;
  struct Literal {
    std::uint32_t head;  ///< its first four bytes
    std::uint32_t tail;  ///< its last
    std::string text;
    std::size_t entry;  ///< whose starts hold it or another of the same entry
  };
  std::vector<Literal> literals_;      ///< in order of their heads
  std::vector<std::uint8_t> windows_;  ///< whether four bytes stand at a literal's first places
  bool by_line_ = false;               ///< a start holds no long literal: every line is searched
  std::string_view block_;
  const char* next_ = nullptr;  ///< where the next start lies, or the end of the block
  const UserTextSpans::Entry* open_ = nullptr;
  std::size_t lines_left_ = 0;
};

}  // namespace triage::redact

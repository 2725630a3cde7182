#pragma once

#include <memory>
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
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// Follows the spans through the lines of one stream.
class UserTextTracker {
 public:
  UserTextTracker(const UserTextSpans& spans, evidence::Kind kind);

  struct Part {
    std::size_t begin;
    std::size_t end;
  };
  void line(std::string_view line, std::vector<Part>& parts);

 private:
  std::vector<const UserTextSpans::Entry*> entries_;
  const UserTextSpans::Entry* open_ = nullptr;
  std::size_t lines_left_ = 0;
};

}  // namespace triage::redact

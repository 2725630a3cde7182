#include "redact/user_text_spans.hpp"

#include <re2/re2.h>

#include <algorithm>

namespace triage::redact {
namespace {

std::unique_ptr<re2::RE2> compile(const std::string& pattern) {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  auto compiled = std::make_unique<re2::RE2>(pattern, options);
  if (!compiled->ok()) return nullptr;
  return compiled;
}

/// First match at or behind `from`: where it begins and ends, or nothing.
struct Match {
  bool found = false;
  std::size_t begin = 0;
  std::size_t end = 0;
};
Match search(const re2::RE2& pattern, std::string_view line, std::size_t from) {
  re2::StringPiece whole;
  if (from > line.size() || !pattern.Match({line.data(), line.size()}, from, line.size(),
                                           re2::RE2::UNANCHORED, &whole, 1))
    return {};
  const auto begin = static_cast<std::size_t>(whole.data() - line.data());
  return {true, begin, begin + whole.size()};
}

}  // namespace

UserTextSpans::UserTextSpans(const std::vector<evidence::UserTextSpan>& spans) {
  for (const evidence::UserTextSpan& span : spans) {
    Entry entry{span, compile(span.start), nullptr};
    if (!entry.start) continue;
    if (span.end) {
      entry.end = compile(*span.end);
      if (!entry.end) continue;
    }
    entries_.push_back(std::move(entry));
  }
}

UserTextSpans::~UserTextSpans() = default;

UserTextTracker::UserTextTracker(const UserTextSpans& spans, evidence::Kind kind) {
  for (const UserTextSpans::Entry& entry : spans.entries()) {
    const auto& kinds = entry.span.kinds;
    const bool applies = kinds.empty() ? evidence::is_log(kind)
                                       : std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    if (applies) entries_.push_back(&entry);
  }
}

void UserTextTracker::line(std::string_view line, std::vector<Part>& parts) {
  std::size_t from = 0;
  if (open_ != nullptr) {
    const Match end = search(*open_->end, line, 0);
    parts.push_back({0, end.found ? end.begin : line.size()});
    if (!end.found && --lines_left_ > 0) return;
    from = end.found ? end.end : line.size();
    open_ = nullptr;
  }
  for (const UserTextSpans::Entry* entry : entries_) {
    for (std::size_t at = from; at < line.size();) {
      const Match start = search(*entry->start, line, at);
      if (!start.found) break;
      if (!entry->end) {
        parts.push_back({start.end, line.size()});
        break;
      }
      const Match end = search(*entry->end, line, start.end);
      if (end.found) {
        parts.push_back({start.end, end.begin});
        at = std::max(end.end, start.end + 1);
        continue;
      }
      parts.push_back({start.end, line.size()});
      if (entry->span.multiline && open_ == nullptr && entry->span.max_lines > 0) {
        open_ = entry;
        lines_left_ = entry->span.max_lines;
      }
      break;
    }
  }
}

}  // namespace triage::redact

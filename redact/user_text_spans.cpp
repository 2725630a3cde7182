#include "redact/user_text_spans.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/pattern_literals.hpp"
#include "base/text.hpp"

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

constexpr unsigned k_slot_bits = 14;
constexpr std::size_t k_stride = 4;
constexpr std::size_t k_shortest_literal = k_stride - 1 + sizeof(std::uint32_t);
constexpr std::size_t k_most_literals = 16;  ///< of one pattern

// What the table of windows says of four bytes.
constexpr std::uint8_t k_window = 1;  ///< they stand at one of the first places of a literal
constexpr std::uint8_t k_head = 2;    ///< at the very first

/// Letters of either case fall into one slot; what falls there besides is compared anyhow.
constexpr std::uint32_t k_case = 0x20202020U;

std::uint32_t folded(const char* at) {
  std::uint32_t four = 0;
  std::memcpy(&four, at, sizeof four);
  return four | k_case;
}

std::uint32_t slot_of(std::uint32_t four) {
  return (four * 2654435761U) >> (32U - k_slot_bits);
}

bool begins_with(std::string_view text, std::string_view literal) {
  return text.size() >= literal.size() && base::iequals(text.substr(0, literal.size()), literal);
}

}  // namespace

std::vector<std::string> required_literals(std::string_view pattern) {
  const auto tree = base::read_pattern(pattern);
  if (!tree) return {};
  // Every literal costs a little, a short one is found everywhere.
  const auto cost = [](const std::string& literal) {
    return 4L + 200L / static_cast<long>(literal.size());
  };
  return base::required_literals(*tree, {k_shortest_literal, k_most_literals, cost});
}

UserTextSpans::UserTextSpans(const std::vector<evidence::UserTextSpan>& spans) {
  for (const evidence::UserTextSpan& span : spans) {
    Entry entry{span, compile(span.start), nullptr, required_literals(span.start)};
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
  windows_.resize(1U << k_slot_bits);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::vector<std::string>& literals = entries_[i]->literals;
    by_line_ = by_line_ || literals.empty();
    for (const std::string& literal : literals) {
      for (std::size_t shift = 0; shift < k_stride; ++shift) {
        const std::uint32_t slot = slot_of(folded(literal.data() + shift));
        windows_[slot] |= shift == 0 ? k_head | k_window : k_window;
      }
      literals_.push_back(
          {folded(literal.data()), folded(literal.data() + literal.size() - 4), literal, i});
    }
  }
  std::stable_sort(literals_.begin(), literals_.end(),
                   [](const Literal& a, const Literal& b) { return a.head < b.head; });
}

void UserTextTracker::block(std::string_view text) {
  block_ = text;
  next_ = text.data();
}

/// Calls `found(place, entry)` for each literal in `text` at or behind `from`, until it says to
/// stop. Every fourth place is looked at: four bytes of a literal's first seven lie there.
template <class Found>
void UserTextTracker::each_literal(std::string_view text, std::size_t from, Found found) const {
  const char* const data = text.data();
  const std::uint8_t* const windows = windows_.data();
  const auto at_window = [=](std::size_t at) { return windows[slot_of(folded(data + at))]; };
  for (std::size_t at = from; at + 4 <= text.size(); at += k_stride) {
    while (at + 4 * k_stride <= text.size() &&
           (at_window(at) | at_window(at + k_stride) | at_window(at + 2 * k_stride) |
            at_window(at + 3 * k_stride)) == 0)
      at += 4 * k_stride;
    if (at + 4 > text.size()) break;
    if (at_window(at) == 0) continue;
    for (std::size_t shift = std::min(at - from, k_stride - 1) + 1; shift-- > 0;) {
      const std::uint32_t head = folded(data + at - shift);
      if ((windows[slot_of(head)] & k_head) == 0) continue;
      const auto less = [](const Literal& literal, std::uint32_t h) { return literal.head < h; };
      for (auto literal = std::lower_bound(literals_.begin(), literals_.end(), head, less);
           literal != literals_.end() && literal->head == head; ++literal)
        if (at - shift + literal->text.size() <= text.size() &&
            folded(data + at - shift + literal->text.size() - 4) == literal->tail &&
            begins_with(text.substr(at - shift), literal->text) &&
            !found(at - shift, literal->entry))
          return;
    }
  }
}

std::size_t UserTextTracker::next_start(std::size_t from) const {
  std::size_t next = block_.size();
  each_literal(block_, from, [&](std::size_t place, std::size_t) {
    next = place;
    return false;
  });
  return next;
}

std::uint64_t UserTextTracker::entries_in(std::string_view line) const {
  if (by_line_) return ~std::uint64_t{0};
  std::uint64_t entries = 0;
  each_literal(line, 0, [&](std::size_t, std::size_t entry) {
    entries |= std::uint64_t{1} << std::min<std::size_t>(entry, 63);
    return true;
  });
  return entries;
}

bool UserTextTracker::may_start_in(std::string_view line) {
  const char* const begin = line.data();
  const char* const end = begin + line.size();
  if (by_line_ || begin < block_.data() || end > block_.data() + block_.size()) return true;
  if (next_ < begin || next_ == block_.data())
    next_ = block_.data() + next_start(static_cast<std::size_t>(begin - block_.data()));
  return next_ < end;
}

void UserTextTracker::line(std::string_view line, std::vector<Part>& parts) {
  if (entries_.empty()) return;
  if (open_ == nullptr && !may_start_in(line)) return;
  std::size_t from = 0;
  if (open_ != nullptr) {
    const Match end = search(*open_->end, line, 0);
    parts.push_back({0, end.found ? end.begin : line.size()});
    if (!end.found && --lines_left_ > 0) return;
    from = end.found ? end.end : line.size();
    open_ = nullptr;
  }
  const std::uint64_t present = entries_in(line.substr(std::min(from, line.size())));
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if ((present >> std::min<std::size_t>(i, 63) & 1U) == 0) continue;
    const UserTextSpans::Entry* entry = entries_[i];
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

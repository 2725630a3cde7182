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

/// Letters of either case fall into one slot; what falls there besides is compared anyhow.
constexpr std::uint32_t k_case = 0x20202020U;

std::uint32_t slot_of(const char* at) {
  std::uint32_t four = 0;
  std::memcpy(&four, at, sizeof four);
  return ((four | k_case) * 2654435761U) >> (32U - k_slot_bits);
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
  bitmap_.resize((1U << k_slot_bits) / 64);
  heads_.resize(bitmap_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto literals = required_literals(entries_[i]->span.start);
    by_line_ = by_line_ || literals.empty();
    for (const std::string& literal : literals) {
      for (std::size_t shift = 0; shift < k_stride; ++shift) {
        const std::uint32_t slot = slot_of(literal.data() + shift);
        bitmap_[slot >> 6U] |= std::uint64_t{1} << (slot & 63U);
      }
      const std::uint32_t head = slot_of(literal.data());
      heads_[head >> 6U] |= std::uint64_t{1} << (head & 63U);
      literals_.push_back({literal, i});
    }
  }
}

void UserTextTracker::block(std::string_view text) {
  block_ = text;
  next_ = text.data();
}

/// The next literal in the block at or behind `from`. Every fourth place is looked at: four bytes
/// of a literal's first seven lie there.
std::size_t UserTextTracker::next_start(std::size_t from) const {
  for (std::size_t at = from; at + 4 <= block_.size(); at += k_stride) {
    const std::uint32_t slot = slot_of(block_.data() + at);
    if ((bitmap_[slot >> 6U] >> (slot & 63U) & 1U) == 0) continue;
    for (std::size_t shift = std::min(at - from, k_stride - 1) + 1; shift-- > 0;) {
      const std::uint32_t head = slot_of(block_.data() + at - shift);
      if ((heads_[head >> 6U] >> (head & 63U) & 1U) == 0) continue;
      const std::string_view rest = block_.substr(at - shift);
      for (const auto& [literal, entry] : literals_)
        if (begins_with(rest, literal)) return at - shift;
    }
  }
  return block_.size();
}

std::uint64_t UserTextTracker::entries_in(std::string_view line) const {
  if (by_line_) return ~std::uint64_t{0};
  std::uint64_t found = 0;
  for (std::size_t at = 0; at + 4 <= line.size(); at += k_stride) {
    const std::uint32_t slot = slot_of(line.data() + at);
    if ((bitmap_[slot >> 6U] >> (slot & 63U) & 1U) == 0) continue;
    for (std::size_t shift = std::min(at, k_stride - 1) + 1; shift-- > 0;) {
      const std::uint32_t head = slot_of(line.data() + at - shift);
      if ((heads_[head >> 6U] >> (head & 63U) & 1U) == 0) continue;
      const std::string_view rest = line.substr(at - shift);
      for (const auto& [literal, entry] : literals_)
        if (begins_with(rest, literal))
          found |= std::uint64_t{1} << std::min<std::size_t>(entry, 63);
    }
  }
  return found;
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

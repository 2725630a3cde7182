#include "collectors/cap.hpp"

#include <algorithm>

namespace triage::collectors {

CappedText::CappedText(std::uint64_t cap, Keep keep)
    : cap_(std::max<std::uint64_t>(cap, 2)),
      keep_(keep),
      head_limit_(keep == Keep::head ? cap_ : cap_ / 2) {}

void CappedText::emit(std::string_view bytes, const Write& write) {
  if (bytes.empty()) return;
  kept_ += bytes.size();
  line_open_ = bytes.back() != '\n';
  write(bytes);
}

void CappedText::feed(std::string_view bytes, const Write& write) {
  seen_ += bytes.size();
  if (kept_ < head_limit_ && tail_.empty()) {
    const auto part = bytes.substr(0, static_cast<std::size_t>(head_limit_ - kept_));
    emit(part, write);
    bytes.remove_prefix(part.size());
  }
  if (bytes.empty()) return;
  if (keep_ == Keep::head) return;
  const auto room = static_cast<std::size_t>(cap_ - head_limit_);
  if (bytes.size() >= room) {
    ring_full_ = ring_full_ || !tail_.empty() || bytes.size() > room;
    tail_.assign(bytes.substr(bytes.size() - room));
    ring_begin_ = 0;
    return;
  }
  if (!ring_full_ && tail_.size() + bytes.size() <= room) {
    tail_.append(bytes);
    return;
  }
  // From here on the oldest bytes are overwritten.
  if (tail_.size() < room) {
    const auto part = bytes.substr(0, room - tail_.size());
    tail_.append(part);
    bytes.remove_prefix(part.size());
  }
  ring_full_ = true;
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), room - ring_begin_);
    std::copy_n(bytes.begin(), count, tail_.begin() + static_cast<std::ptrdiff_t>(ring_begin_));
    ring_begin_ = (ring_begin_ + count) % room;
    bytes.remove_prefix(count);
  }
}

void CappedText::finish(const Write& write) {
  const std::uint64_t head = kept_;
  if (keep_ == Keep::head) {
    if (seen_ > kept_) cut_ = bundle::Cut{head, 0, seen_ - head};
    return;
  }
  const std::uint64_t held = tail_.size();
  if (held == 0) return;
  if (head + held == seen_) {  // everything fitted; the ring was never overwritten
    emit(std::string_view(tail_).substr(ring_begin_), write);
    emit(std::string_view(tail_).substr(0, ring_begin_), write);
    return;
  }
  std::rotate(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(ring_begin_), tail_.end());
  std::string_view tail(tail_);
  // A half line at the seam says less than it misleads, unless lines are that long.
  constexpr std::size_t k_near = 64 * 1024;
  if (const auto newline = tail.substr(0, k_near).find('\n');
      newline != std::string_view::npos && newline + 1 < tail.size())
    tail.remove_prefix(newline + 1);
  cut_ = bundle::Cut{head, tail.size(), seen_ - head - tail.size()};
  const std::string note = std::string(line_open_ ? "\n" : "") +
                           "[triage: " + std::to_string(cut_->dropped) + " bytes were cut here]\n";
  emit(note, write);
  emit(tail, write);
}

}  // namespace triage::collectors

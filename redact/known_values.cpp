#include "redact/known_values.hpp"

#include <algorithm>
#include <cstring>

#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

std::uint32_t four_bytes(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint64_t eight_bytes(const char* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <unsigned Bits>
std::uint32_t slot_of(std::uint32_t four) {
  return (four * 2654435761U) >> (32U - Bits);
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Short values must stand alone: they could be part of a longer word that means something else.
constexpr std::size_t k_stands_alone_below = 12;
/// A text that was cut (a preview, a log limit) is recognised from this many bytes on.
constexpr std::size_t k_shortest_cut_text = 24;
constexpr std::size_t k_anchor = 8;
/// Every so many bytes of a line are looked at; four bytes at any of these offsets of an anchor.
constexpr std::size_t k_stride = 4;
/// Values that share an anchor beyond this number are not looked for: hostile input must not make
/// every line slow.
constexpr std::size_t k_most_of_an_anchor = 64;

static_assert(KnownValues::k_shortest >= k_anchor);

/// Where a text ends that began at `begin` like a known one and goes on differently at `at`: at
/// what ends values, and no farther than it reads like somebody's words. `at` when the known text
/// was only cut there.
std::size_t end_of_text(std::string_view line, std::size_t begin, std::size_t at) {
  constexpr std::size_t k_longest = 4096;
  const std::string_view rest = line.substr(at, k_longest);
  if (rest.starts_with("...") || rest.starts_with("\xE2\x80\xA6")) return at;
  std::size_t stop = 0;
  for (; stop < rest.size(); ++stop) {
    const char c = rest[stop];
    if (std::strchr("\"`<{}[]|\t", c) != nullptr) break;
    const char next = stop + 1 < rest.size() ? rest[stop + 1] : '\0';
    if (c == '\\' && (next == '"' || next == '\'' || next == '\\')) break;
    if (c == '\'' && !is_word(next)) break;
    if (c != ' ') continue;
    if (next == '(') break;
    std::size_t word = stop + 1;
    while (word < rest.size() && (is_word(rest[word]) || rest[word] == '_')) ++word;
    if (word < rest.size() && word > stop + 1 && rest[word] == '=') break;
  }
  while (stop > 0 && (rest[stop - 1] == ' ' || rest[stop - 1] == ',')) --stop;
  const std::string_view whole = line.substr(begin, at + stop - begin);
  const bool words = is_prose(rest.substr(0, stop), 2);
  if (!words || is_technical(whole) || reads_as_report(whole, Doubt::report)) return at;
  return at + stop;
}

}  // namespace

void KnownValues::add(std::string_view text, What what) {
  if (is_content(what)) {
    // Elsewhere a sign at its end may be half of an escape, and blanks at its start an indent.
    static constexpr std::string_view k_around = " \t\"'`\\";
    const auto first = text.find_first_not_of(k_around);
    if (first == std::string_view::npos) return;
    text = text.substr(first, text.find_last_not_of(k_around) + 1 - first);
  }
  if (text.size() < k_shortest || text.size() > k_longest) return;
  if (is_content(what)) {
    if (text.size() < k_shortest_cut_text || !is_prose(text, 4) || is_technical(text)) return;
  } else if (what != What::host && !is_distinctive(text) &&
             !(what == What::user && text.size() >= 8)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (values_.size() >= k_most || bytes_ + text.size() > k_most_bytes || seen_.contains(text))
    return;
  values_.push_back({std::string(text), what});
  seen_.insert(values_.back().text);
  bytes_ += text.size();
  size_.store(values_.size(), std::memory_order_release);
}

const KnownValues::Value& KnownValues::at(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  return values_[index];
}

void KnownValueFinder::refresh() {
  const std::size_t size = values_->size();
  for (; taken_ < size; ++taken_) {
    const KnownValues::Value& value = values_->at(taken_);
    const std::size_t offset = is_content(value.what) ? 0 : value.text.size() - k_anchor;
    const char* anchor = value.text.data() + offset;
    for (std::size_t shift = 0; shift < k_stride; ++shift) {
      const std::uint32_t slot = slot_of<k_slot_bits>(four_bytes(anchor + shift));
      bitmap_[slot >> 6U] |= std::uint64_t{1} << (slot & 63U);
    }
    std::vector<Anchor>& same = anchors_[eight_bytes(anchor)];
    if (same.size() < k_most_of_an_anchor) same.push_back({&value, offset});
  }
}

void KnownValueFinder::find(std::string_view line, std::vector<Hit>& hits) {
  if (values_->size() != taken_) refresh();
  if (taken_ == 0 || line.size() < k_anchor) return;
  std::size_t work = line.size() * 32 + (1U << 20U);
  const std::size_t last = line.size() - sizeof(std::uint32_t);
  const auto bit = [data = line.data(), bitmap = bitmap_.data()](std::size_t at) {
    const std::uint32_t slot = slot_of<k_slot_bits>(four_bytes(data + at));
    return bitmap[slot >> 6U] >> (slot & 63U) & 1U;
  };
  for (std::size_t at = 0; at <= last; at += k_stride) {
    while (at + 3 * k_stride <= last &&
           (bit(at) | bit(at + k_stride) | bit(at + 2 * k_stride) | bit(at + 3 * k_stride)) == 0)
      at += 4 * k_stride;
    if (at > last) break;
    if (bit(at) == 0) continue;
    for (std::size_t shift = std::min(at, k_stride - 1) + 1; shift-- > 0;)
      if (at - shift + k_anchor <= line.size() && !look_at(line, at - shift, work, hits)) return;
  }
}

bool KnownValueFinder::look_at(std::string_view line, std::size_t at, std::size_t& work,
                               std::vector<Hit>& hits) {
  const auto found = anchors_.find(eight_bytes(line.data() + at));
  if (found == anchors_.end()) return true;
  if (work == 0) {  // a hostile line: what was not looked at is masked
    hits.push_back({at, line.size(), found->second.front().value});
    return false;
  }
  for (const Anchor& anchor : found->second) {
    const std::string& text = anchor.value->text;
    if (anchor.offset > at) continue;
    const std::size_t begin = at - anchor.offset;
    const std::string_view rest = line.substr(begin, text.size());
    const auto same = static_cast<std::size_t>(
        std::mismatch(rest.begin(), rest.end(), text.begin()).first - rest.begin());
    work = work > same + 1 ? work - same - 1 : 0;
    const bool cut_text = is_content(anchor.value->what) && same >= k_shortest_cut_text;
    if (same != text.size() && !cut_text) continue;
    if (same < k_stands_alone_below || anchor.value->what == What::user ||
        anchor.value->what == What::host) {
      const bool before = begin > 0 && is_word(line[begin - 1]);
      const bool after = begin + same < line.size() && is_word(line[begin + same]);
      if (before || after) continue;
    }
    const std::size_t end =
        same == text.size() ? begin + same : end_of_text(line, begin, begin + same);
    hits.push_back({begin, end, anchor.value, end > begin + same});
  }
  return true;
}

}  // namespace triage::redact

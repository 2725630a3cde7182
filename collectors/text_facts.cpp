#include "collectors/text_facts.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "evidence/time.hpp"

namespace triage::collectors {
namespace {

constexpr std::size_t k_window = 8 * 1024;

/// A time at the beginning of a line, in the forms that say themselves when it was.
struct LineTime {
  std::string_view format;  ///< `rfc3339`, `monotonic`
  std::string text;
};

std::optional<LineTime> time_of(std::string_view line) {
  if (line.empty()) return std::nullopt;
  if (line[0] == '[') {
    // `[ 1843.308145] NVRM: ...`: seconds since boot.
    const auto close = line.find(']');
    if (close == std::string_view::npos || close > 20) return std::nullopt;
    const std::string number(base::trim(line.substr(1, close - 1)));
    if (number.find('.') == std::string::npos || !base::parse_double(number)) return std::nullopt;
    return LineTime{"monotonic", number};
  }
  const auto end = line.find(' ');
  constexpr std::size_t k_shortest = 20;  // 2026-01-31T10:00:00Z
  if (end == std::string_view::npos || end < k_shortest || end > 40 || line[4] != '-')
    return std::nullopt;
  const std::string stamp(line.substr(0, end));
  const auto read = evidence::parse_rfc3339(stamp);
  if (!read) return std::nullopt;
  return LineTime{"rfc3339", evidence::to_rfc3339({read->ns, 0})};
}

}  // namespace

void TextFacts::look_at_bytes(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      valid_ = valid_ && follow_ == 0;
      follow_ = 0;
      continue;
    }
    ascii_ = false;
    if ((byte & 0xC0U) == 0x80U) {
      valid_ = valid_ && follow_ > 0;
      follow_ = std::max(0, follow_ - 1);
    } else {
      valid_ = valid_ && follow_ == 0 && byte >= 0xC2 && byte <= 0xF4;
      follow_ = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    }
  }
}

void TextFacts::feed(std::string_view text) {
  look_at_bytes(text);
  if (head_.size() < k_window) head_.append(text.substr(0, k_window - head_.size()));
  tail_.append(text.substr(text.size() - std::min(text.size(), k_window)));
  if (tail_.size() > 2 * k_window) tail_.erase(0, tail_.size() - k_window);
}

void TextFacts::describe(bundle::ManifestItem& row) const {
  row.encoding = ascii_ ? "ascii" : valid_ && follow_ == 0 ? "utf-8" : "unknown-8bit";
  for (const auto line : base::split_lines(head_)) {
    const auto time = time_of(line);
    if (!time) continue;
    row.time_format = time->format;
    row.time_first = time->text;
    break;
  }
  if (row.time_format.empty()) return;
  const auto lines = base::split_lines(tail_);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto time = time_of(*line);
    if (!time || time->format != row.time_format) continue;
    row.time_last = time->text;
    return;
  }
}

}  // namespace triage::collectors

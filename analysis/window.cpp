#include "analysis/window.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace triage::analysis {

std::size_t count_lines(std::string_view text) {
  std::size_t total = 0;
  // Counting in bytes, 128 at most in each, lets the compiler count sixteen and more at a time.
  constexpr std::size_t k_step = 128;
  std::array<std::uint8_t, 64> counts{};
  std::size_t at = 0;
  while (text.size() - at >= counts.size()) {
    const std::size_t rounds = std::min(k_step, (text.size() - at) / counts.size());
    counts.fill(0);
    for (std::size_t round = 0; round < rounds; ++round, at += counts.size())
      for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] = static_cast<std::uint8_t>(counts[i] + (text[at + i] == '\n' ? 1 : 0));
    for (const std::uint8_t count : counts) total += count;
  }
  for (; at < text.size(); ++at) total += text[at] == '\n' ? 1 : 0;
  return total;
}

Window::Window(bundle::ByteStream& stream, std::uint64_t first_line, std::vector<char>& memory)
    : stream_(stream), buffer_(memory), line_(first_line) {
  if (const auto held = stream.take_held()) {
    in_memory_ = true;
    data_ = held->data();
    used_ = held->size();
    bytes_ = used_;
    return;
  }
  if (buffer_.size() < k_least) buffer_.resize(k_least);
  data_ = buffer_.data();
}

void Window::fill() {
  if (in_memory_) return;
  // Keep the context before the block's end; it is the new block's context.
  const std::size_t keep_from = end_ > k_context ? end_ - k_context : 0;
  std::memmove(buffer_.data(), buffer_.data() + keep_from, used_ - keep_from);
  used_ -= keep_from;
  end_ -= keep_from;
  dropped_ += keep_from;
  constexpr std::size_t k_full = k_context + k_block + k_context;
  while (!eof_ && used_ < k_full) {
    // Most files end before this: their pages are never touched.
    if (used_ == buffer_.size()) {
      buffer_.resize(k_full);
      data_ = buffer_.data();
    }
    const std::size_t got = stream_.read({buffer_.data() + used_, buffer_.size() - used_});
    if (got == 0) eof_ = true;
    used_ += got;
    bytes_ += got;
  }
}

bool Window::next() {
  // The block that is done: pieces of a long line overlap, but hold no line end twice.
  const std::uint64_t newlines = count_lines({data_ + begin_, end_ - begin_});
  line_ += newlines;
  total_lines_ += newlines;
  if (newlines > 0 || end_ > begin_) open_line_ = data_[end_ - 1] != '\n';
  const std::size_t overlap = piece_ ? std::min(k_overlap, end_ - begin_) : 0;
  fill();
  if (end_ == used_) {
    begin_ = end_;
    if (open_line_) ++total_lines_;
    open_line_ = false;
    return false;
  }
  const std::size_t fresh = end_;
  begin_ = end_ - overlap;
  piece_ = false;
  const std::size_t limit = limit_from(fresh);
  end_ = limit == used_ ? used_ : whole_lines_end(fresh, limit);
  return true;
}

std::size_t Window::limit_from(std::size_t from) const {
  if (in_memory_) return used_ - from > k_block + k_context ? from + k_block : used_;
  return eof_ ? used_ : used_ - k_context;
}

std::size_t Window::whole_lines_end(std::size_t from, std::size_t limit) {
  const std::size_t last = std::string_view(data_ + from, limit - from).rfind('\n');
  if (last != std::string_view::npos) return from + last + 1;
  const std::size_t next =
      std::string_view(data_ + limit, std::min(k_context, used_ - limit)).find('\n');
  if (next != std::string_view::npos) return limit + next + 1;
  piece_ = true;
  ++cut_lines_;
  return limit;
}

std::optional<Window::Line> Window::line_before(std::size_t at, std::size_t from) const {
  const std::size_t floor = from > k_context ? from - k_context : 0;
  if (at <= floor || at == 0) return std::nullopt;
  const std::size_t stop = at - 1;  // the '\n'
  const std::size_t newline = std::string_view(data_, stop).rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  if (begin < floor) return std::nullopt;
  std::string_view line(data_ + begin, stop - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return Line{line, begin};
}

std::optional<Window::Line> Window::line_after(std::size_t at, std::size_t from) const {
  const std::size_t ceiling = std::min(used_, from + k_context);
  if (at >= ceiling) return std::nullopt;
  const std::size_t end = std::string_view(data_ + at, ceiling - at).find('\n');
  if (end == std::string_view::npos || at + end + 1 >= ceiling) return std::nullopt;
  const std::size_t begin = at + end + 1;
  const std::string_view rest(data_ + begin, ceiling - begin);
  std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return Line{line, begin};
}

std::vector<std::string_view> Window::lines_before(std::size_t at, std::size_t count) const {
  std::vector<std::string_view> lines;
  for (auto line = line_before(at, at); line && lines.size() < count;
       line = line_before(line->begin, at))
    lines.push_back(line->text);
  return lines;
}

std::vector<std::string_view> Window::lines_after(std::size_t at, std::size_t count) const {
  std::vector<std::string_view> lines;
  for (auto line = line_after(at, at); line && lines.size() < count;
       line = line_after(line->begin, at))
    lines.push_back(line->text);
  return lines;
}

}  // namespace triage::analysis

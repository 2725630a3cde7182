#include "analysis/stretch.hpp"

#include <algorithm>

#include "analysis/json_line.hpp"

namespace triage::analysis {

void Stretch::open(std::string_view raw, std::size_t begin) {
  raw_ = text_ = raw;
  begin_ = begin;
  if (format_ == evidence::Format::json_lines) decode();
}

void Stretch::decode() {
  decoded_.clear();
  raw_lines_.clear();
  for (std::size_t begin = 0; begin < raw_.size();) {
    const std::size_t end = std::min(raw_.find('\n', begin), raw_.size());
    const std::string_view raw = raw_.substr(begin, end - begin);
    raw_lines_.push_back({decoded_.size(), begin, end});
    const auto text = decode_json_text(raw, kind_);
    const std::size_t at = decoded_.size();
    decoded_ += text ? std::string_view(*text) : raw;
    std::replace(decoded_.begin() + static_cast<std::ptrdiff_t>(at), decoded_.end(), '\n', ' ');
    decoded_ += '\n';
    begin = end + 1;
  }
  text_ = decoded_;
}

const Stretch::RawLine* Stretch::raw_line(std::size_t decoded_offset) const {
  const auto it = std::upper_bound(
      raw_lines_.begin(), raw_lines_.end(), decoded_offset,
      [](std::size_t offset, const RawLine& l) { return offset < l.decoded_begin; });
  return it == raw_lines_.begin() ? nullptr : &*std::prev(it);
}

LinePrefix Stretch::prefix_of(const Candidate& line) const {
  if (const RawLine* raw = raw_line(line.begin))
    if (auto json = decode_json_line(raw_.substr(raw->begin, raw->end - raw->begin), kind_))
      return std::move(json->prefix);
  return read_prefix(text_of(line), kind_);
}

LinePrefix Stretch::read_prefix_of(std::string_view raw_line) const {
  if (format_ == evidence::Format::json_lines)
    if (auto json = decode_json_line(raw_line, kind_)) return std::move(json->prefix);
  return read_prefix(raw_line, kind_);
}

std::size_t Stretch::begin_in_window(const Candidate& line) const {
  const RawLine* raw = raw_line(line.begin);
  return begin_ + (raw != nullptr ? raw->begin : line.begin);
}

std::size_t Stretch::end_in_window(const Candidate& line) const {
  const RawLine* raw = raw_line(line.begin);
  return begin_ + (raw != nullptr ? raw->end : line.end);
}

}  // namespace triage::analysis

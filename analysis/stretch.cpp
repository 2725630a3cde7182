#include "analysis/stretch.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/json_line.hpp"
#include "base/text.hpp"

namespace triage::analysis {
namespace {

// A file that is coloured is so from its beginning, and again in every block.
constexpr std::size_t k_looked_at = 64U << 10U;

bool has_escape(std::string_view text) {
  return text.find('\x1b') != std::string_view::npos;
}

}  // namespace

void Stretch::open(std::string_view raw, std::size_t begin) {
  raw_ = text_ = raw;
  begin_ = begin;
  raw_lines_.clear();
  if (format_ == evidence::Format::json_lines) {
    decode([this](std::string_view line) {
      auto text = decode_json_text(line, kind_);
      return text && has_escape(*text) ? base::without_colours(*text) : text;
    });
    return;
  }
  coloured_ = has_escape(raw.substr(0, k_looked_at));
  if (coloured_)
    decode([](std::string_view line) {
      return has_escape(line) ? std::optional(base::without_colours(line)) : std::nullopt;
    });
}

template <class TextOfLine>
void Stretch::decode(const TextOfLine& text_of_line) {
  decoded_.clear();
  decoded_.reserve(raw_.size() + 1);  // what is decoded is hardly ever longer
  for (std::size_t begin = 0; begin < raw_.size();) {
    const std::size_t end = std::min(raw_.find('\n', begin), raw_.size());
    const std::string_view raw = raw_.substr(begin, end - begin);
    raw_lines_.push_back({decoded_.size(), begin, end});
    const std::optional<std::string> text = text_of_line(raw);
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
  if (const RawLine* raw = raw_line(line.begin); raw != nullptr && !coloured_)
    if (auto json = decode_json_line(raw_.substr(raw->begin, raw->end - raw->begin), kind_))
      return std::move(json->prefix);
  return read_prefix(text_of(line), kind_);
}

LinePrefix Stretch::read_prefix_of(std::string_view raw_line) const {
  if (format_ == evidence::Format::json_lines)
    if (auto json = decode_json_line(raw_line, kind_)) return std::move(json->prefix);
  std::string memory;
  return read_prefix(searched(raw_line, memory), kind_);
}

std::string_view Stretch::searched(std::string_view raw_line, std::string& memory) const {
  if (!coloured_ || !has_escape(raw_line)) return raw_line;
  memory = base::without_colours(raw_line);
  return memory;
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

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "bundle/recognise_detail.hpp"

namespace triage::bundle {
namespace {

using detail::Sample;

constexpr std::size_t k_max_lines = 1000;

/// Text may hold stray control bytes, NULs of a crashed writer or any encoding; binary is full of
/// them, or, compressed or encrypted, of both control bytes and bytes that form no character.
bool is_binary(std::string_view head) {
  std::size_t strange = 0;
  std::size_t broken = 0;
  for (std::size_t at = 0; at < head.size(); ++at) {
    const char c = head[at];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const std::size_t length = base::utf8_length(head, at);
      length == 0 ? ++broken : at += length - 1;
    } else if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\b' &&
               c != '\x1b') {
      ++strange;
    }
  }
  constexpr std::size_t k_one_in = 10;
  return strange * k_one_in > head.size() ||
         (strange * k_one_in * 3 > head.size() && broken * 5 > head.size());
}

Sample make_sample(std::string_view head) {
  constexpr std::string_view k_utf8_mark = "\xef\xbb\xbf";
  if (detail::starts(head, k_utf8_mark)) head.remove_prefix(k_utf8_mark.size());
  Sample sample{head, {}};
  std::string_view rest = head;
  while (!rest.empty() && sample.lines.size() < k_max_lines) {
    const auto newline = rest.find('\n');
    // The last line is cut by the end of the head; it counts when it is the only one.
    if (newline == std::string_view::npos && !sample.lines.empty() && head.size() >= 60 * 1024)
      break;
    std::string_view line = rest.substr(0, newline);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    sample.lines.push_back(line);
    if (newline == std::string_view::npos) break;
    rest.remove_prefix(newline + 1);
  }
  return sample;
}

}  // namespace

namespace detail {

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool shaped(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    switch (shape[i]) {
      case '9':
        if (std::isdigit(c) == 0) return false;
        break;
      case 'a':
        if (std::isalpha(c) == 0) return false;
        break;
      case 'x':
        if (std::isxdigit(c) == 0) return false;
        break;
      case '_':
        break;
      default:
        if (text[i] != shape[i]) return false;
    }
  }
  return true;
}

std::size_t iso_stamp_length(std::string_view text) {
  if (!shaped(text, "9999-99-99_99:99:99") || (text[10] != 'T' && text[10] != ' ')) return 0;
  std::size_t at = 19;
  if (at < text.size() && (text[at] == '.' || text[at] == ',')) {
    std::size_t to = at + 1;
    while (to < text.size() && std::isdigit(static_cast<unsigned char>(text[to])) != 0) ++to;
    if (to > at + 1) at = to;
  }
  const std::string_view zone = text.substr(at);
  if (starts(zone, "Z")) return at + 1;
  if (shaped(zone, "_99:99") && (zone[0] == '+' || zone[0] == '-')) return at + 6;
  if (shaped(zone, "_9999") && (zone[0] == '+' || zone[0] == '-')) return at + 5;
  return at;
}

}  // namespace detail

Recognised recognise(std::string_view head, std::string_view /*path*/) {
  Recognised result;
  if (head.empty()) return result;
  if (is_binary(head)) {
    result.binary = true;
    result.format = evidence::Format::binary;
    return result;
  }
  const bool coloured = head.find('\x1b') != std::string_view::npos;
  const std::string plain = coloured ? base::without_colours(head) : std::string();
  const Sample sample = make_sample(coloured ? std::string_view(plain) : head);
  if (const auto found = detail::recognise_json(sample)) return *found;
  if (const auto found = detail::recognise_kubernetes(sample)) return *found;
  if (const auto found = detail::recognise_gpu(sample)) return *found;
  if (const auto found = detail::recognise_host(sample)) return *found;
  return detail::recognise_log(sample);
}

}  // namespace triage::bundle

#include "redact/decode.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/utf8.hpp"

namespace triage::redact {
namespace {

/// The number of `digits` hex digits at `at`.
std::optional<std::uint32_t> hex_number(std::string_view text, std::size_t at, std::size_t digits) {
  return base::hex_number(text.substr(std::min(at, text.size())), digits);
}

/// Decodes the escape at `at` (a backslash) into `out`; the number of bytes it takes.
std::size_t unescape(std::string_view source, std::size_t at, std::string& out) {
  if (at + 1 >= source.size()) {
    out += '\\';
    return 1;
  }
  switch (source[at + 1]) {
    case 'n':
      out += '\n';
      return 2;
    case 't':
      out += '\t';
      return 2;
    case 'r':
      out += '\r';
      return 2;
    case 'b':
      out += '\b';
      return 2;
    case 'f':
      out += '\f';
      return 2;
    case '"':
    case '\'':
    case '\\':
    case '/':
      out += source[at + 1];
      return 2;
    case 'x': {
      const auto code = hex_number(source, at + 2, 2);
      if (!code) break;
      out += static_cast<char>(*code);
      return 4;
    }
    case 'u': {
      const auto code = hex_number(source, at + 2, 4);
      if (!code) break;
      if (*code >= 0xD800 && *code < 0xDC00 && source.substr(at + 6).starts_with("\\u")) {
        const auto low = hex_number(source, at + 8, 4);
        if (low && *low >= 0xDC00 && *low < 0xE000) {
          base::append_utf8(out, 0x10000U + ((*code - 0xD800U) << 10U) + (*low - 0xDC00U));
          return 12;
        }
      }
      base::append_utf8(out, *code);
      return 6;
    }
    default:
      break;
  }
  out += '\\';
  return 1;
}

/// Decodes what stands at `at` into `out`; the number of bytes it takes.
std::size_t step(std::string_view source, std::size_t at, Escapes escapes, std::string& out) {
  const char c = source[at];
  if (escapes == Escapes::backslash && c == '\\') return unescape(source, at, out);
  if (escapes == Escapes::percent && c == '%') {
    const auto code = hex_number(source, at + 1, 2);
    out += code ? static_cast<char>(*code) : c;
    return code ? 3 : 1;
  }
  out += escapes == Escapes::percent && c == '+' ? ' ' : c;
  return 1;
}

/// Values of the base64 digits, both alphabets; -1 for what is none.
constexpr std::array<std::int16_t, 256> make_base64() {
  std::array<std::int16_t, 256> values{};
  for (auto& value : values) value = -1;
  for (std::size_t i = 0; i < 26; ++i) {
    values['A' + i] = static_cast<std::int16_t>(i);
    values['a' + i] = static_cast<std::int16_t>(26 + i);
  }
  for (std::size_t i = 0; i < 10; ++i) values['0' + i] = static_cast<std::int16_t>(52 + i);
  values['+'] = values['-'] = 62;
  values['/'] = values['_'] = 63;
  return values;
}
constexpr std::array<std::int16_t, 256> k_base64 = make_base64();

bool decode_base64_into(std::string_view source, std::string& out) {
  while (!source.empty() && source.back() == '=') source.remove_suffix(1);
  if (source.size() % 4 == 1) return false;
  out.reserve(source.size() * 3 / 4 + 2);
  unsigned bits = 0;
  int count = 0;
  for (const char c : source) {
    const int value = k_base64[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    bits = (bits << 6U) | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
  }
  return true;
}

/// Text as configuration files and messages are: no control bytes but line ends and tabs.
bool is_text(std::string_view bytes) {
  std::size_t high = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') return false;
    if (byte == 0x7F) return false;
    if (byte >= 0x80) ++high;
  }
  return high * 4 <= bytes.size();
}

std::string escape(std::string_view text, Escapes escapes) {
  std::string out;
  for (const char c : text) {
    if (escapes == Escapes::backslash && (c == '"' || c == '\\')) out += '\\';
    if (escapes == Escapes::percent && c == '"') {
      out += "%22";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Decoded decode(std::string_view source, Escapes escapes) {
  Decoded decoded;
  decoded.source = source;
  decoded.escapes = escapes;
  decoded.text.reserve(source.size());
  decoded.marks.reserve(source.size() / Decoded::k_stride + 1);
  std::size_t next_mark = 0;
  for (std::size_t at = 0; at < source.size();) {
    if (escapes == Escapes::backslash && source[at] != '\\') {
      const std::size_t end = std::min(source.find('\\', at), source.size());
      for (const std::size_t begin = decoded.text.size(); next_mark < begin + end - at;
           next_mark += Decoded::k_stride)
        decoded.marks.push_back({static_cast<std::uint32_t>(next_mark),
                                 static_cast<std::uint32_t>(at + next_mark - begin)});
      decoded.text += source.substr(at, end - at);
      at = end;
      continue;
    }
    if (decoded.text.size() >= next_mark) {
      decoded.marks.push_back(
          {static_cast<std::uint32_t>(decoded.text.size()), static_cast<std::uint32_t>(at)});
      next_mark += Decoded::k_stride;
    }
    at += step(source, at, escapes, decoded.text);
  }
  return decoded;
}

std::size_t Decoded::source_of(std::size_t at) const {
  if (at >= text.size()) return source.size();
  // The mark of a stride may lie a few bytes behind its first byte.
  std::size_t index = std::min(at / k_stride, marks.size() - 1);
  if (marks[index].text > at) --index;
  std::size_t place = marks[index].source;
  std::size_t behind = marks[index].text;
  std::string piece;
  while (place < source.size()) {
    piece.clear();
    const std::size_t taken = step(source, place, escapes, piece);
    behind += piece.size();
    if (behind > at) break;
    place += taken;
  }
  return place;
}

void map_to_source(const Decoded& decoded, std::size_t base, Edits& edits, Edits& out) {
  for (Edit& edit : edits) {
    edit.begin = base + decoded.source_of(edit.begin);
    // The end of an edit is where the byte after it starts.
    edit.end = base + decoded.source_of(edit.end);
    if (edit.replacement.find_first_of("\"\\") != std::string::npos)
      edit.replacement = escape(edit.replacement, decoded.escapes);
    out.push_back(std::move(edit));
  }
}

std::optional<std::string> decode_base64(std::string_view source) {
  std::string out;
  if (!decode_base64_into(source, out)) return std::nullopt;
  return out;
}

std::optional<std::string> decode_base64_text(std::string_view source, std::size_t most) {
  if (source.size() < 8 || source.size() > most) return std::nullopt;
  // The first bytes rule nearly everything out that is no text.
  std::string head;
  if (!decode_base64_into(source.substr(0, 16), head) || !is_text(head)) return std::nullopt;
  auto out = decode_base64(source);
  if (!out || !is_text(*out)) return std::nullopt;
  return out;
}

}  // namespace triage::redact

#include "report/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "report/display.hpp"

namespace triage::report {
namespace {

void append_unit(std::string& out, unsigned unit) {
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", unit);
}

void append_escape(std::string& out, char32_t code) {
  if (code < 0x10000) return append_unit(out, static_cast<unsigned>(code));
  const auto rest = static_cast<unsigned>(code - 0x10000);
  append_unit(out, 0xD800U + (rest >> 10U));
  append_unit(out, 0xDC00U + (rest & 0x3FFU));
}

template <class Integer>
void append_number(std::string& out, Integer value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

void append_quoted(std::string& out, std::string_view text, JsonWriter::Embed embed) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t plain = at;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out += text.substr(at, plain - at);
    at = plain;
    if (at == text.size()) break;
    const Character c = character_at(text, at);
    switch (c.code) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case 0xFFFD:
        out += "\xEF\xBF\xBD";
        break;
      default:
        if (is_deceptive(c.code) || (embed == JsonWriter::Embed::in_html && c.code < 0x7F))
          append_escape(out, c.code);
        else
          out += text.substr(at, c.length);
    }
    at += c.length;
  }
  out += '"';
}

}  // namespace

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_in_container_) out_ += depth_ <= pretty_depth_ ? "," : ", ";
  if (depth_ > 0 && depth_ <= pretty_depth_) new_line();
  first_in_container_ = false;
}

void JsonWriter::open(char bracket) {
  before_value();
  out_ += bracket;
  ++depth_;
  first_in_container_ = true;
}

void JsonWriter::close(char bracket) {
  const bool on_lines = depth_ <= pretty_depth_ && !first_in_container_;
  --depth_;
  if (on_lines) new_line();
  out_ += bracket;
  first_in_container_ = false;
}

JsonWriter& JsonWriter::begin_object() {
  open('{');
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  close('}');
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  open('[');
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  close(']');
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  append_quoted(out_, name, embed_);
  out_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  before_value();
  append_quoted(out_, value, embed_);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
  before_value();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::unsigned_integer(std::uint64_t value) {
  before_value();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  // 2^53: beyond it a double is no exact integer.
  if (value == std::trunc(value) && std::fabs(value) < 9007199254740992.0)
    return integer(static_cast<std::int64_t>(value));
  before_value();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::member_or_null(std::string_view name, std::string_view value) {
  key(name);
  return value.empty() ? null() : text(value);
}

}  // namespace triage::report

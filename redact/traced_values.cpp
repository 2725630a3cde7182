// Values that a traceback shows under the line of code that they belong to.

#include "redact/chars.hpp"
#include "redact/line_machine.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

constexpr std::string_view k_pipe = "\xE2\x94\x82";
constexpr std::string_view k_corner = "\xE2\x94\x94 ";
constexpr std::string_view k_plain_corner = "-> ";
constexpr std::size_t k_longest_code = 500;

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++count;
  return count;
}

/// The name at a column of a line of code.
std::string_view name_at(std::string_view code, std::size_t column) {
  std::size_t at = 0;
  while (at < code.size() && columns(code.substr(0, at + 1)) <= column) ++at;
  if (at < code.size() && code[at] == '.') ++at;
  std::size_t end = at;
  while (end < code.size() && (is_alnum(code[end]) || code[end] == '_')) ++end;
  while (at > 0 && (is_alnum(code[at - 1]) || code[at - 1] == '_')) --at;
  return code.substr(at, end - at);
}

}  // namespace

/// loguru with `diagnose` (its default) and better_exceptions:
///
///     answer = ask(question, token=token)
///              |   |               -> 'x'
///
/// False when the line shows no value, or none that is masked here.
bool LineMachine::traced_value(std::string_view line, std::size_t begin, Edits& out) {
  std::size_t at = behind_spaces(line, begin);
  const std::size_t indent = at - begin;
  bool pipes = false;
  while (at < line.size() && (line[at] == '|' || line.substr(at).starts_with(k_pipe))) {
    at = behind_spaces(line, at + (line[at] == '|' ? 1 : k_pipe.size()));
    pipes = true;
  }
  const std::string_view rest = line.substr(at);
  const bool corner = rest.starts_with(k_corner);
  if (!corner && !rest.starts_with(k_plain_corner)) {
    const bool may_be_code = at < line.size() && (is_alpha(line[at]) || line[at] == '_');
    if (!pipes && indent >= 4 && may_be_code && line.size() - begin <= k_longest_code)
      code_ = line.substr(begin);
    return false;
  }
  if (indent < 4 || code_.empty()) return false;
  std::size_t quote = at + (corner ? k_corner.size() : k_plain_corner.size());
  while (quote < line.size() && is_string_prefix(line.substr(quote, 1))) ++quote;
  if (quote + 2 >= line.size() || (line[quote] != '\'' && line[quote] != '"')) return false;
  const std::size_t first = quote + 1;
  const std::size_t end = line.back() == line[quote] ? line.size() - 1 : line.size();
  const std::string_view value = line.substr(first, end - first);
  const std::string_view name = name_at(code_, columns(line.substr(begin, at - begin)));
  const KeyClass key = name.empty() ? KeyClass{} : env_.keys.classify(name);
  const std::size_t before = out.size();
  if (key.is_secret()) {
    Scanner(env_, state_, line, out, depth_, true).mask_value(key, first, end);
  } else {
    const bool sure = key.kind == KeyKind::content;
    const bool words = is_prose(value, sure ? 3 : 4) && !is_technical(value) &&
                       (sure || !reads_as_report(value, Doubt::content));
    if (words) mask_rest(line, first, end, key.masks_text() ? key.what : What::text, out);
  }
  return out.size() > before;
}

}  // namespace triage::redact

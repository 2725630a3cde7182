#include "report/escape.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/display.hpp"

namespace triage::report {
namespace {

/// An entity that draws nothing: it parts what a renderer would take for a mention, a reference or
/// a link, and stands visibly in the source.
constexpr std::string_view k_parting = "&#8203;";

std::size_t longest_run(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `- x`, `+ x`, `## x`, `1. x`, `---`, `===` at the start of a list item would begin a block.
void escape_block_start(std::string& text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::size_t marker_end = std::min(text.find_first_not_of("-+=#"), text.size());
  std::size_t at = 0;
  if (digits > 0) {
    const bool ordered = digits < text.size() && (text[digits] == '.' || text[digits] == ')');
    if (!ordered) return;
    at = digits;
    marker_end = digits + 1;
  } else if (marker_end == 0) {
    return;
  }
  if (marker_end == text.size() || text[marker_end] == ' ') text.insert(at, "\\");
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  // U+FFFE and U+FFFF are valid UTF-8 and no XML characters.
  for (const char* refused : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    if (base::contains(out, refused)) out = base::replace_all(out, refused, "\xEF\xBF\xBD");
  return out;
}

std::string markdown_text(std::string_view text) {
  const std::string shown = visible(text);
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    const char next = i + 1 < shown.size() ? shown[i + 1] : '\0';
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '|':
      case '~':
      case '$':
        out += '\\';
        out += c;
        break;
      case '@':
        out += c;
        out += k_parting;
        break;
      case '#':
      case '!':
      case '%':
        out += c;
        if (is_digit(next) || next == '[') out += k_parting;
        break;
      case ':':
        out += c;
        if (next == '/') out += k_parting;
        break;
      default:
        out += c;
    }
  }
  for (const char* www : {"www.", "WWW."})
    if (base::contains(out, www)) out = base::replace_all(out, www, "www&#8203;.");
  escape_block_start(out);
  return out;
}

std::string markdown_code(std::string_view text, InTable in_table) {
  if (text.empty()) return {};
  std::string shown = visible(text);
  if (in_table == InTable::yes) shown = base::replace_all(shown, "|", "\\|");
  const std::string ticks(longest_run(shown, '`') + 1, '`');
  const bool pad = shown.front() == '`' || shown.back() == '`';
  return ticks + (pad ? " " : "") + shown + (pad ? " " : "") + ticks;
}

std::string markdown_fence(std::string_view text, std::string_view language) {
  const std::string fence(std::max<std::size_t>(3, longest_run(text, '`') + 1), '`');
  std::string out = fence + std::string(language) + "\n";
  for (const std::string_view line : base::split_lines(text)) out += visible(line) + "\n";
  return out + fence + "\n";
}

}  // namespace triage::report

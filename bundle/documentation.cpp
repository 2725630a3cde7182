#include "bundle/documentation.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "base/text.hpp"
#include "bundle/recognise_detail.hpp"

namespace triage::bundle {
namespace {

constexpr std::size_t k_max_lines = 2000;
/// A quotation in a runbook is a few lines; the log of an issue's body is longer.
constexpr int k_longest_quotation = 8;

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

/// `# Title`, `## Title`; a comment of a script or a scrape has no such company.
bool is_heading(std::string_view line) {
  const auto hashes = line.find_first_not_of('#');
  return hashes != std::string_view::npos && hashes >= 1 && hashes <= 5 && line[hashes] == ' ' &&
         line.size() > hashes + 1 && line.substr(0, 7) != "# HELP " &&
         line.substr(0, 7) != "# TYPE ";
}

/// The line under a title; longer ones are rulers (Open MPI frames its messages with 74 dashes).
bool is_underline(std::string_view line) {
  constexpr std::size_t k_longest_title = 60;
  return line.size() >= 4 && line.size() <= k_longest_title &&
         (line.find_first_not_of('=') == std::string_view::npos ||
          line.find_first_not_of('-') == std::string_view::npos);
}

bool is_list_item(std::string_view line) {
  if (line.size() > 2 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && line[1] == ' ')
    return true;
  const auto digits = line.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits >= 1 && digits <= 2 &&
         line.size() > digits + 1 && (line[digits] == '.' || line[digits] == ')') &&
         line[digits + 1] == ' ';
}

bool is_table_row(std::string_view line) {
  return line.size() > 2 && line.front() == '|' && line.back() == '|' &&
         line.find_first_of("+=") == std::string_view::npos;
}

bool is_fence(std::string_view line) {
  return line.substr(0, 3) == "```" || line.substr(0, 3) == "~~~";
}

/// Words in a row with an end: what people write and programs rarely do.
bool is_sentence(std::string_view line) {
  if (line.empty() || (!is_upper(line[0]) && line[0] != '`' && line[0] != '*')) return false;
  const char last = line.back();
  if (last != '.' && last != ':' && last != '?' && last != '!') return false;
  return std::count(line.begin(), line.end(), ' ') >= 3;
}

/// What loggers begin a line with.
bool is_logged(std::string_view line) {
  using detail::shaped;
  if (detail::iso_stamp_length(line) > 0) return true;
  if (!line.empty() && (line[0] == '[' || line[0] == '(' || line[0] == '{')) return true;
  return shaped(line, "aaa _9 99:99:99") || shaped(line, "9999/99/99 99:99:99") ||
         shaped(line, "99:99:99") || shaped(line, "a9999 99:99:99") ||
         base::contains(line.substr(0, 40), "INFO") ||
         base::contains(line.substr(0, 40), "ERROR") ||
         base::contains(line.substr(0, 40), "WARNING") || line.substr(0, 10) == "Traceback ";
}

struct Shape {
  int lines = 0, headings = 0, written = 0, logged = 0;
  bool long_quotation = false;
};

Shape shape_of(std::string_view head) {
  Shape shape;
  bool fenced = false;
  int quoted = 0;
  bool after_text = false;
  std::size_t read = 0;
  while (!head.empty() && read++ < k_max_lines) {
    const auto end = head.find('\n');
    const std::string_view raw = head.substr(0, end);
    head = end == std::string_view::npos ? std::string_view() : head.substr(end + 1);
    const bool indented = raw.substr(0, 4) == "    " || raw.substr(0, 1) == "\t";
    const std::string_view line = base::trim(raw);
    if (is_fence(line)) {
      fenced = !fenced;
      quoted = 0;
      continue;
    }
    if (line.empty()) {
      if (!fenced) quoted = 0;
      after_text = false;
      continue;
    }
    if (fenced || (indented && !is_list_item(line))) {
      if (++quoted > k_longest_quotation) shape.long_quotation = true;
      continue;
    }
    quoted = 0;
    ++shape.lines;
    if (is_heading(line) || (after_text && is_underline(line))) {
      ++shape.headings;
      ++shape.written;
    } else if (is_list_item(line) || is_table_row(line) || is_sentence(line) || line[0] == '>') {
      ++shape.written;
    } else if (is_logged(line)) {
      ++shape.logged;
    }
    after_text = true;
  }
  return shape;
}

}  // namespace

bool reads_as_documentation(std::string_view head) {
  // Most logs hold nothing that could be a heading.
  if (head.find('#') == std::string_view::npos && !base::contains(head, "====") &&
      !base::contains(head, "----"))
    return false;
  constexpr std::string_view k_utf8_mark = "\xef\xbb\xbf";
  if (head.substr(0, 3) == k_utf8_mark) head.remove_prefix(3);
  const Shape shape = shape_of(head);
  return shape.headings >= 1 && shape.written >= 3 && !shape.long_quotation &&
         shape.written * 2 > shape.lines && shape.logged * 10 <= shape.lines;
}

}  // namespace triage::bundle

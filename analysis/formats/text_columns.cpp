#include "analysis/formats/text_columns.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

constexpr std::array<std::string_view, 6> k_two_words{
    "LAST SEEN", "FIRST SEEN", "NOMINATED NODE", "READINESS GATES", "LAST TRANSITION", "NODE NAME"};

bool blank(char c) {
  return c == ' ' || c == '\t';
}

/// Every column but the first begins behind a blank, and the row reaches the last but one.
bool is_aligned(std::string_view line, const std::vector<Column>& columns) {
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const std::size_t begin = columns[i].begin;
    if (begin > line.size()) return i + 1 == columns.size();
    if (!blank(line[begin - 1])) return false;
    // A cell that begins before its column was pushed left by collapsed blanks.
    if (begin < line.size() && begin >= 2 && !blank(line[begin - 2]) && !blank(line[begin]))
      return false;
  }
  return true;
}

std::vector<std::string_view> read_aligned(std::string_view line,
                                           const std::vector<Column>& columns) {
  std::vector<std::string_view> cells(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : columns[i].begin;
    if (begin >= line.size()) break;
    const std::size_t end = i + 1 < columns.size() ? columns[i + 1].begin : line.size();
    cells[i] = base::trim(line.substr(begin, std::min(end, line.size()) - begin));
  }
  return cells;
}

std::vector<std::string_view> read_words(std::string_view line,
                                         const std::vector<Column>& columns) {
  std::vector<std::string_view> cells(columns.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    while (at < line.size() && blank(line[at])) ++at;
    if (i + 1 == columns.size()) {
      cells[i] = base::trim(line.substr(at));
      break;
    }
    const std::size_t begin = at;
    while (at < line.size() && !blank(line[at])) ++at;
    // `3s (x22 over 7m14s)` and `1 (7m16s ago)` are one cell.
    std::size_t next = at;
    while (next < line.size() && blank(line[next])) ++next;
    if (next < line.size() && line[next] == '(' && next - at == 1) {
      const std::size_t close = line.find(')', next);
      if (close != std::string_view::npos) at = close + 1;
    }
    cells[i] = line.substr(begin, at - begin);
  }
  return cells;
}

std::int64_t seconds(std::string_view text) {
  const auto ns = base::parse_duration_ns(text);
  return ns && !text.empty() ? *ns / 1'000'000'000 : -1;
}

}  // namespace

std::vector<Column> read_header(std::string_view line) {
  std::vector<Column> columns;
  std::size_t at = 0;
  while (at < line.size() && columns.size() < 64) {
    if (blank(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    for (std::string_view two : k_two_words)
      if (base::iequals(line.substr(at, two.size()), two)) end = at + two.size();
    if (end == at)
      while (end < line.size() && !blank(line[end])) ++end;
    std::string name(line.substr(at, end - at));
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    columns.push_back({std::move(name), at});
    at = end;
  }
  return columns;
}

bool has_column(const std::vector<Column>& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Column& column) { return column.name == name; });
}

std::vector<std::string_view> read_row(std::string_view line, const std::vector<Column>& columns) {
  return is_aligned(line, columns) ? read_aligned(line, columns) : read_words(line, columns);
}

std::string_view cell(const std::vector<std::string_view>& row, const std::vector<Column>& columns,
                      std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i)
      if (columns[i].name == name) return row[i];
  return {};
}

Age read_age(std::string_view text) {
  Age age;
  text = base::trim(text);
  const std::size_t open = text.find('(');
  age.last = seconds(base::trim(text.substr(0, open)));
  if (open == std::string_view::npos) return age;
  const std::string_view inside = text.substr(open + 1, text.find(')', open) - open - 1);
  const auto words = base::split_blanks(inside);
  if (words.size() == 3 && words[0].size() > 1 && words[0][0] == 'x' && words[1] == "over") {
    age.count = base::parse_int(words[0].substr(1)).value_or(-1);
    age.first = seconds(words[2]);
  }
  return age;
}

}  // namespace triage::analysis::formats

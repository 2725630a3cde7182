#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Tables that kubectl prints: a header line, cells aligned below it. Rows that do not keep the
/// alignment (pasted, hand-made, a cell longer than its column) are read word by word.
namespace triage::analysis::formats {

struct Column {
  std::string name;       ///< upper case, as in the header
  std::size_t begin = 0;  ///< byte offset in the header line
};

/// The columns of a header line. Names of two words (`LAST SEEN`, `NOMINATED NODE`, `READINESS
/// GATES`, `FIRST SEEN`) are known; others end at a blank.
[[nodiscard]] std::vector<Column> read_header(std::string_view line);
[[nodiscard]] bool has_column(const std::vector<Column>& columns, std::string_view name);

/// The cells of a row, one for each column, trimmed. The last column takes the rest of the line.
[[nodiscard]] std::vector<std::string_view> read_row(std::string_view line,
                                                     const std::vector<Column>& columns);

/// The cell of a column by any of its names, or empty.
[[nodiscard]] std::string_view cell(const std::vector<std::string_view>& row,
                                    const std::vector<Column>& columns,
                                    std::initializer_list<std::string_view> names);

/// `20s (x187 over 49m)`, `12m`, `2d4h`: how long ago last and first, and how often; -1 when
/// unsaid.
struct Age {
  std::int64_t last = -1;   ///< seconds
  std::int64_t first = -1;  ///< seconds
  std::int64_t count = -1;
};
[[nodiscard]] Age read_age(std::string_view text);

}  // namespace triage::analysis::formats

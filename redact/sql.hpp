#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// Statements of SQL, which names like `statement` and `query` hold as often as a person's words.
namespace triage::redact {

[[nodiscard]] bool is_sql(std::string_view text);

/// The texts between quotes in a statement that somebody may have written: words, not the name of a
/// state or a type.
struct SqlLiteral {
  std::size_t begin;
  std::size_t end;
};
[[nodiscard]] std::vector<SqlLiteral> texts_in_sql(std::string_view statement);

}  // namespace triage::redact

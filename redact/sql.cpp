#include "redact/sql.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/values.hpp"

namespace triage::redact {

bool is_sql(std::string_view text) {
  struct Form {
    std::string_view begins;
    std::string_view holds;
  };
  static constexpr auto k_forms = std::to_array<Form>({
      {"SELECT ", " FROM "},
      {"INSERT INTO ", "("},
      {"UPDATE ", " SET "},
      {"DELETE FROM ", ""},
      {"WITH ", " AS ("},
      {"CREATE ", "("},
      {"ALTER ", " TABLE "},
      {"ALTER TABLE ", ""},
      {"SELECT ", "$1"},
      {"COPY ", " FROM "},
      {"TRUNCATE TABLE ", ""},
      {"EXPLAIN ", "SELECT "},
  });
  // Persons who write `select a hotel from the list` write no signs of a statement.
  constexpr std::size_t k_head = 4096;
  text = base::trim(text.substr(0, k_head));
  if (text.size() < 12) return false;
  const bool upper = is_upper(text[0]) && is_upper(text[1]);
  if (!upper && text.find_first_of("=*$(") == std::string_view::npos) return false;
  return std::any_of(k_forms.begin(), k_forms.end(), [&](const Form& form) {
    if (upper) return text.starts_with(form.begins) && base::contains(text, form.holds);
    return iequals(text.substr(0, form.begins.size()), form.begins) && !form.holds.empty() &&
           base::icontains(text, form.holds);
  });
}

std::vector<SqlLiteral> texts_in_sql(std::string_view statement) {
  std::vector<SqlLiteral> texts;
  for (std::size_t at = statement.find('\''); at < statement.size();
       at = statement.find('\'', at)) {
    const std::size_t begin = ++at;
    while (at < statement.size() &&
           (statement[at] != '\'' || (at + 1 < statement.size() && statement[at + 1] == '\'')))
      at += statement[at] == '\'' ? 2 : 1;
    at = std::min(at, statement.size());
    const std::string_view text = statement.substr(begin, at - begin);
    const bool words =
        std::any_of(text.begin(), text.end(),
                    [](char c) { return c == ' ' || is_upper(c) || is_high(c); }) &&
        std::any_of(text.begin(), text.end(), [](char c) { return is_alpha(c) || is_high(c); });
    if (words && !is_masked(text)) texts.push_back({begin, at});
    if (at < statement.size()) ++at;
  }
  return texts;
}

}  // namespace triage::redact

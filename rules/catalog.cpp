#include "rules/catalog.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "rules/pack_reader.hpp"

namespace triage::rules {
namespace {

struct Cell {
  std::string_view text;
  SourcePlace place;
};

class TableReader {
 public:
  TableReader(std::string_view text, std::string file, std::vector<Diagnostic>& diagnostics)
      : text_(text), file_(std::move(file)), diagnostics_(diagnostics) {}

  CatalogTable read(const std::string& name) {
    table_.name = name;
    std::uint32_t number = 0;
    bool header = false;
    for (std::string_view line : base::split_lines(text_)) {
      ++number;
      if (base::trim(line).empty() || line.front() == '#') continue;
      if (!header) {
        header = true;
        read_header(line, number);
        if (failed_) return std::move(table_);
      } else {
        read_row(line, number);
      }
    }
    if (!header) error({file_, 1, 1}, "empty-table", "this table has no header line", "write one");
    check_reachable();
    return std::move(table_);
  }

 private:
  void error(SourcePlace place, std::string code, std::string message, std::string mend) {
    diagnostics_.push_back(make_diagnostic(text_, std::move(place), Diagnostic::Level::error,
                                           std::move(code), std::move(message), std::move(mend)));
  }

  static const std::vector<std::string>& known_columns() {
    static const std::vector<std::string> names{
        "cause",  "class",   "role",    "severity",   "fault_domain", "quarantine",
        "action", "pattern", "scope",   "confidence", "fatal",        "stands_alone",
        "tags",   "contain", "recover", "diagnose",   "verify",       "prevent",
        "avoid",  "title",   "meaning", "notes",      "source",       "references"};
    return names;
  }

  static bool is_known(std::string_view name) {
    const auto& known = known_columns();
    return name.rfind("fact:", 0) == 0 ||
           std::find(known.begin(), known.end(), name) != known.end();
  }

  void read_header(std::string_view line, std::uint32_t number) {
    std::uint32_t column = 1;
    bool keys = true;
    std::vector<std::string> seen;
    for (std::string_view raw : base::split(line, '\t')) {
      const std::string name(base::trim(raw));
      const SourcePlace place{file_, number, column};
      column += static_cast<std::uint32_t>(raw.size()) + 1;
      if (name.empty()) error(place, "unknown-column", "this column has no name", "name it");
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        error(place, "duplicate-column", "column `" + name + "` stands twice", "remove one");
      seen.push_back(name);
      keys = keys && !is_known(name);
      if (keys) {
        table_.key_columns.push_back(name);
      } else if (!is_known(name)) {
        const std::string near = base::nearest(name, known_columns());
        error(place, "unknown-column", "`" + name + "` is no column of a catalog",
              near.empty() ? "key columns come first; other facts are named fact:" + name
                           : "did you mean `" + near + "`?");
      }
      columns_.push_back(name);
    }
    if (keys && !columns_.empty()) {
      const std::string near = base::nearest(columns_.back(), known_columns());
      const auto at = column - 1 - static_cast<std::uint32_t>(columns_.back().size());
      error({file_, number, at}, "unknown-column",
            "no column of this table says anything: `" + columns_.back() + "` counts as a key",
            near.empty() ? "known: " + base::join(known_columns(), ", ")
                         : "did you mean `" + near + "`?");
    }
    failed_ = !diagnostics_.empty();
    if (table_.key_columns.empty()) {
      error({file_, number, 1}, "missing-key", "this table has no key column",
            "put the key columns first, such as code");
      failed_ = true;
    }
  }

  void read_row(std::string_view line, std::uint32_t number) {
    const auto cells = base::split(line, '\t');
    CatalogRow row;
    row.line = number;
    if (cells.size() > columns_.size())
      error({file_, number, 1}, "too-many-cells",
            "this row has " + std::to_string(cells.size()) + " cells, the header " +
                std::to_string(columns_.size()),
            "remove the cells beyond the header, or a stray tab");
    std::uint32_t column = 1;
    std::string target;
    std::string action;
    for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
      const Cell cell{base::trim(cells[i]), {file_, number, column}};
      column += static_cast<std::uint32_t>(cells[i].size()) + 1;
      if (i < table_.key_columns.size()) {
        read_key(row, columns_[i], cell);
      } else if (!cell.text.empty()) {
        if (columns_[i] == "quarantine")
          target = checked(cell, "quarantine target", all_quarantine_targets());
        else if (columns_[i] == "action")
          action = checked(cell, "quarantine action", all_quarantine_actions());
        else
          read_cell(row, columns_[i], cell);
      }
    }
    row.key.resize(table_.key_columns.size());
    set_quarantine(row, target, action, number);
    table_.rows.edit().push_back(std::move(row));
  }

  void set_quarantine(CatalogRow& row, const std::string& target, const std::string& action,
                      std::uint32_t number) {
    if (target.empty() && action.empty()) return;
    const bool none = target == "none" && (action.empty() || action == "none");
    if (!none && (target.empty() || action.empty() || target == "none" || action == "none"))
      error({file_, number, 1}, "bad-quarantine",
            "quarantine `" + target + "` and action `" + action + "` do not go together",
            "fill both, or write none and none");
    row.overlay.quarantine = Quarantine{target, none ? "none" : action};
  }

  void read_key(CatalogRow& row, const std::string& column, const Cell& cell) {
    row.key.emplace_back(cell.text);
    if (column.rfind("mask:", 0) != 0 || cell.text.empty()) return;
    if (cell.text.size() != 32 || cell.text.find_first_not_of("01-") != std::string_view::npos)
      error(cell.place, "bad-mask", "a bit mask has 32 characters of 0, 1 and -",
            "bit 31 comes first");
  }

  std::string checked(const Cell& cell, std::string_view what,
                      const std::vector<std::string>& known) {
    std::string word(cell.text);
    if (std::find(known.begin(), known.end(), word) != known.end()) return word;
    const std::string near = base::nearest(word, known);
    error(cell.place, "unknown-" + base::replace_all(std::string(what), " ", "-"),
          "`" + word + "` is no " + std::string(what),
          near.empty() ? "known: " + base::join(known, ", ") : "did you mean `" + near + "`?");
    return {};
  }

  std::optional<bool> boolean(const Cell& cell) {
    if (cell.text == "true") return true;
    if (cell.text == "false") return false;
    error(cell.place, "wrong-type", "true or false is expected here", "write true or false");
    return std::nullopt;
  }

  void read_cell(CatalogRow& row, const std::string& column, const Cell& cell) {
    Overlay& o = row.overlay;
    const std::string text(cell.text);
    const std::map<std::string_view, std::function<void()>> setters{
        {"cause", [&] { o.cause = text; }},
        {"class", [&] { set(o.class_, checked(cell, "class", all_classes())); }},
        {"fault_domain",
         [&] { set(o.fault_domain, checked(cell, "fault domain", all_fault_domains())); }},
        {"pattern", [&] { set(o.pattern, checked(cell, "pattern", all_patterns())); }},
        {"scope", [&] { set(o.scope, checked(cell, "scope", all_scopes())); }},
        {"role",
         [&] {
           o.role = role_from(checked(cell, "role", {"root", "symptom", "context"}));
         }},
        {"severity",
         [&] {
           o.severity =
               severity_from(checked(cell, "severity", {"info", "warning", "error", "critical"}));
         }},
        {"confidence",
         [&] {
           o.confidence = confidence_from(checked(cell, "confidence", {"low", "medium", "high"}));
         }},
        {"fatal", [&] { o.fatal = boolean(cell); }},
        {"stands_alone", [&] { o.stands_alone = boolean(cell); }},
        {"tags",
         [&] {
           for (std::string_view tag : base::split(text, ',')) o.tags.emplace_back(base::trim(tag));
         }},
        {"title",
         [&] {
           row.title = text;
           o.title.reset();
         }},
        {"meaning", [&] { row.meaning = text; }},
        {"notes", [&] { row.notes = text; }},
        {"source", [&] { row.source = text; }},
        {"references",
         [&] {
           for (std::string_view one : base::split_blanks(text)) row.references.emplace_back(one);
         }},
    };
    if (const auto setter = setters.find(column); setter != setters.end()) {
      setter->second();
    } else if (column.rfind("fact:", 0) == 0) {
      row.facts.emplace_back(column.substr(5), text);
    } else if (const auto phase = phase_from(column)) {
      read_steps_cell(row, *phase, cell);
    }
  }

  static void set(std::optional<std::string>& field, std::string value) {
    if (!value.empty()) field = std::move(value);
  }

  void read_steps_cell(CatalogRow& row, Phase phase, const Cell& cell) {
    for (std::string_view part : split_at(cell.text, ";;")) {
      const auto pieces = split_at(part, "::");
      if (base::trim(part).empty() || pieces.size() > 3) {
        error(cell.place, "bad-step",
              "a step is `text`, `text :: command` or `text :: command :: why`",
              "separate steps with ;;");
        continue;
      }
      Step step;
      step.phase = phase;
      step.text = std::string(base::trim(pieces[0]));
      if (pieces.size() > 1) step.command = std::string(base::trim(pieces[1]));
      if (pieces.size() > 2) step.why = std::string(base::trim(pieces[2]));
      row.overlay.next_steps.push_back(std::move(step));
    }
  }

  /// `::` and `;;` count as separators between blanks only, so that commands may hold them.
  static std::vector<std::string_view> split_at(std::string_view text, std::string_view mark) {
    std::vector<std::string_view> parts;
    const std::string separator = " " + std::string(mark) + " ";
    while (true) {
      const auto at = text.find(separator);
      parts.push_back(text.substr(0, at));
      if (at == std::string_view::npos) return parts;
      text.remove_prefix(at + separator.size());
    }
  }

  /// A row that an earlier one with the same keys hides is a mistake.
  void check_reachable() {
    std::map<std::vector<std::string>, std::uint32_t> seen;
    for (const CatalogRow& row : *table_.rows) {
      std::vector<std::string> key;
      for (const std::string& cell : row.key) key.push_back(base::to_lower(cell));
      const auto [it, fresh] = seen.emplace(std::move(key), row.line);
      if (!fresh)
        error({file_, row.line, 1}, "duplicate-row",
              "the row in line " + std::to_string(it->second) + " has the same keys",
              "remove one of them");
    }
  }

  std::string_view text_;
  std::string file_;
  std::vector<Diagnostic>& diagnostics_;
  CatalogTable table_;
  std::vector<std::string> columns_;
  bool failed_ = false;
};

}  // namespace

CatalogTable read_catalog(std::string_view text, const std::string& name, const std::string& file,
                          std::vector<Diagnostic>& diagnostics) {
  std::vector<Diagnostic> own;
  CatalogTable table = TableReader(text, file, own).read(name);
  diagnostics.insert(diagnostics.end(), own.begin(), own.end());
  return table;
}

}  // namespace triage::rules

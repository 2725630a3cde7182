#include "analysis/formats/kubernetes_describe_rows.hpp"

#include <array>
#include <cctype>

#include <fmt/format.h>

#include "analysis/formats/kubernetes_names.hpp"
#include "analysis/formats/kubernetes_objects.hpp"
#include "analysis/formats/text_columns.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;

constexpr std::array<std::string_view, 12> k_months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// `Loading Progress At` -> `loadingProgressAt`, as the JSON key was before describe took it apart.
std::string json_key(std::string_view key) {
  std::string out;
  bool upper = false;
  for (char c : key) {
    if (c == ' ') {
      upper = true;
      continue;
    }
    if (out.empty())
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return out;
}

void add_member(LocatedNode& object, const std::string& key, LocatedNode&& value) {
  object.members.push_back({key, std::move(value)});
}

/// Rows [first, last) of one level. A key that comes again opens the next item of a list.
LocatedNode build_tree(const std::vector<DescribeRow>& rows, std::size_t first, std::size_t last,
                       int depth) {
  LocatedNode object;
  object.type = LocatedNode::Type::object;
  object.line = first < rows.size() ? rows[first].line : 0;
  LocatedNode list;
  list.type = LocatedNode::Type::array;
  list.line = object.line;
  for (std::size_t at = first; at < last;) {
    const DescribeRow& row = rows[at];
    const RowRange range = below(rows, at);
    const std::size_t next = std::max(at + 1, std::min(range.last, last));
    if (row.key.empty() || depth > 16) {
      at = next;
      continue;
    }
    const std::string key = json_key(row.key);
    LocatedNode value;
    value.line = row.line;
    if (row.value.empty() && range.first < next) {
      value = build_tree(rows, range.first, next, depth + 1);
    } else if (!row.value.empty() && row.value != "<none>" && row.value != "<nil>") {
      value.type = LocatedNode::Type::scalar;
      value.text = row.value;
    }
    if (object.at(key)) {
      list.items.push_back(std::move(object));
      object = LocatedNode{};
      object.type = LocatedNode::Type::object;
      object.line = row.line;
    }
    add_member(object, key, std::move(value));
    at = next;
  }
  if (list.items.empty()) return object;
  list.items.push_back(std::move(object));
  return list;
}

/// A single item of what is always a list would pass for an object.
void lists_of_conditions(LocatedNode& node) {
  for (auto& [name, value] : node.members) {
    if (name == "conditions" && value.is_object()) {
      LocatedNode list;
      list.type = LocatedNode::Type::array;
      list.line = value.line;
      list.items.push_back(std::move(value));
      value = std::move(list);
    } else {
      lists_of_conditions(value);
    }
  }
}

}  // namespace

DescribeRow read_describe_row(std::string_view line, std::uint32_t number) {
  DescribeRow row;
  row.line = number;
  row.raw = std::string(line);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return row;
  row.indent = begin;
  const std::string_view text = base::trim(line);
  // The colon that ends the key is followed by a blank or the end; keys hold dots and slashes.
  std::size_t colon = text.find(':');
  while (colon != std::string_view::npos && colon + 1 < text.size() && text[colon + 1] != ' ' &&
         text[colon + 1] != '\t')
    colon = text.find(':', colon + 1);
  if (colon == std::string_view::npos) {
    row.value = std::string(text);
    return row;
  }
  row.key = std::string(text.substr(0, colon));
  row.value = std::string(base::trim(text.substr(colon + 1)));
  return row;
}

RowRange below(const std::vector<DescribeRow>& rows, std::size_t at) {
  RowRange range{at + 1, at + 1};
  while (range.last < rows.size() &&
         (rows[range.last].indent > rows[at].indent || rows[range.last].raw.empty()))
    ++range.last;
  return range;
}

std::string describe_time(std::string_view text) {
  const auto words = base::split_blanks(text);
  if (words.size() != 6 || words[0].empty() || words[0].back() != ',') return std::string(text);
  const auto day = base::parse_int(words[1]);
  for (std::size_t month = 0; month < k_months.size(); ++month) {
    if (words[2] != k_months[month] || !day || *day < 1 || *day > 31) continue;
    const std::string zone = words[5] == "+0000" ? "Z" : std::string(words[5]);
    std::string time =
        fmt::format("{}-{:02}-{:02}T{}{}", words[3], month + 1, *day, words[4], zone);
    if (evidence::parse_rfc3339(time)) return time;
  }
  return std::string(text);
}

void emit_condition_rows(Fact& fact, const std::vector<DescribeRow>& rows,
                         const evidence::FactSink& sink) {
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (rows[at].indent != 0 || rows[at].key != "Conditions") continue;
    const RowRange range = below(rows, at);
    std::vector<Column> columns;
    for (std::size_t i = range.first; i < range.last; ++i) {
      const DescribeRow& row = rows[i];
      const std::string_view trimmed = base::trim(row.raw);
      if (trimmed.empty() || trimmed.substr(0, 4) == "----") continue;
      if (columns.empty()) {
        columns = read_header(row.raw);
        continue;
      }
      const auto cells = read_row(row.raw, columns);
      const std::string type(cell(cells, columns, {"TYPE"}));
      if (type.empty()) continue;
      const std::string field = "condition." + type;
      const auto put = [&](const std::string& name, std::string value) {
        if (!value.empty()) fact.set(name, std::move(value), row.line);
      };
      put(field, condition_status(cell(cells, columns, {"STATUS"})));
      put(field + ".reason", std::string(cell(cells, columns, {"REASON"})));
      put(field + ".since", describe_time(cell(cells, columns, {"LASTTRANSITIONTIME"})));
      const std::string message(cell(cells, columns, {"MESSAGE"}));
      put(field + ".message", message);
      const std::string beat = describe_time(cell(cells, columns, {"LASTHEARTBEATTIME"}));
      if (type == "Ready")
        if (auto stamp = evidence::parse_rfc3339(beat)) fact.stamp = stamp;
      if (message.empty() || !is_bad_condition(type, cell(cells, columns, {"STATUS"}))) continue;
      LocatedNode text;
      text.type = LocatedNode::Type::scalar;
      text.text = message;
      text.line = row.line;
      Fact other = text_fact(fact, text);
      other.stamp = evidence::parse_rfc3339(fact.get(field + ".since"));
      sink(std::move(other));
    }
    return;
  }
}

LocatedNode tree_of_rows(const std::vector<DescribeRow>& rows) {
  LocatedNode tree = build_tree(rows, 0, rows.size(), 0);
  // `Name:` and `Namespace:` stand above `Metadata:`, which leaves them out.
  LocatedNode metadata;
  metadata.type = LocatedNode::Type::object;
  for (std::string_view name : {"name", "namespace"})
    if (tree.at(name)) add_member(metadata, std::string(name), LocatedNode(tree.at(name)));
  for (auto& [name, value] : tree.members) {
    if (name != "metadata" || !value.is_object()) continue;
    for (auto& [key, member] : value.members) add_member(metadata, key, std::move(member));
    value = metadata;
  }
  if (!tree.at("metadata")) add_member(tree, "metadata", std::move(metadata));
  lists_of_conditions(tree);
  return tree;
}

}  // namespace triage::analysis::formats

#include <array>
#include <string>

#include "base/text.hpp"
#include "bundle/recognise_detail.hpp"

namespace triage::bundle::detail {

// recognise_json.cpp
evidence::Kind kind_of_object(std::string_view kind, std::string_view api);

namespace {

using evidence::Format;
using evidence::Kind;

/// Blank lines, comments and a shell prompt with the command may stand in front of pasted output.
bool is_lead_in(std::string_view line) {
  const auto text = base::trim(line);
  return text.empty() || text.front() == '#' || starts(text, "$ ") || starts(text, "+ ") ||
         starts(text, "kubectl ") || starts(text, "```") || text == "---";
}

std::size_t first_content(const Sample& sample) {
  constexpr std::size_t k_most = 12;
  std::size_t i = 0;
  while (i < sample.lines.size() && i < k_most && is_lead_in(sample.lines[i])) ++i;
  return i;
}

std::string_view yaml_value(std::string_view line) {
  const auto colon = line.find(':');
  auto value = base::trim(line.substr(colon + 1));
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'')) {
    value.remove_prefix(1);
    value.remove_suffix(1);
  }
  return value;
}

std::optional<Recognised> recognise_yaml(const Sample& sample) {
  const std::size_t from = first_content(sample);
  if (from >= sample.lines.size()) return std::nullopt;
  const auto first = sample.lines[from];
  if (!starts(first, "apiVersion:") && !starts(first, "kind:") && !starts(first, "items:") &&
      !starts(first, "- apiVersion:") && !starts(first, "metadata:"))
    return std::nullopt;
  std::string_view kind;
  std::string_view item_kind;
  std::string_view api;
  for (const auto line : sample.lines) {
    if (starts(line, "kind:") && kind.empty()) kind = yaml_value(line);
    if ((starts(line, "  kind:") || starts(line, "- kind:")) && item_kind.empty())
      item_kind = yaml_value(line);
    if (base::contains(line, "apiVersion:") && base::contains(line, "flexinfer")) api = "flexinfer";
  }
  if (kind.empty() && item_kind.empty()) {
    // `kubectl get -o yaml` sorts keys: of a List the kind stands behind all items, beyond the
    // head, but every item has its own.
    if (!base::contains(sample.text, "kind:")) return std::nullopt;
  }
  Recognised result;
  result.format = Format::k8s_yaml;
  const bool list = kind.empty() || kind == "List";
  result.kind = kind_of_object(list && !item_kind.empty() ? item_kind : kind, api);
  return result;
}

std::optional<Recognised> recognise_describe(const Sample& sample) {
  const std::size_t from = first_content(sample);
  if (from >= sample.lines.size() || !starts(sample.lines[from], "Name:")) return std::nullopt;
  const auto name = base::trim(sample.lines[from].substr(5));
  if (name.empty() || base::contains(name, " ")) return std::nullopt;
  Recognised result;
  result.format = Format::k8s_describe;
  bool pod = false;
  bool node = false;
  bool described = false;
  constexpr std::size_t k_most = 400;
  for (std::size_t i = from + 1; i < sample.lines.size() && i < from + k_most; ++i) {
    const auto line = sample.lines[i];
    if (starts(line, "Namespace:") || starts(line, "Labels:") || starts(line, "Annotations:"))
      described = true;
    if (starts(line, "Containers:") || starts(line, "Init Containers:") ||
        starts(line, "QoS Class:") || starts(line, "Node-Selectors:") || starts(line, "IPs:"))
      pod = true;
    if (starts(line, "Roles:") || starts(line, "Taints:") || starts(line, "Capacity:") ||
        starts(line, "Allocatable:") || starts(line, "Non-terminated Pods:"))
      node = true;
  }
  if (node) {
    result.kind = Kind::node;
    result.place.node = name;
    return result;
  }
  if (pod) {
    result.kind = Kind::pod;
    result.place.pod = name;
    return result;
  }
  if (!described) return std::nullopt;
  result.kind = Kind::workload;
  return result;
}

/// Column headers of kubectl's tables, in the order that tells them apart.
struct Table {
  Kind kind;
  std::array<std::string_view, 4> columns;
};
constexpr std::array<Table, 11> k_tables{{
    {Kind::event, {"LAST SEEN", "TYPE", "REASON", "OBJECT"}},
    {Kind::event, {"LASTSEEN", "TYPE", "REASON", "OBJECT"}},
    {Kind::event, {"TIMESTAMP", "TYPE", "REASON", "MESSAGE"}},
    {Kind::pod, {"NAME", "READY", "STATUS", "RESTARTS"}},
    {Kind::node, {"NAME", "STATUS", "ROLES", "AGE"}},
    {Kind::workload, {"NAME", "DESIRED", "CURRENT", "READY"}},
    {Kind::workload, {"NAME", "READY", "UP-TO-DATE", "AVAILABLE"}},
    {Kind::workload, {"NAME", "READY", "AGE", ""}},
    {Kind::workload, {"NAME", "STATUS", "COMPLETIONS", "DURATION"}},
    {Kind::model, {"NAME", "BACKEND", "PHASE", ""}},
    {Kind::model, {"NAME", "MODEL", "PHASE", ""}},
}};

std::optional<Recognised> recognise_table(const Sample& sample) {
  const std::size_t from = first_content(sample);
  if (from >= sample.lines.size()) return std::nullopt;
  const auto header = sample.lines[from];
  for (const Table& table : k_tables) {
    std::size_t at = 0;
    bool all = true;
    for (const auto column : table.columns) {
      if (column.empty()) continue;
      at = header.find(column, at);
      if (at == std::string_view::npos) {
        all = false;
        break;
      }
      at += column.size();
    }
    if (!all) continue;
    // Only a header in capitals: a log line may hold the same words.
    if (header.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos) continue;
    Recognised result;
    result.format = Format::k8s_table;
    result.kind = table.kind;
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Recognised> recognise_kubernetes(const Sample& sample) {
  if (auto found = recognise_yaml(sample)) return found;
  if (auto found = recognise_describe(sample)) return found;
  return recognise_table(sample);
}

}  // namespace triage::bundle::detail

#include <fmt/format.h>

#include "analysis/formats/kubernetes_describe_rows.hpp"
#include "analysis/formats/kubernetes_names.hpp"
#include "analysis/formats/kubernetes_objects.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using evidence::FactSink;

using Rows = std::vector<DescribeRow>;

void put(Fact& fact, std::string_view field, std::string_view value, std::uint32_t line) {
  value = base::trim(value);
  if (!value.empty() && value != "<none>" && value != "<unset>" && value != "<nil>")
    fact.set(std::string(field), std::string(value), line);
}

/// `key=value` lines below `Labels:`, the first on the key's own line.
void put_pairs(Fact& fact, std::string_view stem, const Rows& rows, std::size_t at,
               std::string_view separator) {
  const RowRange range = below(rows, at);
  const auto pair = [&](std::string_view text, std::uint32_t line) {
    const std::size_t split = text.find(separator);
    if (split == std::string_view::npos || split == 0) return;
    put(fact, std::string(stem) + "." + std::string(text.substr(0, split)),
        text.substr(split + separator.size()), line);
  };
  pair(rows[at].value, rows[at].line);
  for (std::size_t i = range.first; i < range.last; ++i)
    pair(base::trim(rows[i].raw), rows[i].line);
}

/// Lines below a key joined with ', ': tolerations.
std::string joined(const Rows& rows, std::size_t at) {
  std::string all = rows[at].value == "<none>" ? std::string() : rows[at].value;
  const RowRange range = below(rows, at);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const std::string_view text = base::trim(rows[i].raw);
    if (text.empty()) continue;
    if (!all.empty()) all += ", ";
    all += text;
  }
  return all;
}

void put_owner(Fact& fact, const DescribeRow& row) {
  const std::size_t slash = row.value.find('/');
  if (slash == std::string::npos) return;
  const std::string kind = row.value.substr(0, slash);
  const std::string name = row.value.substr(slash + 1);
  put(fact, "owner.kind", kind, row.line);
  put(fact, "owner.name", name, row.line);
  const Owner owner = owner_from_object(kind, name);
  put(fact, "workload", owner.workload, row.line);
  put(fact, "revision", owner.revision, row.line);
}

void put_top(Fact& fact, const Rows& rows, std::size_t at) {
  const DescribeRow& row = rows[at];
  const std::string& key = row.key;
  if (key == "Name") put(fact, "name", row.value, row.line);
  if (key == "Namespace") put(fact, "namespace", row.value, row.line);
  if (key == "Node") put(fact, "node", row.value.substr(0, row.value.find('/')), row.line);
  if (key == "Priority") put(fact, "priority", row.value, row.line);
  if (key == "Reason") put(fact, "status.reason", row.value, row.line);
  if (key == "Message") put(fact, "status.message", row.value, row.line);
  if (key == "QoS Class") put(fact, "qos", row.value, row.line);
  if (key == "Controlled By") put_owner(fact, row);
  if (key == "Labels") put_pairs(fact, "labels", rows, at, "=");
  if (key == "Annotations") put_pairs(fact, "annotations", rows, at, ": ");
  if (key == "Node-Selectors") put_pairs(fact, "node_selector", rows, at, "=");
  if (key == "Tolerations") put(fact, "tolerations", joined(rows, at), row.line);
  if (key == "Status") {
    // `Terminating (lasts 2m)` stands in for the phase.
    const std::string word = row.value.substr(0, row.value.find(' '));
    if (word == "Terminating")
      put(fact, "table.status", word, row.line);
    else
      put(fact, "phase", word, row.line);
  }
  if (key == "Start Time" || key == "Status") {
    if (auto stamp = evidence::parse_rfc3339(describe_time(row.value))) fact.stamp = stamp;
  }
}

/// `http-get http://:8000/health delay=0s timeout=1s period=10s #success=1 #failure=90`
void put_probe(Fact& fact, const std::string& name, const DescribeRow& row) {
  const auto number = [&](std::string_view key, double fallback) {
    const std::size_t at = row.value.find(key);
    if (at == std::string::npos) return fallback;
    std::string_view rest = std::string_view(row.value).substr(at + key.size());
    rest = rest.substr(0, rest.find(' '));
    if (!rest.empty() && rest.back() == 's') {
      const auto ns = base::parse_duration_ns(rest);
      return ns ? static_cast<double>(*ns) / 1e9 : fallback;
    }
    return base::parse_double(rest).value_or(fallback);
  };
  const double period = number("period=", 10);
  const double threshold = number("#failure=", 3);
  const std::string stem = "probe." + name;
  const auto set = [&](const std::string& field, double value) {
    fact.set(stem + field, fmt::format("{:.10g}", value), row.line);
  };
  set(".budget", number("delay=", 0) + period * threshold);
  set(".timeout", number("timeout=", 1));
  set(".period", period);
  set(".failure_threshold", threshold);
}

void put_state(Fact& fact, const Rows& rows, std::size_t at) {
  const DescribeRow& row = rows[at];
  const std::string state = base::to_lower(row.value);
  std::string stem = row.key == "Last State" ? "last" : state;
  if (stem != "last" && stem != "waiting" && stem != "running" && stem != "terminated") return;
  if (stem == "last" && state != "terminated") return;
  const RowRange range = below(rows, at);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const DescribeRow& part = rows[i];
    if (part.key == "Reason") put(fact, stem + ".reason", part.value, part.line);
    if (part.key == "Exit Code") put(fact, stem + ".exit_code", part.value, part.line);
    if (part.key == "Signal") put(fact, stem + ".signal", part.value, part.line);
    if (part.key == "Started")
      put(fact, stem + ".started_at", describe_time(part.value), part.line);
    if (part.key == "Finished")
      put(fact, stem + ".finished_at", describe_time(part.value), part.line);
    if (part.key == "Message") put(fact, stem + ".message", part.value, part.line);
  }
}

void put_quantities(Fact& fact, std::string_view stem, const Rows& rows, std::size_t at) {
  const RowRange range = below(rows, at);
  for (std::size_t i = range.first; i < range.last; ++i)
    if (!rows[i].key.empty())
      put(fact, std::string(stem) + "." + rows[i].key, quantity(rows[i].value), rows[i].line);
}

void put_args(Fact& fact, const Rows& rows, std::size_t at) {
  const RowRange range = below(rows, at);
  std::string all = fact.get("args");
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (!all.empty()) all += ' ';
    all += base::trim(rows[i].raw);
  }
  put(fact, "args", all, rows[at].line);
}

void put_container_row(Fact& fact, const Rows& rows, std::size_t at) {
  const DescribeRow& row = rows[at];
  const std::string& key = row.key;
  if (key == "Image") put(fact, "image", row.value, row.line);
  if (key == "Image ID") put(fact, "image_id", row.value, row.line);
  if (key == "Ready") put(fact, "ready", base::to_lower(row.value), row.line);
  if (key == "Restart Count") put(fact, "restart_count", row.value, row.line);
  if (key == "State" || key == "Last State") put_state(fact, rows, at);
  if (key == "Limits") put_quantities(fact, "limits", rows, at);
  if (key == "Requests") put_quantities(fact, "requests", rows, at);
  if (key == "Startup") put_probe(fact, "startup", row);
  if (key == "Liveness") put_probe(fact, "liveness", row);
  if (key == "Readiness") put_probe(fact, "readiness", row);
  if (key == "Command" || key == "Args") put_args(fact, rows, at);
  const RowRange range = below(rows, at);
  if (key == "Environment")
    for (std::size_t i = range.first; i < range.last; ++i)
      if (!rows[i].key.empty()) put(fact, "env." + rows[i].key, rows[i].value, rows[i].line);
  if (key == "Mounts")
    for (std::size_t i = range.first; i < range.last; ++i)
      if (rows[i].value.substr(0, 14) == "/dev/shm from ")
        put(fact, "shm.mounted", "true", rows[i].line);
}

/// The first text of a container is the fact's own, the others are text facts.
void emit_container(Fact fact, const FactSink& sink) {
  if (fact.find("last.started_at") != nullptr) {
    const auto began = evidence::parse_rfc3339(fact.get("last.started_at"));
    const auto ended = evidence::parse_rfc3339(fact.get("last.finished_at"));
    if (began && ended && began->ns > 0 && ended->ns >= began->ns)
      fact.set("last.duration", fmt::format("{}", (ended->ns - began->ns) / 1'000'000'000),
               fact.find("last.finished_at")->line);
  }
  for (std::string_view field :
       {"running.started_at", "last.finished_at", "terminated.finished_at"})
    if (const evidence::Value* value = fact.find(field))
      if (auto stamp = evidence::parse_rfc3339(value->text)) fact.stamp = stamp;
  bool first = true;
  for (std::string_view field : {"terminated.message", "last.message", "waiting.message"}) {
    const evidence::Value* value = fact.find(field);
    if (value == nullptr) continue;
    LocatedNode text;
    text.type = LocatedNode::Type::scalar;
    text.text = value->text;
    text.line = value->line;
    if (first) {
      fact.text = value->text;
      fact.line = value->line;
      first = false;
      continue;
    }
    Fact other = text_fact(fact, text);
    other.stamp = fact.stamp;
    sink(std::move(other));
  }
  sink(std::move(fact));
}

void emit_containers(const Fact& base, const Rows& rows, std::size_t at, const FactSink& sink) {
  const RowRange range = below(rows, at);
  if (range.first >= range.last) return;
  const std::size_t level = rows[range.first].indent;
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (rows[i].indent != level || rows[i].key.empty()) continue;
    Fact fact = base;
    fact.line = rows[i].line;
    put(fact, "container", rows[i].key, rows[i].line);
    fact.place.container = rows[i].key;
    if (rows[at].key == "Init Containers") fact.set("init", "true", rows[i].line);
    const RowRange own = below(rows, i);
    const std::size_t inner = own.first < own.last ? rows[own.first].indent : 0;
    for (std::size_t j = own.first; j < own.last; ++j)
      if (rows[j].indent == inner) put_container_row(fact, rows, j);
    emit_container(std::move(fact), sink);
  }
}

/// Line ends inside a termination message break it over rows of any indentation; `Exit Code` of the
/// same indentation always follows it. Joins them, so that the rows behind keep their place.
Rows join_messages(const Rows& rows) {
  constexpr std::size_t k_most_lines = 400;  // kubelet keeps 80 lines or 2048 bytes of a log
  Rows joined;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    joined.push_back(rows[at]);
    if (rows[at].key != "Message" || rows[at].indent < 4) continue;
    std::size_t end = at + 1;
    while (end < rows.size() && end - at < k_most_lines &&
           !(rows[end].indent == rows[at].indent &&
             (rows[end].key == "Exit Code" || rows[end].key == "Signal")))
      ++end;
    if (end >= rows.size() || end - at >= k_most_lines) continue;
    for (std::size_t i = at + 1; i < end; ++i)
      joined.back().value += "\n" + std::string(base::trim(rows[i].raw));
    at = end - 1;
  }
  return joined;
}

}  // namespace

void facts_of_pod_rows(const Rows& raw_rows, const ParseContext& context, const FactSink& sink) {
  const Rows rows = join_messages(raw_rows);
  Fact base;
  base.kind = evidence::Kind::pod;
  base.line = rows.front().line;
  base.place = context.place;
  for (std::size_t at = 0; at < rows.size(); ++at)
    if (rows[at].indent == 0 && !rows[at].key.empty()) put_top(base, rows, at);
  if (base.find("workload") == nullptr) {
    const Owner owner = owner_from_pod_name(base.get("name"));
    put(base, "workload", owner.workload, base.line);
    put(base, "revision", owner.revision, base.line);
  }
  for (std::string_view label : {"labels.controller-revision-hash", "labels.pod-template-hash"})
    if (const evidence::Value* value = base.find(label)) {
      const evidence::Value copy = *value;
      put(base, "revision", copy.text, copy.line);
    }
  base.place.node = base.get("node");
  base.place.name_space = base.get("namespace");
  base.place.pod = base.get("name");
  base.place.workload = base.get("workload");
  base.place.revision = base.get("revision");
  emit_condition_rows(base, rows, sink);
  for (std::size_t at = 0; at < rows.size(); ++at)
    if (rows[at].indent == 0 &&
        (rows[at].key == "Containers" || rows[at].key == "Init Containers" ||
         rows[at].key == "Ephemeral Containers"))
      emit_containers(base, rows, at, sink);
  if (const evidence::Value* message = base.find("status.message")) {
    base.text = message->text;
    base.line = message->line;
  }
  sink(std::move(base));
}

}  // namespace triage::analysis::formats

#include "analysis/formats/kubernetes_describe_rows.hpp"
#include "analysis/formats/kubernetes_names.hpp"
#include "analysis/formats/kubernetes_objects.hpp"
#include "analysis/formats/text_columns.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using evidence::FactSink;

using Rows = std::vector<DescribeRow>;

void put(Fact& fact, std::string_view field, std::string_view value, std::uint32_t line) {
  value = base::trim(value);
  if (!value.empty() && value != "<none>" && value != "<unset>")
    fact.set(std::string(field), std::string(value), line);
}

/// `key=value:Effect`, one a line, the first on the line of `Taints:`.
void put_taint(Fact& fact, std::string_view taint, std::uint32_t line) {
  taint = base::trim(taint);
  const std::size_t colon = taint.rfind(':');
  if (taint.empty() || taint == "<none>" || colon == std::string_view::npos) return;
  const std::string_view name = taint.substr(0, colon);
  const std::size_t equal = name.find('=');
  const std::string key(name.substr(0, equal));
  const std::string value =
      (equal == std::string_view::npos ? std::string() : std::string(name.substr(equal + 1))) +
      std::string(taint.substr(colon));
  const evidence::Value* known = fact.find("taint." + key);
  const std::string joined = known == nullptr ? value : known->text + "," + value;
  fact.set("taint." + key, joined, known == nullptr ? line : known->line);
  const evidence::Value* all = fact.find("taints");
  const std::string joined_all =
      all == nullptr ? std::string(taint) : all->text + ", " + std::string(taint);
  fact.set("taints", joined_all, all == nullptr ? line : all->line);
}

void put_labels(Fact& fact, const Rows& rows, std::size_t at) {
  const RowRange range = below(rows, at);
  for (std::size_t i = at; i < range.last; ++i) {
    const std::string_view text =
        i == at ? std::string_view(rows[i].value) : base::trim(rows[i].raw);
    const std::size_t equal = text.find('=');
    if (equal != std::string_view::npos && equal > 0)
      put(fact, "labels." + std::string(text.substr(0, equal)), text.substr(equal + 1),
          rows[i].line);
  }
}

void put_quantities(Fact& fact, std::string_view stem, const Rows& rows, std::size_t at) {
  const RowRange range = below(rows, at);
  for (std::size_t i = range.first; i < range.last; ++i)
    if (!rows[i].key.empty())
      put(fact, std::string(stem) + "." + rows[i].key, quantity(rows[i].value), rows[i].line);
}

/// `  nvidia.com/gpu     8         8` below `Allocated resources:`.
void put_allocated(Fact& fact, const Rows& rows, std::size_t at) {
  const RowRange range = below(rows, at);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const auto words = base::split_blanks(rows[i].raw);
    if (words.size() < 2 || words[0] == "Resource" || words[0][0] == '-' || words[0][0] == '(')
      continue;
    put(fact, "allocated." + std::string(words[0]), quantity(words[1]), rows[i].line);
  }
  const evidence::Value* gpus = fact.find("allocated." + fact.get("gpu.resource"));
  if (gpus == nullptr) return;
  const evidence::Value copy = *gpus;
  fact.set("gpu.allocated", copy.text, copy.line);
}

void put_system_info(Fact& fact, const Rows& rows, std::size_t at) {
  const RowRange range = below(rows, at);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const DescribeRow& row = rows[i];
    if (row.key == "Kernel Version") put(fact, "kernel_version", row.value, row.line);
    if (row.key == "OS Image") put(fact, "os_image", row.value, row.line);
    if (row.key == "Kubelet Version") put(fact, "kubelet_version", row.value, row.line);
    if (row.key == "Boot ID") put(fact, "boot_id", row.value, row.line);
    if (row.key == "Container Runtime Version") put(fact, "container_runtime", row.value, row.line);
  }
}

/// The pods that run here: names and node only, so that other evidence of them finds its node.
void emit_pods(const Fact& node, const Rows& rows, std::size_t at, const FactSink& sink) {
  const RowRange range = below(rows, at);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const auto words = base::split_blanks(rows[i].raw);
    if (words.size() < 4 || words[0] == "Namespace" || words[0][0] == '-') continue;
    Fact pod;
    pod.kind = evidence::Kind::pod;
    pod.line = rows[i].line;
    pod.place = node.place;
    put(pod, "namespace", words[0], pod.line);
    put(pod, "name", words[1], pod.line);
    put(pod, "node", node.get("name"), pod.line);
    pod.place.name_space = std::string(words[0]);
    pod.place.pod = std::string(words[1]);
    const Owner owner = owner_from_pod_name(words[1]);
    put(pod, "workload", owner.workload, pod.line);
    put(pod, "revision", owner.revision, pod.line);
    pod.place.workload = owner.workload;
    pod.place.revision = owner.revision;
    sink(std::move(pod));
  }
}

}  // namespace

void facts_of_node_rows(const Rows& rows, const ParseContext& context, const FactSink& sink) {
  Fact fact;
  fact.kind = evidence::Kind::node;
  fact.line = rows.front().line;
  fact.place = context.place;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const DescribeRow& row = rows[at];
    if (row.indent != 0) continue;
    if (row.key == "Name") {
      put(fact, "name", row.value, row.line);
      fact.place.node = row.value;
    }
    if (row.key == "CreationTimestamp") put(fact, "created", describe_time(row.value), row.line);
    if (row.key == "Unschedulable") put(fact, "unschedulable", base::to_lower(row.value), row.line);
    if (row.key == "Labels") put_labels(fact, rows, at);
    if (row.key == "Capacity") put_quantities(fact, "capacity", rows, at);
    if (row.key == "Allocatable") put_quantities(fact, "allocatable", rows, at);
    if (row.key == "System Info") put_system_info(fact, rows, at);
    if (row.key == "Taints") {
      put_taint(fact, row.value, row.line);
      const RowRange range = below(rows, at);
      for (std::size_t i = range.first; i < range.last; ++i)
        put_taint(fact, rows[i].raw, rows[i].line);
    }
  }
  put_node_gpu(fact);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (rows[at].indent != 0) continue;
    if (rows[at].key == "Allocated resources") put_allocated(fact, rows, at);
    if (rows[at].key == "Non-terminated Pods") emit_pods(fact, rows, at, sink);
  }
  emit_condition_rows(fact, rows, sink);
  sink(std::move(fact));
}

}  // namespace triage::analysis::formats

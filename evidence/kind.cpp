#include "evidence/kind.hpp"

namespace triage::evidence {
namespace {

struct Row {
  Kind kind;
  std::string_view name;
  bool log;
  std::string_view description;
};

constexpr std::array<Row, k_kind_count> k_rows{{
    {Kind::pod, "pod", false, "Pod objects: phase, conditions, container states and exit codes"},
    {Kind::event, "event", false, "Kubernetes events: reason, message, object, count, times"},
    {Kind::node, "node", false, "Node objects: conditions, taints, capacity, allocatable"},
    {Kind::workload, "workload", false, "owners of pods: ReplicaSet, Deployment, StatefulSet, Job"},
    {Kind::model, "model", false, "model custom resources: phase, substage, loading progress"},
    {Kind::container_log, "container-log", true, "stdout and stderr of an engine or application"},
    {Kind::kernel_log, "kernel-log", true, "dmesg, journalctl -k, kern.log"},
    {Kind::system_log, "system-log", true, "syslog or journal with kernel and daemon lines"},
    {Kind::gpu_state, "gpu-state", false, "nvidia-smi, nvidia-smi -q, rocm-smi, amd-smi, rocminfo"},
    {Kind::fabric_log, "fabric-log", true, "fabric manager, IMEX and NVSwitch logs"},
    {Kind::device_plugin_log, "device-plugin-log", true, "NVIDIA or AMD device plugin"},
    {Kind::driver_log, "driver-log", true, "driver container, validator, toolkit"},
    {Kind::gateway_log, "gateway-log", true, "access and error logs of gateways and proxies"},
    {Kind::gateway_stats, "gateway-stats", false,
     "counters of a gateway (Envoy /stats and the like)"},
    {Kind::controller_log, "controller-log", true, "operators, model managers, autoscalers"},
    {Kind::metrics, "metrics", false, "Prometheus text of engines, gateways and exporters"},
    {Kind::dcgm_diag, "dcgm-diag", false, "dcgmi diag and dcgmi health results"},
    {Kind::host_memory, "host-memory", false, "meminfo, free, df of /dev/shm, cgroup memory files"},
    {Kind::environment, "environment", false,
     "collect_env reports, versions, arguments, variables"},
    {Kind::unknown_text, "unknown-text", true, "text that nothing recognised"},
    {Kind::loading, "loading", false, "derived: how a model load advances"},
    {Kind::load, "load", false, "derived: running and waiting requests, KV usage, preemptions"},
    {Kind::replicas, "replicas", false,
     "derived: how many replicas of a workload failed, and where"},
    {Kind::swap, "swap", false, "derived: models that evict one another on a shared GPU"},
    {Kind::scheduling, "scheduling", false,
     "derived: clauses of FailedScheduling against the nodes"},
    {Kind::gpu, "gpu", false, "derived: one GPU with everything that all sources say of it"},
}};

constexpr std::array<Kind, k_kind_count> make_all() {
  std::array<Kind, k_kind_count> all{};
  for (std::size_t i = 0; i < k_kind_count; ++i) all[i] = k_rows[i].kind;
  return all;
}

constexpr std::array<Kind, k_kind_count> k_all = make_all();

const Row& row(Kind kind) {
  return k_rows[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view to_string(Kind kind) {
  return row(kind).name;
}

std::optional<Kind> kind_from(std::string_view name) {
  for (const Row& r : k_rows)
    if (r.name == name) return r.kind;
  return std::nullopt;
}

std::string_view describe(Kind kind) {
  return row(kind).description;
}
bool is_log(Kind kind) {
  return row(kind).log;
}
bool is_derived(Kind kind) {
  return kind >= Kind::loading;
}
const std::array<Kind, k_kind_count>& all_kinds() {
  return k_all;
}

}  // namespace triage::evidence

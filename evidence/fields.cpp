#include "evidence/fields.hpp"

#include <algorithm>
#include <vector>

namespace triage::evidence {
namespace {

using enum FieldType;

constexpr Field k_pod[] = {
    // One fact for each pod, and one for each container with the pod's fields repeated.
    {"name", text, "pod name"},
    {"namespace", text, "namespace"},
    {"node", text, "node it is bound to"},
    {"uid", text, "pod UID"},
    {"phase", text, "Pending, Running, Succeeded, Failed, Unknown"},
    {"status.reason", text,
     "status.reason of the pod: Evicted, Terminated, UnexpectedAdmissionError"},
    {"status.message", text, "status.message of the pod"},
    {"qos", text, "QoS class"},
    {"priority", number, "pod priority"},
    {"restart_policy", text, "Always, OnFailure, Never"},
    {"created", time, "creationTimestamp"},
    {"deleted", time, "deletionTimestamp"},
    {"owner.kind", text, "kind of the controlling owner"},
    {"owner.name", text, "name of the controlling owner"},
    {"revision", text, "pod-template-hash or controller-revision-hash"},
    {"workload", text, "workload name (owner without the revision)"},
    {"labels.*", text, "labels"},
    {"annotations.*", text, "annotations"},
    {"node_selector.*", text, "nodeSelector entries"},
    {"tolerations", text, "tolerations, joined with ', '"},
    {"condition.*", text,
     "condition.Ready is true/false/unknown; condition.Ready.reason, condition.Ready.message"},
    {"container", text, "container name (container facts only)"},
    {"init", boolean, "it is an init container"},
    {"image", text, "image reference"},
    {"image_id", text, "resolved image digest"},
    {"args", text, "command and args joined with blanks"},
    {"env.*", text, "literal environment values"},
    {"ready", boolean, "container is ready"},
    {"started", boolean, "startup probe has passed"},
    {"restart_count", number, "restarts"},
    {"waiting.reason", text, "reason of the waiting state"},
    {"waiting.message", text, "message of the waiting state"},
    {"running.started_at", time, "start of the running instance"},
    {"terminated.reason", text, "reason of the terminated state"},
    {"terminated.exit_code", number, "exit code"},
    {"terminated.signal", number, "signal"},
    {"terminated.message", text, "termination message"},
    {"terminated.started_at", time, "start"},
    {"terminated.finished_at", time, "end"},
    {"last.reason", text, "reason of the last terminated state"},
    {"last.exit_code", number, "exit code of the last instance"},
    {"last.signal", number, "signal of the last instance"},
    {"last.message", text, "termination message of the last instance"},
    {"last.started_at", time, "start of the last instance"},
    {"last.finished_at", time, "end of the last instance"},
    {"last.duration", seconds, "how long the last instance ran"},
    {"limits.*", text, "resource limits; memory in bytes, cpu in cores"},
    {"requests.*", text, "resource requests; memory in bytes, cpu in cores"},
    {"probe.startup.budget", seconds,
     "initial delay + period x failure threshold of the startup probe"},
    {"probe.liveness.budget", seconds,
     "initial delay + period x failure threshold of the liveness probe"},
    {"probe.liveness.timeout", seconds, "timeoutSeconds of the liveness probe"},
    {"probe.liveness.period", seconds, "periodSeconds of the liveness probe"},
    {"probe.liveness.failure_threshold", number, "failureThreshold of the liveness probe"},
    {"probe.readiness.timeout", seconds, "timeoutSeconds of the readiness probe"},
    {"probe.*", number,
     "the other probe settings: probe.NAME.budget, .timeout, .period, .failure_threshold"},
    {"affinity", text, "required node affinity, `key In [a b]` joined with '; '"},
    {"table.status", text, "STATUS column of `kubectl get pods`"},
    {"shm.mounted", boolean, "a memory-backed emptyDir is mounted at /dev/shm"},
    {"shm.size_limit", bytes, "its sizeLimit"},
};

constexpr Field k_event[] = {
    {"reason", text, "event reason"},
    {"type", text, "Normal or Warning"},
    {"message", text, "message, decoded"},
    {"count", number, "how often"},
    {"object.kind", text, "kind of the involved object"},
    {"object.name", text, "name of the involved object"},
    {"object.namespace", text, "namespace of the involved object"},
    {"object.field_path", text, "field path, names the container"},
    {"source", text, "reporting component"},
    {"host", text, "reporting node"},
    {"first", time, "first seen"},
    {"last", time, "last seen"},
    {"age.first", seconds, "since it was first seen, where only ages are printed"},
    {"age.last", seconds, "since it was last seen, where only ages are printed"},
};

constexpr Field k_node[] = {
    {"name", text, "node name"},
    {"condition.*", text, "condition.Ready is true/false/unknown; .reason, .message, .since"},
    {"unschedulable", boolean, "cordoned"},
    {"table.roles", text, "ROLES column of `kubectl get nodes`"},
    {"taints", text, "taints as key=value:effect, joined with ', '"},
    {"taint.*", text, "taint.KEY is value:effect"},
    {"labels.*", text, "labels"},
    {"capacity.*", text, "capacity by resource; memory in bytes"},
    {"allocatable.*", text, "allocatable by resource; memory in bytes"},
    {"allocated.*", text, "requests of the pods on it (describe only)"},
    {"gpu.resource", text, "name of its GPU resource (nvidia.com/gpu, amd.com/gpu, a MIG profile)"},
    {"gpu.capacity", number, "GPUs in capacity"},
    {"gpu.allocatable", number, "GPUs in allocatable"},
    {"gpu.allocated", number, "GPUs requested by pods on it"},
    {"kubelet_version", text, "kubelet version"},
    {"kernel_version", text, "kernel version"},
    {"os_image", text, "OS image"},
    {"container_runtime", text, "container runtime and version"},
    {"boot_id", text, "boot id"},
    {"created", time, "creationTimestamp"},
};

constexpr Field k_workload[] = {
    {"object.kind", text, "Deployment, ReplicaSet, StatefulSet, Job ..."},
    {"name", text, "name"},
    {"namespace", text, "namespace"},
    {"replicas", number, "wanted"},
    {"ready", number, "ready replicas"},
    {"available", number, "available replicas"},
    {"unavailable", number, "unavailable replicas"},
    {"updated", number, "replicas of the newest revision"},
    {"revision", text, "revision annotation or pod-template-hash"},
    {"image", text, "image of the first container"},
    {"condition.*", text, "conditions; .reason, .message"},
    {"labels.*", text, "labels"},
};

constexpr Field k_model[] = {
    {"name", text, "model name"},
    {"namespace", text, "namespace"},
    {"phase", text, "Pending, Loading, Ready, Failed, Idle, Preempted ..."},
    {"substage", text, "loading substage"},
    {"message", text, "status message"},
    {"progress_at", time, "loadingProgressAt"},
    {"backend", text, "engine"},
    {"source", text, "where the weights come from"},
    {"node", text, "node"},
    {"replicas", number, "wanted"},
    {"ready_replicas", number, "ready"},
    {"gpu.count", number, "GPUs asked for"},
    {"gpu.vendor", text, "GPU vendor"},
    {"priority", number, "priority in its shared group"},
    {"shared_group.name", text, "shared GPU group"},
    {"shared_group.state", text, "Active, Queued, Preempted"},
    {"shared_group.preempted_by", text, "model that took the GPU"},
    {"shared_group.preemptions", number, "times preempted"},
    {"condition.*", text, "conditions; .reason, .message"},
    {"spec.*", text, "other scalar spec fields, dotted"},
    {"status.*", text, "other scalar status fields, dotted"},
};

constexpr Field k_gpu_state[] = {
    // One fact for each GPU; `tool` tells which program said it. Message lines that are no table
    // are facts with text only.
    {"tool", text, "nvidia-smi, nvidia-smi-q, nvidia-smi-csv, rocm-smi, amd-smi, rocminfo"},
    {"index", number, "index"},
    {"uuid", text, "GPU UUID"},
    {"pci", text, "PCI address dddd:bb:dd.f"},
    {"name", text, "product name"},
    {"serial", text, "serial number"},
    {"driver", text, "driver version"},
    {"cuda", text, "CUDA version of the driver"},
    {"vbios", text, "VBIOS version"},
    {"gpus", number, "attached GPUs (the header's fact)"},
    {"state", text, "ok, err, lost, requires-reset, unknown-error"},
    {"persistence_mode", text, "enabled, disabled"},
    {"mig_mode", text, "enabled, disabled"},
    {"mig_mode_pending", text, "MIG mode after the next reset"},
    {"mig.device", number, "MIG device number on its GPU (facts of MIG devices)"},
    {"mig.gpu_instance", number, "GPU instance id"},
    {"mig.compute_instance", number, "compute instance id"},
    {"mig.profile", text, "MIG profile, 1g.10gb"},
    {"mig.parent", text, "UUID of the GPU that the MIG device is part of"},
    {"gsp_firmware", text, "GSP firmware version"},
    {"c2c_mode", text, "enabled, disabled: chip-to-chip link of Grace systems"},
    {"compute_mode", text, "default, exclusive-process, prohibited"},
    {"performance_state", text, "P0 .. P15"},
    {"temperature.gpu", number, "degrees Celsius"},
    {"temperature.memory", number, "degrees Celsius"},
    {"temperature.slowdown", number, "threshold, degrees Celsius"},
    {"temperature.shutdown", number, "threshold, degrees Celsius"},
    {"temperature.memory_max", number, "greatest operating temperature of the memory"},
    {"temperature.t_limit", number, "degrees left to the limit (Ada, Hopper and newer)"},
    {"temperature.t_limit_slowdown", number, "t_limit at which clocks are cut"},
    {"temperature.t_limit_shutdown", number, "t_limit at which the GPU shuts down"},
    {"power.draw", number, "W"},
    {"power.limit", number, "W"},
    {"power.default_limit", number, "W"},
    {"fan", number, "percent"},
    {"utilization.gpu", number, "percent"},
    {"utilization.memory", number, "percent"},
    {"memory.total", bytes, "framebuffer in total"},
    {"memory.used", bytes, "framebuffer in use"},
    {"memory.free", bytes, "framebuffer free"},
    {"memory.reserved", bytes, "framebuffer reserved"},
    {"memory.used_percent", number, "percent of the framebuffer in use"},
    {"process.memory", bytes, "sum that the listed processes use"},
    {"process.count", number, "listed processes"},
    {"process.pids", text, "their pids, joined with ','"},
    {"process.names", text, "their names, joined with ','"},
    {"clocks.sm", number, "MHz"},
    {"clocks.memory", number, "MHz"},
    {"clocks.max_sm", number, "MHz"},
    {"clocks.idle", text, "active, not-active"},
    {"clocks.sw_power_cap", text, "active, not-active"},
    {"clocks.hw_slowdown", text, "active, not-active"},
    {"clocks.hw_thermal_slowdown", text, "active, not-active"},
    {"clocks.hw_power_brake", text, "active, not-active"},
    {"clocks.sw_thermal_slowdown", text, "active, not-active"},
    {"clocks.sync_boost", text, "active, not-active"},
    {"clocks.applications", text, "active, not-active"},
    {"clocks.total.sw_power_cap", seconds, "time spent so since the driver was loaded"},
    {"clocks.total.sync_boost", seconds, "time spent so since the driver was loaded"},
    {"clocks.total.sw_thermal_slowdown", seconds, "time spent so since the driver was loaded"},
    {"clocks.total.hw_thermal_slowdown", seconds, "time spent so since the driver was loaded"},
    {"clocks.total.hw_power_brake", seconds, "time spent so since the driver was loaded"},
    {"ecc.mode", text, "enabled, disabled, unknown-error"},
    {"ecc.mode_pending", text, "ECC mode after the next reset"},
    {"ecc.uncorrectable", number,
     "Volatile Uncorr. ECC of the plain table; AMD: total of uncorrectable errors"},
    {"ecc.correctable", number, "AMD: total of correctable errors"},
    {"ecc.volatile.sram_correctable", number, "count"},
    {"ecc.volatile.sram_uncorrectable", number, "count (parity + SEC-DED where split)"},
    {"ecc.volatile.dram_correctable", number, "count"},
    {"ecc.volatile.dram_uncorrectable", number, "count"},
    {"ecc.volatile.double_bit", number, "Volta and older: total double bit errors"},
    {"ecc.aggregate.sram_correctable", number, "count"},
    {"ecc.aggregate.sram_uncorrectable", number, "count (parity + SEC-DED where split)"},
    {"ecc.aggregate.dram_correctable", number, "count"},
    {"ecc.aggregate.dram_uncorrectable", number, "count"},
    {"ecc.aggregate.double_bit", number, "Volta and older: total double bit errors"},
    {"ecc.sram_threshold_exceeded", boolean, "SRAM threshold exceeded"},
    {"ecc.channel_repair_pending", boolean, "Blackwell: channel repair pending"},
    {"ecc.tpc_repair_pending", boolean, "Blackwell: TPC repair pending"},
    {"ecc.unrepairable_memory", boolean, "Blackwell: unrepairable memory"},
    {"retired_pages.single_bit", number, "pages retired for single bit errors"},
    {"retired_pages.double_bit", number, "pages retired for double bit errors"},
    {"retired_pages.pending", boolean, "page retirement waits for a driver reload"},
    {"remapped_rows.correctable", number, "rows"},
    {"remapped_rows.uncorrectable", number, "rows"},
    {"remapped_rows.pending", boolean, "row remapping waits for a reset"},
    {"remapped_rows.failure", boolean, "row remapping failed"},
    {"remapped_rows.bank_max", number, "banks with all spare rows left"},
    {"remapped_rows.bank_high", number, "banks with most spare rows left"},
    {"remapped_rows.bank_partial", number, "banks with some spare rows left"},
    {"remapped_rows.bank_low", number, "banks with few spare rows left"},
    {"remapped_rows.bank_none", number, "banks with no spare row left"},
    {"reset_required", boolean, "GPU Reset Status: reset required"},
    {"drain_reset_recommended", boolean, "drain and reset recommended"},
    {"recovery_action", text,
     "none, reset, reboot, drain-p2p, drain-and-reset, recover-imex-domain"},
    {"fabric.state", text, "completed, in-progress, not-started, n-a"},
    {"fabric.status", text, "success or what failed"},
    {"fabric.health", text, "health summary"},
    {"fabric.bandwidth", text, "full, degraded"},
    {"fabric.route_recovery", boolean, "route recovery in progress"},
    {"fabric.route_unhealthy", boolean, "route unhealthy"},
    {"fabric.access_timeout_recovery", boolean, "access timeout recovery"},
    {"fabric.incorrect_configuration", text, "what is configured wrongly"},
    {"pcie.link_gen", number, "current PCIe generation"},
    {"pcie.link_gen_max", number, "greatest PCIe generation"},
    {"pcie.link_width", number, "current lanes"},
    {"pcie.link_width_max", number, "greatest lanes"},
    {"pcie.replays", number, "replays since reset"},
    {"pcie.replay_rollovers", number, "times that the replay counter wrapped"},
    {"nvlink.*", text,
     "nvlink.N.state, nvlink.N.replay, nvlink.N.recovery, nvlink.N.crc; nvlink.inactive counts"},
    {"topology.*", text, "topology.GPU1 ...: how another device is reached (NV18, PIX, SYS)"},
    {"xgmi.errors", number, "AMD: XGMI errors"},
    {"ras.*", number, "AMD: ras.BLOCK.correctable, ras.BLOCK.uncorrectable"},
    {"bad_pages", number, "AMD: retired pages"},
    {"hw", text, "AMD: gfx target"},
    {"process.*", text, "process.N.pid, process.N.name, process.N.memory"},
};

constexpr Field k_metrics[] = {
    {"name", text, "metric name"},
    {"value", number, "sample value"},
    {"labels.*", text, "labels"},
    {"scrape", number, "1-based number of the scrape when one file or directory holds several"},
};

constexpr Field k_gateway_stats[] = {
    {"name", text, "counter name"},
    {"value", number, "value"},
};

constexpr Field k_dcgm[] = {
    {"category", text, "test category"},
    {"test", text, "test or health system"},
    {"status", text, "pass, fail, warn, skip"},
    {"gpu", text, "GPU index"},
    {"error_id", number, "DCGM error id"},
    {"error_category", text, "error category"},
    {"error_severity", text, "error severity"},
    {"warning", text, "what DCGM says"},
    {"runtime_error", text, "why the diagnostic did not run"},
};

constexpr Field k_host_memory[] = {
    {"mem.total", bytes, "MemTotal"},
    {"mem.available", bytes, "MemAvailable"},
    {"mem.free", bytes, "MemFree"},
    {"swap.total", bytes, "SwapTotal"},
    {"swap.free", bytes, "SwapFree"},
    {"shm.size", bytes, "size of /dev/shm"},
    {"shm.used", bytes, "used of /dev/shm"},
    {"shm.available", bytes, "left in /dev/shm"},
    {"shm.used_percent", number, "percent of /dev/shm in use"},
    {"cgroup.max", bytes, "memory.max"},
    {"cgroup.peak", bytes, "memory.peak"},
    {"cgroup.current", bytes, "memory.current"},
    {"cgroup.oom", number, "memory.events oom"},
    {"cgroup.oom_kill", number, "memory.events oom_kill"},
};

constexpr Field k_environment[] = {
    {"key", text, "name of the variable, argument or report line"},
    {"value", text, "its value"},
    {"pytorch", text, "PyTorch version"},
    {"cuda", text, "CUDA version PyTorch was built with"},
    {"driver", text, "NVIDIA driver version"},
    {"rocm", text, "ROCm version PyTorch was built with"},
    {"cuda_available", boolean, "torch.cuda.is_available()"},
    {"vllm", text, "vLLM version"},
    {"gpus", text, "GPU models"},
};

constexpr Field k_loading[] = {
    {"source", text, "log or model (the controller's custom resource)"},
    {"substage", text,
     "image-pull, volume-mount, download, weights, compile, warm-up, graph-capture, unknown"},
    {"fraction", number, "0 to 1, of the newest progress line"},
    {"advancing", boolean,
     "the newest progress is newer than the one before, at about the same pace"},
    {"stalled_for", seconds, "from the newest progress to the end of the evidence"},
    {"duration", seconds, "from the start of loading to its newest line"},
    {"done", boolean, "the engine went on to serve"},
    {"probe_budget", seconds, "startup (else liveness) probe budget of its container"},
    {"stalled_counter", number, "stall counter of the controller's metrics"},
};

constexpr Field k_load[] = {
    {"engine", text, "vllm, sglang, tgi, trtllm, triton, llamacpp"},
    {"source", text, "metrics, log, gateway, gateway-stats or memory"},
    {"running", number, "running requests, newest"},
    {"waiting", number, "waiting requests, newest"},
    {"waiting_max", number, "waiting requests, greatest"},
    {"waiting_rising", boolean, "waiting grows over the evidence"},
    {"kv_usage", number, "0 to 1, newest"},
    {"kv_usage_max", number, "0 to 1, greatest"},
    {"preemptions", number, "preempted or retracted requests"},
    {"ttft_p95", seconds, "95th percentile of the time to first token"},
    {"queue_p95", seconds, "95th percentile of the time in the queue"},
    {"throughput", number, "generated tokens a second, newest"},
    {"retry_factor", number, "attempts per offered request at the gateway"},
    {"requests", number, "requests that the gateway logged"},
    {"errors_5xx", number, "of them 5xx"},
    {"most_5xx", number, "the status of most of these: 502, 503, 504"},
    {"rejected_429", number, "of them 429"},
    {"error_share", number, "share of 5xx answers, 0 to 1"},
    {"late_error_share", number, "share of 5xx among the last 64 answers, 0 to 1"},
    {"rejected_share", number, "share of 429 answers, 0 to 1"},
    {"serving", boolean, "requests finished successfully in the evidence"},
    {"idle", boolean, "nothing running and nothing waiting"},
    {"memory_first", bytes, "GPU memory in use at the first reading (at quiet points, if known)"},
    {"memory_last", bytes, "GPU memory in use at the last reading"},
    {"memory_readings", number, "readings"},
    {"memory_rising", boolean, "memory grows from reading to reading over a long time"},
};

constexpr Field k_replicas[] = {
    {"workload", text, "workload"},
    {"namespace", text, "namespace"},
    {"total", number, "pods"},
    {"ready", number, "ready pods"},
    {"failed", number, "pods with a failed or restarting container"},
    {"failed_nodes", number, "distinct nodes of those"},
    {"nodes", number, "distinct nodes of all"},
    {"revision", text, "revision of the failed pods when it is one"},
    {"revisions", number, "distinct revisions"},
    {"revision_failed", number, "failed pods of that revision"},
    {"revision_total", number, "pods of that revision"},
    {"other_revision_ready", number, "ready pods of other revisions"},
};

constexpr Field k_swap[] = {
    {"group", text, "shared GPU group"},
    {"models", number, "models that evicted one another"},
    {"both_ways", boolean, "A evicted B and B evicted A"},
    {"count", number, "evictions"},
    {"p95", seconds, "95th percentile of a swap"},
};

constexpr Field k_scheduling[] = {
    {"pod", text, "pod"},
    {"message", text, "the newest FailedScheduling message"},
    {"nodes", number, "nodes that the scheduler counted"},
    {"clauses.*", number,
     "nodes by clause: insufficient-gpu, insufficient-cpu, insufficient-memory, insufficient-mig, "
     "untolerated-taint, affinity, unschedulable, volume-affinity, volume-unbound, anti-affinity, "
     "topology-spread, ports, too-many-pods, other"},
    {"deciding", text, "the clause that decides for GPU nodes"},
    {"gpu_nodes", number, "nodes that offer the GPU resource asked for"},
    {"gpu_nodes_tainted", number, "of them with a taint the pod does not tolerate"},
    {"gpu_nodes_cordoned", number, "of them cordoned"},
    {"gpu_nodes_unmatched", number, "of them that selector or affinity leaves out"},
    {"gpu_nodes_short", number, "of them whose allocatable GPUs are below capacity"},
    {"resource", text, "GPU resource asked for"},
};

std::vector<Field> make_gpu() {
  std::vector<Field> fields(std::begin(k_gpu_state), std::end(k_gpu_state));
  fields.push_back({"node", text, "node"});
  fields.push_back({"plugin.unhealthy", boolean, "the device plugin marked it unhealthy"});
  fields.push_back({"listed", boolean,
                    "nvidia-smi, rocm-smi or amd-smi lists it; false when one of the node lists "
                    "others only"});
  fields.push_back({"xid", number, "its first Xid in the kernel log, else DCGM's last"});
  fields.push_back({"xids", text, "its Xids in the kernel log, in their order, joined with ','"});
  return fields;
}

}  // namespace

std::span<const Field> fields_of(Kind kind) {
  switch (kind) {
    case Kind::pod:
      return k_pod;
    case Kind::event:
      return k_event;
    case Kind::node:
      return k_node;
    case Kind::workload:
      return k_workload;
    case Kind::model:
      return k_model;
    case Kind::gpu_state:
      return k_gpu_state;
    case Kind::metrics:
      return k_metrics;
    case Kind::gateway_stats:
      return k_gateway_stats;
    case Kind::dcgm_diag:
      return k_dcgm;
    case Kind::host_memory:
      return k_host_memory;
    case Kind::environment:
      return k_environment;
    case Kind::loading:
      return k_loading;
    case Kind::load:
      return k_load;
    case Kind::replicas:
      return k_replicas;
    case Kind::swap:
      return k_swap;
    case Kind::scheduling:
      return k_scheduling;
    case Kind::gpu: {
      static const std::vector<Field> fields = make_gpu();
      return fields;
    }
    default:
      return {};
  }
}

bool is_field(Kind kind, std::string_view name) {
  const auto fields = fields_of(kind);
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    if (field.name == name) return true;
    if (field.name.size() < 2 || field.name.substr(field.name.size() - 2) != ".*") return false;
    const std::string_view stem = field.name.substr(0, field.name.size() - 1);
    return name.size() > stem.size() && name.substr(0, stem.size()) == stem;
  });
}

std::string_view to_string(FieldType type) {
  switch (type) {
    case FieldType::text:
      return "text";
    case FieldType::number:
      return "number";
    case FieldType::boolean:
      return "boolean";
    case FieldType::bytes:
      return "bytes";
    case FieldType::seconds:
      return "seconds";
    case FieldType::time:
      return "time";
  }
  return "text";
}

}  // namespace triage::evidence

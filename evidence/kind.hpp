#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace triage::evidence {

/// What a piece of evidence is. Everything downstream (rules, redaction, coverage) speaks of kinds,
/// never of file names.
enum class Kind : std::uint8_t {
  pod,
  event,
  node,
  workload,  ///< ReplicaSet, Deployment, StatefulSet, Job, LeaderWorkerSet, InferenceService ...
  model,     ///< model custom resources with a loading status (FlexInfer)
  container_log,
  kernel_log,
  system_log,  ///< journal or syslog that mixes kernel lines with those of daemons (kubelet,
               ///< containerd)
  gpu_state,   ///< nvidia-smi, nvidia-smi -q, rocm-smi, amd-smi, rocminfo
  fabric_log,  ///< fabric manager, IMEX, NVSwitch
  device_plugin_log,
  driver_log,
  gateway_log,
  gateway_stats,
  controller_log,
  metrics,
  dcgm_diag,
  host_memory,
  environment,
  unknown_text,
  // Derived by analysis, never a file.
  loading,
  load,
  replicas,
  swap,
  scheduling,
  gpu,
};

inline constexpr std::size_t k_kind_count = 26;

[[nodiscard]] std::string_view to_string(Kind kind);
[[nodiscard]] std::optional<Kind> kind_from(std::string_view name);
/// One line for `triage rules kinds`.
[[nodiscard]] std::string_view describe(Kind kind);
/// Log kinds are read line by line; `match` sees each line without its stamp prefix.
[[nodiscard]] bool is_log(Kind kind);
[[nodiscard]] bool is_derived(Kind kind);
/// Kinds that can hold kernel lines.
[[nodiscard]] inline bool may_hold_kernel_lines(Kind kind) {
  return kind == Kind::kernel_log || kind == Kind::system_log || kind == Kind::unknown_text;
}

[[nodiscard]] const std::array<Kind, k_kind_count>& all_kinds();

}  // namespace triage::evidence

#pragma once

#include <cstdint>
#include <string_view>

namespace triage::evidence {

/// How a file is written. A kind says what evidence is, a format how to read it: one parser per
/// format.
enum class Format : std::uint8_t {
  lines,         ///< any line log
  json_lines,    ///< one JSON object a line: docker logs, journalctl -o json, structured loggers
  k8s_json,      ///< one or several Kubernetes objects or Lists, also concatenated
  k8s_yaml,      ///< the same in YAML, one or several documents
  k8s_describe,  ///< `kubectl describe pod|node|...`
  k8s_table,     ///< `kubectl get pods|nodes|events` tables
  smi_table,     ///< `nvidia-smi` without arguments
  smi_query,     ///< `nvidia-smi -q`
  smi_csv,       ///< `nvidia-smi --query-...=... --format=csv`
  smi_xml,       ///< `nvidia-smi -q -x`
  smi_topology,  ///< `nvidia-smi topo -m`, `nvlink --status`, `nvlink --errorcounters`
  amd_smi_text,  ///< `amd-smi` and `rocm-smi` tables
  amd_smi_json,  ///< `amd-smi ... --json`
  rocminfo,
  prometheus,
  gateway_stats,  ///< `name: value` counters of Envoy's /stats
  dcgm_json,      ///< `dcgmi diag -j`, `dcgmi health -j`
  host_memory,    ///< /proc/meminfo, free, df, cgroup files
  collect_env,    ///< PyTorch's and vLLM's collect_env
  key_value,      ///< `KEY=VALUE` or command line arguments
  nvidia_bug_report,
  cluster_info_dump,  ///< `kubectl cluster-info dump` on stdout
  rocm_techsupport,
  clock,  ///< a bundle's clock.json
  other_json,
  binary,  ///< not text: named in coverage, never read
};

[[nodiscard]] std::string_view to_string(Format format);

}  // namespace triage::evidence

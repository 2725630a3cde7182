#include "evidence/format.hpp"

namespace triage::evidence {

std::string_view to_string(Format format) {
  switch (format) {
    case Format::lines:
      return "lines";
    case Format::json_lines:
      return "json-lines";
    case Format::k8s_json:
      return "k8s-json";
    case Format::k8s_yaml:
      return "k8s-yaml";
    case Format::k8s_describe:
      return "k8s-describe";
    case Format::k8s_table:
      return "k8s-table";
    case Format::smi_table:
      return "nvidia-smi";
    case Format::smi_query:
      return "nvidia-smi-q";
    case Format::smi_csv:
      return "nvidia-smi-csv";
    case Format::smi_xml:
      return "nvidia-smi-xml";
    case Format::smi_topology:
      return "nvidia-smi-topology";
    case Format::amd_smi_text:
      return "amd-smi-text";
    case Format::amd_smi_json:
      return "amd-smi-json";
    case Format::rocminfo:
      return "rocminfo";
    case Format::prometheus:
      return "prometheus";
    case Format::gateway_stats:
      return "gateway-stats";
    case Format::dcgm_json:
      return "dcgm-json";
    case Format::host_memory:
      return "host-memory";
    case Format::collect_env:
      return "collect-env";
    case Format::key_value:
      return "key-value";
    case Format::nvidia_bug_report:
      return "nvidia-bug-report";
    case Format::cluster_info_dump:
      return "cluster-info-dump";
    case Format::rocm_techsupport:
      return "rocm-techsupport";
    case Format::clock:
      return "clock";
    case Format::other_json:
      return "json";
    case Format::binary:
      return "binary";
  }
  return "unknown";
}

}  // namespace triage::evidence

#include "analysis/formats/parsers.hpp"

namespace triage::analysis::formats {

Parser parser_for(evidence::Format format) {
  using evidence::Format;
  switch (format) {
    case Format::k8s_json:
      return parse_kubernetes_json;
    case Format::k8s_yaml:
      return parse_kubernetes_yaml;
    case Format::k8s_describe:
      return parse_kubernetes_describe;
    case Format::k8s_table:
      return parse_kubernetes_table;
    case Format::smi_table:
      return parse_smi_table;
    case Format::smi_query:
      return parse_smi_query;
    case Format::smi_csv:
      return parse_smi_csv;
    case Format::smi_xml:
      return parse_smi_xml;
    case Format::smi_topology:
      return parse_smi_topology;
    case Format::amd_smi_text:
      return parse_amd_smi_text;
    case Format::amd_smi_json:
      return parse_amd_smi_json;
    case Format::rocminfo:
      return parse_rocminfo;
    case Format::prometheus:
      return parse_prometheus;
    case Format::gateway_stats:
      return parse_gateway_stats;
    case Format::dcgm_json:
      return parse_dcgm_json;
    case Format::host_memory:
      return parse_host_memory;
    case Format::collect_env:
      return parse_collect_env;
    case Format::key_value:
      return parse_key_value;
    case Format::clock:
      return parse_clock;
    default:
      return nullptr;
  }
}

}  // namespace triage::analysis::formats

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
    default:
      return nullptr;
  }
}

}  // namespace triage::analysis::formats

#pragma once

#include <string_view>

#include "evidence/fact.hpp"
#include "evidence/format.hpp"

/// Structured evidence: one file per format in this folder, all feeding one sink. A parser takes
/// the whole text of a file (bounded by the caller), gives facts with the line of each value in the
/// original file, and never throws: what it cannot read it skips; damaged input gives the facts of
/// its sound part. Adding a format: one new file here, one line in parsers.cpp, and its recogniser
/// in bundle/.
namespace triage::analysis::formats {

struct ParseContext {
  evidence::Kind kind;
  evidence::Place place;  ///< what path and manifest say; facts start from it
};

using Parser = void (*)(std::string_view text, const ParseContext& context,
                        const evidence::FactSink& sink);

/// The parser of a format, or nullptr when the format is read line by line only.
[[nodiscard]] Parser parser_for(evidence::Format format);

// kubernetes_json.cpp: objects, Lists, concatenated documents. Pod, Event, Node, workload and model
// kinds.
void parse_kubernetes_json(std::string_view text, const ParseContext& context,
                           const evidence::FactSink& sink);
// kubernetes_yaml.cpp: the same in YAML.
void parse_kubernetes_yaml(std::string_view text, const ParseContext& context,
                           const evidence::FactSink& sink);
// kubernetes_describe.cpp: `kubectl describe pod|node`, several in one file.
void parse_kubernetes_describe(std::string_view text, const ParseContext& context,
                               const evidence::FactSink& sink);
// kubernetes_table.cpp: `kubectl get pods|nodes|events`, with and without -A, -o wide.
void parse_kubernetes_table(std::string_view text, const ParseContext& context,
                            const evidence::FactSink& sink);
// smi_table.cpp, smi_query.cpp, smi_csv.cpp, smi_xml.cpp, smi_topology.cpp
void parse_smi_table(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink);
void parse_smi_query(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink);
void parse_smi_csv(std::string_view text, const ParseContext& context,
                   const evidence::FactSink& sink);
void parse_smi_xml(std::string_view text, const ParseContext& context,
                   const evidence::FactSink& sink);
void parse_smi_topology(std::string_view text, const ParseContext& context,
                        const evidence::FactSink& sink);
// amd_smi.cpp
void parse_amd_smi_text(std::string_view text, const ParseContext& context,
                        const evidence::FactSink& sink);
void parse_amd_smi_json(std::string_view text, const ParseContext& context,
                        const evidence::FactSink& sink);
void parse_rocminfo(std::string_view text, const ParseContext& context,
                    const evidence::FactSink& sink);
// prometheus.cpp, gateway_stats.cpp, dcgm_json.cpp, host_memory.cpp, environment.cpp
void parse_prometheus(std::string_view text, const ParseContext& context,
                      const evidence::FactSink& sink);
void parse_gateway_stats(std::string_view text, const ParseContext& context,
                         const evidence::FactSink& sink);
void parse_dcgm_json(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink);
void parse_host_memory(std::string_view text, const ParseContext& context,
                       const evidence::FactSink& sink);
void parse_collect_env(std::string_view text, const ParseContext& context,
                       const evidence::FactSink& sink);
void parse_key_value(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink);
// clock.json of a bundle: environment facts, among them `boot_time`, which dates kernel logs.
void parse_clock(std::string_view text, const ParseContext& context,
                 const evidence::FactSink& sink);

}  // namespace triage::analysis::formats

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/formats/gpu_fact.hpp"

/// What the text and JSON output of rocm-smi and amd-smi have in common: the same names, the GPUs
/// by index.
namespace triage::analysis::formats {

/// The GPUs of one file. Several commands' output in one file adds to the same GPU.
class AmdDevices {
 public:
  AmdDevices(const ParseContext& context, std::string_view tool) : context_(context), tool_(tool) {}

  void set_tool(std::string_view tool) { tool_ = tool; }
  /// The GPU's fact, made at its first mention; nullptr when there are more than any node has.
  evidence::Fact* device(std::string_view index, std::uint32_t line);
  /// A value of amd-smi: `section` is the lower-case path below the GPU (`ecc_blocks/umc`).
  void set_amd_smi(evidence::Fact& fact, std::string_view section, std::string_view label,
                   std::string_view value, std::uint32_t line);
  /// A value of rocm-smi: `VRAM Total Memory (B)`, `Temperature (Sensor edge) (C)`.
  void set_rocm_smi(evidence::Fact& fact, std::string_view label, std::string_view value,
                    std::uint32_t line);
  void set_ras(evidence::Fact& fact, std::string_view block, std::string_view kind,
               std::string_view count, std::uint32_t line);
  void add_process(std::string_view index, GpuProcess process);
  void add_bad_page(evidence::Fact& fact, std::uint32_t line);
  void set_driver(std::string_view version, std::uint32_t line);
  void message(std::string_view text, std::uint32_t line);

  /// Gives all facts to the sink.
  void finish(const evidence::FactSink& sink);

 private:
  struct Device {
    evidence::Fact fact;
    std::vector<GpuProcess> processes;
    std::uint64_t bad_pages = 0;
  };

  const ParseContext& context_;
  std::string tool_;
  std::map<std::string, Device> devices_;
  std::vector<GpuProcess> loose_processes_;  ///< of no GPU that the output names
  std::vector<evidence::Fact> messages_;
  std::string driver_;
  std::uint32_t driver_line_ = 0;
};

}  // namespace triage::analysis::formats

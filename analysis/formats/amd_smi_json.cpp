#include <string>

#include "analysis/formats/amd_fact.hpp"
#include "analysis/formats/located_tree.hpp"
#include "base/text.hpp"

// `amd-smi ... --json` (arrays of `{"gpu": 0, ...}`, from 7.0 under `gpu_data`) and `rocm-smi
// --json` (`{"card0": {...}}`).
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

constexpr int k_max_depth = 8;

/// `{"value": 42, "unit": "C"}` as `42 C`, a scalar as it is.
std::string value_of(const LocatedNode& node) {
  if (node.is_scalar()) return node.text;
  const LocatedNode& value = node.at("value");
  if (!value.is_scalar()) return {};
  const LocatedNode& unit = node.at("unit");
  return unit.is_scalar() ? value.text + " " + unit.text : value.text;
}

class AmdJsonReader {
 public:
  AmdJsonReader(const ParseContext& context, const evidence::FactSink& sink)
      : devices_(context, "amd-smi"), sink_(sink) {}

  void read(const LocatedNode& document) {
    for (const LocatedNode& gpu : document.at("gpu_data").items) read_gpu(gpu);
    if (document.at("gpu")) read_gpu(document);
    for (const auto& [name, node] : document.members) {
      if (name.substr(0, 4) == "card") read_card(name.substr(4), node);
      if (name == "system") read_system(node);
    }
  }

  void finish() { devices_.finish(sink_); }

 private:
  void read_gpu(const LocatedNode& node) {
    const LocatedNode& index = node.at("gpu");
    if (!index.is_scalar()) return;
    Fact* fact = devices_.device(index.text, index.line);
    if (fact == nullptr) return;
    for (const auto& [name, member] : node.members) {
      if (name == "process_list" || name == "processes") {
        for (const LocatedNode& item : member.items) read_process(index.text, item);
      } else if (name == "retired" || name == "retired_pages" || name == "bad_pages") {
        for (const LocatedNode& page : member.items) devices_.add_bad_page(*fact, page.line);
      } else if (name != "gpu") {
        read_member(*fact, "", name, member, 0);
      }
    }
  }

  void read_member(Fact& fact, const std::string& section, const std::string& name,
                   const LocatedNode& node, int depth) {
    const std::string label = base::to_lower(name);
    if (const std::string value = value_of(node); !value.empty()) {
      const std::uint32_t line = node.is_scalar() ? node.line : node.at("value").line;
      devices_.set_amd_smi(fact, section, label, value, line);
      return;
    }
    if (!node.is_object() || depth >= k_max_depth) return;
    const std::string below = section.empty() ? label : section + "/" + label;
    for (const auto& [member_name, member] : node.members)
      read_member(fact, below, member_name, member, depth + 1);
  }

  void read_process(const std::string& index, const LocatedNode& item) {
    const LocatedNode& info = item.at("process_info") ? item.at("process_info") : item;
    const LocatedNode& pid = info.at("pid");
    if (!pid.is_scalar() || !base::parse_int(pid.text)) return;
    GpuProcess process;
    process.pid = pid.text;
    process.line = pid.line;
    if (info.at("name").is_scalar()) {
      process.name = info.at("name").text;
      process.name_line = info.at("name").line;
    }
    const LocatedNode& vram = info.at("memory_usage", "vram_mem");
    const LocatedNode& memory = vram ? vram : info.at("mem_usage");
    Fact scratch;
    set_gpu_value(scratch, "memory", GpuValue::bytes, value_of(memory), memory.line);
    process.memory = scratch.get("memory");
    process.memory_line = memory.line;
    devices_.add_process(index, std::move(process));
  }

  void read_card(const std::string& index, const LocatedNode& card) {
    if (!base::parse_int(index)) return;
    devices_.set_tool("rocm-smi");
    Fact* fact = devices_.device(index, card.line);
    if (fact == nullptr) return;
    for (const auto& [label, node] : card.members)
      if (node.is_scalar()) devices_.set_rocm_smi(*fact, label, node.text, node.line);
  }

  void read_system(const LocatedNode& system) {
    const LocatedNode& driver = system.at("Driver version");
    if (driver.is_scalar()) devices_.set_driver(driver.text, driver.line);
  }

  AmdDevices devices_;
  const evidence::FactSink& sink_;
};

}  // namespace

void parse_amd_smi_json(std::string_view text, const ParseContext& context,
                        const evidence::FactSink& sink) {
  AmdJsonReader reader(context, sink);
  read_located_json(text, [&reader](const LocatedNode& document) {
    reader.read(document);
    return true;
  });
  reader.finish();
}

}  // namespace triage::analysis::formats

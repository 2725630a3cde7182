#include "analysis/formats/amd_fact.hpp"

#include <array>

#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using enum GpuValue;

constexpr std::size_t k_max_devices = 256;
constexpr std::size_t k_max_messages = 1000;

constexpr GpuField k_amd_smi[] = {
    {"", "bdf", "pci", pci},
    {"", "uuid", "uuid", uuid},
    {"bus", "bdf", "pci", pci},
    {"bus", "max_pcie_width", "pcie.link_width_max", number},
    {"asic", "market_name", "name"},
    {"asic", "target_graphics_version", "hw"},
    {"asic", "asic_serial", "serial"},
    {"board", "product_serial", "serial"},
    {"vbios", "version", "vbios"},
    {"ifwi", "version", "vbios"},
    {"driver", "version", "driver"},
    {"driver", "driver_version", "driver"},
    {"vram", "size", "memory.total", mebibytes},
    {"mem_usage", "total_vram", "memory.total", mebibytes},
    {"mem_usage", "used_vram", "memory.used", mebibytes},
    {"mem_usage", "free_vram", "memory.free", mebibytes},
    {"vram", "vram_total", "memory.total", mebibytes},
    {"vram", "vram_used", "memory.used", mebibytes},
    {"usage", "gfx_activity", "utilization.gpu", number},
    {"usage", "umc_activity", "utilization.memory", number},
    {"power", "socket_power", "power.draw", number},
    {"power", "average_socket_power", "power.draw", number},
    {"power", "current_socket_power", "power.draw", number},
    {"limit", "socket_power", "power.limit", number},
    {"limit", "max_power", "power.limit", number},
    {"limit", "slowdown_hotspot_temperature", "temperature.slowdown", number},
    {"limit", "slowdown_edge_temperature", "temperature.slowdown", number},
    {"limit", "shutdown_hotspot_temperature", "temperature.shutdown", number},
    {"temperature", "edge", "temperature.gpu", number},
    {"temperature", "hotspot", "temperature.gpu", number},
    {"temperature", "mem", "temperature.memory", number},
    {"fan", "usage", "fan", number},
    {"clock/gfx_0", "clk", "clocks.sm", number},
    {"clock/gfx_0", "max_clk", "clocks.max_sm", number},
    {"clock/mem_0", "clk", "clocks.memory", number},
    {"ecc", "total_correctable_count", "ecc.correctable", number},
    {"ecc", "total_uncorrectable_count", "ecc.uncorrectable", number},
    {"ecc", "total_correctable", "ecc.correctable", number},
    {"ecc", "total_uncorrectable", "ecc.uncorrectable", number},
    {"pcie", "width", "pcie.link_width", number},
    {"pcie", "max_width", "pcie.link_width_max", number},
    {"pcie", "replay_count", "pcie.replays", number},
};

struct Label {
  std::string_view text, field;
  GpuValue value;
};
// Parts of rocm-smi's labels; the first that a label begins with counts.
constexpr std::array<Label, 24> k_rocm_smi{
    {{"VRAM Total Memory (B)", "memory.total", bytes},
     {"VRAM Total Used Memory (B)", "memory.used", bytes},
     {"Temperature (Sensor junction)", "temperature.gpu", number},
     {"Temperature (Sensor edge)", "temperature.gpu", number},
     {"Temperature (Sensor memory)", "temperature.memory", number},
     {"Average Graphics Package Power", "power.draw", number},
     {"Current Socket Graphics Package Power", "power.draw", number},
     {"Max Graphics Package Power", "power.limit", number},
     {"GPU use (%)", "utilization.gpu", number},
     {"GPU Memory Allocated (VRAM%)", "memory.used_percent", number},
     {"GPU memory use (%)", "memory.used_percent", number},
     {"PCI Bus", "pci", pci},
     {"Unique ID", "uuid", uuid},
     {"Serial Number", "serial", text},
     {"Card Series", "name", text},
     {"Card series", "name", text},
     {"Device Name", "name", text},
     {"GFX Version", "hw", text},
     {"VBIOS version", "vbios", text},
     {"XGMI Error count", "xgmi.errors", number},
     {"Fan Level", "fan", number},
     {"Fan speed (%)", "fan", number},
     {"Performance Level", "performance_state", text},
     {"PCIe Replay Count", "pcie.replays", number}}};

}  // namespace

Fact* AmdDevices::device(std::string_view index, std::uint32_t line) {
  index = base::trim(index);
  if (!base::parse_int(index)) return nullptr;
  const auto it = devices_.find(std::string(index));
  if (it != devices_.end()) return &it->second.fact;
  if (devices_.size() >= k_max_devices) return nullptr;
  Device& made = devices_[std::string(index)];
  made.fact = make_gpu_fact(context_, tool_, line);
  made.fact.set("index", std::string(index), line);
  return &made.fact;
}

void AmdDevices::set_amd_smi(Fact& fact, std::string_view section, std::string_view label,
                             std::string_view value, std::uint32_t line) {
  if (section.substr(0, 11) == "ecc_blocks/") {
    set_ras(fact, section.substr(11), label, value, line);
    return;
  }
  if (label == "xgmi_err" || section == "xgmi_err") {
    const bool none = base::icontains(value, "no_error") || base::icontains(value, "none");
    set_gpu_value(fact, "xgmi.errors", number, none ? "0" : value, line);
    return;
  }
  if (const GpuField* row = find_field(k_amd_smi, section, label))
    set_gpu_value(fact, row->field, row->value, value, line);
}

void AmdDevices::set_rocm_smi(Fact& fact, std::string_view label, std::string_view value,
                              std::uint32_t line) {
  for (const Label& known : k_rocm_smi)
    if (label.substr(0, known.text.size()) == known.text) {
      set_gpu_value(fact, known.field, known.value, value, line);
      return;
    }
  if (base::icontains(label, "XGMI Error status"))
    set_gpu_value(fact, "xgmi.errors", number, base::icontains(value, "no errors") ? "0" : value,
                  line);
}

void AmdDevices::set_ras(Fact& fact, std::string_view block, std::string_view kind,
                         std::string_view count, std::uint32_t line) {
  // `uncorrectable` holds `correctable`: ask for the longer word first.
  const bool uncorrectable = base::icontains(kind, "uncorrectable");
  if (!uncorrectable && !base::icontains(kind, "correctable")) return;
  // What a failed read of the counter register looks like.
  if (base::trim(count) == "1048560") return;
  set_gpu_value(
      fact, "ras." + base::to_lower(block) + (uncorrectable ? ".uncorrectable" : ".correctable"),
      number, count, line);
}

void AmdDevices::add_process(std::string_view index, GpuProcess process) {
  const auto it = devices_.find(std::string(base::trim(index)));
  auto& list = it == devices_.end() ? loose_processes_ : it->second.processes;
  if (list.size() < 10'000) list.push_back(std::move(process));
}

void AmdDevices::add_bad_page(Fact& fact, std::uint32_t line) {
  for (auto& [index, device] : devices_)
    if (&device.fact == &fact) fact.set("bad_pages", std::to_string(++device.bad_pages), line);
}

void AmdDevices::set_driver(std::string_view version, std::uint32_t line) {
  if (!driver_.empty()) return;
  driver_ = base::trim(version);
  driver_line_ = line;
}

void AmdDevices::message(std::string_view text_line, std::uint32_t line) {
  if (messages_.size() < k_max_messages)
    messages_.push_back(make_message_fact(context_, tool_, text_line, line));
}

void AmdDevices::finish(const evidence::FactSink& sink) {
  if (!devices_.empty()) {
    const std::uint32_t line = devices_.begin()->second.fact.line;
    Fact header = make_gpu_fact(context_, tool_, line);
    header.set("gpus", std::to_string(devices_.size()), line);
    if (!driver_.empty()) header.set("driver", driver_, driver_line_);
    sink(std::move(header));
  }
  for (auto& [index, device] : devices_) {
    if (!driver_.empty()) set_gpu_value(device.fact, "driver", text, driver_, driver_line_);
    if (device.fact.find("state") == nullptr) device.fact.set("state", "ok", device.fact.line);
    set_processes(device.fact, device.processes);
    finish_gpu_fact(device.fact);
    sink(std::move(device.fact));
  }
  if (!loose_processes_.empty()) {
    Fact fact = make_gpu_fact(context_, tool_, loose_processes_.front().line);
    set_processes(fact, loose_processes_);
    sink(std::move(fact));
  }
  for (Fact& fact : messages_) sink(std::move(fact));
  devices_.clear();
  loose_processes_.clear();
  messages_.clear();
}

}  // namespace triage::analysis::formats

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"

// `nvidia-smi -q`, drivers 470 to 595: sections by indentation, `label : value` with the colon at
// column 42 (to 575) or 55 (580 on). Labels repeat in many sections ("Pending" in six), so a value
// is known by its section and label together, and sections by their names, which the driver
// branches renamed (formats: Clocks Throttle Reasons, Gpu, Power Readings).
namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using enum GpuValue;

constexpr GpuField k_fields[] = {
    {"", "Product Name", "name"},
    {"", "Serial Number", "serial"},
    {"", "GPU UUID", "uuid", uuid},
    {"", "VBIOS Version", "vbios"},
    {"", "Persistence Mode", "persistence_mode", word},
    {"", "Compute Mode", "compute_mode", word},
    {"", "Performance State", "performance_state"},
    {"", "Fan Speed", "fan", number},
    {"", "GPU Recovery Action", "recovery_action", recovery},
    {"", "GPU C2C Mode", "c2c_mode", word},
    {"", "C2C Mode", "c2c_mode", word},
    {"", "GSP Firmware Version", "gsp_firmware"},
    {"MIG Mode", "Current", "mig_mode", word},
    {"MIG Mode", "Pending", "mig_mode_pending", word},
    {"GPU Reset Status", "Reset Required", "reset_required", yes_no},
    {"GPU Reset Status", "Drain and Reset Recommended", "drain_reset_recommended", yes_no},
    {"PCI", "Bus Id", "pci", pci},
    {"PCI", "Replays Since Reset", "pcie.replays", number},
    {"PCI", "Replay Number Rollovers", "pcie.replay_rollovers", number},
    {"PCI/GPU Link Info/PCIe Generation", "Current", "pcie.link_gen", number},
    {"PCI/GPU Link Info/PCIe Generation", "Max", "pcie.link_gen_max", number},
    {"PCI/GPU Link Info/Link Width", "Current", "pcie.link_width", number},
    {"PCI/GPU Link Info/Link Width", "Max", "pcie.link_width_max", number},
    {"Clocks Event Reasons", "Idle", "clocks.idle", active},
    {"Clocks Event Reasons", "Applications Clocks Setting", "clocks.applications", active},
    {"Clocks Event Reasons", "SW Power Cap", "clocks.sw_power_cap", active},
    {"Clocks Event Reasons", "HW Slowdown", "clocks.hw_slowdown", active},
    {"Clocks Event Reasons", "HW Thermal Slowdown", "clocks.hw_thermal_slowdown", active},
    {"Clocks Event Reasons", "HW Power Brake Slowdown", "clocks.hw_power_brake", active},
    {"Clocks Event Reasons", "SW Thermal Slowdown", "clocks.sw_thermal_slowdown", active},
    {"Clocks Event Reasons", "Sync Boost", "clocks.sync_boost", active},
    {"Clocks Event Reasons Counters", "SW Power Capping", "clocks.total.sw_power_cap",
     microseconds},
    {"Clocks Event Reasons Counters", "Sync Boost", "clocks.total.sync_boost", microseconds},
    {"Clocks Event Reasons Counters", "SW Thermal Slowdown", "clocks.total.sw_thermal_slowdown",
     microseconds},
    {"Clocks Event Reasons Counters", "HW Thermal Slowdown", "clocks.total.hw_thermal_slowdown",
     microseconds},
    {"Clocks Event Reasons Counters", "HW Power Braking", "clocks.total.hw_power_brake",
     microseconds},
    {"FB Memory Usage", "Total", "memory.total", bytes},
    {"FB Memory Usage", "Reserved", "memory.reserved", bytes},
    {"FB Memory Usage", "Used", "memory.used", bytes},
    {"FB Memory Usage", "Free", "memory.free", bytes},
    {"Utilization", "Gpu", "utilization.gpu", number},
    {"Utilization", "GPU", "utilization.gpu", number},
    {"Utilization", "Memory", "utilization.memory", number},
    {"ECC Mode", "Current", "ecc.mode", word},
    {"ECC Mode", "Pending", "ecc.mode_pending", word},
    {"ECC Errors", "Channel Repair Pending", "ecc.channel_repair_pending", yes_no},
    {"ECC Errors", "TPC Repair Pending", "ecc.tpc_repair_pending", yes_no},
    {"ECC Errors", "Unrepairable Memory", "ecc.unrepairable_memory", yes_no},
    {"ECC Errors/Volatile", "SRAM Correctable", "ecc.volatile.sram_correctable", number},
    {"ECC Errors/Volatile", "SRAM Uncorrectable", "ecc.volatile.sram_uncorrectable", sum},
    {"ECC Errors/Volatile", "SRAM Uncorrectable Parity", "ecc.volatile.sram_uncorrectable", sum},
    {"ECC Errors/Volatile", "SRAM Uncorrectable SEC-DED", "ecc.volatile.sram_uncorrectable", sum},
    {"ECC Errors/Volatile", "DRAM Correctable", "ecc.volatile.dram_correctable", number},
    {"ECC Errors/Volatile", "DRAM Uncorrectable", "ecc.volatile.dram_uncorrectable", number},
    {"ECC Errors/Volatile/Double Bit", "Total", "ecc.volatile.double_bit", number},
    {"ECC Errors/Aggregate", "SRAM Correctable", "ecc.aggregate.sram_correctable", number},
    {"ECC Errors/Aggregate", "SRAM Uncorrectable", "ecc.aggregate.sram_uncorrectable", sum},
    {"ECC Errors/Aggregate", "SRAM Uncorrectable Parity", "ecc.aggregate.sram_uncorrectable", sum},
    {"ECC Errors/Aggregate", "SRAM Uncorrectable SEC-DED", "ecc.aggregate.sram_uncorrectable", sum},
    {"ECC Errors/Aggregate", "DRAM Correctable", "ecc.aggregate.dram_correctable", number},
    {"ECC Errors/Aggregate", "DRAM Uncorrectable", "ecc.aggregate.dram_uncorrectable", number},
    {"ECC Errors/Aggregate", "SRAM Threshold Exceeded", "ecc.sram_threshold_exceeded", yes_no},
    {"ECC Errors", "SRAM Threshold Exceeded", "ecc.sram_threshold_exceeded", yes_no},
    {"ECC Errors/Aggregate/Double Bit", "Total", "ecc.aggregate.double_bit", number},
    {"Retired Pages", "Single Bit ECC", "retired_pages.single_bit", number},
    {"Retired Pages", "Double Bit ECC", "retired_pages.double_bit", number},
    {"Retired Pages", "Pending Page Blacklist", "retired_pages.pending", yes_no},
    {"Retired Pages", "Pending", "retired_pages.pending", yes_no},
    {"Remapped Rows", "Correctable Error", "remapped_rows.correctable", number},
    {"Remapped Rows", "Uncorrectable Error", "remapped_rows.uncorrectable", number},
    {"Remapped Rows", "Pending", "remapped_rows.pending", yes_no},
    {"Remapped Rows", "Remapping Failure Occurred", "remapped_rows.failure", yes_no},
    {"Remapped Rows/Bank Remap Availability Histogram", "Max", "remapped_rows.bank_max", number},
    {"Remapped Rows/Bank Remap Availability Histogram", "High", "remapped_rows.bank_high", number},
    {"Remapped Rows/Bank Remap Availability Histogram", "Partial", "remapped_rows.bank_partial",
     number},
    {"Remapped Rows/Bank Remap Availability Histogram", "Low", "remapped_rows.bank_low", number},
    {"Remapped Rows/Bank Remap Availability Histogram", "None", "remapped_rows.bank_none", number},
    {"Temperature", "GPU Current Temp", "temperature.gpu", number},
    {"Temperature", "GPU Slowdown Temp", "temperature.slowdown", number},
    {"Temperature", "GPU Shutdown Temp", "temperature.shutdown", number},
    {"Temperature", "GPU T.Limit Temp", "temperature.t_limit", number},
    {"Temperature", "GPU Slowdown T.Limit Temp", "temperature.t_limit_slowdown", number},
    {"Temperature", "GPU Shutdown T.Limit Temp", "temperature.t_limit_shutdown", number},
    {"Temperature", "Memory Current Temp", "temperature.memory", number},
    {"Temperature", "Memory Max Operating Temp", "temperature.memory_max", number},
    {"GPU Power Readings", "Power Draw", "power.draw", number},
    {"GPU Power Readings", "Average Power Draw", "power.draw", number},
    {"GPU Power Readings", "Instantaneous Power Draw", "power.draw", number},
    {"GPU Power Readings", "Current Power Limit", "power.limit", number},
    {"GPU Power Readings", "Enforced Power Limit", "power.limit", number},
    {"GPU Power Readings", "Power Limit", "power.limit", number},
    {"GPU Power Readings", "Default Power Limit", "power.default_limit", number},
    {"Clocks", "SM", "clocks.sm", number},
    {"Clocks", "Memory", "clocks.memory", number},
    {"Max Clocks", "SM", "clocks.max_sm", number},
    {"Fabric", "State", "fabric.state", word},
    {"Fabric", "Status", "fabric.status", word},
    {"Fabric/Health", "Summary", "fabric.health", word},
    {"Fabric/Health", "Health Summary", "fabric.health", word},
    {"Fabric/Health", "Bandwidth", "fabric.bandwidth", word},
    {"Fabric/Health", "Route Recovery in progress", "fabric.route_recovery", yes_no},
    {"Fabric/Health", "Route Unhealthy", "fabric.route_unhealthy", yes_no},
    {"Fabric/Health", "Access Timeout Recovery", "fabric.access_timeout_recovery", yes_no},
    {"Fabric/Health", "Incorrect Configuration", "fabric.incorrect_configuration", word},
};

// A MIG device's own values; everything else of the block belongs to the GPU.
constexpr GpuField k_mig_fields[] = {
    {"", "GPU Instance ID", "mig.gpu_instance", number},
    {"", "Compute Instance ID", "mig.compute_instance", number},
    {"FB Memory Usage", "Total", "memory.total", bytes},
    {"FB Memory Usage", "Reserved", "memory.reserved", bytes},
    {"FB Memory Usage", "Used", "memory.used", bytes},
    {"FB Memory Usage", "Free", "memory.free", bytes},
    {"ECC Errors/Volatile", "SRAM Uncorrectable", "ecc.volatile.sram_uncorrectable", sum},
    {"ECC Errors/Volatile", "SRAM Uncorrectable Parity", "ecc.volatile.sram_uncorrectable", sum},
    {"ECC Errors/Volatile", "SRAM Uncorrectable SEC-DED", "ecc.volatile.sram_uncorrectable", sum},
};

struct Renamed {
  std::string_view old_name, name;
};
constexpr std::array<Renamed, 4> k_renamed{
    {{"Clocks Throttle Reasons", "Clocks Event Reasons"},
     {"Power Readings", "GPU Power Readings"},
     {"Pcie Generation", "PCIe Generation"},
     {"Clocks Event Reasons Counter", "Clocks Event Reasons Counters"}}};

struct Entry {
  std::size_t indent = 0;
  std::string_view label;
  std::string_view value;
  bool has_value = false;
};

/// `label   : value`; the colon stands behind a blank, so that `Unable ... GPU1: 0000:34:00.0: x`
/// and times are none.
Entry split_entry(std::string_view line) {
  Entry entry;
  entry.indent = std::min(line.find_first_not_of(' '), line.size());
  std::size_t colon = line.find(" :");
  while (colon != std::string_view::npos && colon + 2 < line.size() && line[colon + 2] != ' ')
    colon = line.find(" :", colon + 1);
  entry.has_value = colon != std::string_view::npos;
  entry.label = base::trim(line.substr(0, colon));
  if (entry.has_value) entry.value = base::trim(line.substr(colon + 2));
  return entry;
}

class QueryReader {
 public:
  QueryReader(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  void read(std::string_view text) {
    std::uint32_t number = 0;
    for (const std::string_view line : base::split_lines(text)) read_line(line, ++number);
    finish_report();
  }

 private:
  struct Header {
    std::string driver, cuda;
    std::uint32_t driver_line = 0, cuda_line = 0, gpus_line = 0;
    std::string gpus;
    std::optional<evidence::Stamp> stamp;
  };
  struct Device {
    Fact fact;
    std::vector<GpuProcess> processes;
    std::vector<Fact> migs;
  };

  void read_line(std::string_view line, std::uint32_t number) {
    if (base::trim(line).empty()) return;
    if (base::contains(line, "====NVSMI LOG====")) {
      finish_report();
      return;
    }
    const Entry entry = split_entry(line);
    if (entry.indent == 0) {
      read_top(line, entry, number);
    } else if (!devices_.empty()) {
      read_entry(entry, number);
    }
  }

  void read_top(std::string_view line, const Entry& entry, std::uint32_t number) {
    sections_.clear();
    if (!entry.has_value && entry.label.substr(0, 4) == "GPU ") {
      const std::string pci = evidence::normalise_pci(entry.label.substr(4));
      if (!pci.empty()) {
        Device device{make_gpu_fact(context_, "nvidia-smi-q", number), {}, {}};
        device.fact.set("pci", pci, number);
        devices_.push_back(std::move(device));
        in_mig_ = false;
        return;
      }
    }
    if (entry.has_value && entry.label == "Timestamp") {
      header_.stamp = parse_any_stamp(entry.value);
    } else if (entry.has_value && entry.label == "Driver Version") {
      header_.driver = entry.value;
      header_.driver_line = number;
    } else if (entry.has_value && entry.label == "CUDA Version") {
      header_.cuda = entry.value;
      header_.cuda_line = number;
    } else if (entry.has_value && entry.label == "Attached GPUs") {
      header_.gpus = entry.value;
      header_.gpus_line = number;
    } else if (!entry.has_value && line.find_first_not_of("=-_+ ") != std::string_view::npos) {
      messages_.push_back(make_message_fact(context_, "nvidia-smi-q", line, number));
    }
  }

  void read_entry(const Entry& entry, std::uint32_t number) {
    while (!sections_.empty() && sections_.back().indent >= entry.indent) sections_.pop_back();
    Device& device = devices_.back();
    const std::string path = path_of();
    if (sections_.empty()) in_mig_ = false;
    // A section begins with its name alone, or with a value of its own (`HW Slowdown : Active`).
    std::string_view name = entry.label;
    for (const Renamed& renamed : k_renamed)
      if (name == renamed.old_name) name = renamed.name;
    if (entry.has_value) {
      if (path == "MIG Devices" && name == "Index") {
        start_mig(device, entry.value, number);
      } else if (in_mig_) {
        read_mig(device, path, name, entry.value, number);
      } else if (path.substr(0, 9) == "Processes") {
        read_process(device, name, entry.value, number);
      } else {
        set(device.fact, k_fields, path, name, entry.value, number);
      }
    } else if (path.empty() && (name == "MIG Devices")) {
      in_mig_ = false;
    }
    if (sections_.size() < 16) sections_.push_back({entry.indent, std::string(name)});
  }

  /// `HW Thermal Slowdown` stands below `HW Slowdown`, which has a value: such lines are no
  /// sections.
  std::string path_of() const {
    std::string path;
    for (const Section& section : sections_) {
      if (section.name == "HW Slowdown" || section.name == "Process ID" || section.name == "Index")
        continue;
      if (!path.empty()) path += '/';
      path += section.name;
    }
    return path;
  }

  static void set(Fact& fact, std::span<const GpuField> table, std::string_view path,
                  std::string_view label, std::string_view value, std::uint32_t line) {
    const GpuField* row = find_field(table, path, label);
    if (row == nullptr) {
      // Any value of a GPU that does not answer may say so.
      if (!trouble_of(value).empty() && fact.find("state") == nullptr)
        fact.set("state", std::string(trouble_of(value)), line);
      return;
    }
    // On PCIe cards `N/A` is a state of its own: there is no fabric.
    if (row->field == "fabric.state" && base::iequals(value, "N/A"))
      fact.set("fabric.state", "n-a", line);
    set_gpu_value(fact, row->field, row->value, value, line);
  }

  void start_mig(Device& device, std::string_view index, std::uint32_t line) {
    Fact fact = make_gpu_fact(context_, "nvidia-smi-q", line);
    set_gpu_value(fact, "mig.device", number, index, line);
    device.migs.push_back(std::move(fact));
    in_mig_ = true;
  }

  static void read_mig(Device& device, std::string_view path, std::string_view label,
                       std::string_view value, std::uint32_t line) {
    std::string_view below =
        path.substr(std::min(path.size(), std::string_view("MIG Devices").size()));
    if (!below.empty() && below.front() == '/') below.remove_prefix(1);
    set(device.migs.back(), k_mig_fields, below, label, value, line);
  }

  static void read_process(Device& device, std::string_view label, std::string_view value,
                           std::uint32_t line) {
    if (label == "Process ID") {
      device.processes.push_back({std::string(value), {}, {}, line, 0, 0});
      return;
    }
    if (device.processes.empty()) return;
    GpuProcess& process = device.processes.back();
    if (label == "Name") process.name = value, process.name_line = line;
    if (label == "Used GPU Memory") {
      Fact scratch;
      set_gpu_value(scratch, "memory", bytes, value, line);
      process.memory = scratch.get("memory");
      process.memory_line = line;
    }
  }

  void finish_report() {
    if (!header_.driver.empty() || !header_.gpus.empty()) {
      Fact fact = make_gpu_fact(context_, "nvidia-smi-q",
                                header_.gpus_line != 0 ? header_.gpus_line : header_.driver_line);
      add_header(fact);
      set_gpu_value(fact, "gpus", number, header_.gpus, header_.gpus_line);
      sink_(std::move(fact));
    }
    // With `-i` or a lost GPU the order says nothing of the index.
    const bool all = header_.gpus == std::to_string(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      Device& device = devices_[i];
      add_header(device.fact);
      if (all) device.fact.set("index", std::to_string(i), device.fact.line);
      if (device.fact.find("state") == nullptr) device.fact.set("state", "ok", device.fact.line);
      set_processes(device.fact, device.processes);
      finish_gpu_fact(device.fact);
      for (Fact& mig : device.migs) {
        mig.stamp = header_.stamp;
        if (const evidence::Value* pci = device.fact.find("pci"))
          mig.set("pci", pci->text, pci->line);
        if (const evidence::Value* parent = device.fact.find("uuid"))
          mig.set("mig.parent", parent->text, parent->line);
        finish_gpu_fact(mig);
        mig.place.gpu_uuid = device.fact.place.gpu_uuid;
        mig.place.gpu_index = device.fact.place.gpu_index;
      }
      sink_(std::move(device.fact));
      for (Fact& mig : device.migs) sink_(std::move(mig));
    }
    for (Fact& message : messages_) {
      message.stamp = header_.stamp;
      sink_(std::move(message));
    }
    devices_.clear();
    messages_.clear();
    sections_.clear();
    header_ = {};
    in_mig_ = false;
  }

  void add_header(Fact& fact) const {
    fact.stamp = header_.stamp;
    set_gpu_value(fact, "driver", text, header_.driver, header_.driver_line);
    set_gpu_value(fact, "cuda", text, header_.cuda, header_.cuda_line);
  }

  struct Section {
    std::size_t indent = 0;
    std::string name;
  };

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  Header header_;
  std::vector<Device> devices_;
  std::vector<Fact> messages_;
  std::vector<Section> sections_;
  bool in_mig_ = false;
};

}  // namespace

void parse_smi_query(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink) {
  QueryReader(context, sink).read(text);
}

}  // namespace triage::analysis::formats

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"

// `nvidia-smi -q -x`. The tags follow nvsmi_device_v*.dtd; the file is read tag by tag, so that a
// cut or damaged one gives what stands before the damage.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using enum GpuValue;

constexpr std::size_t k_max_depth = 32;

constexpr GpuField k_fields[] = {
    {"", "product_name", "name"},
    {"", "serial", "serial"},
    {"", "uuid", "uuid", uuid},
    {"", "vbios_version", "vbios"},
    {"", "persistence_mode", "persistence_mode", word},
    {"", "compute_mode", "compute_mode", word},
    {"", "performance_state", "performance_state"},
    {"", "fan_speed", "fan", number},
    {"", "gpu_recovery_action", "recovery_action", recovery},
    {"", "c2c_mode", "c2c_mode", word},
    {"", "gsp_firmware_version", "gsp_firmware"},
    {"mig_mode", "current_mig", "mig_mode", word},
    {"mig_mode", "pending_mig", "mig_mode_pending", word},
    {"gpu_reset_status", "reset_required", "reset_required", yes_no},
    {"gpu_reset_status", "drain_and_reset_recommended", "drain_reset_recommended", yes_no},
    {"pci", "pci_bus_id", "pci", pci},
    {"pci", "replay_counter", "pcie.replays", number},
    {"pci", "replay_rollover_counter", "pcie.replay_rollovers", number},
    {"pci/pci_gpu_link_info/pcie_gen", "current_link_gen", "pcie.link_gen", number},
    {"pci/pci_gpu_link_info/pcie_gen", "max_link_gen", "pcie.link_gen_max", number},
    {"pci/pci_gpu_link_info/link_widths", "current_link_width", "pcie.link_width", number},
    {"pci/pci_gpu_link_info/link_widths", "max_link_width", "pcie.link_width_max", number},
    {"clocks_reasons", "gpu_idle", "clocks.idle", active},
    {"clocks_reasons", "applications_clocks_setting", "clocks.applications", active},
    {"clocks_reasons", "sw_power_cap", "clocks.sw_power_cap", active},
    {"clocks_reasons", "hw_slowdown", "clocks.hw_slowdown", active},
    {"clocks_reasons", "hw_thermal_slowdown", "clocks.hw_thermal_slowdown", active},
    {"clocks_reasons", "hw_power_brake_slowdown", "clocks.hw_power_brake", active},
    {"clocks_reasons", "sync_boost", "clocks.sync_boost", active},
    {"clocks_reasons", "sw_thermal_slowdown", "clocks.sw_thermal_slowdown", active},
    {"clocks_counters", "sw_power_cap", "clocks.total.sw_power_cap", microseconds},
    {"clocks_counters", "sync_boost", "clocks.total.sync_boost", microseconds},
    {"clocks_counters", "sw_therm_slowdown", "clocks.total.sw_thermal_slowdown", microseconds},
    {"clocks_counters", "hw_therm_slowdown", "clocks.total.hw_thermal_slowdown", microseconds},
    {"clocks_counters", "hw_power_brake", "clocks.total.hw_power_brake", microseconds},
    {"fb_memory_usage", "total", "memory.total", bytes},
    {"fb_memory_usage", "reserved", "memory.reserved", bytes},
    {"fb_memory_usage", "used", "memory.used", bytes},
    {"fb_memory_usage", "free", "memory.free", bytes},
    {"utilization", "gpu_util", "utilization.gpu", number},
    {"utilization", "memory_util", "utilization.memory", number},
    {"ecc_mode", "current_ecc", "ecc.mode", word},
    {"ecc_mode", "pending_ecc", "ecc.mode_pending", word},
    {"ecc_errors", "channel_repair_pending", "ecc.channel_repair_pending", yes_no},
    {"ecc_errors", "tpc_repair_pending", "ecc.tpc_repair_pending", yes_no},
    {"ecc_errors", "unrepairable_memory", "ecc.unrepairable_memory", yes_no},
    {"ecc_errors/volatile", "sram_correctable", "ecc.volatile.sram_correctable", number},
    {"ecc_errors/volatile", "sram_uncorrectable", "ecc.volatile.sram_uncorrectable", sum},
    {"ecc_errors/volatile", "sram_uncorrectable_parity", "ecc.volatile.sram_uncorrectable", sum},
    {"ecc_errors/volatile", "sram_uncorrectable_secded", "ecc.volatile.sram_uncorrectable", sum},
    {"ecc_errors/volatile", "dram_correctable", "ecc.volatile.dram_correctable", number},
    {"ecc_errors/volatile", "dram_uncorrectable", "ecc.volatile.dram_uncorrectable", number},
    {"ecc_errors/volatile/double_bit", "total", "ecc.volatile.double_bit", number},
    {"ecc_errors/aggregate", "sram_correctable", "ecc.aggregate.sram_correctable", number},
    {"ecc_errors/aggregate", "sram_uncorrectable", "ecc.aggregate.sram_uncorrectable", sum},
    {"ecc_errors/aggregate", "sram_uncorrectable_parity", "ecc.aggregate.sram_uncorrectable", sum},
    {"ecc_errors/aggregate", "sram_uncorrectable_secded", "ecc.aggregate.sram_uncorrectable", sum},
    {"ecc_errors/aggregate", "dram_correctable", "ecc.aggregate.dram_correctable", number},
    {"ecc_errors/aggregate", "dram_uncorrectable", "ecc.aggregate.dram_uncorrectable", number},
    {"ecc_errors/aggregate", "sram_threshold_exceeded", "ecc.sram_threshold_exceeded", yes_no},
    {"ecc_errors/aggregate/double_bit", "total", "ecc.aggregate.double_bit", number},
    {"retired_pages/multiple_single_bit_retirement", "retired_count", "retired_pages.single_bit",
     number},
    {"retired_pages/double_bit_retirement", "retired_count", "retired_pages.double_bit", number},
    {"retired_pages", "pending_blacklist", "retired_pages.pending", yes_no},
    {"retired_pages", "pending_retirement", "retired_pages.pending", yes_no},
    {"remapped_rows", "remapped_row_corr", "remapped_rows.correctable", number},
    {"remapped_rows", "remapped_row_unc", "remapped_rows.uncorrectable", number},
    {"remapped_rows", "remapped_row_pending", "remapped_rows.pending", yes_no},
    {"remapped_rows", "remapped_row_failure", "remapped_rows.failure", yes_no},
    {"remapped_rows/row_remapper_histogram", "row_remapper_histogram_max", "remapped_rows.bank_max",
     number},
    {"remapped_rows/row_remapper_histogram", "row_remapper_histogram_high",
     "remapped_rows.bank_high", number},
    {"remapped_rows/row_remapper_histogram", "row_remapper_histogram_partial",
     "remapped_rows.bank_partial", number},
    {"remapped_rows/row_remapper_histogram", "row_remapper_histogram_low", "remapped_rows.bank_low",
     number},
    {"remapped_rows/row_remapper_histogram", "row_remapper_histogram_none",
     "remapped_rows.bank_none", number},
    {"temperature", "gpu_temp", "temperature.gpu", number},
    {"temperature", "gpu_temp_slow_threshold", "temperature.slowdown", number},
    {"temperature", "gpu_temp_max_threshold", "temperature.shutdown", number},
    {"temperature", "gpu_temp_tlimit", "temperature.t_limit", number},
    {"temperature", "gpu_temp_slow_tlimit_threshold", "temperature.t_limit_slowdown", number},
    {"temperature", "gpu_temp_max_tlimit_threshold", "temperature.t_limit_shutdown", number},
    {"temperature", "memory_temp", "temperature.memory", number},
    {"temperature", "gpu_temp_max_mem_threshold", "temperature.memory_max", number},
    {"gpu_power_readings", "power_draw", "power.draw", number},
    {"gpu_power_readings", "average_power_draw", "power.draw", number},
    {"gpu_power_readings", "instant_power_draw", "power.draw", number},
    {"gpu_power_readings", "current_power_limit", "power.limit", number},
    {"gpu_power_readings", "enforced_power_limit", "power.limit", number},
    {"gpu_power_readings", "power_limit", "power.limit", number},
    {"gpu_power_readings", "default_power_limit", "power.default_limit", number},
    {"clocks", "sm_clock", "clocks.sm", number},
    {"clocks", "mem_clock", "clocks.memory", number},
    {"max_clocks", "sm_clock", "clocks.max_sm", number},
    {"fabric", "state", "fabric.state", word},
    {"fabric", "status", "fabric.status", word},
    {"fabric/health", "summary", "fabric.health", word},
    {"fabric/health", "bandwidth", "fabric.bandwidth", word},
    {"fabric/health", "route_recovery_in_progress", "fabric.route_recovery", yes_no},
    {"fabric/health", "route_unhealthy", "fabric.route_unhealthy", yes_no},
    {"fabric/health", "access_timeout_recovery", "fabric.access_timeout_recovery", yes_no},
    {"fabric/health", "incorrect_configuration", "fabric.incorrect_configuration", word},
};

constexpr GpuField k_mig_fields[] = {
    {"", "index", "mig.device", number},
    {"", "gpu_instance_id", "mig.gpu_instance", number},
    {"", "compute_instance_id", "mig.compute_instance", number},
    {"fb_memory_usage", "total", "memory.total", bytes},
    {"fb_memory_usage", "reserved", "memory.reserved", bytes},
    {"fb_memory_usage", "used", "memory.used", bytes},
    {"fb_memory_usage", "free", "memory.free", bytes},
};

std::string decode_entities(std::string_view text) {
  std::string out(text);
  for (const auto& [name, value] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}})
    out = base::replace_all(std::move(out), name, value);
  return out;
}

/// Both names of the section, and its tags without the prefix that repeats it.
std::string_view section_name(std::string_view tag) {
  if (tag == "clocks_event_reasons" || tag == "clocks_throttle_reasons") return "clocks_reasons";
  if (tag == "clocks_event_reasons_counters") return "clocks_counters";
  return tag == "power_readings" ? "gpu_power_readings" : tag;
}

std::string_view leaf_name(std::string_view tag) {
  for (const std::string_view prefix : {"clocks_event_reasons_counters_", "clocks_event_reason_",
                                        "clocks_event_reasons_", "clocks_throttle_reason_"})
    if (tag.substr(0, prefix.size()) == prefix) return tag.substr(prefix.size());
  return tag;
}

class XmlReader {
 public:
  XmlReader(std::string_view text, const ParseContext& context, const evidence::FactSink& sink)
      : text_(text), context_(context), sink_(sink) {}

  void read() {
    while (at_ < text_.size()) {
      const std::size_t open = text_.find('<', at_);
      if (open == std::string_view::npos) break;
      value_begin_ = at_;
      count_lines(open);
      const std::size_t close = text_.find('>', open);
      if (close == std::string_view::npos) break;
      const std::string_view tag = text_.substr(open + 1, close - open - 1);
      read_tag(tag, base::trim(text_.substr(value_begin_, open - value_begin_)));
      count_lines(close + 1);
    }
    finish_report();
  }

 private:
  void count_lines(std::size_t to) {
    for (; at_ < to; ++at_)
      if (text_[at_] == '\n') ++line_;
  }

  void read_tag(std::string_view tag, std::string_view value) {
    if (tag.empty() || tag.front() == '?' || tag.front() == '!') return;
    if (tag.front() == '/') {
      end_tag(base::trim(tag.substr(1)), value);
      return;
    }
    if (tag.back() == '/') return;
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (stack_.size() < k_max_depth) stack_.emplace_back(name);
    leaf_ = true;
    if (name == "gpu") start_device(tag);
    if (name == "mig_device" && device_) {
      migs_.push_back(make_gpu_fact(context_, "nvidia-smi-q", line_));
      mig_depth_ = stack_.size();
    }
    if (name == "process_info") processes_.push_back({{}, {}, {}, line_, 0, 0});
  }

  void end_tag(std::string_view name, std::string_view value) {
    if (leaf_ && !stack_.empty() && stack_.back() == name) read_value(name, value);
    leaf_ = false;
    // Unbalanced tags of damaged text: back to the nearest of that name.
    for (std::size_t i = stack_.size(); i > 0; --i)
      if (stack_[i - 1] == name) {
        stack_.resize(i - 1);
        break;
      }
    if (mig_depth_ > stack_.size()) mig_depth_ = 0;
    if (name == "gpu") finish_device();
    if (name == "nvidia_smi_log") finish_report();
  }

  void read_value(std::string_view name, std::string_view raw) {
    const std::string value = decode_entities(raw);
    if (!device_) {
      if (name == "timestamp") stamp_ = parse_any_stamp(value);
      if (name == "driver_version") driver_ = value, driver_line_ = line_;
      if (name == "cuda_version") cuda_ = value, cuda_line_ = line_;
      if (name == "attached_gpus") gpus_ = value, gpus_line_ = line_;
      return;
    }
    if (base::contains(path(), "processes")) {
      if (processes_.empty()) return;
      GpuProcess& process = processes_.back();
      if (name == "pid") process.pid = value, process.line = line_;
      if (name == "process_name") process.name = value, process.name_line = line_;
      if (name == "used_memory") {
        Fact scratch;
        set_gpu_value(scratch, "memory", bytes, value, line_);
        process.memory = scratch.get("memory");
        process.memory_line = line_;
      }
      return;
    }
    if (mig_depth_ > 0 && !migs_.empty()) {
      set(migs_.back(), k_mig_fields, path(mig_depth_), name, value);
      return;
    }
    if (name == "state" && base::iequals(value, "N/A") && path() == "fabric")
      device_->set("fabric.state", "n-a", line_);
    set(*device_, k_fields, path(), name, value);
  }

  void set(Fact& fact, std::span<const GpuField> table, const std::string& section,
           std::string_view tag, const std::string& value) const {
    const GpuField* row = find_field(table, section, leaf_name(tag));
    if (row != nullptr) {
      set_gpu_value(fact, row->field, row->value, value, line_);
    } else if (!trouble_of(value).empty() && fact.find("state") == nullptr) {
      fact.set("state", std::string(trouble_of(value)), line_);
    }
  }

  /// The sections between the GPU (or MIG device) and the value.
  std::string path(std::size_t from = 0) const {
    std::string out;
    for (std::size_t i = from > 0 ? from : 2; i + 1 < stack_.size(); ++i)
      out += (out.empty() ? "" : "/") + std::string(section_name(stack_[i]));
    return out;
  }

  void start_device(std::string_view tag) {
    finish_device();
    device_ = make_gpu_fact(context_, "nvidia-smi-q", line_);
    if (const std::size_t id = tag.find("id=\""); id != std::string_view::npos) {
      const std::string_view rest = tag.substr(id + 4);
      set_gpu_value(*device_, "pci", pci, rest.substr(0, rest.find('"')), line_);
    }
  }

  void finish_device() {
    if (!device_) return;
    set_processes(*device_, processes_);
    processes_.clear();
    for (Fact& mig : migs_) {
      if (const evidence::Value* address = device_->find("pci"))
        mig.set("pci", address->text, address->line);
      if (const evidence::Value* parent = device_->find("uuid"))
        mig.set("mig.parent", parent->text, parent->line);
    }
    devices_.push_back(std::move(*device_));
    for (Fact& mig : migs_) devices_.push_back(std::move(mig));
    migs_.clear();
    device_.reset();
  }

  void finish_report() {
    finish_device();
    if (!driver_.empty() || !gpus_.empty()) {
      Fact fact = make_gpu_fact(context_, "nvidia-smi-q", gpus_line_ != 0 ? gpus_line_ : 1);
      set_gpu_value(fact, "gpus", number, gpus_, gpus_line_);
      add_header(fact);
      sink_(std::move(fact));
    }
    std::size_t whole = 0;
    for (const Fact& fact : devices_) whole += fact.find("mig.device") == nullptr ? 1 : 0;
    const bool all = gpus_ == std::to_string(whole);
    std::size_t index = 0;
    for (Fact& fact : devices_) {
      add_header(fact);
      if (fact.find("mig.device") == nullptr) {
        if (all) fact.set("index", std::to_string(index), fact.line);
        ++index;
        if (fact.find("state") == nullptr) fact.set("state", "ok", fact.line);
      }
      finish_gpu_fact(fact);
      sink_(std::move(fact));
    }
    devices_.clear();
    driver_.clear();
    gpus_.clear();
    cuda_.clear();
  }

  void add_header(Fact& fact) const {
    fact.stamp = stamp_;
    set_gpu_value(fact, "driver", GpuValue::text, driver_, driver_line_);
    set_gpu_value(fact, "cuda", GpuValue::text, cuda_, cuda_line_);
  }

  std::string_view text_;
  const ParseContext& context_;
  const evidence::FactSink& sink_;
  std::size_t at_ = 0;
  std::size_t value_begin_ = 0;
  std::uint32_t line_ = 1;
  std::vector<std::string> stack_;  ///< open tags: nvidia_smi_log, gpu, section ...
  bool leaf_ = false;               ///< no tag ended since the newest began
  std::size_t mig_depth_ = 0;       ///< depth below the open MIG device, 0 when none
  std::optional<Fact> device_;
  std::vector<Fact> migs_, devices_;
  std::vector<GpuProcess> processes_;
  std::string driver_, cuda_, gpus_;
  std::uint32_t driver_line_ = 0, cuda_line_ = 0, gpus_line_ = 0;
  std::optional<evidence::Stamp> stamp_;
};

}  // namespace

void parse_smi_xml(std::string_view text, const ParseContext& context,
                   const evidence::FactSink& sink) {
  XmlReader(text, context, sink).read();
}

}  // namespace triage::analysis::formats

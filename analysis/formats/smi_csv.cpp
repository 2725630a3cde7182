#include <map>
#include <string>
#include <vector>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"

// `nvidia-smi --query-gpu|compute-apps|remapped-rows|retired-pages=... --format=csv`. The header
// names the queried properties, some with a unit in brackets.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using enum GpuValue;

constexpr GpuField k_columns[] = {
    {"", "index", "index", number},
    {"", "uuid", "uuid", uuid},
    {"", "gpu_uuid", "uuid", uuid},
    {"", "serial", "serial"},
    {"", "gpu_serial", "serial"},
    {"", "pci.bus_id", "pci", pci},
    {"", "gpu_bus_id", "pci", pci},
    {"", "name", "name"},
    {"", "gpu_name", "name"},
    {"", "driver_version", "driver"},
    {"", "vbios_version", "vbios"},
    {"", "count", "gpus", number},
    {"", "persistence_mode", "persistence_mode", word},
    {"", "compute_mode", "compute_mode", word},
    {"", "pstate", "performance_state"},
    {"", "mig.mode.current", "mig_mode", word},
    {"", "mig.mode.pending", "mig_mode_pending", word},
    {"", "memory.total", "memory.total", mebibytes},
    {"", "memory.used", "memory.used", mebibytes},
    {"", "memory.free", "memory.free", mebibytes},
    {"", "memory.reserved", "memory.reserved", mebibytes},
    {"", "utilization.gpu", "utilization.gpu", number},
    {"", "utilization.memory", "utilization.memory", number},
    {"", "temperature.gpu", "temperature.gpu", number},
    {"", "temperature.memory", "temperature.memory", number},
    {"", "temperature.gpu.tlimit", "temperature.t_limit", number},
    {"", "fan.speed", "fan", number},
    {"", "power.draw", "power.draw", number},
    {"", "power.draw.average", "power.draw", number},
    {"", "power.draw.instant", "power.draw", number},
    {"", "power.limit", "power.limit", number},
    {"", "enforced.power.limit", "power.limit", number},
    {"", "power.default_limit", "power.default_limit", number},
    {"", "clocks.current.sm", "clocks.sm", number},
    {"", "clocks.sm", "clocks.sm", number},
    {"", "clocks.current.memory", "clocks.memory", number},
    {"", "clocks.mem", "clocks.memory", number},
    {"", "clocks.max.sm", "clocks.max_sm", number},
    {"", "clocks_event_reasons.gpu_idle", "clocks.idle", active},
    {"", "clocks_event_reasons.sw_power_cap", "clocks.sw_power_cap", active},
    {"", "clocks_event_reasons.hw_slowdown", "clocks.hw_slowdown", active},
    {"", "clocks_event_reasons.hw_thermal_slowdown", "clocks.hw_thermal_slowdown", active},
    {"", "clocks_event_reasons.hw_power_brake_slowdown", "clocks.hw_power_brake", active},
    {"", "clocks_event_reasons.sw_thermal_slowdown", "clocks.sw_thermal_slowdown", active},
    {"", "clocks_event_reasons.sync_boost", "clocks.sync_boost", active},
    {"", "clocks_event_reasons.applications_clocks_setting", "clocks.applications", active},
    {"", "pcie.link.gen.current", "pcie.link_gen", number},
    {"", "pcie.link.gen.gpucurrent", "pcie.link_gen", number},
    {"", "pcie.link.gen.max", "pcie.link_gen_max", number},
    {"", "pcie.link.width.current", "pcie.link_width", number},
    {"", "pcie.link.width.max", "pcie.link_width_max", number},
    {"", "ecc.mode.current", "ecc.mode", word},
    {"", "ecc.mode.pending", "ecc.mode_pending", word},
    {"", "ecc.errors.corrected.volatile.sram", "ecc.volatile.sram_correctable", number},
    {"", "ecc.errors.corrected.volatile.dram", "ecc.volatile.dram_correctable", number},
    {"", "ecc.errors.corrected.volatile.device_memory", "ecc.volatile.dram_correctable", number},
    {"", "ecc.errors.uncorrected.volatile.sram", "ecc.volatile.sram_uncorrectable", number},
    {"", "ecc.errors.uncorrected.volatile.dram", "ecc.volatile.dram_uncorrectable", number},
    {"", "ecc.errors.uncorrected.volatile.device_memory", "ecc.volatile.dram_uncorrectable",
     number},
    {"", "ecc.errors.uncorrected.volatile.total", "ecc.uncorrectable", number},
    {"", "ecc.errors.corrected.aggregate.sram", "ecc.aggregate.sram_correctable", number},
    {"", "ecc.errors.corrected.aggregate.dram", "ecc.aggregate.dram_correctable", number},
    {"", "ecc.errors.uncorrected.aggregate.sram", "ecc.aggregate.sram_uncorrectable", number},
    {"", "ecc.errors.uncorrected.aggregate.dram", "ecc.aggregate.dram_uncorrectable", number},
    {"", "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded", "ecc.sram_threshold_exceeded",
     yes_no},
    {"", "retired_pages.single_bit_ecc.count", "retired_pages.single_bit", number},
    {"", "retired_pages.sbe", "retired_pages.single_bit", number},
    {"", "retired_pages.double_bit.count", "retired_pages.double_bit", number},
    {"", "retired_pages.dbe", "retired_pages.double_bit", number},
    {"", "retired_pages.pending", "retired_pages.pending", yes_no},
    {"", "remapped_rows.correctable", "remapped_rows.correctable", number},
    {"", "remapped_rows.uncorrectable", "remapped_rows.uncorrectable", number},
    {"", "remapped_rows.pending", "remapped_rows.pending", yes_no},
    {"", "remapped_rows.failure", "remapped_rows.failure", yes_no},
    {"", "remapped_rows.histogram.max", "remapped_rows.bank_max", number},
    {"", "remapped_rows.histogram.high", "remapped_rows.bank_high", number},
    {"", "remapped_rows.histogram.partial", "remapped_rows.bank_partial", number},
    {"", "remapped_rows.histogram.low", "remapped_rows.bank_low", number},
    {"", "remapped_rows.histogram.none", "remapped_rows.bank_none", number},
    {"", "reset_status.reset_required", "reset_required", yes_no},
    {"", "reset_status.drain_and_reset_recommended", "drain_reset_recommended", yes_no},
    {"", "gpu_recovery_action", "recovery_action", recovery},
    {"", "fabric.state", "fabric.state", word},
    {"", "fabric.status", "fabric.status", word},
    {"", "gsp.mode.current", "gsp_firmware"},
};

/// `memory.used [MiB]` -> `memory.used`; the throttle names of old drivers become the new ones.
std::string column_name(std::string_view header) {
  header = base::trim(header);
  std::string name(base::trim(header.substr(0, header.find('['))));
  name = base::replace_all(std::move(name), "clocks_throttle_reasons.", "clocks_event_reasons.");
  return name;
}

bool is_header(const std::vector<std::string>& columns) {
  for (const std::string& column : columns)
    if (find_field(k_columns, "", column) != nullptr || column == "pid" ||
        column == "process_name" || column == "retired_pages.address")
      return true;
  return false;
}

class CsvReader {
 public:
  CsvReader(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  void read(std::string_view text) {
    std::uint32_t number = 0;
    for (const std::string_view line : base::split_lines(text)) read_line(line, ++number);
    finish_table();
  }

 private:
  void read_line(std::string_view line, std::uint32_t number) {
    if (base::trim(line).empty() || base::trim(line).front() == '#') return;
    const auto cells = base::split(line, ',');
    if (cells.size() > 512) return;
    std::vector<std::string> names;
    names.reserve(cells.size());
    for (const std::string_view cell : cells) names.push_back(column_name(cell));
    const bool values = !columns_.empty() && cells.size() == columns_.size();
    if (is_header(names) && (!values || names != columns_)) {
      finish_table();
      columns_ = std::move(names);
      return;
    }
    if (!values) {
      // `No devices were found`, or an unknown property named in an error.
      if (cells.size() < 3) {
        Fact fact = make_message_fact(context_, "nvidia-smi-csv", line, number);
        sink_(std::move(fact));
      }
      return;
    }
    read_row(cells, number);
  }

  void read_row(const std::vector<std::string_view>& cells, std::uint32_t number) {
    Fact fact = make_gpu_fact(context_, "nvidia-smi-csv", number);
    GpuProcess process;
    std::string cause;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& column = columns_[i];
      const std::string_view cell = base::trim(cells[i]);
      if (column == "timestamp") {
        fact.stamp = parse_any_stamp(base::replace_all(std::string(cell), "/", "-"));
      } else if (column == "pid") {
        process.pid = cell;
      } else if (column == "process_name" || (column == "name" && has_column("pid"))) {
        process.name = cell;
      } else if (column == "used_gpu_memory" || column == "used_memory") {
        Fact scratch;
        set_gpu_value(scratch, "memory", mebibytes, cell, number);
        process.memory = scratch.get("memory");
      } else if (column == "retired_pages.cause") {
        cause = cell;
      } else if (const GpuField* row = find_field(k_columns, "", column)) {
        set_gpu_value(fact, row->field, row->value, cell, number);
      } else if (!trouble_of(cell).empty() && fact.find("state") == nullptr) {
        fact.set("state", std::string(trouble_of(cell)), number);
      }
    }
    if (!process.pid.empty()) {
      process.line = number;
      group(fact).processes.push_back(std::move(process));
    } else if (has_column("retired_pages.address")) {
      Group& pages = group(fact);
      ++(base::icontains(cause, "double") ? pages.double_bit : pages.single_bit);
    } else {
      finish_gpu_fact(fact);
      sink_(std::move(fact));
    }
  }

  bool has_column(std::string_view name) const {
    for (const std::string& column : columns_)
      if (column == name) return true;
    return false;
  }

  /// Rows of one GPU in tables that have a row for each process or page.
  struct Group {
    Fact fact;
    std::vector<GpuProcess> processes;
    std::uint64_t single_bit = 0, double_bit = 0;
  };
  Group& group(const Fact& fact) {
    const std::string key = fact.get("uuid") + "|" + fact.get("pci");
    const auto [it, added] = groups_.try_emplace(key);
    if (added) it->second.fact = fact;
    return it->second;
  }

  void finish_table() {
    for (auto& [key, rows] : groups_) {
      set_processes(rows.fact, rows.processes);
      if (rows.single_bit + rows.double_bit > 0) {
        rows.fact.set("retired_pages.single_bit", std::to_string(rows.single_bit), rows.fact.line);
        rows.fact.set("retired_pages.double_bit", std::to_string(rows.double_bit), rows.fact.line);
      }
      finish_gpu_fact(rows.fact);
      sink_(std::move(rows.fact));
    }
    groups_.clear();
    columns_.clear();
  }

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  std::vector<std::string> columns_;
  std::map<std::string, Group> groups_;
};

}  // namespace

void parse_smi_csv(std::string_view text, const ParseContext& context,
                   const evidence::FactSink& sink) {
  CsvReader(context, sink).read(text);
}

}  // namespace triage::analysis::formats

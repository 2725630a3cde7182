#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"

// The boxes of plain `nvidia-smi`, the list of `nvidia-smi -L`, and the lines that it prints
// instead of them. Each GPU takes two rows (three with MIG mode, from 450 on) of three cells.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using enum GpuValue;

/// The cells between the bars, or none when the line is no row.
std::vector<std::string_view> cells_of(std::string_view line) {
  line = base::trim(line);
  if (line.size() < 3 || line.front() != '|' || line.back() != '|') return {};
  return base::split(line.substr(1, line.size() - 2), '|');
}

std::optional<std::string_view> word_behind(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  const auto words = base::split_blanks(line.substr(at + label.size()));
  return words.empty() ? std::nullopt : std::optional(words.front());
}

class TableReader {
 public:
  TableReader(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  void read(std::string_view text) {
    std::uint32_t number = 0;
    for (const std::string_view line : base::split_lines(text)) read_line(line, ++number);
    finish_table();
  }

 private:
  struct Device {
    Fact fact;
    std::vector<GpuProcess> processes;
  };

  void read_line(std::string_view line, std::uint32_t number) {
    const std::string_view text = base::trim(line);
    if (text.empty() || text.front() == '+') return;
    if (const auto stamp = parse_any_stamp(text)) {
      finish_table();
      stamp_ = stamp;
      return;
    }
    if (base::contains(line, "NVIDIA-SMI ") && text.front() == '|') {
      if (header_line_ != 0) finish_table();
      read_header(line, number);
      return;
    }
    const auto cells = cells_of(line);
    if (cells.empty()) {
      if (!read_listing(text, number) && text.front() != '|') sink_message(text, number);
      return;
    }
    if (base::contains(line, "Processes:")) {
      part_ = Part::processes;
    } else if (base::contains(line, "MIG devices:")) {
      part_ = Part::mig;
    } else if (part_ == Part::processes) {
      read_process(cells[0], number);
    } else if (part_ == Part::mig) {
      read_mig(cells, number);
    } else if (cells.size() == 3) {
      read_gpu_row(cells, number);
    }
  }

  void read_header(std::string_view line, std::uint32_t number) {
    header_line_ = number;
    part_ = Part::gpus;
    // 590 splits the versions: `KMD Version` is the kernel driver's, `CUDA UMD Version` CUDA's.
    for (const std::string_view label : {"Driver Version:", "KMD Version:"})
      if (const auto word = word_behind(line, label); word && driver_.empty()) driver_ = *word;
    for (const std::string_view label : {"CUDA Version:", "CUDA UMD Version:"})
      if (const auto word = word_behind(line, label); word && cuda_.empty()) cuda_ = *word;
  }

  void read_gpu_row(const std::vector<std::string_view>& cells, std::uint32_t number) {
    const auto left = base::split_blanks(cells[0]);
    if (!left.empty() && base::parse_int(left[0]) && left.size() >= 2) {
      start_device(cells, left, number);
    } else if (!devices_.empty() && rows_ == 1) {
      read_second_row(cells, left, number);
    } else if (!devices_.empty() && rows_ == 2) {
      // The third row only holds the MIG mode; a star marks one that waits for a reset.
      ++rows_;
      std::string_view mode = base::trim(cells[2]);
      if (mode.size() > 1 && mode.back() == '*') {
        mode.remove_suffix(1);
        devices_.back().fact.set("mig_mode_pending",
                                 base::iequals(mode, "Enabled") ? "disabled" : "enabled", number);
      }
      set_gpu_value(devices_.back().fact, "mig_mode", word, mode, number);
    }
  }

  /// `|   0  NVIDIA H100 80GB HBM3    On  |   00000000:1B:00.0 Off |    0 |`
  void start_device(const std::vector<std::string_view>& cells,
                    const std::vector<std::string_view>& left, std::uint32_t number) {
    const auto middle = base::split_blanks(cells[1]);
    const std::string pci = middle.empty() ? "" : evidence::normalise_pci(middle[0]);
    if (pci.empty()) return;
    Device device{make_gpu_fact(context_, "nvidia-smi", number), {}};
    Fact& fact = device.fact;
    fact.set("index", std::string(left[0]), number);
    fact.set("pci", pci, number);
    std::size_t name_end = left.size();
    const std::string_view last = left.back();
    if (last == "On" || last == "Off" || last == "N/A") {
      --name_end;
      if (last != "N/A")
        fact.set("persistence_mode", last == "On" ? "enabled" : "disabled", number);
    }
    std::string name;
    for (std::size_t i = 1; i < name_end; ++i)
      name += (name.empty() ? "" : " ") + std::string(left[i]);
    set_gpu_value(fact, "name", text, name, number);
    const std::string_view ecc = base::trim(cells[2]);
    if (base::iequals(ecc, "Off"))
      fact.set("ecc.mode", "disabled", number);
    else
      set_gpu_value(fact, "ecc.uncorrectable", GpuValue::number, ecc, number);
    devices_.push_back(std::move(device));
    rows_ = 1;
  }

  /// `| N/A   31C    P0     71W /  700W |    4MiB /  81559MiB |      0%      Default |`
  void read_second_row(const std::vector<std::string_view>& cells,
                       const std::vector<std::string_view>& left, std::uint32_t number) {
    ++rows_;
    Fact& fact = devices_.back().fact;
    if (left.size() >= 3) {
      set_gpu_value(fact, "fan", GpuValue::number, left[0], number);
      set_gpu_value(fact, "temperature.gpu", GpuValue::number, left[1], number);
      set_gpu_value(fact, "performance_state", text, left[2], number);
    }
    if (const std::size_t bar = cells[0].rfind(" / "); bar != std::string_view::npos) {
      const auto draw = base::split_blanks(cells[0].substr(0, bar));
      set_gpu_value(fact, "power.draw", GpuValue::number, draw.empty() ? "" : draw.back(), number);
      set_gpu_value(fact, "power.limit", GpuValue::number, cells[0].substr(bar + 3), number);
    }
    const auto memory = base::split(cells[1], '/');
    if (memory.size() == 2) {
      set_gpu_value(fact, "memory.used", bytes, memory[0], number);
      set_gpu_value(fact, "memory.total", bytes, memory[1], number);
    } else {
      note_trouble(fact, cells[1], number);
    }
    const auto right = base::split_blanks(cells[2]);
    if (!right.empty()) set_gpu_value(fact, "utilization.gpu", GpuValue::number, right[0], number);
    if (right.size() >= 2 && trouble_of(right[1]).empty())
      set_gpu_value(fact, "compute_mode", word, right[1] == "E." ? "exclusive-process" : right[1],
                    number);
  }

  static void note_trouble(Fact& fact, std::string_view cell, std::uint32_t number) {
    if (!trouble_of(cell).empty() && fact.find("state") == nullptr)
      fact.set("state", std::string(trouble_of(cell)), number);
  }

  /// `|  0    1   0   0  |     9728MiB / 19968MiB    | 28      0 |  2   0    1    0    0 |`
  void read_mig(const std::vector<std::string_view>& cells, std::uint32_t number) {
    const auto ids = base::split_blanks(cells[0]);
    if (cells.size() < 2 || ids.size() != 4 || !base::parse_int(ids[0])) return;
    Fact fact = make_gpu_fact(context_, "nvidia-smi", number);
    set_gpu_value(fact, "mig.gpu_instance", GpuValue::number, ids[1], number);
    set_gpu_value(fact, "mig.compute_instance", GpuValue::number, ids[2], number);
    set_gpu_value(fact, "mig.device", GpuValue::number, ids[3], number);
    const auto memory = base::split(cells[1], '/');
    if (memory.size() == 2) {
      set_gpu_value(fact, "memory.used", bytes, memory[0], number);
      set_gpu_value(fact, "memory.total", bytes, memory[1], number);
    }
    fact.place.gpu_index = ids[0];
    if (const Device* device = device_of(ids[0])) fact.set("pci", device->fact.get("pci"), number);
    migs_.push_back(std::move(fact));
  }

  /// `|    1   N/A  N/A    1180222      C   python3    81008MiB |`; before 450 without instances.
  void read_process(std::string_view cell, std::uint32_t number) {
    const auto words = base::split_blanks(cell);
    if (words.size() < 4 || !base::parse_int(words[0])) return;
    std::size_t type = 1;
    while (type < words.size() && words[type] != "C" && words[type] != "G" &&
           words[type] != "C+G" && words[type] != "M+C")
      ++type;
    if (type < 2 || type + 1 >= words.size() || !base::parse_int(words[type - 1])) return;
    GpuProcess process;
    process.pid = words[type - 1];
    process.line = number;
    Fact scratch;
    set_gpu_value(scratch, "memory", bytes, words.back(), number);
    process.memory = scratch.get("memory");
    const std::size_t end =
        process.memory.empty() && !is_absent(words.back()) ? words.size() : words.size() - 1;
    for (std::size_t i = type + 1; i < end; ++i)
      process.name += (process.name.empty() ? "" : " ") + std::string(words[i]);
    if (Device* device = device_of(words[0])) device->processes.push_back(std::move(process));
  }

  Device* device_of(std::string_view index) {
    for (Device& device : devices_)
      if (device.fact.get("index") == index) return &device;
    return nullptr;
  }

  /// `GPU 0: NVIDIA A100 (UUID: GPU-...)`, `  MIG 1g.10gb     Device  0: (UUID: MIG-...)`.
  bool read_listing(std::string_view text_line, std::uint32_t number) {
    const std::size_t key = text_line.find("(UUID: ");
    if (key == std::string_view::npos) return false;
    const std::string_view id = text_line.substr(key + 7, text_line.find(')', key) - key - 7);
    const std::size_t colon = text_line.find(':');
    Fact fact = make_gpu_fact(context_, "nvidia-smi", number);
    set_gpu_value(fact, "uuid", uuid, id, number);
    const auto words = base::split_blanks(text_line.substr(0, colon));
    if (words.size() == 2 && words[0] == "GPU") {
      set_gpu_value(fact, "index", GpuValue::number, words[1], number);
      set_gpu_value(fact, "name", text, text_line.substr(colon + 1, key - colon - 1), number);
      listed_gpu_ = fact.get("uuid");
    } else if (words.size() == 4 && words[0] == "MIG") {
      set_gpu_value(fact, "mig.profile", text, words[1], number);
      set_gpu_value(fact, "mig.device", GpuValue::number, words[3], number);
      if (!listed_gpu_.empty()) fact.set("mig.parent", listed_gpu_, number);
    } else {
      return false;
    }
    finish_gpu_fact(fact);
    sink_(std::move(fact));
    return true;
  }

  void sink_message(std::string_view text_line, std::uint32_t number) {
    // A rule, a comment or a shell prompt of a paste says nothing.
    if (text_line.find_first_not_of("=-_*# ") == std::string_view::npos) return;
    if (text_line.front() == '#' || text_line.substr(0, 2) == "$ ") return;
    Fact fact = make_message_fact(context_, "nvidia-smi", text_line, number);
    fact.stamp = stamp_;
    sink_(std::move(fact));
  }

  void finish_table() {
    if (header_line_ != 0) {
      Fact fact = make_gpu_fact(context_, "nvidia-smi", header_line_);
      add_header(fact);
      fact.set("gpus", std::to_string(devices_.size()), header_line_);
      sink_(std::move(fact));
    }
    for (Device& device : devices_) {
      add_header(device.fact);
      if (device.fact.find("state") == nullptr) device.fact.set("state", "ok", device.fact.line);
      set_processes(device.fact, device.processes);
      finish_gpu_fact(device.fact);
      sink_(std::move(device.fact));
    }
    for (Fact& mig : migs_) {
      const std::string index = mig.place.gpu_index;
      finish_gpu_fact(mig);
      mig.place.gpu_index = index;
      mig.stamp = stamp_;
      sink_(std::move(mig));
    }
    devices_.clear();
    migs_.clear();
    driver_.clear();
    cuda_.clear();
    header_line_ = 0;
    rows_ = 0;
    part_ = Part::gpus;
  }

  void add_header(Fact& fact) const {
    fact.stamp = stamp_;
    set_gpu_value(fact, "driver", text, driver_, header_line_);
    set_gpu_value(fact, "cuda", text, cuda_, header_line_);
  }

  enum class Part : std::uint8_t { gpus, mig, processes };

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  std::vector<Device> devices_;
  std::vector<Fact> migs_;
  std::string driver_, cuda_, listed_gpu_;
  std::uint32_t header_line_ = 0;
  int rows_ = 0;  ///< rows of the newest GPU that were read
  Part part_ = Part::gpus;
  std::optional<evidence::Stamp> stamp_;
};

}  // namespace

void parse_smi_table(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink) {
  TableReader(context, sink).read(text);
}

}  // namespace triage::analysis::formats

#include <optional>
#include <string>
#include <vector>

#include "analysis/formats/amd_fact.hpp"
#include "base/text.hpp"

// rocm-smi (concise table, `--show*` lines, RAS tables, KFD processes) and amd-smi (indented text,
// the boxes of ROCm 7). One file may hold the output of several commands.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

struct Column {
  std::string name;
  std::size_t begin = 0;
};

/// Columns of the concise table: parted by two blanks or more.
std::vector<Column> read_columns(std::string_view header) {
  std::vector<Column> columns;
  std::size_t at = header.find_first_not_of(' ');
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(header.find("  ", at), header.size());
    columns.push_back({std::string(base::trim(header.substr(at, end - at))), at});
    at = header.find_first_not_of(' ', end);
  }
  return columns;
}

struct ConciseField {
  std::string_view name, field;
  GpuValue value;
};
constexpr ConciseField k_concise[] = {
    {"Temp", "temperature.gpu", GpuValue::number},
    {"AvgPwr", "power.draw", GpuValue::number},
    {"Power", "power.draw", GpuValue::number},
    {"SCLK", "clocks.sm", GpuValue::number},
    {"MCLK", "clocks.memory", GpuValue::number},
    {"Fan", "fan", GpuValue::number},
    {"Perf", "performance_state", GpuValue::text},
    {"PwrCap", "power.limit", GpuValue::number},
    {"VRAM%", "memory.used_percent", GpuValue::number},
    {"GPU%", "utilization.gpu", GpuValue::number},
};

class AmdTextReader {
 public:
  AmdTextReader(const ParseContext& context, const evidence::FactSink& sink)
      : devices_(context, "rocm-smi"), sink_(sink) {}

  void read(std::string_view text) {
    std::uint32_t number = 0;
    for (const std::string_view line : base::split_lines(text)) read_line(line, ++number);
    devices_.finish(sink_);
  }

 private:
  void read_line(std::string_view raw, std::uint32_t number) {
    const std::string_view line = base::trim(raw);
    if (line.empty()) return;
    if (line.find_first_not_of("=-_+*") == std::string_view::npos) return;
    if (line.front() == '=') {
      // `==== Memory Usage (Bytes) ====` begins a part.
      columns_.clear();
      processes_ = false;
      ras_ = nullptr;
      return;
    }
    if (line.front() == '|') {
      read_box(line, number);
    } else if (line.substr(0, 4) == "GPU[") {
      read_gpu_line(line, number);
    } else if (line.substr(0, 5) == "GPU: " && base::parse_int(base::trim(line.substr(5)))) {
      devices_.set_tool("amd-smi");
      block_ = devices_.device(line.substr(5), number);
      block_indent_ = raw.find_first_not_of(' ');
      sections_.clear();
    } else if (block_ != nullptr && raw.find_first_not_of(' ') > block_indent_) {
      read_block_line(raw, number);
    } else if (is_concise_header(line)) {
      columns_ = read_columns(raw);
    } else if (!columns_.empty() && is_digit_char(line.front())) {
      read_concise_row(raw, number);
    } else if (line.substr(0, 3) == "PID" && base::contains(line, "PROCESS NAME")) {
      processes_ = true;
    } else if (processes_ && is_digit_char(line.front())) {
      read_process(raw, number);
    } else if (!is_unit_row(line) && !(ras_ != nullptr && read_ras_row(line, number))) {
      read_loose(line, number);
    }
  }

  /// The second line of a header.
  [[nodiscard]] bool is_unit_row(std::string_view line) const {
    return !columns_.empty() && line.front() == '(';
  }

  static bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

  static bool is_concise_header(std::string_view line) {
    return (line.substr(0, 3) == "GPU" || line.substr(0, 6) == "Device") &&
           base::contains(line, "SCLK") && base::contains(line, "VRAM%");
  }

  void read_concise_row(std::string_view raw, std::uint32_t number) {
    // The degree sign takes two bytes and would shift every column behind it.
    const std::string line = base::replace_all(std::string(raw), "\xC2\xB0", "*");
    const auto cell = [this, &line](std::size_t i) {
      const std::size_t begin = std::min(columns_[i].begin, line.size());
      const std::size_t end = i + 1 < columns_.size() ? columns_[i + 1].begin : line.size();
      return base::trim(std::string_view(line).substr(begin, std::max(end, begin) - begin));
    };
    Fact* fact = devices_.device(cell(0), number);
    if (fact == nullptr) return;
    for (std::size_t i = 1; i < columns_.size(); ++i)
      for (const ConciseField& known : k_concise)
        if (columns_[i].name.substr(0, known.name.size()) == known.name) {
          set_gpu_value(*fact, known.field, known.value, cell(i), number);
          break;
        }
  }

  /// `GPU[0]		: VRAM Total Memory (B): 206141652992`, `GPU[0]: 	RAS INFO`
  void read_gpu_line(std::string_view line, std::uint32_t number) {
    const std::size_t close = line.find(']');
    if (close == std::string_view::npos) return;
    Fact* fact = devices_.device(line.substr(4, close - 4), number);
    if (fact == nullptr) return;
    ras_ = nullptr;
    const std::size_t first = line.find(':', close);
    if (first == std::string_view::npos) return;
    const std::string_view rest = base::trim(line.substr(first + 1));
    if (base::icontains(rest, "RAS INFO")) {
      ras_ = fact;
      return;
    }
    if (base::icontains(rest, "error") && !base::icontains(rest, "xgmi")) {
      devices_.message(line, number);
    }
    // The PCI address holds colons: the label ends at the first one.
    const std::size_t colon = rest.find(':');
    if (colon != std::string_view::npos)
      devices_.set_rocm_smi(*fact, base::trim(rest.substr(0, colon)),
                            base::trim(rest.substr(colon + 1)), number);
  }

  /// `UMC      ENABLED        0        0`
  bool read_ras_row(std::string_view line, std::uint32_t number) {
    const auto words = base::split_blanks(line);
    if (words.size() >= 2 && words[0] == "Block") return true;
    if (words.size() == 2 && base::iequals(words[1], "DISABLED")) return true;
    if (words.size() != 4 || !base::parse_int(words[2]) || !base::parse_int(words[3])) return false;
    devices_.set_ras(*ras_, words[0], "correctable", words[2], number);
    devices_.set_ras(*ras_, words[0], "uncorrectable", words[3], number);
    return true;
  }

  /// `1180222	python3	1	165394710528	0	0`: the third is a count of GPUs, no index.
  void read_process(std::string_view raw, std::uint32_t number) {
    const bool tabs = raw.find('\t') != std::string_view::npos;
    const auto cells = tabs ? base::split(raw, '\t') : base::split_blanks(raw);
    if (cells.size() < 4 || !base::parse_int(base::trim(cells[0]))) return;
    GpuProcess process;
    process.pid = base::trim(cells[0]);
    process.name = base::trim(cells[1]);
    if (base::parse_double(base::trim(cells[3]))) process.memory = base::trim(cells[3]);
    process.line = number;
    devices_.add_process("", std::move(process));
  }

  /// amd-smi: `    ECC:` opens a section, `        TOTAL_CORRECTABLE_COUNT: 0` is a value.
  void read_block_line(std::string_view raw, std::uint32_t number) {
    const std::size_t indent = raw.find_first_not_of(' ');
    const std::string_view line = base::trim(raw);
    while (!sections_.empty() && sections_.back().indent >= indent) sections_.pop_back();
    const std::size_t colon = line.find(':');
    std::string path;
    for (const Section& section : sections_) path += (path.empty() ? "" : "/") + section.name;
    if (colon == std::string_view::npos) {
      if (base::contains(path, "retired") || base::contains(path, "bad_pages")) return;
      if (!base::contains(line, "No bad pages")) devices_.message(line, number);
      return;
    }
    const std::string label = base::to_lower(base::trim(line.substr(0, colon)));
    const std::string_view value = base::trim(line.substr(colon + 1));
    if (label == "page address" || label == "page_address") devices_.add_bad_page(*block_, number);
    if (path.substr(0, 12) == "process_info") {
      read_process_value(label, value, number);
    } else if (!value.empty()) {
      devices_.set_amd_smi(*block_, path, label, value, number);
    }
    if (sections_.size() < 16) sections_.push_back({indent, label});
  }

  void read_process_value(std::string_view label, std::string_view value, std::uint32_t number) {
    if (label == "name") process_name_ = value;
    if (label == "pid") {
      devices_.add_process(block_->get("index"),
                           {std::string(value), process_name_, {}, number, 0, 0});
    }
  }

  /// The boxes of `amd-smi` without arguments: two rows for each GPU.
  void read_box(std::string_view line, std::uint32_t number) {
    if (base::contains(line, "AMD-SMI ")) {
      devices_.set_tool("amd-smi");
      const std::size_t driver = line.find("amdgpu version:");
      if (driver != std::string_view::npos) {
        const auto words = base::split_blanks(line.substr(driver + 15));
        if (!words.empty()) devices_.set_driver(words[0], number);
      }
      return;
    }
    const auto cells = base::split(line.substr(1, line.size() - 2), '|');
    if (cells.size() < 2) return;
    const auto left = base::split_blanks(cells[0]);
    const std::string pci = left.empty() ? "" : evidence::normalise_pci(left[0]);
    if (!pci.empty()) {
      box_left_ = cells[0];
      box_right_ = cells[1];
      box_line_ = number;
      return;
    }
    if (box_line_ == 0 || left.empty() || !base::parse_int(left[0])) return;
    Fact* fact = devices_.device(left[0], box_line_);
    if (fact != nullptr) read_box_rows(*fact, cells[1], number);
    box_line_ = 0;
  }

  /// `| 0000:05:00.0  AMD Instinct MI300X | 0 %   42 °C   0    137/750 W |` and
  /// `|   0    0    0    SPX/NPS1 | 0 %    N/A    283/196592 MB |`
  void read_box_rows(Fact& fact, std::string_view second, std::uint32_t number) {
    const auto name = base::split_blanks(box_left_);
    set_gpu_value(fact, "pci", GpuValue::pci, name[0], box_line_);
    std::string model;
    for (std::size_t i = 1; i < name.size(); ++i)
      model += (i > 1 ? " " : "") + std::string(name[i]);
    set_gpu_value(fact, "name", GpuValue::text, model, box_line_);
    const auto words = base::split_blanks(box_right_);
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] ==
              "\xC2\xB0"
              "C" ||
          words[i] == "C") {
        set_gpu_value(fact, "temperature.gpu", GpuValue::number, words[i - 1], box_line_);
        // Uncorrectable errors stand behind the temperature.
        if (i + 1 < words.size())
          set_gpu_value(fact, "ecc.uncorrectable", GpuValue::number, words[i + 1], box_line_);
      }
      if (words[i] == "W") {
        const auto power = base::split(words[i - 1], '/');
        set_gpu_value(fact, "power.draw", GpuValue::number, power[0], box_line_);
        if (power.size() == 2)
          set_gpu_value(fact, "power.limit", GpuValue::number, power[1], box_line_);
      }
    }
    const auto lower = base::split_blanks(second);
    if (lower.size() >= 2 && lower[1] == "%")
      set_gpu_value(fact, "utilization.gpu", GpuValue::number, lower[0], number);
    if (lower.size() >= 2 && base::icontains(lower.back(), "b")) {
      const auto memory = base::split(lower[lower.size() - 2], '/');
      if (memory.size() == 2) {
        const std::string unit(lower.back());
        set_gpu_value(fact, "memory.used", GpuValue::bytes, std::string(memory[0]) + unit, number);
        set_gpu_value(fact, "memory.total", GpuValue::bytes, std::string(memory[1]) + unit, number);
      }
    }
  }

  void read_loose(std::string_view line, std::uint32_t number) {
    if (line.front() == '#' || line.substr(0, 2) == "$ ") return;
    block_ = nullptr;
    const std::size_t colon = line.find(':');
    if (base::icontains(line.substr(0, colon), "driver version") &&
        colon != std::string_view::npos) {
      devices_.set_driver(line.substr(colon + 1), number);
      return;
    }
    if (line.substr(0, 12) == "AMDSMI Tool:") {
      devices_.set_tool("amd-smi");
      const std::size_t driver = line.find("amdgpu version:");
      const auto words =
          base::split_blanks(driver == std::string_view::npos ? "" : line.substr(driver + 15));
      if (!words.empty()) devices_.set_driver(words[0], number);
      return;
    }
    if (base::contains(line, "KFD process information")) return;
    devices_.message(line, number);
  }

  struct Section {
    std::size_t indent = 0;
    std::string name;
  };

  AmdDevices devices_;
  const evidence::FactSink& sink_;
  std::vector<Column> columns_;
  bool processes_ = false;
  Fact* ras_ = nullptr;    ///< GPU whose RAS table is being read
  Fact* block_ = nullptr;  ///< GPU of the amd-smi block
  std::size_t block_indent_ = 0;
  std::vector<Section> sections_;
  std::string process_name_;
  std::string box_left_, box_right_;
  std::uint32_t box_line_ = 0;
};

}  // namespace

void parse_amd_smi_text(std::string_view text, const ParseContext& context,
                        const evidence::FactSink& sink) {
  AmdTextReader(context, sink).read(text);
}

}  // namespace triage::analysis::formats

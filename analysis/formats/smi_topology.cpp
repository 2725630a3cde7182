#include <map>
#include <string>
#include <vector>

#include "analysis/formats/gpu_fact.hpp"
#include "base/text.hpp"

// `nvidia-smi nvlink --status`, `nvidia-smi nvlink --errorcounters` and `nvidia-smi topo -m`.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

class TopologyReader {
 public:
  TopologyReader(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  void read(std::string_view text) {
    std::uint32_t number = 0;
    for (const std::string_view line : base::split_lines(text)) read_line(line, ++number);
    finish_gpu();
  }

 private:
  void read_line(std::string_view line, std::uint32_t number) {
    const std::string_view trimmed = base::trim(line);
    if (trimmed.empty()) return;
    if (trimmed.substr(0, 4) == "GPU " && base::contains(trimmed, "(UUID:")) {
      start_gpu(trimmed, number);
    } else if (open_ && trimmed.substr(0, 5) == "Link ") {
      read_link(trimmed, number);
    } else if (trimmed.substr(0, 4) == "GPU0" && header_.empty() && is_header(trimmed)) {
      read_matrix_header(line);
    } else if (!header_.empty() && trimmed.substr(0, 3) == "GPU") {
      read_matrix_row(line, number);
    } else if (base::contains(trimmed, "Legend:")) {
      header_.clear();
    } else if (header_.empty() && line.front() != ' ' && line.front() != '\t') {
      Fact fact = make_message_fact(context_, "nvidia-smi", trimmed, number);
      sink_(std::move(fact));
    }
  }

  /// `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)`
  void start_gpu(std::string_view line, std::uint32_t number) {
    finish_gpu();
    fact_ = make_gpu_fact(context_, "nvidia-smi", number);
    const std::size_t colon = line.find(':');
    const std::size_t key = line.find("(UUID:");
    set_gpu_value(fact_, "index", GpuValue::number, line.substr(4, colon - 4), number);
    if (key > colon)
      set_gpu_value(fact_, "name", GpuValue::text, line.substr(colon + 1, key - colon - 1), number);
    set_gpu_value(fact_, "uuid", GpuValue::uuid,
                  line.substr(key + 6, line.find(')', key) - key - 6), number);
    open_ = true;
    links_ = 0;
    inactive_ = 0;
  }

  /// `Link 3: 26.562 GB/s`, `Link 3: <inactive>`, `Link 3: Replay Errors: 0`
  void read_link(std::string_view line, std::uint32_t number) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || ++links_ > 1024) return;
    const std::string_view link = base::trim(line.substr(5, colon - 5));
    if (!base::parse_int(link)) return;
    const std::string prefix = "nvlink." + std::string(link) + ".";
    const std::string_view value = base::trim(line.substr(colon + 1));
    const std::size_t second = value.rfind(':');
    if (second == std::string_view::npos) {
      const bool inactive = base::icontains(value, "inactive") || value == "Disabled";
      fact_.set(prefix + "state", inactive ? "inactive" : "active", number);
      if (inactive && ++inactive_ == 1) inactive_line_ = number;
      status_ = true;
      return;
    }
    const std::string_view label = value.substr(0, second);
    for (const auto& [word, field] :
         {std::pair{"Replay", "replay"}, {"Recovery", "recovery"}, {"CRC", "crc"}})
      if (base::icontains(label, word))
        set_gpu_value(fact_, prefix + field, GpuValue::sum, value.substr(second + 1), number);
  }

  void finish_gpu() {
    if (!open_) return;
    if (status_)
      fact_.set("nvlink.inactive", std::to_string(inactive_),
                inactive_ > 0 ? inactive_line_ : fact_.line);
    finish_gpu_fact(fact_);
    sink_(std::move(fact_));
    open_ = false;
    status_ = false;
  }

  static bool is_header(std::string_view line) {
    return base::contains(line, "CPU Affinity") || base::contains(line, "GPU1");
  }

  /// Columns of `topo -m` are parted by tabs; the device names end where the affinities begin.
  void read_matrix_header(std::string_view line) {
    const bool tabs = line.find('\t') != std::string_view::npos;
    for (const std::string_view cell : tabs ? base::split(line, '\t') : base::split_blanks(line)) {
      const std::string_view name = base::trim(cell);
      if (name.empty()) continue;
      if (name.substr(0, 3) != "GPU" && name.substr(0, 3) != "NIC" && name.substr(0, 4) != "mlx5")
        break;
      if (header_.size() < 256) header_.emplace_back(name);
    }
  }

  void read_matrix_row(std::string_view line, std::uint32_t number) {
    const auto cells = base::split_blanks(line);
    if (cells.size() < 2 || !base::parse_int(cells[0].substr(3))) return;
    Fact fact = make_gpu_fact(context_, "nvidia-smi", number);
    set_gpu_value(fact, "index", GpuValue::number, cells[0].substr(3), number);
    for (std::size_t i = 0; i < header_.size() && i + 1 < cells.size(); ++i)
      if (cells[i + 1] != "X")
        fact.set("topology." + header_[i], std::string(cells[i + 1]), number);
    finish_gpu_fact(fact);
    sink_(std::move(fact));
  }

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  Fact fact_;
  bool open_ = false;
  bool status_ = false;
  std::size_t links_ = 0;
  std::size_t inactive_ = 0;
  std::uint32_t inactive_line_ = 0;
  std::vector<std::string> header_;
};

}  // namespace

void parse_smi_topology(std::string_view text, const ParseContext& context,
                        const evidence::FactSink& sink) {
  TopologyReader(context, sink).read(text);
}

}  // namespace triage::analysis::formats

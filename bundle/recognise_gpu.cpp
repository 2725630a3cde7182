#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/text.hpp"
#include "bundle/recognise_detail.hpp"

namespace triage::bundle::detail {
namespace {

using evidence::Format;
using evidence::Kind;

Recognised gpu_state(Format format) {
  Recognised result;
  result.kind = Kind::gpu_state;
  result.format = format;
  return result;
}

/// What nvidia-smi prints instead of a table when the driver or a GPU does not answer.
constexpr std::array<std::string_view, 9> k_smi_errors{
    "Unable to determine the device handle for",
    "No devices were found",
    "Failed to initialize NVML",
    "NVIDIA-SMI has failed because it couldn't communicate",
    "NVIDIA-SMI couldn't find libnvidia-ml",
    "nvidia-smi: command not found",
    "GPU is lost.  Reboot the system to recover this GPU",
    "Failed to open the NVML library",
    "Insufficient Permissions",
};

bool is_lead_in(std::string_view text) {
  return text.front() == '#' || starts(text, "$ ") || starts(text, "+ ") || starts(text, "```") ||
         base::contains(text, "$ nvidia-smi") || base::contains(text, "# nvidia-smi");
}

/// `GPU 0: NVIDIA A10 (UUID: GPU-...)`: nvidia-smi -L, and the head of nvlink reports.
bool is_listing_line(std::string_view line) {
  return shaped(line, "GPU 9") && base::contains(line, "(UUID: GPU-");
}

std::optional<Recognised> recognise_smi_text(const Sample& sample) {
  int table = 0;
  bool first_is_error = false;
  int listing = 0;
  bool links = false;
  bool topology = false;
  std::size_t content = 0;
  for (const auto line : sample.lines) {
    const auto text = base::trim(line);
    if (text.empty()) continue;
    ++content;
    if (base::contains(line, "| NVIDIA-SMI ") && base::contains(line, "Driver Version:")) ++table;
    // A prompt, a comment or the command itself may stand above; other text makes it a log.
    if (content == 1 && is_lead_in(text)) content = 0;
    if (content == 1)
      for (const auto error : k_smi_errors)
        if (starts(text, error)) first_is_error = true;
    if (is_listing_line(text)) ++listing;
    if (starts(text, "Link ") && shaped(text.substr(5), "9") && listing > 0) links = true;
    if (content <= 4 && base::contains(line, "GPU0") &&
        (base::contains(line, "CPU Affinity") || base::contains(line, "GPU1")))
      topology = true;
  }
  if (table > 0) return gpu_state(Format::smi_table);
  if (topology || links) return gpu_state(Format::smi_topology);
  // A short text: an error alone or with a shell's words around it. Long texts are logs that quote.
  constexpr std::size_t k_short = 24;
  if ((first_is_error || listing > 0) && content <= k_short + static_cast<std::size_t>(listing))
    return gpu_state(Format::smi_table);
  return std::nullopt;
}

std::optional<Recognised> recognise_csv(const Sample& sample) {
  // Queried fields are named in the first line: `index, uuid, memory.used [MiB]`.
  static constexpr std::array<std::string_view, 14> k_fields{
      "gpu_uuid",        "gpu_bus_id",          "pci.bus_id",      "memory.total",
      "memory.used",     "driver_version",      "process_name",    "used_gpu_memory",
      "remapped_rows.",  "gpu_recovery_action", "utilization.gpu", "retired_pages.",
      "temperature.gpu", "ecc.errors."};
  for (std::size_t i = 0; i < sample.lines.size() && i < 4; ++i) {
    const auto line = base::trim(sample.lines[i]);
    if (line.empty() || starts(line, "#") || starts(line, "$ ")) continue;
    if (!base::contains(line, ",") || is_metric_line(line)) return std::nullopt;
    const auto columns = base::split(line, ',');
    const bool short_columns = std::all_of(columns.begin(), columns.end(), [](std::string_view c) {
      return base::trim(c).size() < 64 && base::split_blanks(c).size() <= 3;
    });
    if (!short_columns) return std::nullopt;
    for (const auto column : columns) {
      const auto name = base::trim(column);
      for (const auto field : k_fields)
        if (starts(name, field)) return gpu_state(Format::smi_csv);
      if ((name == "uuid" || name == "index" || name == "serial") && columns.size() >= 2)
        return gpu_state(Format::smi_csv);
    }
    // Without a header (`--format=csv,noheader`): a GPU UUID among few columns.
    if (base::contains(line, "GPU-") && columns.size() >= 2) {
      for (const auto column : columns)
        if (!evidence::normalise_gpu_uuid(column).empty()) return gpu_state(Format::smi_csv);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Recognised> recognise_amd(const Sample& sample) {
  bool banner = false;
  bool amd_smi = false;
  bool rocm = false;
  std::size_t content = 0;
  for (const auto line : sample.lines) {
    const auto text = base::trim(line);
    if (text.empty()) continue;
    ++content;
    // Further down it is a log that shows the tool's output among other things.
    if (content <= 3 && base::contains(line, "ROCm System Management Interface")) banner = true;
    if (content <= 20 && (starts(text, "AMDSMI Tool:") || base::contains(line, "| AMD-SMI ")))
      amd_smi = true;
    if (content <= 40 && starts(text, "GPU: ") && is_digits(text.substr(5))) amd_smi = true;
    if (content <= 8 &&
        (starts(text, "ROCk module") || starts(text, "HSA System Attributes") ||
         starts(text, "hsa api call failure at:") || starts(text, "Unable to open /dev/kfd")))
      rocm = true;
  }
  if (banner) return gpu_state(Format::amd_smi_text);
  if (rocm && sample.lines.size() < 4000 &&
      (base::contains(sample.text, "HSA ") || base::contains(sample.text, "ROCk module") ||
       base::contains(sample.text, "rocminfo")))
    return gpu_state(Format::rocminfo);
  if (amd_smi) return gpu_state(Format::amd_smi_text);
  return std::nullopt;
}

}  // namespace

std::optional<Recognised> recognise_gpu(const Sample& sample) {
  const auto top = sample.text.substr(0, 16 * 1024);
  if (base::contains(top, "<nvidia_smi_log>") || base::contains(top, "nvsmi_device_"))
    return gpu_state(Format::smi_xml);
  if (base::contains(top, "==============NVSMI LOG=============="))
    return gpu_state(Format::smi_query);
  if (base::contains(top, "Attached GPUs") && base::contains(top, "Product Name"))
    return gpu_state(Format::smi_query);
  if (auto found = recognise_smi_text(sample)) return found;
  if (auto found = recognise_csv(sample)) return found;
  return recognise_amd(sample);
}

}  // namespace triage::bundle::detail

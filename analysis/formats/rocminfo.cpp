#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"

// `rocminfo`: blocks of `Agent N`, of which the GPUs become facts. What it prints when it cannot
// reach the driver are facts with text.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

class AgentReader {
 public:
  AgentReader(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  void read(std::string_view text) {
    std::uint32_t number = 0;
    for (const std::string_view line : base::split_lines(text)) read_line(line, ++number);
    finish_agent();
  }

 private:
  void read_line(std::string_view raw, std::uint32_t number) {
    const std::string_view line = base::trim(raw);
    if (line.empty() || line.find_first_not_of("=*") == std::string_view::npos) return;
    if (line.substr(0, 6) == "Agent " && base::parse_int(base::trim(line.substr(6)))) {
      finish_agent();
      agent_ = make_gpu_fact(context_, "rocminfo", number);
      return;
    }
    const std::size_t colon = line.find(':');
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : base::trim(line.substr(colon + 1));
    if (agent_ && colon != std::string_view::npos && raw.substr(0, 2) == "  " &&
        raw.substr(0, 4) != "    ") {
      read_value(line.substr(0, colon), value, number);
    } else if (is_blank(raw.front()) || base::contains(line, "*** Done ***")) {
      // Attributes of pools and caches.
    } else if (!is_system_attribute(line)) {
      sink_(make_message_fact(context_, "rocminfo", line, number));
    }
  }

  void read_value(std::string_view label, std::string_view value, std::uint32_t number) {
    Fact& fact = *agent_;
    if (label == "Name") set_gpu_value(fact, "hw", GpuValue::text, value, number);
    if (label == "Uuid") set_gpu_value(fact, "uuid", GpuValue::uuid, value, number);
    if (label == "Marketing Name") set_gpu_value(fact, "name", GpuValue::text, value, number);
    if (label == "Device Type") gpu_ = value == "GPU";
    if (label == "BDFID") bdf_ = base::parse_int(value), bdf_line_ = number;
    if (label == "Domain") domain_ = base::parse_int(value);
  }

  void finish_agent() {
    if (agent_ && gpu_) {
      Fact& fact = *agent_;
      fact.set("index", std::to_string(gpus_++), fact.line);
      fact.set("state", "ok", fact.line);
      if (bdf_ && *bdf_ >= 0 && *bdf_ < 65536) {
        const auto id = static_cast<unsigned>(*bdf_);
        const auto domain = static_cast<unsigned>(domain_.value_or(0)) & 0xFFFFU;
        fact.set(
            "pci",
            fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, id >> 8U, (id >> 3U) & 31U, id & 7U),
            bdf_line_);
      }
      finish_gpu_fact(fact);
      sink_(std::move(fact));
    }
    agent_.reset();
    gpu_ = false;
    bdf_.reset();
    domain_.reset();
  }

  static bool is_system_attribute(std::string_view line) {
    static constexpr std::array<std::string_view, 11> starts{"HSA System Attributes",
                                                             "HSA Agents",
                                                             "Runtime Version",
                                                             "Runtime Ext Version",
                                                             "System Timestamp",
                                                             "Sig. Max",
                                                             "Machine Model",
                                                             "System Endianness",
                                                             "Mwaitx",
                                                             "DMAbuf",
                                                             "VMM Support"};
    for (const std::string_view start : starts)
      if (line.substr(0, start.size()) == start) return true;
    return line.front() == '#' || line.substr(0, 2) == "$ ";
  }

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  std::optional<Fact> agent_;
  bool gpu_ = false;
  std::optional<std::int64_t> bdf_, domain_;
  std::uint32_t bdf_line_ = 0;
  int gpus_ = 0;
};

}  // namespace

void parse_rocminfo(std::string_view text, const ParseContext& context,
                    const evidence::FactSink& sink) {
  AgentReader(context, sink).read(text);
}

}  // namespace triage::analysis::formats

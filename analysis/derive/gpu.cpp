#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "analysis/derive/derivers.hpp"
#include "base/text.hpp"

/// One `gpu` fact for each GPU that any source names: `nvidia-smi` and its relatives, DCGM's
/// metrics, the kernel log and the device plugin, joined by UUID, PCI address, or index and node.
namespace triage::analysis::derive {
namespace {

using evidence::Fact;
using evidence::Kind;
using evidence::Place;
using evidence::Value;

/// A node holds 16 GPUs at most today and a report covers some nodes: what is beyond is hostile.
constexpr std::size_t k_most_gpus = 4096;
/// A storm repeats its Xid; the first ones tell the story.
constexpr std::size_t k_most_xids = 32;

bool both_differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}
bool both_equal(const std::string& a, const std::string& b) {
  return !a.empty() && a == b;
}

/// DCGM's names of what the GPU tools say, and the unit it counts in.
struct Metric {
  std::string_view name;
  std::string_view field;
  double unit = 1;
  bool is_flag = false;
};
constexpr double k_mib = 1048576;
constexpr std::array<Metric, 13> k_metrics{{
    {"DCGM_FI_DEV_GPU_TEMP", "temperature.gpu"},
    {"DCGM_FI_DEV_MEMORY_TEMP", "temperature.memory"},
    {"DCGM_FI_DEV_POWER_USAGE", "power.draw"},
    {"DCGM_FI_DEV_GPU_UTIL", "utilization.gpu"},
    {"DCGM_FI_DEV_SM_CLOCK", "clocks.sm"},
    {"DCGM_FI_DEV_MEM_CLOCK", "clocks.memory"},
    {"DCGM_FI_DEV_FB_TOTAL", "memory.total", k_mib},
    {"DCGM_FI_DEV_FB_USED", "memory.used", k_mib},
    {"DCGM_FI_DEV_FB_FREE", "memory.free", k_mib},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "ecc.uncorrectable"},
    {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "remapped_rows.uncorrectable"},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "remapped_rows.failure", 1, true},
    {"DCGM_FI_DEV_ROW_REMAP_PENDING", "remapped_rows.pending", 1, true},
}};

struct Gpu {
  Fact fact;
  std::vector<std::string> xids;
  bool is_listed = false;
};

class Gpus {
 public:
  explicit Gpus(const Evidence& evidence) : evidence_(evidence) {}

  void run(const evidence::FactSink& sink) {
    from_tools();
    from_logs();
    from_metrics();
    for (Gpu& gpu : gpus_) finish(gpu, sink);
  }

 private:
  /// The GPU of a place, made when no source named it yet; nullptr when the place names none.
  Gpu* at(const Place& place, std::uint32_t file, std::uint32_t line) {
    if (place.gpu_uuid.empty() && place.pci.empty() && place.gpu_index.empty()) return nullptr;
    const auto it = std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu& known) {
      const Place& mine = known.fact.place;
      if (both_differ(mine.node, place.node)) return false;
      if (both_equal(mine.gpu_uuid, place.gpu_uuid)) return true;
      if (both_differ(mine.gpu_uuid, place.gpu_uuid)) return false;
      if (both_equal(mine.pci, place.pci)) return true;
      // An index means the same GPU only while nothing better names either.
      return mine.pci.empty() && place.pci.empty() &&
             mine.gpu_uuid.empty() == place.gpu_uuid.empty() &&
             both_equal(mine.gpu_index, place.gpu_index);
    });
    if (it != gpus_.end()) {
      it->fact.place.fill_from(place);
      return &*it;
    }
    if (gpus_.size() >= k_most_gpus) return nullptr;
    Gpu gpu;
    gpu.fact.kind = Kind::gpu;
    gpu.fact.file = file;
    gpu.fact.line = line;
    gpu.fact.place.node = place.node;
    gpu.fact.place.gpu_uuid = place.gpu_uuid;
    gpu.fact.place.pci = place.pci;
    gpu.fact.place.gpu_index = place.gpu_index;
    gpus_.push_back(std::move(gpu));
    return &gpus_.back();
  }

  /// The first source that says a thing keeps it: tools come before logs, logs before metrics. A
  /// fact has one file, its first source's: a value of another file goes without a line rather than
  /// with a wrong one.
  static void put(Gpu& gpu, std::string_view field, const Value& value, std::uint32_t file) {
    if (value.text.empty() || gpu.fact.find(field) != nullptr) return;
    gpu.fact.set(std::string(field), value.text, file == gpu.fact.file ? value.line : 0);
  }

  void from_tools() {
    for (std::size_t i = 0; i < evidence_.facts.size(); ++i) {
      const Fact& fact = evidence_.facts[i];
      // The header's facts and message lines name no GPU; a MIG device is a part of one.
      if (fact.kind != Kind::gpu_state || fact.find("mig.device") != nullptr) continue;
      if (fact.find("uuid") == nullptr && fact.find("pci") == nullptr &&
          fact.find("index") == nullptr)
        continue;
      Gpu* gpu = at(fact.place, fact.file, fact.line);
      if (gpu == nullptr) continue;
      if (!gpu->fact.stamp) gpu->fact.stamp = stamp_of(time_of(evidence_, i));
      for (const auto& [field, value] : fact.fields)
        if (field != "tool") put(*gpu, field, value, fact.file);
      const std::string tool = fact.get("tool");
      if (base::contains(tool, "nvidia-smi") || base::contains(tool, "rocm-smi") ||
          base::contains(tool, "amd-smi")) {
        gpu->is_listed = true;
        put(*gpu, "listed", {"true", fact.line}, fact.file);
        // Inside a container only the container's GPUs are listed, which says nothing of others.
        if (fact.place.pod.empty()) nodes_listed_.insert(fact.place.node);
      }
    }
  }

  void from_logs() {
    for (const Observation& o : evidence_.observations) {
      const bool is_xid = tagged(o, "xid");
      const bool withheld = tagged(o, "plugin-unhealthy");
      const bool lost = tagged(o, "gpu-lost");
      if (!is_xid && !withheld && !lost) continue;
      Gpu* gpu = at(o.place, o.file, o.line);
      if (gpu == nullptr) continue;
      if (!gpu->fact.stamp) gpu->fact.stamp = stamp_of(o.time);
      if (withheld) put(*gpu, "plugin.unhealthy", {"true", o.line}, o.file);
      if (lost) put(*gpu, "state", {"lost", o.line}, o.file);
      const auto xid = o.captures.find("xid");
      if (!is_xid || xid == o.captures.end()) continue;
      put(*gpu, "xid", {xid->second, o.line}, o.file);
      const bool known =
          std::find(gpu->xids.begin(), gpu->xids.end(), xid->second) != gpu->xids.end();
      if (!known && gpu->xids.size() < k_most_xids) gpu->xids.push_back(xid->second);
    }
  }

  void from_metrics() {
    for (const Fact& fact : evidence_.facts) {
      if (fact.kind != Kind::metrics) continue;
      const std::string name = fact.get("name");
      if (!base::contains(name, "DCGM_FI_DEV_")) continue;
      const Value* value = fact.find("value");
      const auto number = value == nullptr ? std::nullopt : base::parse_double(value->text);
      // DCGM prints huge numbers for "not supported".
      if (!number || *number < 0 || *number > 1e15) continue;
      const auto metric = std::find_if(k_metrics.begin(), k_metrics.end(),
                                       [&](const Metric& row) { return row.name == name; });
      const bool is_xid = name == "DCGM_FI_DEV_XID_ERRORS" && *number > 0;
      if (metric == k_metrics.end() && !is_xid) continue;
      Gpu* gpu = at(fact.place, fact.file, fact.line);
      if (gpu == nullptr) continue;
      if (is_xid) {
        put(*gpu, "xid", {plain(*number), value->line}, fact.file);
        continue;
      }
      const std::string text =
          metric->is_flag ? (*number > 0 ? "true" : "false") : plain(*number * metric->unit);
      put(*gpu, metric->field, {text, value->line}, fact.file);
    }
  }

  void finish(Gpu& gpu, const evidence::FactSink& sink) {
    Fact& fact = gpu.fact;
    const auto set = [&](const char* field, const std::string& text) {
      if (!text.empty() && fact.find(field) == nullptr) fact.set(field, text, fact.line);
    };
    set("uuid", fact.place.gpu_uuid);
    set("pci", fact.place.pci);
    set("index", fact.place.gpu_index);
    set("node", fact.place.node);
    if (!gpu.xids.empty()) set("xids", base::join(gpu.xids, ","));
    if (!gpu.is_listed && nodes_listed_.count(fact.place.node) > 0) set("listed", "false");
    sink(std::move(fact));
  }

  const Evidence& evidence_;
  std::vector<Gpu> gpus_;
  std::set<std::string> nodes_listed_;  ///< nodes whose own tool listed GPUs
};

}  // namespace

void derive_gpu(const Evidence& evidence, const evidence::FactSink& sink) {
  Gpus(evidence).run(sink);
}

}  // namespace triage::analysis::derive

#include "analysis/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/fill.hpp"

namespace triage::analysis {
namespace {

int strength(const std::string& target) {
  static const std::map<std::string, int> k_strength{
      {"none", 0}, {"worker", 1}, {"group", 2}, {"gpu", 3}, {"node", 4}};
  const auto it = k_strength.find(target);
  return it == k_strength.end() ? 0 : it->second;
}

bool is_hardware(const Observation& o) {
  return o.class_ == "hardware" && o.role != rules::Role::context;
}

/// GPUs that a hardware fault of the incident names and that its own advice would hold.
std::vector<GpuEntity> faulty_gpus(const EvidenceModel& model, const Observation& root,
                                   const std::vector<std::size_t>& incident) {
  std::vector<GpuEntity> gpus;
  const auto add = [&](const Observation& o) {
    if (strength(o.quarantine.target) < strength("gpu") && &o != &root) return;
    const auto gpu = model.entities.gpu_of(o.place);
    if (gpu && (!gpu->pci.empty() || !gpu->uuid.empty()) &&
        std::find(gpus.begin(), gpus.end(), *gpu) == gpus.end())
      gpus.push_back(*gpu);
  };
  add(root);
  for (const std::size_t i : incident)
    if (is_hardware(model.observations[i]) && model.observations[i].role == rules::Role::root)
      add(model.observations[i]);
  return gpus;
}

/// Whether the evidence shows a group of ranks that died or hung with the root: several ranks in
/// the incident, or a collective that waited for the root's.
bool is_group(const EvidenceModel& model, const Observation& root,
              const std::vector<std::size_t>& incident) {
  if (root.class_ == "gpu-oom" || root.class_ == "runtime") return false;
  std::set<std::string> ranks;
  const auto add = [&](const Observation& o) {
    if (!o.place.rank.empty()) ranks.insert(o.place.node + '/' + o.place.pod + '/' + o.place.rank);
    const auto& tags = o.tags;
    return std::find(tags.begin(), tags.end(), "collective-timeout") != tags.end();
  };
  bool collective = add(root) || root.class_ == "distributed";
  for (const std::size_t i : incident) collective = add(model.observations[i]) || collective;
  return collective || ranks.size() > 1;
}

std::string node_or_blank(const std::string& node) {
  return node.empty() ? "NODE" : node;
}

void node_commands(QuarantineEntry& entry, const std::string& node) {
  const std::string name = node_or_blank(node);
  entry.commands.push_back("kubectl cordon " + name);
  entry.commands.push_back("kubectl drain " + name + " --ignore-daemonsets --delete-emptydir-data");
}

void gpu_commands(QuarantineEntry& entry, const std::vector<GpuEntity>& gpus,
                  const std::string& action) {
  for (const GpuEntity& gpu : gpus) {
    const std::string id = gpu.pci.empty() ? gpu.uuid : gpu.pci;
    entry.commands.push_back(fmt::format("nvidia-smi -q -i {}", id));
    if (action == "reset-gpu" || action == "drain-and-reset")
      entry.commands.push_back(fmt::format("nvidia-smi --gpu-reset -i {}", id));
  }
}

std::string lift_text(const std::string& target, const std::string& action) {
  if (action == "replace-hardware")
    return "the GPU or board is replaced and diagnostics pass (dcgmi diag -r 3)";
  if (action == "reboot-node" || target == "node")
    return "every GPU is listed after the reboot, diagnostics pass (dcgmi diag -r 3), no new Xid "
           "for 24 h";
  if (target == "gpu")
    return "the reset succeeded, no remap or recovery action is pending, diagnostics pass (dcgmi "
           "diag -r 3), no new Xid for 24 h";
  if (target == "group") return "all ranks of the rebuilt group answer a real completion";
  if (target == "worker") return "the new worker answers a real completion";
  return {};
}

std::string cite(const EvidenceModel& model, const Observation& o) {
  return fmt::format("{}:{}", model.inputs[o.file].path, o.line);
}

void add_worker_subjects(QuarantineEntry& entry, const EvidenceModel& model,
                         const Observation& root, const std::vector<std::size_t>& incident,
                         bool group) {
  std::set<std::string> pods;
  const auto add = [&](const Observation& o) {
    if (!o.place.pod.empty()) pods.insert(o.place.pod);
  };
  add(root);
  if (group)
    for (const std::size_t i : incident) add(model.observations[i]);
  for (const std::string& pod : pods) {
    entry.subjects.push_back({group ? "group" : "worker", pod, {}, {}, root.place.node});
    const std::string ns = root.place.name_space.empty() ? "NAMESPACE" : root.place.name_space;
    entry.commands.push_back(fmt::format("kubectl -n {} delete pod {}", ns, pod));
  }
  if (!pods.empty()) return;
  std::string name = root.place.container;
  if (name.empty() && !root.place.rank.empty())
    name = (group ? "group of rank " : "rank ") + root.place.rank;
  if (name.empty() && !root.place.pid.empty()) name = "pid " + root.place.pid;
  if (name.empty()) name = "the process of " + model.inputs[root.file].path;
  entry.subjects.push_back({group ? "group" : "worker", name, {}, {}, root.place.node});
  entry.commands.emplace_back("kubectl -n NAMESPACE delete pod POD");
}

}  // namespace

QuarantineEntry make_quarantine(const EvidenceModel& model, const Observation& root,
                                const std::vector<std::size_t>& incident,
                                const rules::Quarantine& wanted) {
  QuarantineEntry entry;
  entry.target = wanted.target;
  entry.action = wanted.action;
  std::vector<std::string> cited{cite(model, root)};
  if (is_hardware(root)) {
    // Companions of a device fault (a recovery action, a second report of it) may ask for more than
    // its first line.
    for (const std::size_t i : incident) {
      const Observation& o = model.observations[i];
      if (!is_hardware(o) || strength(o.quarantine.target) <= strength(entry.target)) continue;
      if (!agrees(root.place, o.place, rules::Same::node)) continue;
      entry.target = o.quarantine.target;
      entry.action = o.quarantine.action;
      cited.push_back(cite(model, o));
    }
  }
  const std::vector<GpuEntity> gpus = faulty_gpus(model, root, incident);
  if (entry.target == "gpu" && gpus.size() > 1) {
    entry.target = "node";
    if (entry.action != "reboot-node" && entry.action != "replace-hardware")
      entry.action = "cordon-node";
  }
  if (entry.target == "worker" && is_group(model, root, incident)) {
    entry.target = "group";
    entry.action = "rebuild-group";
  }
  if (entry.target == "none") {
    entry.reason = "nothing in the evidence asks for holding hardware or a worker out of service";
    return entry;
  }
  if (entry.target == "node") {
    entry.subjects.push_back({"node", node_or_blank(root.place.node), {}, {}, root.place.node});
    for (const GpuEntity& gpu : gpus)
      entry.subjects.push_back(
          {"gpu", gpu.index.empty() ? gpu.pci : "GPU " + gpu.index, gpu.uuid, gpu.pci, gpu.node});
    node_commands(entry, root.place.node);
  } else if (entry.target == "gpu") {
    for (const GpuEntity& gpu : gpus)
      entry.subjects.push_back(
          {"gpu", gpu.index.empty() ? gpu.pci : "GPU " + gpu.index, gpu.uuid, gpu.pci, gpu.node});
    if (gpus.empty())
      entry.subjects.push_back({"gpu", "GPU not named in the evidence", {}, {}, root.place.node});
    entry.commands.push_back("kubectl cordon " + node_or_blank(root.place.node));
    gpu_commands(entry, gpus, entry.action);
  } else {
    add_worker_subjects(entry, model, root, incident, entry.target == "group");
  }
  std::string where;
  for (const std::string& c : cited) where += (where.empty() ? "" : ", ") + c;
  entry.reason = fmt::format("{} ({})", root.title, where);
  if (root.rule->catalog && root.catalog_line > 0)
    entry.reason +=
        fmt::format("; catalog {} line {}", root.rule->catalog->table, root.catalog_line);
  entry.lift_when = lift_text(entry.target, entry.action);
  return entry;
}

}  // namespace triage::analysis

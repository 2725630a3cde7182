#include "analysis/entities.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace triage::analysis {

using evidence::Fact;
using evidence::Kind;
using evidence::Place;

namespace {

bool both_differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}
bool both_equal(const std::string& a, const std::string& b) {
  return !a.empty() && a == b;
}

/// `gpu-07.example.net` and `gpu-07` are one host.
std::string short_host(const std::string& name) {
  const auto dot = name.find('.');
  const bool address = !name.empty() && name.find_first_not_of("0123456789.") == std::string::npos;
  return dot == std::string::npos || address ? name : name.substr(0, dot);
}

bool speaks_for_host(Kind kind) {
  return kind == Kind::kernel_log || kind == Kind::system_log || kind == Kind::fabric_log;
}

template <class Range>
std::string only_one(const Range& names) {
  return names.size() == 1 ? *names.begin() : std::string();
}

}  // namespace

void EntityTable::learn(std::span<const Fact> facts, std::span<const Observation> observations,
                        std::span<const StreamInfo> streams,
                        const std::vector<std::vector<std::string>>& hosts) {
  learn_pods(facts);
  for (const Fact& fact : facts)
    if (fact.kind == Kind::node && !fact.get("name").empty()) nodes_.push_back(fact.get("name"));
  // A stream whose path names the node and whose lines name one host: two names of one node.
  for (std::size_t i = 0; i < streams.size() && i < hosts.size(); ++i) {
    std::set<std::string> names(hosts[i].begin(), hosts[i].end());
    const std::string host = only_one(names);
    if (host.empty()) continue;
    if (speaks_for_host(streams[i].kind)) nodes_.push_back(host);
    if (!streams[i].place.node.empty() && host != streams[i].place.node && !knows_pod(host))
      alias_node(host, streams[i].place.node);
  }
  for (const std::string& name : nodes_)
    if (short_host(name) != name) alias_node(short_host(name), name);
  learn_gpu_facts(facts);
  for (const Observation& o : observations) {
    GpuEntity gpu{o.place.gpu_uuid, o.place.pci, {}, canonical_node(o.place.node), {}};
    if (!gpu.uuid.empty() && !gpu.pci.empty()) join_gpu(gpu);
  }
}

void EntityTable::learn_pods(std::span<const Fact> facts) {
  for (const Fact& fact : facts) {
    if (fact.kind != Kind::pod || fact.place.pod.empty()) continue;
    Place& place = pods_[fact.place.pod];
    Place mine = fact.place;
    mine.container.clear();
    place.fill_from(mine);
  }
}

void EntityTable::learn_gpu_facts(std::span<const Fact> facts) {
  for (const Fact& fact : facts) {
    if (fact.kind != Kind::gpu_state) continue;
    GpuEntity gpu;
    gpu.uuid = evidence::normalise_gpu_uuid(fact.get("uuid"));
    gpu.pci = evidence::normalise_pci(fact.get("pci"));
    gpu.index = fact.get("index");
    gpu.name = fact.get("name");
    gpu.node = canonical_node(fact.place.node);
    if (!gpu.uuid.empty() || !gpu.pci.empty()) join_gpu(gpu);
  }
}

void EntityTable::alias_node(const std::string& name, const std::string& canonical) {
  if (name != canonical && node_names_.count(canonical) == 0) node_names_.emplace(name, canonical);
}

std::string EntityTable::canonical_node(const std::string& name) const {
  const auto it = node_names_.find(name);
  return it == node_names_.end() ? name : it->second;
}

void EntityTable::join_gpu(const GpuEntity& gpu) {
  for (GpuEntity& known : gpus_) {
    if (both_differ(known.node, gpu.node)) continue;
    const bool same = both_equal(known.uuid, gpu.uuid) ||
                      (both_equal(known.pci, gpu.pci) && !both_differ(known.uuid, gpu.uuid));
    if (!same) continue;
    if (known.uuid.empty()) known.uuid = gpu.uuid;
    if (known.pci.empty()) known.pci = gpu.pci;
    if (known.index.empty()) known.index = gpu.index;
    if (known.name.empty()) known.name = gpu.name;
    if (known.node.empty()) known.node = gpu.node;
    return;
  }
  gpus_.push_back(gpu);
}

std::optional<GpuEntity> EntityTable::gpu_of(const Place& place) const {
  if (place.gpu_uuid.empty() && place.pci.empty()) {
    if (place.gpu_index.empty()) return std::nullopt;
    return GpuEntity{{}, {}, place.gpu_index, place.node, {}};
  }
  for (const GpuEntity& gpu : gpus_) {
    if (both_differ(gpu.node, place.node)) continue;
    if (both_equal(gpu.uuid, place.gpu_uuid) || both_equal(gpu.pci, place.pci)) {
      GpuEntity found = gpu;
      if (found.node.empty()) found.node = place.node;
      if (found.pci.empty()) found.pci = place.pci;
      if (found.uuid.empty()) found.uuid = place.gpu_uuid;
      return found;
    }
  }
  return GpuEntity{place.gpu_uuid, place.pci, {}, place.node, {}};
}

void EntityTable::complete(Place& place, Kind kind) const {
  // The host name in an application's log is the node's, or the pod's own (its hostname).
  if (!place.node.empty() && place.pod.empty() && knows_pod(place.node)) {
    place.pod = place.node;
    place.node.clear();
  }
  place.node = canonical_node(place.node);
  const bool known_node = std::find(nodes_.begin(), nodes_.end(), place.node) != nodes_.end();
  if (!place.node.empty() && kind == Kind::container_log && !known_node &&
      node_names_.count(place.node) == 0 && !nodes_.empty()) {
    // Evidence of nodes exists and this is none of them: a container's own host name.
    const bool is_alias_target = std::any_of(node_names_.begin(), node_names_.end(),
                                             [&](const auto& n) { return n.second == place.node; });
    if (!is_alias_target && place.pod.empty() && place.node.find('.') == std::string::npos) {
      place.pod = place.node;
      place.node.clear();
    }
  }
  // `worker-4k2vb.log` names the end of a pod's name.
  if (!place.pod.empty() && !knows_pod(place.pod)) {
    std::set<std::string> fitting;
    for (const auto& [name, unused] : pods_)
      if (name.size() > place.pod.size() &&
          name.compare(name.size() - place.pod.size() - 1, std::string::npos, "-" + place.pod) == 0)
        fitting.insert(name);
    if (fitting.size() == 1) place.pod = *fitting.begin();
  }
  if (const auto it = pods_.find(place.pod); it != pods_.end()) {
    place.fill_from(it->second);
    place.node = canonical_node(place.node);
  }
  if (const auto gpu = gpu_of(place)) {
    if (place.gpu_uuid.empty()) place.gpu_uuid = gpu->uuid;
    if (place.pci.empty()) place.pci = gpu->pci;
    if (place.gpu_index.empty()) place.gpu_index = gpu->index;
    if (place.node.empty()) place.node = gpu->node;
  }
}

namespace {

/// One part of two places: differ, or agree; unnamed parts agree and are noted.
bool part_agrees(const std::string& a, const std::string& b, bool* assumed) {
  if (both_differ(a, b)) return false;
  if (assumed != nullptr && a.empty() != b.empty()) *assumed = true;
  return true;
}

bool gpu_agrees(const Place& a, const Place& b, bool* assumed) {
  if (both_equal(a.gpu_uuid, b.gpu_uuid) || both_equal(a.pci, b.pci)) return true;
  if (both_differ(a.gpu_uuid, b.gpu_uuid) || both_differ(a.pci, b.pci)) return false;
  if (assumed != nullptr) *assumed = true;
  return true;
}

}  // namespace

bool agrees(const Place& a, const Place& b, rules::Same same, bool* assumed) {
  using rules::Same;
  switch (same) {
    case Same::any:
    case Same::file:
      return true;
    case Same::node:
      return part_agrees(a.node, b.node, assumed);
    case Same::gpu:
      return part_agrees(a.node, b.node, assumed) && gpu_agrees(a, b, assumed);
    case Same::pod:
      return part_agrees(a.node, b.node, nullptr) &&
             part_agrees(a.name_space, b.name_space, nullptr) && part_agrees(a.pod, b.pod, assumed);
    case Same::process:
      return part_agrees(a.node, b.node, nullptr) && part_agrees(a.pod, b.pod, assumed) &&
             part_agrees(a.container, b.container, nullptr) && part_agrees(a.rank, b.rank, nullptr);
    case Same::pid:
      return part_agrees(a.node, b.node, nullptr) && part_agrees(a.pid, b.pid, assumed);
    case Same::group:
    case Same::workload:
      return part_agrees(a.name_space, b.name_space, nullptr) &&
             part_agrees(a.workload, b.workload, assumed);
    case Same::revision:
      return part_agrees(a.workload, b.workload, nullptr) &&
             part_agrees(a.revision, b.revision, assumed);
  }
  return false;
}

}  // namespace triage::analysis

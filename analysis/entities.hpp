#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/dating.hpp"
#include "analysis/observation.hpp"
#include "analysis/report_types.hpp"
#include "evidence/fact.hpp"
#include "rules/rule.hpp"

namespace triage::analysis {

/// Who is who: PCI address, UUID and index of a GPU; pid, pod, node; aliases of a node. Joined from
/// every source that names two of them, so that a line that names one can be held against a line
/// that names another.
class EntityTable {
 public:
  /// Learns from facts, observations and streams. `hosts[i]` are the host names in the line
  /// prefixes of stream i.
  void learn(std::span<const evidence::Fact> facts, std::span<const Observation> observations,
             std::span<const StreamInfo> streams,
             const std::vector<std::vector<std::string>>& hosts);

  /// Completes a place with what the joins know; host names become the node's one name.
  void complete(evidence::Place& place, evidence::Kind kind) const;

  /// The GPU of a place with everything that is known of it; nothing when the place names none.
  [[nodiscard]] std::optional<GpuEntity> gpu_of(const evidence::Place& place) const;
  [[nodiscard]] const std::vector<GpuEntity>& gpus() const { return gpus_; }
  [[nodiscard]] std::string canonical_node(const std::string& name) const;
  [[nodiscard]] bool knows_pod(const std::string& name) const { return pods_.count(name) > 0; }

 private:
  void join_gpu(const GpuEntity& gpu);
  void learn_gpu_facts(std::span<const evidence::Fact> facts);
  void learn_pods(std::span<const evidence::Fact> facts);
  void alias_node(const std::string& name, const std::string& canonical);

  std::vector<GpuEntity> gpus_;
  std::map<std::string, evidence::Place> pods_;    ///< by pod name
  std::map<std::string, std::string> node_names_;  ///< alias -> canonical
  std::vector<std::string> nodes_;                 ///< names that node objects and kernel logs give
};

/// Whether two places can be the same in the sense of `same`; a part that one does not name agrees
/// with any. `assumed` is set when agreement rests on an unnamed part.
[[nodiscard]] bool agrees(const evidence::Place& a, const evidence::Place& b, rules::Same same,
                          bool* assumed = nullptr);

}  // namespace triage::analysis

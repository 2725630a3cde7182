#pragma once

#include <map>
#include <set>
#include <string>

#include "analysis/evidence_model.hpp"

namespace triage::analysis {

/// Tells the pod that fails from others that an event list or a `describe` names beside it: a pod
/// that waits for a node or an image wrote no engine log, and one that asks for no GPU took no GPU
/// down. The evidence often does not say whose log it is, so that places alone decide nothing.
class Neighbours {
 public:
  explicit Neighbours(const EvidenceModel& model);

  /// Whether `trouble`, which an event or a pod's state tells of, is that of another pod than the
  /// one whose process reports `fault` in a log.
  [[nodiscard]] bool is_elsewhere(const Observation& trouble, const Observation& fault) const;

 private:
  const EvidenceModel& model_;
  std::set<std::string> with_log_;        ///< pods that a log names as its own
  std::map<std::string, bool> asks_gpu_;  ///< pods whose containers are known
};

}  // namespace triage::analysis

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/evidence_model.hpp"

namespace triage::analysis {

/// What explains what among the observations, and which roots remain. Indices are into
/// EvidenceModel::observations.
struct Causality {
  struct Edge {
    std::size_t from = 0;  ///< explains
    std::size_t to = 0;
    bool assumed_place = false;  ///< their places agree only because one is not named
    bool order_unknown = false;  ///< nothing says which came first
    bool by_rule = false;        ///< a rule says so, not the table of classes
  };
  std::vector<Edge> edges;  ///< from roots (and explaining contexts) to what they explain
  std::vector<std::size_t> candidates;  ///< roots that nothing explains, best first
  std::vector<std::size_t>
      standing_alone;  ///< symptoms that may be the verdict when no candidate is left, best first
};

/// Finds the explanations (design, section 5, Roles): rules' own `explains` and `explained_by`, and
/// the built-in table of which class can bring about which. A root that is explained leaves the
/// candidates; the rest is ranked.
[[nodiscard]] Causality explain(const EvidenceModel& model);

/// Whether only the kernel writes such a line.
[[nodiscard]] bool is_kernel_line(const Observation& observation);

/// The built-in table: may a root of class `cause` bring about trouble of class `effect`?
[[nodiscard]] bool class_brings_about(const std::string& cause, const std::string& effect);

}  // namespace triage::analysis

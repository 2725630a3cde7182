#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "evidence/kind.hpp"

namespace triage::analysis {

class LineRules;

/// A line of a block that some patterns may match.
struct Candidate {
  std::uint32_t begin = 0;  ///< offsets in the block, without the line end
  std::uint32_t end = 0;
  std::vector<std::uint32_t> patterns;  ///< indices into LineRules::patterns(), ascending
};

/// Finds the lines of a block that may match a pattern. May name patterns that do not match (the
/// scanner confirms each with RE2); must never miss one. Engines differ in speed only: a test holds
/// them to the same result.
class LineFilter {
 public:
  virtual ~LineFilter() = default;
  /// `block` holds whole lines. Candidates come in the order of the lines.
  virtual void find(std::string_view block, evidence::Kind kind, std::vector<Candidate>& out) = 0;
};

/// The engine in use: literals over raw blocks.
[[nodiscard]] std::unique_ptr<LineFilter> make_literal_filter(const LineRules& rules);
/// The reference: one RE2::Set over each line.
[[nodiscard]] std::unique_ptr<LineFilter> make_set_filter(const LineRules& rules);

}  // namespace triage::analysis

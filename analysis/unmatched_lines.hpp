#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/report_types.hpp"

namespace triage::analysis {

/// Lines of one file that look like errors and that no rule explains, in clusters: lines that
/// differ in numbers only are one. Bounded: 64 clusters, and no more is looked at after 20,000
/// lines.
class UnmatchedLines {
 public:
  explicit UnmatchedLines(std::string file) : file_(std::move(file)) {}
  [[nodiscard]] bool full() const { return seen_ >= k_looked_at; }
  void add(std::string_view text, std::uint64_t line);
  [[nodiscard]] std::vector<UnmatchedCluster> take() { return std::move(clusters_); }

 private:
  static constexpr std::uint64_t k_looked_at = 20'000;
  std::string file_;
  std::vector<UnmatchedCluster> clusters_;
  std::unordered_map<std::string, std::size_t> by_shape_;
  std::uint64_t seen_ = 0;
};

}  // namespace triage::analysis

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"

namespace re2 {
class RE2;
}

namespace triage::analysis {

/// Where most lines are candidates of many patterns (a storm), or a line is very long, asking for
/// all patterns at once is cheaper than for one after another. Works on the patterns that the
/// stream has shown, while they are few enough for that; for one stream, by one thread.
class DenseConfirm {
 public:
  explicit DenseConfirm(const LineRules& rules);
  ~DenseConfirm();
  DenseConfirm(const DenseConfirm&) = delete;
  DenseConfirm& operator=(const DenseConfirm&) = delete;

  /// Takes from the candidates' patterns those that do not match. Does nothing where it would not
  /// pay; never takes one that may match.
  void narrow(std::string_view block, Candidates& found);

 private:
  class Set;
  void learn(const Candidates& found);
  bool ask(std::string_view line);
  void narrow_line(std::string_view line, std::span<const std::uint32_t> patterns,
                   std::vector<std::uint32_t>& pool);

  const LineRules& rules_;
  std::vector<std::uint32_t> wanted_;  ///< patterns of the set, ascending
  std::unique_ptr<Set> set_;
  std::vector<int> hits_;
  int sets_ = 0;
  bool given_up_ = false;  ///< for this stream: it does not pay
  std::size_t asked_bytes_ = 0;
  std::int64_t spent_ns_ = 0;
};

}  // namespace triage::analysis

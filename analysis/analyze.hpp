#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/dating.hpp"
#include "analysis/report_types.hpp"
#include "base/result.hpp"
#include "bundle/input.hpp"
#include "rules/rule.hpp"

namespace triage::analysis {

/// Wall time of each stage, for `analyze --timings`; every analysis adds its own. Nanoseconds.
struct Timings {
  std::int64_t read_and_scan = 0;
  std::int64_t filter = 0;   ///< part of read_and_scan, summed over its threads
  std::int64_t confirm = 0;  ///< the same
  std::int64_t parse = 0;    ///< structured evidence
  std::int64_t date_and_derive = 0;
  std::int64_t verdict = 0;
};

struct AnalyzeOptions {
  bundle::InputOptions input;
  DatingOptions dating;
  std::optional<evidence::Time> since, until;  ///< observations outside are left out
  std::string pod, node, gpu;  ///< keep only observations at this place (unnamed parts agree)
  int jobs = 0;                ///< 0: as many as cores, at most 8
  bool digest = false;         ///< SHA-256 of every input
  std::string tool_version;
};

struct Matching;
struct Analysed;

/// The engine with one rule set made ready: patterns compile on first use and stay, so that many
/// inputs cost little more than their bytes. Not for use by two threads at once. `rules` must
/// outlive it.
class Engine {
 public:
  explicit Engine(const rules::RuleSet& rules);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Evidence in, finished report out. Same bytes in, same report out. What the report was made
  /// from stays until the next analysis: a program that ends anyway need not take it apart.
  [[nodiscard]] base::Result<Report> analyze(const std::vector<std::string>& inputs,
                                             const AnalyzeOptions& options = {},
                                             Timings* timings = nullptr);

 private:
  std::unique_ptr<Matching> matching_;
  std::unique_ptr<Analysed> analysed_;
};

/// The same for a single analysis.
[[nodiscard]] base::Result<Report> analyze(const std::vector<std::string>& inputs,
                                           const rules::RuleSet& rules,
                                           const AnalyzeOptions& options,
                                           Timings* timings = nullptr);

/// Whether some rule gives that cause, has that class or that id; else a problem with the nearest.
[[nodiscard]] base::Status check_why_not(const std::string& cause, const rules::RuleSet& rules);

/// `--why-not CAUSE`: for people, what speaks for and against that cause in this evidence.
[[nodiscard]] base::Result<std::string> why_not(const std::string& cause,
                                                const std::vector<std::string>& inputs,
                                                const rules::RuleSet& rules,
                                                const AnalyzeOptions& options);

}  // namespace triage::analysis

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/derive/derive.hpp"
#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"
#include "analysis/observation.hpp"
#include "analysis/report_types.hpp"
#include "bundle/input.hpp"

namespace triage::analysis {

/// What one line stream gave.
struct ScanResult {
  std::vector<Observation> observations;  ///< in the order of the lines; `file` set, not yet dated
  std::vector<UnmatchedCluster> unmatched;     ///< lines that look like errors and matched no rule
  std::optional<evidence::Stamp> first, last;  ///< of the first and last stamped lines seen
  std::vector<std::string> hosts;              ///< host names in line prefixes
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::int64_t filter_ns = 0;   ///< time in the filter
  std::int64_t confirm_ns = 0;  ///< time in confirming and keeping candidates
  std::uint64_t cut_lines = 0;  ///< lines longer than 1 MiB: read in overlapping pieces
};

/// Reads a line stream in blocks and turns matching lines into observations. Memory is bounded: a
/// window of about 1.2 MiB, and for each rule (and Xid, GPU) the first 32 and the last 8 matches
/// with the count of all.
class Scanner {
 public:
  Scanner(const LineRules& rules, LineFilter& filter) : rules_(rules), filter_(filter) {}

  /// `file_index` goes into the observations; `meter` (may be null) sees every line. `first_line`
  /// is the number of the first line (sections of a bigger file keep their numbers).
  [[nodiscard]] ScanResult scan(const bundle::EvidenceFile& file, std::uint32_t file_index,
                                bundle::ByteStream& stream, derive::LineMeter* meter,
                                std::uint64_t first_line = 1);

 private:
  const LineRules& rules_;
  LineFilter& filter_;
  std::vector<char> memory_;  ///< of the window, kept from file to file
};

}  // namespace triage::analysis

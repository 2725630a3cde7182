#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/observation.hpp"
#include "evidence/fact.hpp"
#include "evidence/format.hpp"

/// Derived facts: arithmetic over many lines that is no rule language. One file per derived kind in
/// this folder. Every value carries the file and line it comes from; rules read the facts by
/// `where`.
namespace triage::analysis::derive {

struct Evidence {
  std::span<const Observation> observations;  ///< dated, before refine
  std::span<const evidence::Fact> facts;      ///< parsed facts
  std::span<const std::optional<evidence::Time>> fact_times;
  std::optional<evidence::Time> end;  ///< of the evidence: the newest time anywhere
};

/// Runs every deriver.
void derive_all(const Evidence& evidence, const evidence::FactSink& sink);

/// Reads every line of a stream for sums that capped observations cannot give (a gateway's retries,
/// its 5xx share). Memory is bounded whatever the stream's length.
class LineMeter {
 public:
  virtual ~LineMeter() = default;
  virtual void line(std::string_view line, std::uint32_t number) = 0;
  virtual void finish(const evidence::FactSink& sink) = 0;
};

/// The meter of a kind, or nullptr when lines of that kind need none.
[[nodiscard]] std::unique_ptr<LineMeter> meter_for(evidence::Kind kind, evidence::Format format,
                                                   const evidence::Place& place);

}  // namespace triage::analysis::derive

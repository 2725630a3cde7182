#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/derive/derive.hpp"

/// One function for each derived kind; `derive_all` runs them in this order.
namespace triage::analysis::derive {

void derive_scheduling(const Evidence& evidence, const evidence::FactSink& sink);
void derive_replicas(const Evidence& evidence, const evidence::FactSink& sink);
void derive_loading(const Evidence& evidence, const evidence::FactSink& sink);
void derive_load(const Evidence& evidence, const evidence::FactSink& sink);
/// How the memory of a device or process moves over repeated readings (a `load` fact).
void derive_memory_trend(const Evidence& evidence, const evidence::FactSink& sink);
void derive_swap(const Evidence& evidence, const evidence::FactSink& sink);
/// One fact for each GPU, joined from every source that names it.
void derive_gpu(const Evidence& evidence, const evidence::FactSink& sink);

// --- Shared by them ---

/// Whether the observation's rule carries the tag.
[[nodiscard]] bool tagged(const Observation& observation, std::string_view tag);
[[nodiscard]] std::optional<double> capture_number(const Observation& observation,
                                                   const std::string& name);
/// The time of fact `index` of the evidence, if it is dated.
[[nodiscard]] std::optional<evidence::Time> time_of(const Evidence& evidence, std::size_t index);
/// A dated moment as the stamp of a derived fact.
[[nodiscard]] std::optional<evidence::Stamp> stamp_of(const std::optional<evidence::Time>& time);
/// Plain decimal without trailing zeros.
[[nodiscard]] std::string plain(double value);

/// A Prometheus histogram's quantile by linear interpolation; `add` takes `le` and the cumulative
/// count, summed over the other labels.
class Histogram {
 public:
  void add(double upper_bound, double cumulative);
  [[nodiscard]] bool empty() const { return buckets_.empty(); }
  [[nodiscard]] std::optional<double> quantile(double q) const;

 private:
  std::vector<std::pair<double, double>> buckets_;
};

}  // namespace triage::analysis::derive

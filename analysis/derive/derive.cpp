#include "analysis/derive/derive.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/derive/derivers.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {

bool tagged(const Observation& observation, std::string_view tag) {
  return observation.rule != nullptr && observation.rule->has_tag(tag);
}

std::optional<double> capture_number(const Observation& observation, const std::string& name) {
  const auto it = observation.captures.find(name);
  return it == observation.captures.end() ? std::nullopt : base::parse_double(it->second);
}

std::optional<evidence::Time> time_of(const Evidence& evidence, std::size_t index) {
  return index < evidence.fact_times.size() ? evidence.fact_times[index] : std::nullopt;
}

std::optional<evidence::Stamp> stamp_of(const std::optional<evidence::Time>& time) {
  if (!time) return std::nullopt;
  using Base = evidence::Stamp::Base;
  return evidence::Stamp{time->year_known ? Base::utc : Base::no_year, time->ns,
                         time->uncertainty_ns};
}

std::string plain(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{:.4g}", value);
}

void Histogram::add(double upper_bound, double cumulative) {
  for (auto& [bound, count] : buckets_) {
    if (bound != upper_bound) continue;
    count += cumulative;
    return;
  }
  if (buckets_.size() < 256) buckets_.emplace_back(upper_bound, cumulative);
}

std::optional<double> Histogram::quantile(double q) const {
  auto sorted = buckets_;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || sorted.back().second <= 0) return std::nullopt;
  const double wanted = q * sorted.back().second;
  double lower = 0;
  double below = 0;
  for (const auto& [bound, count] : sorted) {
    if (count >= wanted) {
      if (std::isinf(bound)) return lower;
      const double inside = count - below;
      return inside <= 0 ? bound : lower + (bound - lower) * (wanted - below) / inside;
    }
    lower = bound;
    below = count;
  }
  return lower;
}

void derive_all(const Evidence& evidence, const evidence::FactSink& sink) {
  derive_scheduling(evidence, sink);
  derive_replicas(evidence, sink);
  derive_loading(evidence, sink);
  derive_load(evidence, sink);
  derive_memory_trend(evidence, sink);
  derive_swap(evidence, sink);
  derive_gpu(evidence, sink);
}

}  // namespace triage::analysis::derive

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/derive/derivers.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {
namespace {

using evidence::Fact;
using evidence::Kind;
using evidence::Time;

/// One reading of the memory that a device or a process holds.
struct Reading {
  double bytes = 0;
  bool quiet = false;  ///< taken while nothing ran: readings at quiet points ought to be equal
  std::optional<Time> time;
  std::uint32_t line = 0;
};

struct Trend {
  std::uint32_t file = 0;
  evidence::Place place;
  double total = 0;
  std::vector<Reading> readings;
};

constexpr double k_gib = 1073741824.0;
// Fewer readings, or a shorter time, cannot tell growth from a load or a burst.
constexpr std::size_t k_least_readings = 4;
constexpr double k_least_span_ns = 15.0 * 60 * 1e9;
constexpr std::size_t k_most_readings = 20'000;

void add(Trend& trend, Reading reading) {
  if (trend.readings.size() < k_most_readings) trend.readings.push_back(reading);
}

void from_gpu_state(const Evidence& evidence, std::map<std::string, Trend>& trends) {
  for (std::size_t i = 0; i < evidence.facts.size(); ++i) {
    const Fact& fact = evidence.facts[i];
    const evidence::Value* used = fact.find("memory.used");
    if (fact.kind != Kind::gpu_state || used == nullptr) continue;
    const std::string gpu = fact.get("uuid").empty() ? fact.get("index") : fact.get("uuid");
    Trend& trend = trends[fmt::format("{}|{}|{}", fact.file, fact.get("tool"), gpu)];
    trend.file = fact.file;
    trend.place = fact.place;
    trend.total = std::max(trend.total, base::parse_double(fact.get("memory.total")).value_or(0));
    Reading reading;
    reading.bytes = base::parse_double(used->text).value_or(0);
    reading.quiet = base::parse_double(fact.get("utilization.gpu")).value_or(100) <= 3;
    reading.time = time_of(evidence, i);
    reading.line = used->line;
    add(trend, reading);
  }
}

/// DCGM's and others' framebuffer gauges, one reading a scrape.
void from_metrics(const Evidence& evidence, std::map<std::string, Trend>& trends) {
  struct Gauge {
    std::string_view name;
    double unit;
  };
  static constexpr Gauge k_gauges[] = {{"DCGM_FI_DEV_FB_USED", 1048576.0},
                                       {"nvidia_smi_memory_used_bytes", 1},
                                       {"nv_gpu_memory_used_bytes", 1},
                                       {"nvidia_gpu_memory_used_bytes", 1},
                                       {"gpu_used_vram", 1048576.0}};
  std::map<std::string, bool> idle;  // by file and scrape
  const auto moment = [](const Fact& fact) {
    return fmt::format("{}|{}", fact.file, fact.get("scrape"));
  };
  for (const Fact& fact : evidence.facts)
    if (fact.kind == Kind::metrics && base::contains(fact.get("name"), "num_requests_running"))
      idle[moment(fact)] = base::parse_double(fact.get("value")).value_or(1) == 0;
  for (std::size_t i = 0; i < evidence.facts.size(); ++i) {
    const Fact& fact = evidence.facts[i];
    if (fact.kind != Kind::metrics) continue;
    for (const Gauge& gauge : k_gauges) {
      if (fact.get("name") != gauge.name) continue;
      const std::string gpu =
          fact.get("labels.UUID") + fact.get("labels.gpu") + fact.get("labels.gpu_uuid");
      Trend& trend = trends[fmt::format("{}|{}|{}", fact.file, gauge.name, gpu)];
      trend.file = fact.file;
      trend.place = fact.place;
      Reading reading;
      reading.bytes = base::parse_double(fact.get("value")).value_or(0) * gauge.unit;
      const auto known = idle.find(moment(fact));
      reading.quiet = known != idle.end() && known->second;
      reading.time = time_of(evidence, i);
      reading.line = fact.line;
      add(trend, reading);
    }
  }
}

/// Lines that a program prints of its own memory (`allocated=41.2GiB`).
void from_logs(const Evidence& evidence, std::map<std::string, Trend>& trends) {
  for (const Observation& o : evidence.observations) {
    if (o.fact >= 0 || !tagged(o, "gpu-memory-sample")) continue;
    const auto unit = o.captures.find("unit");
    const auto value = capture_number(o, "mem");
    if (!value || unit == o.captures.end()) continue;
    const auto bytes = base::parse_bytes("1" + unit->second);
    if (!bytes) continue;
    Trend& trend = trends[fmt::format("{}|log|{}", o.file, o.place.rank)];
    trend.file = o.file;
    trend.place = o.place;
    Reading reading;
    reading.bytes = *value * static_cast<double>(*bytes);
    reading.quiet = base::icontains(o.text, "idle") || base::icontains(o.text, "quiet") ||
                    base::icontains(o.text, "after drain") ||
                    base::icontains(o.text, "no requests") ||
                    base::icontains(o.text, "running=0") || base::icontains(o.text, "Running: 0");
    reading.time = o.time;
    reading.line = o.line;
    add(trend, reading);
  }
}

/// The readings at quiet points where there are enough, else all.
std::vector<Reading> chosen(const Trend& trend) {
  std::vector<Reading> quiet;
  for (const Reading& reading : trend.readings)
    if (reading.quiet) quiet.push_back(reading);
  return quiet.size() >= k_least_readings ? quiet : trend.readings;
}

/// Grows step by step over a long time; one great step is a load, not a leak.
bool rises(const std::vector<Reading>& readings, double total) {
  if (readings.size() < k_least_readings) return false;
  const Reading& first = readings.front();
  const Reading& last = readings.back();
  if (first.time && last.time &&
      static_cast<double>(last.time->ns - first.time->ns) < k_least_span_ns)
    return false;
  const double growth = last.bytes - first.bytes;
  if (growth < std::max(0.5 * k_gib, 0.01 * total)) return false;
  std::size_t up = 0;
  std::size_t down = 0;
  double greatest = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const double step = readings[i].bytes - readings[i - 1].bytes;
    if (step > 0) ++up;
    if (step < -0.02 * readings[i - 1].bytes) ++down;
    greatest = std::max(greatest, step);
  }
  return down == 0 && up * 10 >= (readings.size() - 1) * 6 && greatest < 0.6 * growth;
}

}  // namespace

void derive_memory_trend(const Evidence& evidence, const evidence::FactSink& sink) {
  std::map<std::string, Trend> trends;
  from_gpu_state(evidence, trends);
  from_metrics(evidence, trends);
  from_logs(evidence, trends);
  for (const auto& [key, trend] : trends) {
    const std::vector<Reading> readings = chosen(trend);
    if (readings.size() < k_least_readings) continue;
    Fact fact;
    fact.kind = Kind::load;
    fact.file = trend.file;
    fact.line = readings.front().line;
    fact.place = trend.place;
    fact.stamp = stamp_of(readings.front().time);
    fact.set("source", "memory", fact.line);
    fact.set("memory_first", plain(readings.front().bytes), readings.front().line);
    fact.set("memory_last", plain(readings.back().bytes), readings.back().line);
    fact.set("memory_readings", fmt::format("{}", readings.size()), readings.back().line);
    fact.set("memory_rising", rises(readings, trend.total) ? "true" : "false",
             readings.back().line);
    sink(std::move(fact));
  }
}

}  // namespace triage::analysis::derive

#include <algorithm>
#include <array>
#include <limits>
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

/// Readings of one engine over the evidence, oldest first.
struct Reading {
  double value = 0;
  std::uint32_t line = 0;
};

struct Engine {
  std::string name;
  std::string source;
  std::uint32_t file = 0;
  evidence::Place place;
  std::optional<evidence::Stamp> stamp;
  std::map<std::string, std::vector<Reading>> series;  ///< by field of the load kind
  Histogram ttft, queue;
  std::uint32_t ttft_line = 0, queue_line = 0;
  bool serving = false;
  double answered = 0, failed = 0;  ///< requests by a proxy's own counter
  std::uint32_t failed_line = 0;
};

struct Series {
  std::string_view metric;
  std::string_view field;
  std::string_view engine;
};

// Names: the metric tables of each engine (formats/engines.md).
constexpr std::array<Series, 24> k_series{{
    {"vllm:num_requests_running", "running", "vllm"},
    {"vllm:num_requests_waiting", "waiting", "vllm"},
    {"vllm:kv_cache_usage_perc", "kv_usage", "vllm"},
    {"vllm:gpu_cache_usage_perc", "kv_usage", "vllm"},
    {"vllm:num_preemptions_total", "preemptions", "vllm"},
    {"vllm:num_preemptions", "preemptions", "vllm"},
    {"vllm:avg_generation_throughput_toks_per_s", "throughput", "vllm"},
    {"sglang:num_running_reqs", "running", "sglang"},
    {"sglang:num_queue_reqs", "waiting", "sglang"},
    {"sglang:token_usage", "kv_usage", "sglang"},
    {"sglang:num_retracted_requests_total", "preemptions", "sglang"},
    {"sglang:num_retracted_reqs", "preemptions", "sglang"},
    {"sglang:gen_throughput", "throughput", "sglang"},
    {"tgi_batch_current_size", "running", "tgi"},
    {"tgi_queue_size", "waiting", "tgi"},
    {"trtllm_kv_cache_utilization", "kv_usage", "trtllm"},
    {"trtllm_num_requests_running", "running", "trtllm"},
    {"trtllm_num_requests_waiting", "waiting", "trtllm"},
    {"nv_trt_llm_kv_cache_block_metrics", "", "triton"},
    {"nv_inference_pending_request_count", "waiting", "triton"},
    {"llamacpp:requests_processing", "running", "llamacpp"},
    {"llamacpp:requests_deferred", "waiting", "llamacpp"},
    {"llamacpp:kv_cache_usage_ratio", "kv_usage", "llamacpp"},
    {"lmdeploy:num_requests_waiting", "waiting", "lmdeploy"},
}};

double upper_bound(const std::string& text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  return base::parse_double(text).value_or(0);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Samples of several engines or ranks in one scrape add up; usage takes the fullest.
void add(Engine& engine, const std::string& field, double value, std::uint32_t line, int scrape) {
  auto& readings = engine.series[field];
  const auto slot = static_cast<std::size_t>(std::max(scrape, 1));
  if (slot > 4096) return;
  while (readings.size() < slot) readings.push_back({0, line});
  Reading& reading = readings[slot - 1];
  reading.value = field == "kv_usage" ? std::max(reading.value, value) : reading.value + value;
  reading.line = line;
}

void read_metric(Engine& engine, const Fact& fact) {
  const std::string name = fact.get("name");
  const auto value = base::parse_double(fact.get("value"));
  if (!value) return;
  const int scrape = static_cast<int>(base::parse_int(fact.get("scrape")).value_or(1));
  for (const Series& series : k_series) {
    if (series.metric != name || series.field.empty()) continue;
    engine.name = std::string(series.engine);
    // A V1 engine may still print the V0 gauge beside its own.
    if (name == "vllm:gpu_cache_usage_perc" && *value == 0 && engine.series.count("kv_usage") > 0)
      continue;
    add(engine, std::string(series.field), *value, fact.line, scrape);
  }
  if (base::contains(name, "time_to_first_token_seconds_bucket")) {
    engine.ttft.add(upper_bound(fact.get("labels.le")), *value);
    if (engine.ttft_line == 0) engine.ttft_line = fact.line;
  }
  if (ends_with(name, "request_queue_time_seconds_bucket") ||
      ends_with(name, ":queue_time_seconds_bucket") ||
      ends_with(name, "request_queue_duration_bucket") ||
      ends_with(name, "queue_wait_duration_seconds_bucket")) {
    engine.queue.add(upper_bound(fact.get("labels.le")), *value);
    if (engine.queue_line == 0) engine.queue_line = fact.line;
  }
  if (ends_with(name, "_requests_total") && fact.find("labels.status") != nullptr) {
    const std::string status = fact.get("labels.status");
    const bool failed = status == "error" || status[0] == '5';
    engine.answered += *value;
    engine.failed += failed ? *value : 0;
    if (failed) engine.failed_line = fact.line;
  }
  const bool success = base::contains(name, "request_success") && *value > 0 &&
                       fact.get("labels.finished_reason") != "abort";
  engine.serving = engine.serving || success;
}

/// `93.1%` is 0.931; SGLang prints the fraction itself.
double as_fraction(const Observation& o, double value) {
  const std::string& text = o.captures.at("kv_usage");
  const bool percent = base::contains(o.text, text + "%");
  return percent ? value / 100 : value;
}

void read_stats(Engine& engine, const Observation& o) {
  const auto push = [&](const char* field, std::optional<double> value) {
    if (value) engine.series[field].push_back({*value, o.line});
  };
  push("running", capture_number(o, "running"));
  push("waiting", capture_number(o, "waiting"));
  push("throughput", capture_number(o, "throughput"));
  if (const auto usage = capture_number(o, "kv_usage")) push("kv_usage", as_fraction(o, *usage));
}

double mean(const std::vector<Reading>& readings, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += readings[i].value;
  return to > from ? sum / static_cast<double>(to - from) : 0;
}

/// The last third stands clearly above the first.
bool rising(const std::vector<Reading>& readings) {
  if (readings.size() < 2) return false;
  const std::size_t third = std::max<std::size_t>(1, readings.size() / 3);
  const double early = mean(readings, 0, third);
  const double late = mean(readings, readings.size() - third, readings.size());
  return late > early * 1.2 && late - early >= 5;
}

void emit(const Engine& engine, const evidence::FactSink& sink) {
  if (engine.series.empty() && engine.ttft.empty() && engine.queue.empty()) return;
  Fact fact;
  fact.kind = Kind::load;
  fact.file = engine.file;
  fact.place = engine.place;
  fact.stamp = engine.stamp;
  const auto set = [&](const std::string& field, const std::string& value, std::uint32_t line) {
    fact.set(field, value, line);
    if (fact.line == 0) fact.line = line;
  };
  for (const auto& [field, readings] : engine.series) {
    if (readings.empty()) continue;
    const Reading& newest = readings.back();
    set(field, plain(newest.value), newest.line);
    if (field != "waiting" && field != "kv_usage") continue;
    const auto greatest =
        std::max_element(readings.begin(), readings.end(),
                         [](const Reading& a, const Reading& b) { return a.value < b.value; });
    set(field + "_max", plain(greatest->value), greatest->line);
    if (field == "waiting") set("waiting_rising", rising(readings) ? "true" : "false", newest.line);
  }
  if (const auto p95 = engine.ttft.quantile(0.95)) set("ttft_p95", plain(*p95), engine.ttft_line);
  if (const auto p95 = engine.queue.quantile(0.95))
    set("queue_p95", plain(*p95), engine.queue_line);
  if (engine.failed_line != 0 && engine.answered > 0) {
    set("requests", plain(engine.answered), engine.failed_line);
    set("error_share", plain(engine.failed / engine.answered), engine.failed_line);
  }
  if (!engine.name.empty()) set("engine", engine.name, fact.line);
  set("source", engine.source, fact.line);
  set("serving", engine.serving ? "true" : "false", fact.line);
  const auto zero = [&](const char* field) {
    const evidence::Value* value = fact.find(field);
    return value != nullptr && base::parse_double(value->text).value_or(1) == 0;
  };
  if (fact.find("running") != nullptr || fact.find("waiting") != nullptr)
    set("idle", zero("running") && zero("waiting") ? "true" : "false", fact.line);
  sink(std::move(fact));
}

void from_metrics(const Evidence& evidence, const evidence::FactSink& sink) {
  std::map<std::string, Engine> engines;  // by file and model
  for (std::size_t i = 0; i < evidence.facts.size(); ++i) {
    const Fact& fact = evidence.facts[i];
    if (fact.kind != Kind::metrics) continue;
    std::string model = fact.get("labels.model_name");
    if (model.empty()) model = fact.get("labels.model");
    const std::string pod = fact.get("labels.pod");
    Engine& engine = engines[fmt::format("{}|{}|{}", fact.file, pod, model)];
    engine.file = fact.file;
    engine.source = "metrics";
    engine.place = fact.place;
    if (engine.place.pod.empty()) engine.place.pod = pod;
    if (!engine.stamp) engine.stamp = stamp_of(time_of(evidence, i));
    read_metric(engine, fact);
  }
  for (const auto& [key, engine] : engines) emit(engine, sink);
}

void from_logs(const Evidence& evidence, const evidence::FactSink& sink) {
  std::map<std::uint32_t, Engine> engines;
  for (const Observation& o : evidence.observations) {
    if (o.fact >= 0) continue;
    const bool stats = tagged(o, "engine-stats");
    const bool preempted = tagged(o, "preemption");
    const bool serving = tagged(o, "engine-serving");
    if (!stats && !preempted && !serving) continue;
    Engine& engine = engines[o.file];
    engine.file = o.file;
    engine.source = "log";
    engine.place = o.place;
    engine.serving = engine.serving || serving;
    if (stats) {
      read_stats(engine, o);
      engine.stamp = stamp_of(o.time);
    }
    if (preempted) {
      auto& readings = engine.series["preemptions"];
      const double before = readings.empty() ? 0 : readings.back().value;
      readings.push_back({before + static_cast<double>(o.count), o.line});
    }
  }
  for (auto& [file, engine] : engines) {
    engine.place.pid.clear();
    engine.place.rank.clear();
    emit(engine, sink);
  }
}

/// Envoy's counters: attempts that went upstream against requests that came in.
void from_gateway_stats(const Evidence& evidence, const evidence::FactSink& sink) {
  struct Counters {
    double upstream = 0, retries = 0, downstream = 0, errors = 0;
    std::uint32_t line = 0;
    evidence::Place place;
  };
  std::map<std::uint32_t, Counters> files;
  for (const Fact& fact : evidence.facts) {
    if (fact.kind != Kind::gateway_stats && fact.kind != Kind::metrics) continue;
    const std::string name = fact.get("name");
    if (fact.kind == Kind::metrics && name.rfind("envoy_", 0) != 0) continue;
    const double value = base::parse_double(fact.get("value")).value_or(0);
    Counters& counters = files[fact.file];
    counters.place = fact.place;
    const auto is = [&](std::string_view end) { return ends_with(name, end); };
    if (is("upstream_rq_retry")) {
      counters.retries += value;
      counters.line = fact.line;
    }
    if (is("upstream_rq_total")) counters.upstream += value;
    if (is("downstream_rq_total")) counters.downstream += value;
    if (is("downstream_rq_5xx")) counters.errors += value;
  }
  for (const auto& [file, counters] : files) {
    if (counters.line == 0 || counters.upstream <= 0) continue;
    // Without a downstream count (one cluster's stats): what was no retry was offered.
    const double offered =
        counters.downstream > 0 ? counters.downstream : counters.upstream - counters.retries;
    if (offered <= 0) continue;
    Fact fact;
    fact.kind = Kind::load;
    fact.file = file;
    fact.line = counters.line;
    fact.place = counters.place;
    fact.set("source", "gateway-stats", counters.line);
    fact.set("retry_factor", plain(counters.upstream / offered), counters.line);
    fact.set("requests", plain(offered), counters.line);
    if (counters.downstream > 0) fact.set("errors_5xx", plain(counters.errors), counters.line);
    sink(std::move(fact));
  }
}

}  // namespace

void derive_load(const Evidence& evidence, const evidence::FactSink& sink) {
  from_metrics(evidence, sink);
  from_logs(evidence, sink);
  from_gateway_stats(evidence, sink);
}

}  // namespace triage::analysis::derive

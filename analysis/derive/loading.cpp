#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/derive/derivers.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {
namespace {

using evidence::Fact;
using evidence::Kind;
using evidence::Time;

constexpr double k_ns = 1e9;

/// One progress line of a load.
struct Step {
  double done = 0;
  double total = 0;
  std::optional<double> elapsed;  ///< seconds since the bar began, as the bar prints it
  const Observation* seen = nullptr;
};

/// What one log says of loading.
struct Load {
  std::vector<Step> steps;
  const Observation* start = nullptr;
  const Observation* newest = nullptr;  ///< newest line of loading
  const Observation* finished = nullptr;
  bool ended = false;  ///< a fault or its echo follows the newest line: the load broke off there
  std::string substage;
};

/// `[08:47<07:05, ...]`, `[1:08:47<...`: seconds before the `<`.
std::optional<double> elapsed_of(std::string_view text) {
  const std::size_t less = text.find('<');
  if (less == std::string_view::npos) return std::nullopt;
  const std::size_t open = text.rfind('[', less);
  if (open == std::string_view::npos || less - open > 12) return std::nullopt;
  double seconds = 0;
  for (std::string_view part : base::split(text.substr(open + 1, less - open - 1), ':')) {
    const auto number = base::parse_int(part);
    if (!number || *number < 0) return std::nullopt;
    seconds = seconds * 60 + static_cast<double>(*number);
  }
  return seconds;
}

std::string substage_of(const Observation& o) {
  const auto it = o.captures.find("substage");
  const std::string text = base::to_lower(it == o.captures.end() ? o.text : it->second);
  struct Name {
    std::string_view word, substage;
  };
  static constexpr Name k_names[] = {
      {"graph", "graph-capture"}, {"captur", "graph-capture"}, {"compil", "compile"},
      {"dynamo", "compile"},      {"autotun", "compile"},      {"tensorrt engine", "compile"},
      {"warm", "warm-up"},        {"fetching", "download"},    {"download", "download"},
      {"image", "image-pull"},    {"kv cache", "warm-up"},     {"memory pool", "warm-up"},
      {"shard", "weights"},       {"weight", "weights"},       {"checkpoint", "weights"}};
  for (const Name& name : k_names)
    if (base::contains(text, name.word)) return std::string(name.substage);
  return "unknown";
}

void read_step(Load& load, const Observation& o) {
  Step step;
  step.seen = &o;
  step.done = capture_number(o, "done").value_or(-1);
  step.total = capture_number(o, "total").value_or(-1);
  if (step.done < 0 || step.total <= 0) {
    const auto percent = capture_number(o, "percent");
    if (!percent) return;
    step.done = *percent;
    step.total = 100;
  }
  step.elapsed = elapsed_of(o.text);
  // Observations of one rule are capped to the first and the last: order by the bar itself.
  load.steps.push_back(step);
  load.newest = &o;
  load.finished = nullptr;
  load.ended = false;
  load.substage = base::icontains(o.text, "fetching") || base::icontains(o.text, "download")
                      ? "download"
                      : "weights";
}

void read(Load& load, const Observation& o) {
  if (load.newest != nullptr && o.rule->role != rules::Role::context) {
    load.ended = true;
    return;
  }
  if (tagged(o, "load-start") || tagged(o, "engine-start")) {
    if (load.start == nullptr) load.start = &o;
    load.newest = &o;
    if (load.substage.empty() && tagged(o, "load-start")) load.substage = "weights";
  } else if (tagged(o, "loading-progress")) {
    read_step(load, o);
  } else if (tagged(o, "load-done")) {
    load.newest = &o;
    if (load.substage == "weights" || load.substage == "download") load.substage = "warm-up";
  } else if (tagged(o, "loading-substage")) {
    load.newest = &o;
    load.substage = substage_of(o);
  } else if (tagged(o, "engine-ready") || tagged(o, "engine-serving")) {
    load.finished = &o;
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Seconds for each unit of progress, between neighbouring steps.
std::vector<double> paces(const std::vector<Step>& steps) {
  std::vector<double> found;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const Step& a = steps[i - 1];
    const Step& b = steps[i];
    if (!a.elapsed || !b.elapsed || b.done <= a.done || *b.elapsed < *a.elapsed) continue;
    found.push_back((*b.elapsed - *a.elapsed) / (b.done - a.done));
  }
  return found;
}

/// When the newest step was printed: progress bars carry no stamp, but their own clock.
std::optional<Time> time_of_step(const Load& load, const Step& step) {
  if (!step.seen->time) return std::nullopt;
  if (step.seen->stamp_is_own) return step.seen->time;
  const Step& first = load.steps.front();
  if (!step.elapsed || !first.elapsed || !first.seen->time) return step.seen->time;
  Time time = *first.seen->time;
  time.ns += static_cast<std::int64_t>(*step.elapsed * k_ns);
  time.uncertainty_ns += static_cast<std::int64_t>(2 * k_ns);
  return time;
}

/// The container instance that wrote the log, and its probe budget.
struct Instance {
  std::optional<double> budget;
  std::optional<std::int64_t> ended_ns;
};

Instance instance_of(const Evidence& evidence, const evidence::Place& place,
                     const std::optional<Time>& during) {
  Instance instance;
  for (const Fact& fact : evidence.facts) {
    if (fact.kind != Kind::pod || fact.find("container") == nullptr || fact.get("init") == "true")
      continue;
    if (!place.pod.empty() && fact.place.pod != place.pod) continue;
    for (const char* probe : {"probe.startup.budget", "probe.liveness.budget"})
      if (!instance.budget) instance.budget = base::parse_double(fact.get(probe));
    const auto began = evidence::parse_rfc3339(fact.get("last.started_at"));
    const auto ended = evidence::parse_rfc3339(fact.get("last.finished_at"));
    if (!ended || !during) continue;
    // One minute of slack for clocks and rounding.
    const auto slack = static_cast<std::int64_t>(60 * k_ns);
    if ((!began || during->ns >= began->ns - slack) && during->ns <= ended->ns + slack)
      instance.ended_ns = ended->ns;
  }
  return instance;
}

void emit_log(const Evidence& evidence, const Load& load, const evidence::FactSink& sink) {
  const Observation& newest = *load.newest;
  Fact fact;
  fact.kind = Kind::loading;
  fact.file = newest.file;
  fact.line = newest.line;
  fact.place = newest.place;
  const auto set = [&](const char* field, const std::string& value, std::uint32_t line) {
    fact.set(field, value, line);
  };
  set("source", "log", newest.line);
  set("done", load.finished != nullptr ? "true" : "false",
      load.finished != nullptr ? load.finished->line : newest.line);

  std::string substage = load.substage.empty() ? "unknown" : load.substage;
  std::optional<Time> newest_time = newest.time;
  const bool complete = !load.steps.empty() && load.steps.back().done >= load.steps.back().total;
  const bool at_step = !load.steps.empty() && load.steps.back().seen == &newest && !complete;
  if (!load.steps.empty()) {
    const Step& last = load.steps.back();
    set("fraction", plain(std::min(1.0, last.done / last.total)), last.seen->line);
    if (last.seen == &newest) newest_time = time_of_step(load, last);
  }
  if (complete && (substage == "weights" || substage == "download")) substage = "warm-up";
  set("substage", substage, newest.line);
  fact.stamp = stamp_of(newest_time);
  const Instance instance = instance_of(evidence, fact.place, newest_time);
  if (instance.budget) set("probe_budget", plain(*instance.budget), newest.line);
  const Observation* first = load.start != nullptr ? load.start
                             : load.steps.empty()  ? nullptr
                                                   : load.steps.front().seen;
  if (first != nullptr && first->time && newest_time)
    set("duration", plain(static_cast<double>(newest_time->ns - first->time->ns) / k_ns),
        newest.line);

  // From the newest progress to the end of this instance, or of all evidence.
  std::optional<double> stalled;
  if (newest_time && load.finished == nullptr && !load.ended) {
    std::optional<std::int64_t> end = instance.ended_ns;
    if (!end && evidence.end) end = evidence.end->ns;
    if (end) stalled = std::max(0.0, static_cast<double>(*end - newest_time->ns) / k_ns);
  }
  const std::vector<double> pace = paces(load.steps);
  const double usual = median(pace);
  // A last step many times slower than the others is a stall even where no later time is known.
  const bool slow_step =
      at_step && pace.size() >= 3 && pace.back() > 30 && pace.back() > 10 * usual;
  const double patience = std::max(120.0, 6 * usual);
  if (stalled) set("stalled_for", plain(*stalled), newest.line);
  if (at_step && load.finished == nullptr && !load.ended)
    set("advancing",
        !slow_step && load.steps.size() >= 2 && (!stalled || *stalled < patience) ? "true"
                                                                                  : "false",
        newest.line);
  if (slow_step && !stalled && !load.ended) set("stalled_for", plain(pace.back()), newest.line);
  sink(std::move(fact));
}

std::string model_substage(const std::string& text) {
  const std::string lower = base::to_lower(text);
  struct Name {
    std::string_view word, substage;
  };
  static constexpr Name k_names[] = {{"image", "image-pull"},    {"weight", "weights"},
                                     {"download", "download"},   {"compil", "compile"},
                                     {"graph", "graph-capture"}, {"health", "warm-up"},
                                     {"warm", "warm-up"},        {"mount", "volume-mount"}};
  for (const Name& name : k_names)
    if (base::contains(lower, name.word)) return std::string(name.substage);
  return "unknown";
}

/// `loading weights (31/34 shards, 1.92s/it)` -> 31/34.
std::optional<double> fraction_in(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  std::size_t begin = slash;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  std::size_t end = slash + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  const auto done = base::parse_double(text.substr(begin, slash - begin));
  const auto total = base::parse_double(text.substr(slash + 1, end - slash - 1));
  if (!done || !total || *total <= 0) return std::nullopt;
  return std::min(1.0, *done / *total);
}

void emit_model(const Evidence& evidence, const Fact& model, const evidence::FactSink& sink) {
  const evidence::Value* progress = model.find("progress_at");
  const std::string phase = model.get("phase");
  if (phase.empty() || (progress == nullptr && phase != "Loading")) return;
  const std::uint32_t line = progress == nullptr ? model.line : progress->line;
  Fact fact;
  fact.kind = Kind::loading;
  fact.file = model.file;
  fact.line = line;
  fact.place = model.place;
  fact.text = model.text;
  fact.set("source", "model", line);
  fact.set("substage", model_substage(model.get("substage")), line);
  fact.set("done", phase == "Ready" || phase == "Idle" ? "true" : "false", line);
  if (const auto part = fraction_in(model.get("message"))) fact.set("fraction", plain(*part), line);
  for (const Fact& metric : evidence.facts) {
    if (metric.kind != Kind::metrics || !base::contains(metric.get("name"), "stalled_load"))
      continue;
    if (metric.get("labels.model") == model.get("name"))
      fact.set("stalled_counter", metric.get("value"), line);
  }
  const auto at = progress == nullptr ? std::nullopt : evidence::parse_rfc3339(progress->text);
  if (at) {
    fact.stamp = at;
    if (evidence.end) {
      const double stalled = std::max(0.0, static_cast<double>(evidence.end->ns - at->ns) / k_ns);
      fact.set("stalled_for", plain(stalled), line);
      // The controller's own threshold; only weights move the stamp steadily.
      fact.set("advancing", phase == "Loading" && stalled < 120 ? "true" : "false", line);
    }
  }
  sink(std::move(fact));
}

}  // namespace

void derive_loading(const Evidence& evidence, const evidence::FactSink& sink) {
  std::map<std::uint32_t, std::vector<const Observation*>> by_file;
  for (const Observation& o : evidence.observations)
    if (o.fact < 0 && o.rule != nullptr) by_file[o.file].push_back(&o);
  for (auto& [file, observations] : by_file) {
    std::stable_sort(observations.begin(), observations.end(),
                     [](const Observation* a, const Observation* b) { return a->line < b->line; });
    Load load;
    for (const Observation* o : observations) read(load, *o);
    if (load.newest != nullptr && (load.start != nullptr || !load.steps.empty()))
      emit_log(evidence, load, sink);
  }
  for (const Fact& fact : evidence.facts)
    if (fact.kind == Kind::model && fact.find("phase") != nullptr) emit_model(evidence, fact, sink);
}

}  // namespace triage::analysis::derive

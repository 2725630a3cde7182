#include "analysis/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"

namespace triage::analysis {
namespace {

// A metric that moved less says little between two scrapes.
constexpr double k_metric_change = 0.25;
constexpr std::size_t k_metric_limit = 40;

std::string source_of(const std::string& file, std::uint32_t line) {
  if (file.empty()) return {};
  return line == 0 ? file : fmt::format("{}:{}", file, line);
}

class Differences {
 public:
  void add(const std::string& area, const std::string& name, const std::string& good,
           const std::string& bad) {
    if (good != bad) list_.push_back({area, name, good, bad, {}, {}});
  }
  /// What only one of two reports says is no difference of the two places.
  void add_known(const std::string& area, const std::string& name, const std::string& good,
                 const std::string& bad) {
    if (!good.empty() && !bad.empty()) add(area, name, good, bad);
  }
  void add(Difference difference) { list_.push_back(std::move(difference)); }
  [[nodiscard]] std::vector<Difference> take() { return std::move(list_); }

 private:
  std::vector<Difference> list_;
};

std::string sorted_list(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return base::join(names, ", ");
}

void compare_maps(Differences& out, const std::string& area,
                  const std::map<std::string, std::string>& good,
                  const std::map<std::string, std::string>& bad) {
  std::set<std::string> names;
  for (const auto& [name, value] : good) names.insert(name);
  for (const auto& [name, value] : bad) names.insert(name);
  const auto at = [](const std::map<std::string, std::string>& map, const std::string& name) {
    const auto found = map.find(name);
    if (found == map.end()) return std::string();
    return found->second.empty() ? std::string("set") : found->second;
  };
  for (const auto& name : names) out.add(area, name, at(good, name), at(bad, name));
}

std::string gpu_summary(const std::vector<GpuEntity>& gpus) {
  std::map<std::string, std::size_t> models;
  for (const auto& gpu : gpus) ++models[gpu.name.empty() ? "GPU" : gpu.name];
  std::string out;
  for (const auto& [model, count] : models)
    out += fmt::format("{}{} x {}", out.empty() ? "" : ", ", count, model);
  return out;
}

void compare_environment(Differences& out, const Environment& good, const Environment& bad) {
  if (!good.images.empty() && !bad.images.empty())
    out.add("image", "images", sorted_list(good.images), sorted_list(bad.images));
  out.add_known("driver", "driver", good.driver, bad.driver);
  out.add_known("cuda", "CUDA", good.cuda, bad.cuda);
  out.add_known("engine", "engine", good.engine.name, bad.engine.name);
  out.add_known("engine", "engine version", good.engine.version, bad.engine.version);
  // Without any arguments in one of them, it was not seen how that one was started.
  if (!good.engine.args.empty() && !bad.engine.args.empty())
    compare_maps(out, "argument", good.engine.args, bad.engine.args);
  if (!good.kubernetes.empty() && !bad.kubernetes.empty())
    compare_maps(out, "kubernetes", good.kubernetes, bad.kubernetes);
  out.add_known("gpu", "GPUs", gpu_summary(good.gpus), gpu_summary(bad.gpus));
}

void compare_section(Differences& out, const std::string& area, const std::optional<Section>& good,
                     const std::optional<Section>& bad) {
  if (!good || !bad) return;
  for (const auto& [name, b] : *bad) {
    const auto found = good->find(name);
    if (found == good->end() || found->second.value == b.value) continue;
    const Sourced& g = found->second;
    out.add({"figure", area + " " + name, g.value, b.value, source_of(g.file, g.line),
             source_of(b.file, b.line)});
  }
}

/// A series without the labels that name its place: two pods' series of one thing then agree.
std::string metric_key(const MetricSeries& series) {
  static const std::set<std::string> k_places{"pod",       "instance", "node",   "hostname",
                                              "Hostname",  "UUID",     "uuid",   "pci_bus_id",
                                              "container", "job",      "device", "namespace"};
  std::string key = series.name;
  for (const auto& [name, value] : series.labels)
    if (!k_places.contains(name)) key += "," + name + "=" + value;
  return key;
}

struct Last {
  double value = 0;
  std::string source;
};

std::map<std::string, Last> last_values(const std::vector<MetricSeries>& metrics) {
  std::map<std::string, Last> values;
  for (const auto& series : metrics)
    for (auto point = series.points.rbegin(); point != series.points.rend(); ++point)
      if (std::isfinite(point->second)) {
        values.try_emplace(metric_key(series),
                           Last{point->second, source_of(series.file, series.line)});
        break;
      }
  return values;
}

void compare_metrics(Differences& out, const Report& good, const Report& bad) {
  const auto before = last_values(good.metrics);
  std::vector<std::pair<double, Difference>> moved;
  for (const auto& [key, b] : last_values(bad.metrics)) {
    const auto found = before.find(key);
    if (found == before.end()) continue;
    const Last& g = found->second;
    const double scale = std::max(std::fabs(g.value), std::fabs(b.value));
    if (scale == 0) continue;
    const double change = std::fabs(b.value - g.value) / scale;
    if (change < k_metric_change) continue;
    moved.push_back({change,
                     {"metric", key, fmt::format("{:.6g}", g.value), fmt::format("{:.6g}", b.value),
                      g.source, b.source}});
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  if (moved.size() > k_metric_limit) moved.resize(k_metric_limit);
  for (auto& item : moved) out.add(std::move(item.second));
}

/// Nodes that a report speaks of: of the verdict, else of its files.
std::vector<std::string> nodes_of(const Report& report) {
  if (!report.verdict.entities.nodes.empty()) return report.verdict.entities.nodes;
  std::set<std::string> nodes;
  for (const auto& input : report.inputs)
    if (!input.node.empty()) nodes.insert(input.node);
  return {nodes.begin(), nodes.end()};
}

std::vector<std::string> changed_software(const std::vector<Difference>& differences) {
  static const std::set<std::string> k_software{"image", "driver", "cuda", "engine", "argument"};
  std::vector<std::string> changed;
  for (const auto& d : differences)
    if (k_software.contains(d.area))
      changed.push_back(d.area == "argument" ? "argument " + d.name : d.name);
  return changed;
}

/// Whether both reports say enough of what ran for "the same software" to mean something.
bool software_is_known(const Report& report) {
  const auto& environment = report.environment;
  return !environment.images.empty() || !environment.driver.empty() ||
         !environment.engine.version.empty();
}

bool is_of_the_place(const VerdictEntry& verdict) {
  return verdict.class_ == "hardware" || verdict.fault_domain == "gpu" ||
         verdict.fault_domain == "node";
}

void conclude(Comparison& result, const Report& good, const Report& bad) {
  const auto changed = changed_software(result.differences);
  const bool known = software_is_known(good) && software_is_known(bad);
  const auto say = [&result](std::string reason) { result.reasons.push_back(std::move(reason)); };
  if (good.verdict.class_ != "none" && good.verdict.class_ != "unknown")
    say(fmt::format("the good one shows a fault as well: {} ({})", good.verdict.title,
                    good.verdict.cause));
  if (bad.verdict.class_ == "none") {
    result.kind = Comparison::Kind::same;
    return say("the bad one shows no fault");
  }
  if (bad.verdict.cause == good.verdict.cause && bad.verdict.class_ != "unknown") {
    result.kind = Comparison::Kind::same;
    return say("both show the same fault: the cause lies in neither's own difference");
  }
  const auto good_nodes = nodes_of(good);
  const auto bad_nodes = nodes_of(bad);
  const bool nodes_differ = !good_nodes.empty() && !bad_nodes.empty() && good_nodes != bad_nodes;
  if (is_of_the_place(bad.verdict) && bad.verdict.class_ == "hardware") {
    result.kind = Comparison::Kind::local;
    say(fmt::format("{} is a fault of one device or node", bad.verdict.cause));
    if (!changed.empty())
      say("the software differs too, but software does not make this fault: " +
          base::join(changed, ", "));
    return;
  }
  if (!changed.empty()) {
    result.kind = Comparison::Kind::regression;
    say("the software differs: " + base::join(changed, ", "));
    if (nodes_differ) say("the node differs too: try the good one's software on it to be sure");
    return;
  }
  if (!known) return say("what software ran is not in the evidence of both");
  if (nodes_differ) {
    result.kind = Comparison::Kind::local;
    return say(
        fmt::format("image, driver, engine and arguments are the same; the node differs: {} and {}",
                    base::join(good_nodes, ", "), base::join(bad_nodes, ", ")));
  }
  const bool moved =
      std::any_of(result.differences.begin(), result.differences.end(),
                  [](const Difference& d) { return d.area == "metric" || d.area == "figure"; });
  if (moved) {
    result.kind = Comparison::Kind::load;
    return say("software and node are the same; metrics and figures differ");
  }
  say("software and place are the same as far as the evidence says");
}

}  // namespace

Comparison compare(const Report& good, const Report& bad) {
  Comparison result;
  result.good = good.verdict;
  result.bad = bad.verdict;
  Differences differences;
  compare_environment(differences, good.environment, bad.environment);
  const auto good_nodes = nodes_of(good);
  const auto bad_nodes = nodes_of(bad);
  if (!good_nodes.empty() && !bad_nodes.empty())
    differences.add("place", "nodes", sorted_list(good_nodes), sorted_list(bad_nodes));
  compare_section(differences, "memory", good.memory_budget, bad.memory_budget);
  compare_section(differences, "load", good.load, bad.load);
  compare_section(differences, "loading", good.loading, bad.loading);
  compare_section(differences, "replicas", good.replicas, bad.replicas);
  compare_section(differences, "capacity", good.capacity, bad.capacity);
  compare_metrics(differences, good, bad);
  result.differences = differences.take();
  conclude(result, good, bad);
  return result;
}

}  // namespace triage::analysis

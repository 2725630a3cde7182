#include "analysis/sections.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "redact/excerpt.hpp"

namespace triage::analysis {

using evidence::Fact;
using evidence::Kind;

namespace {

constexpr std::size_t k_most_series = 400;
constexpr std::size_t k_most_unmatched = 20;

void set_once(std::string& mine, const std::string& value) {
  if (mine.empty()) mine = value;
}

class Sections {
 public:
  Sections(Report& report, const EvidenceModel& model) : report_(report), model_(model) {}

  void run() {
    environment();
    coverage();
    report_.load = section(Kind::load);
    report_.loading = section(Kind::loading);
    report_.replicas = section(Kind::replicas);
    report_.capacity = section(Kind::scheduling);
    memory_budget();
    metrics();
  }

 private:
  std::string path_of(const Fact& fact) const { return model_.inputs[fact.file].path; }

  void environment() {
    Environment& e = report_.environment;
    e.gpus = model_.entities.gpus();
    for (const Fact& fact : model_.facts) {
      if (fact.kind == Kind::gpu_state || fact.kind == Kind::environment) {
        set_once(e.driver, fact.get("driver"));
        set_once(e.cuda, fact.get("cuda"));
      }
      if (fact.kind == Kind::pod && !fact.get("image").empty() &&
          std::find(e.images.begin(), e.images.end(), fact.get("image")) == e.images.end() &&
          e.images.size() < 50)
        e.images.push_back(fact.get("image"));
      if (fact.kind == Kind::node && !fact.get("kubelet_version").empty())
        e.kubernetes.emplace("kubelet", fact.get("kubelet_version"));
      if (fact.kind == Kind::pod && !fact.place.name_space.empty())
        e.kubernetes.emplace("namespace", fact.place.name_space);
    }
    for (const Observation& o : model_.observations) {
      const auto capture = [&](const char* name) {
        const auto it = o.captures.find(name);
        return it == o.captures.end() ? std::string() : it->second;
      };
      if (std::find(o.tags.begin(), o.tags.end(), "engine-info") == o.tags.end()) continue;
      set_once(e.engine.name, capture("engine"));
      set_once(e.engine.version, capture("version"));
      if (const std::string args = capture("args"); !args.empty() && e.engine.args.empty())
        e.engine.args.emplace(
            "args",
            base::shorten(base::to_valid_utf8(redact::excerpt(args, Kind::environment)), 1000));
    }
  }

  void coverage() {
    Coverage c;
    c.files = model_.inputs.size() + model_.unread.size();
    c.files_read = model_.inputs.size();
    for (const InputEntry& input : model_.inputs) c.lines += input.lines, c.bytes += input.bytes;
    c.unread = model_.unread;
    std::vector<UnmatchedCluster> clusters = model_.unmatched;
    std::stable_sort(clusters.begin(), clusters.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    if (clusters.size() > k_most_unmatched) clusters.resize(k_most_unmatched);
    for (UnmatchedCluster& cluster : clusters) {
      cluster.example = base::shorten(
          base::to_valid_utf8(redact::excerpt(cluster.example, Kind::unknown_text)), 300);
      c.unmatched_errors.push_back(std::move(cluster));
    }
    report_.coverage = std::move(c);
  }

  /// The first derived fact of a kind that concerns the verdict's place, else the first.
  std::optional<Section> section(Kind kind) const {
    const Fact* chosen = nullptr;
    const auto& pods = report_.verdict.entities.pods;
    for (const Fact& fact : model_.facts) {
      if (fact.kind != kind) continue;
      const bool concerns = std::find(pods.begin(), pods.end(), fact.place.pod) != pods.end();
      if (chosen == nullptr || concerns) chosen = &fact;
      if (concerns) break;
    }
    if (chosen == nullptr) return std::nullopt;
    Section out;
    for (const auto& [name, value] : chosen->fields)
      out[name] = {redact::excerpt(value.text, Kind::unknown_text), path_of(*chosen), value.line};
    return out;
  }

  /// Where the framebuffer of the fullest GPU goes.
  void memory_budget() {
    const Fact* fullest = nullptr;
    double share = -1;
    for (const Fact& fact : model_.facts) {
      if (fact.kind != Kind::gpu_state || fact.find("memory.total") == nullptr) continue;
      const double total = base::parse_double(fact.get("memory.total")).value_or(0);
      const double used = base::parse_double(fact.get("memory.used")).value_or(0);
      if (total > 0 && used / total > share) share = used / total, fullest = &fact;
    }
    if (fullest == nullptr) return;
    Section out;
    for (const auto& [name, value] : fullest->fields)
      if (name.rfind("memory.", 0) == 0 || name == "process.memory" || name == "process.count" ||
          name == "index" || name == "uuid")
        out[name] = {value.text, path_of(*fullest), value.line};
    report_.memory_budget = std::move(out);
  }

  void metrics() {
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < model_.facts.size(); ++i) {
      const Fact& fact = model_.facts[i];
      if (fact.kind != Kind::metrics) continue;
      const std::string name = fact.get("name");
      const bool part_of_histogram =
          name.size() > 7 && name.compare(name.size() - 7, 7, "_bucket") == 0;
      const auto value = base::parse_double(fact.get("value"));
      if (part_of_histogram || !value) continue;
      MetricSeries series;
      series.name = name;
      for (const auto& [field, v] : fact.fields)
        if (field.rfind("labels.", 0) == 0)
          series.labels[field.substr(7)] = redact::excerpt(v.text, Kind::metrics);
      std::string key = path_of(fact) + name;
      for (const auto& [label, v] : series.labels) key += '|' + label + '=' + v;
      const auto [it, is_new] = known.try_emplace(key, report_.metrics.size());
      if (is_new && report_.metrics.size() >= k_most_series) {
        known.erase(it);
        continue;
      }
      if (is_new) {
        series.file = path_of(fact);
        series.line = fact.line;
        report_.metrics.push_back(std::move(series));
      }
      report_.metrics[it->second].points.emplace_back(model_.fact_times[i], *value);
    }
  }

  Report& report_;
  const EvidenceModel& model_;
};

}  // namespace

void add_sections(Report& report, const EvidenceModel& model) {
  Sections(report, model).run();
}

}  // namespace triage::analysis

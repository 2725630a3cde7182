#include "history/recurrence.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"

namespace triage::history {
namespace {

constexpr std::int64_t k_day_ns = 86'400'000'000'000;

bool is_critical(const Run& run) {
  const bool holds_hardware = run.quarantine_target == "gpu" || run.quarantine_target == "node";
  return run.class_ == "hardware" && (run.severity == "critical" || holds_hardware);
}

/// What is done to a device, as recommended: the store does not see what a person did.
bool is_remediation(const Run& run) {
  static const std::set<std::string> k_actions{"reset-gpu", "drain-and-reset", "reboot-node",
                                               "replace-hardware"};
  return k_actions.contains(run.quarantine_action);
}

std::string gpu_key(const analysis::GpuEntity& gpu) {
  if (!gpu.uuid.empty()) return gpu.uuid;
  return gpu.pci.empty() || gpu.node.empty() ? std::string() : gpu.node + "/" + gpu.pci;
}

/// The newest run of each incident but the given one.
std::vector<const Run*> distinct(const std::vector<Run>& runs, const std::string& but) {
  std::set<std::string> seen{but};
  std::vector<const Run*> out;
  for (const Run& run : runs)
    if (seen.insert(run.incident).second) out.push_back(&run);
  return out;
}

void count_gpu(const Run& run, analysis::PriorIncidents& prior, const std::string& key,
               const std::vector<Run>& runs) {
  const std::int64_t now = run.time_ns();
  for (const Run* earlier : distinct(runs, run.incident)) {
    const std::int64_t age = now - earlier->time_ns();
    if (age < 0) continue;
    if (age <= 30 * k_day_ns && is_critical(*earlier)) {
      ++prior.gpu_critical_30d[key];
      prior.incident_ids.push_back(std::to_string(earlier->id));
    }
    if (age <= 7 * k_day_ns && is_remediation(*earlier)) ++prior.gpu_remediations_7d[key];
  }
}

bool names_gpu(const Run& run, const std::string& key) {
  return std::any_of(run.gpus.begin(), run.gpus.end(),
                     [&](const auto& gpu) { return gpu_key(gpu) == key; });
}

/// Images and the driver: what a rollout changes.
std::set<std::string> changes_of(const Run& run) {
  std::set<std::string> out(run.images.begin(), run.images.end());
  if (!run.driver.empty()) out.insert("driver " + run.driver);
  return out;
}

bool is_driver(const std::string& change) {
  return change.starts_with("driver ");
}

/// Whether the faults began with `change`: every one of them has it, a run from before the first of
/// them lacks it (so that something did change), and no more sound nodes have it than faulty ones.
bool follows(const std::string& change, const std::vector<const Run*>& faults,
             const std::vector<Run>& all) {
  std::int64_t first = INT64_MAX;
  std::set<std::string> faulty_nodes;
  for (const Run* fault : faults) {
    if (!changes_of(*fault).contains(change)) return false;
    first = std::min(first, fault->time_ns());
    faulty_nodes.insert(fault->nodes.begin(), fault->nodes.end());
  }
  bool was_different = false;
  std::set<std::string> sound_nodes;
  for (const Run& run : all) {
    const auto changes = changes_of(run);
    const bool has = changes.contains(change);
    const bool tells = std::any_of(changes.begin(), changes.end(), [&](const std::string& other) {
      return is_driver(other) == is_driver(change);
    });
    if (!has && tells && run.time_ns() < first) was_different = true;
    if (has && run.class_ == "none") sound_nodes.insert(run.nodes.begin(), run.nodes.end());
  }
  return was_different && sound_nodes.size() < faulty_nodes.size();
}

base::Status find_change(const Store& store, const Run& run, const std::vector<const Run*>& earlier,
                         analysis::PriorIncidents& prior) {
  std::set<std::string> nodes(run.nodes.begin(), run.nodes.end());
  for (const Run* other : earlier) nodes.insert(other->nodes.begin(), other->nodes.end());
  if (nodes.size() < 2) return base::Done{};
  const auto all = store.find({});
  if (!all) return all.problem();
  std::vector<const Run*> faults = earlier;
  faults.push_back(&run);
  for (const std::string& change : changes_of(run)) {
    if (!follows(change, faults, all.value())) continue;
    prior.fingerprint_follows_change = true;
    prior.change = change;
    // An image says more than a driver that came with its node.
    if (!is_driver(change)) break;
  }
  return base::Done{};
}

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (const std::string_view word : base::split_blanks(text))
    if (word.size() > 2) words.emplace(word);
  return words;
}

double overlap(const std::set<std::string>& a, const std::set<std::string>& b) {
  if (a.empty() || b.empty()) return 0;
  std::size_t shared = 0;
  for (const auto& word : a) shared += b.count(word);
  return static_cast<double>(shared) / static_cast<double>(a.size() + b.size() - shared);
}

template <class Names>
bool share_one(const Names& a, const Names& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& name) {
    return std::find(b.begin(), b.end(), name) != b.end();
  });
}

bool share_gpu(const Run& a, const Run& b) {
  return std::any_of(a.gpus.begin(), a.gpus.end(), [&](const auto& gpu) {
    const std::string key = gpu_key(gpu);
    return !key.empty() && names_gpu(b, key);
  });
}

Similar compare(const Run& run, const std::set<std::string>& words, const Run& other) {
  Similar similar{other, 0, {}};
  const auto add = [&](double score, const std::string& why) {
    similar.score += score;
    similar.why.push_back(why);
  };
  if (run.fingerprint == other.fingerprint) {
    add(0.8, "same fingerprint");
  } else {
    if (run.cause == other.cause && run.cause != "unknown") add(0.4, "same cause");
    const double likeness = overlap(words, words_of(normalise_error(other.first_error_text)));
    if (likeness > 0.4) add(0.3 * likeness, "alike first error");
  }
  if (share_gpu(run, other)) add(0.08, "same GPU");
  if (share_one(run.nodes, other.nodes)) add(0.04, "same node");
  if (share_one(run.images, other.images)) add(0.04, "same image");
  if (!run.pattern.empty() && run.pattern == other.pattern) add(0.04, "same pattern");
  return similar;
}

}  // namespace

base::Result<analysis::PriorIncidents> prior_incidents(const Store& store, const Run& run) {
  analysis::PriorIncidents prior;
  if (run.class_ == "none" || run.class_ == "unknown") return prior;
  Filter same;
  same.fingerprint = run.fingerprint;
  const auto runs = store.find(same);
  if (!runs) return runs.problem();
  const auto earlier = distinct(runs.value(), run.incident);
  std::set<std::string> nodes;
  for (const Run* other : earlier) {
    nodes.insert(other->nodes.begin(), other->nodes.end());
    prior.incident_ids.push_back(std::to_string(other->id));
  }
  prior.same_fingerprint = earlier.size();
  prior.same_fingerprint_nodes = nodes.size();
  for (const auto& gpu : run.gpus) {
    const std::string key = gpu_key(gpu);
    if (key.empty() || prior.gpu_critical_30d.contains(key)) continue;
    Filter filter;
    filter.gpu = gpu.uuid.empty() ? gpu.pci : gpu.uuid;
    auto found = store.find(filter);
    if (!found) return found.problem();
    // A PCI address alone is another device on another node.
    std::erase_if(found.value(), [&](const Run& other) { return !names_gpu(other, key); });
    count_gpu(run, prior, key, found.value());
  }
  const auto status = find_change(store, run, earlier, prior);
  if (!status) return status.problem();
  std::sort(prior.incident_ids.begin(), prior.incident_ids.end());
  prior.incident_ids.erase(std::unique(prior.incident_ids.begin(), prior.incident_ids.end()),
                           prior.incident_ids.end());
  return prior;
}

base::Result<std::vector<Similar>> similar_runs(const Store& store, const Run& run,
                                                std::size_t limit) {
  const auto all = store.find({});
  if (!all) return all.problem();
  const auto words = words_of(normalise_error(run.first_error_text));
  std::vector<Similar> similar;
  for (const Run* other : distinct(all.value(), run.incident)) {
    if (other->class_ == "none") continue;
    Similar candidate = compare(run, words, *other);
    if (candidate.score >= 0.2) similar.push_back(std::move(candidate));
  }
  std::stable_sort(similar.begin(), similar.end(),
                   [](const Similar& a, const Similar& b) { return a.score > b.score; });
  if (similar.size() > limit) similar.resize(limit);
  return similar;
}

}  // namespace triage::history

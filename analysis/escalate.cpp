#include "analysis/escalate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace triage::analysis {
namespace {

// Design, section 9. This incident is the third when two came before it.
constexpr std::uint64_t k_critical_before = 2;
constexpr std::uint64_t k_remediations_before = 2;
constexpr std::uint64_t k_regression_nodes = 3;

std::string key_of(const GpuEntity& gpu) {
  if (!gpu.uuid.empty()) return gpu.uuid;
  return gpu.pci.empty() || gpu.node.empty() ? std::string() : gpu.node + "/" + gpu.pci;
}

std::uint64_t count_of(const std::map<std::string, std::uint64_t>& counts, const std::string& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

std::string ordinal(std::uint64_t number) {
  if (number == 1) return "first";
  if (number == 2) return "second";
  if (number == 3) return "third";
  const std::uint64_t tens = number % 100;
  const bool teen = tens >= 11 && tens <= 13;
  const char* end = teen ? "th"
                         : (number % 10 == 1   ? "st"
                            : number % 10 == 2 ? "nd"
                            : number % 10 == 3 ? "rd"
                                               : "th");
  return fmt::format("{}{}", number, end);
}

void add_sentence(std::string& text, const std::string& sentence) {
  if (!text.empty()) text += ". ";
  text += sentence;
}

std::string name_of(const GpuEntity& gpu) {
  std::string name = gpu.pci.empty() ? gpu.uuid : gpu.pci;
  return gpu.node.empty() ? name : name + " of " + gpu.node;
}

/// GPUs of the verdict whose own past raises the quarantine, with the sentence that says so.
struct Raised {
  GpuEntity gpu;
  std::string reason;
};

std::vector<Raised> raised_gpus(const Report& report, const PriorIncidents& prior) {
  std::vector<Raised> raised;
  for (const GpuEntity& gpu : report.verdict.entities.gpus) {
    const std::string key = key_of(gpu);
    const std::uint64_t critical = count_of(prior.gpu_critical_30d, key);
    const std::uint64_t remedied = count_of(prior.gpu_remediations_7d, key);
    if (critical >= k_critical_before)
      raised.push_back({gpu, fmt::format("{} critical fault of GPU {} in 30 days",
                                         ordinal(critical + 1), name_of(gpu))});
    else if (remedied >= k_remediations_before)
      raised.push_back({gpu, fmt::format("GPU {} failed again after {} remediations in 7 days",
                                         name_of(gpu), remedied)});
  }
  return raised;
}

void raise_quarantine(Report& report, const std::vector<Raised>& raised, std::string& note) {
  QuarantineEntry& hold = report.quarantine;
  const std::string before = hold.action;
  std::string why;
  for (const Raised& item : raised) add_sentence(why, item.reason);
  if (hold.target != "node") {
    hold.target = "gpu";
    hold.subjects.clear();
    for (const Raised& item : raised)
      hold.subjects.push_back({"gpu", "", item.gpu.uuid, item.gpu.pci, item.gpu.node});
  }
  hold.action = "replace-hardware";
  add_sentence(hold.reason, why);
  hold.lift_when = "the GPU is replaced and diagnostics pass (dcgmi diag -r 3)";
  for (const Raised& item : raised) {
    const std::string node = item.gpu.node.empty() ? "NODE" : item.gpu.node;
    const std::string cordon = "kubectl cordon " + node;
    const bool there = std::any_of(hold.commands.begin(), hold.commands.end(),
                                   [&](const auto& c) { return c.starts_with(cordon); });
    if (!there) hold.commands.push_back(cordon);
    report.next_steps.push_back({"recover",
                                 fmt::format("Have GPU {} replaced (RMA)", name_of(item.gpu)),
                                 "nvidia-bug-report.sh", item.reason});
    report.next_steps.push_back({"avoid", fmt::format("Another reset of GPU {}", name_of(item.gpu)),
                                 "", "it has come back with the fault each time"});
  }
  add_sentence(note, why);
  if (before != hold.action)
    add_sentence(note, fmt::format("Quarantine raised from {} to {}", before, hold.action));
}

void call_regression(Report& report, const PriorIncidents& prior, std::string& note) {
  VerdictEntry& verdict = report.verdict;
  verdict.scope = "regression";
  if (verdict.pattern.empty()) verdict.pattern = "rollout-regression";
  const std::string reason = fmt::format("the same failure on {} other nodes, all since {}",
                                         prior.same_fingerprint_nodes, prior.change);
  verdict.confidence_reasons.push_back(reason);
  report.next_steps.push_back(
      {"contain", "Stop the rollout and go back to what ran before",
       prior.change.starts_with("driver ") ? "" : "kubectl rollout undo deployment/NAME", reason});
  add_sentence(note, "Regression: " + reason);
}

Recurrence recurrence_of(const Report& report, const PriorIncidents& prior) {
  Recurrence recurrence;
  recurrence.same_fingerprint = prior.same_fingerprint;
  recurrence.incident_ids = prior.incident_ids;
  for (const GpuEntity& gpu : report.verdict.entities.gpus) {
    const std::string key = key_of(gpu);
    recurrence.same_gpu_critical_30d =
        std::max(recurrence.same_gpu_critical_30d, count_of(prior.gpu_critical_30d, key));
    recurrence.same_gpu_remediations_7d =
        std::max(recurrence.same_gpu_remediations_7d, count_of(prior.gpu_remediations_7d, key));
  }
  if (prior.same_fingerprint > 0)
    recurrence.note = fmt::format("{} earlier {} with the same failure", prior.same_fingerprint,
                                  prior.same_fingerprint == 1 ? "incident" : "incidents");
  return recurrence;
}

}  // namespace

Report escalate(Report report, const PriorIncidents& prior) {
  Recurrence recurrence = recurrence_of(report, prior);
  if (report.verdict.class_ == "hardware") {
    const auto raised = raised_gpus(report, prior);
    if (!raised.empty()) raise_quarantine(report, raised, recurrence.note);
  }
  if (prior.fingerprint_follows_change && prior.same_fingerprint_nodes + 1 >= k_regression_nodes &&
      report.verdict.class_ != "none" && report.verdict.class_ != "unknown")
    call_regression(report, prior, recurrence.note);
  report.recurrence = std::move(recurrence);
  return report;
}

}  // namespace triage::analysis

#include "report/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace triage::report {
namespace {

struct ClassWords {
  std::string_view name, label, meaning;
};

constexpr std::array<ClassWords, 13> k_classes{{
    {"scheduling", "SCHEDULING", "The pod could not be placed on a node."},
    {"runtime", "CONTAINER RUNTIME",
     "The container runtime, driver or device plugin did not hand the GPU to the container."},
    {"hardware", "HARDWARE", "The GPU, its links, memory, power or cooling failed."},
    {"gpu-oom", "GPU OUT OF MEMORY", "The GPU's memory did not suffice."},
    {"host-oom", "HOST OUT OF MEMORY",
     "The memory of the host or of the container did not suffice."},
    {"cuda-fault", "CUDA FAULT", "A kernel or a library on the GPU failed in the application."},
    {"distributed", "DISTRIBUTED", "Ranks of a group could not work together."},
    {"loading", "MODEL LOADING", "The model did not load."},
    {"health-probe", "HEALTH PROBE", "A probe ended or held back a container that was working."},
    {"capacity", "CAPACITY", "The service has more work than it can hold."},
    {"request-path", "REQUEST PATH", "Requests fail between client and engine."},
    {"none", "HEALTHY", "The evidence shows no fault."},
    {"unknown", "UNKNOWN", "No rule explains what the evidence shows."},
}};

const ClassWords* find_class(std::string_view name) {
  const auto found = std::find_if(k_classes.begin(), k_classes.end(),
                                  [name](const ClassWords& c) { return c.name == name; });
  return found == k_classes.end() ? nullptr : &*found;
}

void append_part(std::string& out, std::string_view label, std::string_view value) {
  if (value.empty()) return;
  if (!out.empty()) out += " · ";
  out += label;
  out += value;
}

std::string counted(const std::vector<std::string>& names, std::string_view one,
                    std::string_view many, std::size_t limit) {
  return fmt::format("{} {}", names.size() == 1 ? one : many, list_words(names, limit));
}

}  // namespace

std::string class_label(std::string_view class_name) {
  if (const ClassWords* words = find_class(class_name)) return std::string(words->label);
  std::string label(class_name);
  std::transform(label.begin(), label.end(), label.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return label;
}

std::string class_meaning(std::string_view class_name) {
  const ClassWords* words = find_class(class_name);
  return words == nullptr ? std::string() : std::string(words->meaning);
}

Outcome outcome_of(const analysis::VerdictEntry& verdict) {
  if (verdict.class_ == "none") return Outcome::healthy;
  return verdict.class_ == "unknown" ? Outcome::unknown : Outcome::fault;
}

std::string cite(std::string_view file, std::uint32_t line) {
  return line == 0 ? std::string(file) : fmt::format("{}:{}", file, line);
}

std::string cite(const analysis::Cited& cited) {
  return cite(cited.file, cited.line);
}

std::string time_words(const std::optional<evidence::Time>& time) {
  if (!time) return {};
  std::string words = evidence::to_words(*time);
  // Below a tenth of a second the digits of the time itself say how fine it is.
  if (time->uncertainty_ns >= 100'000'000)
    words += " ±" + base::format_duration_ns(time->uncertainty_ns);
  return words;
}

std::string distance_words(const std::optional<evidence::Time>& from,
                           const std::optional<evidence::Time>& to) {
  if (!from || !to) return {};
  // As doubles: stamps of hostile logs may be centuries apart, and their difference overflows.
  const double gap = static_cast<double>(to->ns) - static_cast<double>(from->ns);
  const double unsure =
      static_cast<double>(from->uncertainty_ns) + static_cast<double>(to->uncertainty_ns);
  const double size = std::min(gap < 0 ? -gap : gap, 9e18);
  // Within the uncertainty no order is known; a wide one says nothing at all.
  if (size <= unsure) return unsure <= 60e9 ? "at about the same time" : "";
  return base::format_duration_ns(static_cast<std::int64_t>(size)) +
         (gap < 0 ? " earlier" : " later");
}

std::string gpu_words(const analysis::GpuEntity& gpu) {
  std::string out;
  append_part(out, "GPU ", gpu.index);
  append_part(out, out.empty() ? "GPU " : "", gpu.pci);
  append_part(out, "", gpu.uuid);
  if (out.empty()) append_part(out, "", gpu.name);
  return out;
}

std::string list_words(const std::vector<std::string>& names, std::size_t limit) {
  std::string out;
  const std::size_t shown = names.size() > limit + 1 ? limit : names.size();
  for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

std::vector<std::string> where_words(const analysis::Entities& entities, std::size_t limit) {
  std::vector<std::string> out;
  if (!entities.nodes.empty()) out.push_back(counted(entities.nodes, "node", "nodes", limit));
  if (!entities.pods.empty()) out.push_back(counted(entities.pods, "pod", "pods", limit));
  if (!entities.containers.empty())
    out.push_back(counted(entities.containers, "container", "containers", limit));
  for (std::size_t i = 0; i < entities.gpus.size() && i < limit; ++i)
    if (std::string gpu = gpu_words(entities.gpus[i]); !gpu.empty()) out.push_back(gpu);
  if (entities.gpus.size() > limit)
    out.push_back(fmt::format("{} more GPUs", entities.gpus.size() - limit));
  if (!entities.ranks.empty()) out.push_back(counted(entities.ranks, "rank", "ranks", limit));
  return out;
}

std::string subject_words(const analysis::QuarantineSubject& subject) {
  std::string out = subject.kind == "gpu" ? "GPU" : subject.kind;
  std::string name = subject.name;
  if (name.empty()) name = !subject.pci.empty() ? subject.pci : subject.uuid;
  if (name.empty()) name = subject.node;
  if (!name.empty()) out += " " + name;
  if (subject.kind == "gpu") {
    if (!subject.pci.empty() && subject.pci != name) out += " " + subject.pci;
    if (!subject.uuid.empty() && subject.uuid != name) out += " " + subject.uuid;
  }
  if (!subject.node.empty() && subject.node != name) out += " of " + subject.node;
  return out;
}

std::string quarantine_words(const analysis::QuarantineEntry& quarantine) {
  std::vector<std::string> names;
  for (const auto& subject : quarantine.subjects) names.push_back(subject_words(subject));
  const std::string who = names.empty() ? (quarantine.target == "gpu" ? "GPU" : quarantine.target)
                                        : list_words(names, 3);
  return quarantine.action == "none" || quarantine.action.empty() ? who
                                                                  : who + " · " + quarantine.action;
}

std::string place_words(const evidence::Place& place) {
  std::string out;
  append_part(out, "", place.node);
  append_part(out, "pod ", place.pod);
  append_part(out, "", place.container);
  append_part(out, "pid ", place.pid);
  append_part(out, "rank ", place.rank);
  append_part(out, "GPU ", place.gpu_index);
  append_part(out, "", place.pci);
  append_part(out, "", place.gpu_uuid);
  return out;
}

std::vector<const analysis::NextStep*> steps_of(const analysis::Report& report,
                                                std::string_view phase) {
  std::vector<const analysis::NextStep*> steps;
  for (const auto& step : report.next_steps)
    if (step.phase == phase) steps.push_back(&step);
  return steps;
}

const std::vector<std::string_view>& step_phases() {
  static const std::vector<std::string_view> phases{"contain", "diagnose", "recover", "verify",
                                                    "prevent"};
  return phases;
}

}  // namespace triage::report

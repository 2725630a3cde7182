#include "analysis/formats/kubernetes_names.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

// Kubernetes API, resource.Quantity.
constexpr std::array<Suffix, 16> k_suffixes{{{"", 1},
                                             {"n", 1e-9},
                                             {"u", 1e-6},
                                             {"m", 1e-3},
                                             {"k", 1e3},
                                             {"K", 1e3},
                                             {"M", 1e6},
                                             {"G", 1e9},
                                             {"T", 1e12},
                                             {"P", 1e15},
                                             {"Ki", 1024.0},
                                             {"Mi", 1048576.0},
                                             {"Gi", 1073741824.0},
                                             {"Ti", 1099511627776.0},
                                             {"Pi", 1125899906842624.0},
                                             {"Ei", 1152921504606846976.0}}};

// Suffixes of generated names are drawn from these (apimachinery, util/rand: no vowels, no 0 1 3).
constexpr std::string_view k_name_letters = "bcdfghjklmnpqrstvwxz2456789";

bool is_generated(std::string_view part, std::size_t least, std::size_t most) {
  return part.size() >= least && part.size() <= most &&
         part.find_first_not_of(k_name_letters) == std::string_view::npos;
}

bool is_number(std::string_view part) {
  return !part.empty() && part.size() <= 4 &&
         part.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view cut_last(std::string_view& name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view last = name.substr(dash + 1);
  name = name.substr(0, dash);
  return last;
}

}  // namespace

std::string quantity(std::string_view text) {
  text = base::trim(text);
  std::size_t end = 0;
  while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || text[end] == '.' ||
                               (end == 0 && (text[end] == '+' || text[end] == '-'))))
    ++end;
  if (end == 0) return std::string(text);
  std::string_view suffix = text.substr(end);
  double exponent = 1;
  if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E') && suffix != "Ei") {
    const auto power = base::parse_int(suffix.substr(1));
    if (!power || *power > 18 || *power < -18) return std::string(text);
    exponent = std::pow(10.0, static_cast<double>(*power));
    suffix = {};
  } else if (suffix == "E") {
    exponent = 1e18;
    suffix = {};
  }
  const auto number = base::parse_double(text.substr(0, end));
  if (!number) return std::string(text);
  for (const Suffix& s : k_suffixes) {
    if (s.name != suffix) continue;
    const double value = *number * s.factor * exponent;
    if (value == std::floor(value) && std::abs(value) < 9e18)
      return fmt::format("{}", static_cast<std::int64_t>(value));
    return fmt::format("{:.10g}", value);
  }
  return std::string(text);
}

bool is_mig_resource(std::string_view name) {
  return base::contains(name, "/mig-");
}

bool is_gpu_resource(std::string_view name) {
  if (name.substr(0, 9) == "requests." || name.substr(0, 7) == "limits.")
    name.remove_prefix(name.find('.') + 1);
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view vendor = name.substr(0, slash);
  const std::string_view resource = name.substr(slash + 1);
  if (is_mig_resource(name)) return true;
  if (vendor == "habana.ai" || vendor == "gpu.intel.com") return true;
  if (vendor == "google.com") return resource == "tpu";
  // Partitions of AMD GPUs are advertised as amd.com/cpx_nps4 and the like.
  if (vendor == "amd.com") return true;
  return base::contains(resource, "gpu");
}

Owner owner_from_pod_name(std::string_view pod) {
  std::string_view stem = pod;
  const std::string_view last = cut_last(stem);
  if (last.empty()) return {};
  if (is_generated(last, 5, 5)) {
    std::string_view workload = stem;
    const std::string_view hash = cut_last(workload);
    if (is_generated(hash, 6, 10) && hash.find_first_of("2456789") != std::string_view::npos)
      return {std::string(workload), std::string(hash)};
    // DaemonSet and Job pods: the owner's name and five letters, at least one of them a digit (so
    // that a word is no suffix).
    if (last.find_first_of("2456789") != std::string_view::npos) return {std::string(stem), {}};
    return {};
  }
  if (!is_number(last)) return {};
  std::string_view group = stem;
  const std::string_view index = cut_last(group);
  if (is_number(index)) return {std::string(group), {}};
  return {std::string(stem), {}};
}

Owner owner_from_object(std::string_view kind, std::string_view name) {
  if (kind == "Pod") return owner_from_pod_name(name);
  if (kind == "ReplicaSet") {
    std::string_view workload = name;
    const std::string_view hash = cut_last(workload);
    if (is_generated(hash, 6, 10)) return {std::string(workload), std::string(hash)};
  }
  return {std::string(name), {}};
}

void place_event_object(evidence::Place& place, std::string_view kind, std::string_view name,
                        std::string_view name_space, std::string_view field_path) {
  if (base::iequals(kind, "Node")) {
    place.node = std::string(name);
    return;
  }
  if (!name_space.empty()) place.name_space = std::string(name_space);
  std::string proper = "Pod";
  if (base::iequals(kind, "pod") || base::iequals(kind, "pods")) {
    place.pod = std::string(name);
  } else {
    proper = base::iequals(kind, "replicaset") ? "ReplicaSet" : std::string(kind);
  }
  static constexpr std::array<std::string_view, 8> k_owners{
      "pod",       "replicaset", "deployment",      "statefulset",
      "daemonset", "job",        "leaderworkerset", "inferenceservice"};
  for (std::string_view owner : k_owners) {
    if (!base::iequals(kind, owner)) continue;
    Owner found = owner_from_object(proper, name);
    if (!found.workload.empty()) place.workload = std::move(found.workload);
    if (!found.revision.empty()) place.revision = std::move(found.revision);
  }
  const std::size_t open = field_path.find('{');
  const std::size_t close = field_path.find('}', open == std::string_view::npos ? 0 : open);
  if (open != std::string_view::npos && close != std::string_view::npos)
    place.container = std::string(field_path.substr(open + 1, close - open - 1));
}

void place_event_message(evidence::Place& place, std::string_view reason,
                         std::string_view message) {
  const auto word_at = [&](std::size_t at) {
    const std::string_view rest = message.substr(at);
    return std::string(rest.substr(0, rest.find_first_of(" \n,")));
  };
  if (reason == "Scheduled" && place.node.empty()) {
    const std::size_t to = message.rfind(" to ");
    if (to != std::string_view::npos && message.substr(0, 12) == "Successfully")
      place.node = word_at(to + 4);
  }
  if (reason == "Killing" && place.container.empty()) {
    for (std::string_view start : {"Container ", "Stopping container "})
      if (message.substr(0, start.size()) == start) place.container = word_at(start.size());
  }
}

std::string condition_status(std::string_view status) {
  return base::to_lower(base::trim(status));
}

bool is_bad_condition(std::string_view type, std::string_view status) {
  // Ready, ContainersReady, AcceleratedHardwareReady; Available, MinimumReplicasAvailable ...
  static constexpr std::array<std::string_view, 12> k_ought_to_be_true{
      "Ready",       "Available", "Healthy",   "PodScheduled", "Initialized",
      "Progressing", "Complete",  "Succeeded", "Established",  "PodReadyToStartContainers",
      "Reconciled",  "Loaded"};
  bool positive = false;
  for (std::string_view end : k_ought_to_be_true)
    if (type.size() >= end.size() && type.substr(type.size() - end.size()) == end) positive = true;
  const bool is_true = base::iequals(base::trim(status), "true");
  return positive ? !is_true : is_true;
}

}  // namespace triage::analysis::formats

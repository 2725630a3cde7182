#include "analysis/derive/scheduler_message.hpp"

#include <array>
#include <utility>

#include "analysis/formats/kubernetes_names.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// Fragment of a clause -> kind; the first that fits.
constexpr std::array<Pair, 30> k_fragments{{
    {"volume node affinity conflict", "volume-affinity"},
    {"no available volume zone", "volume-affinity"},
    {"unbound immediate PersistentVolumeClaims", "volume-unbound"},
    {"didn't find available persistent volumes", "volume-unbound"},
    {"persistentvolumeclaim ", "volume-missing"},
    {"persistentvolume ", "volume-missing"},
    {"bound to a persistentvolumeclaim", "volume-unbound"},
    {"exceed max volume count", "other"},
    {"node affinity/selector", "affinity"},
    {"match node selector", "affinity"},
    {"match Pod's node affinity", "affinity"},
    {"match node affinity", "affinity"},
    {"didn't match the requested node name", "affinity"},
    {"were unschedulable", "unschedulable"},
    {"was unschedulable", "unschedulable"},
    {"is unschedulable", "unschedulable"},
    {"topology spread", "topology-spread"},
    {"anti-affinity", "anti-affinity"},
    {"pod affinity", "anti-affinity"},
    {"free ports", "ports"},
    {"Too many pods", "too-many-pods"},
    {"node(s) were not ready", "node-not-ready"},
    {"were not ready", "node-not-ready"},
    {"had disk pressure", "node-pressure"},
    {"had memory pressure", "node-pressure"},
    {"cannot allocate all claims", "insufficient-gpu"},
    {"resourceclaim", "insufficient-gpu"},
    {"CardInsufficientMemory", "insufficient-gpu"},
    {"CardUuidMismatch", "affinity"},
    {"NodeInsufficientDevice", "insufficient-gpu"},
}};

std::string resource_kind(std::string_view resource) {
  if (formats::is_mig_resource(resource)) return "insufficient-mig";
  if (formats::is_gpu_resource(resource)) return "insufficient-gpu";
  if (resource == "cpu") return "insufficient-cpu";
  if (resource == "memory") return "insufficient-memory";
  if (resource == "ephemeral-storage") return "insufficient-storage";
  if (resource == "pods") return "too-many-pods";
  return "other";
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

/// Splits at `, N ` outside braces; clauses themselves may hold commas.
std::vector<std::string_view> split_clauses(std::string_view text) {
  std::vector<std::string_view> clauses;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && depth > 0) --depth;
    if (depth == 0 && text[i] == ',' && i + 2 < text.size() && text[i + 1] == ' ' &&
        digit(text[i + 2])) {
      clauses.push_back(text.substr(begin, i - begin));
      begin = i + 2;
    }
  }
  clauses.push_back(text.substr(begin));
  return clauses;
}

SchedulerClause read_clause(std::string_view text) {
  SchedulerClause clause;
  text = base::trim(text);
  std::size_t at = 0;
  while (at < text.size() && digit(text[at])) ++at;
  clause.nodes = static_cast<int>(base::parse_int(text.substr(0, at)).value_or(0));
  std::string_view rest = base::trim(text.substr(at));
  while (!rest.empty() && (rest.back() == '.' || rest.back() == ',')) rest.remove_suffix(1);
  if (rest.substr(0, 13) == "Insufficient ") {
    clause.detail = std::string(rest.substr(13));
    clause.kind = resource_kind(clause.detail);
    return clause;
  }
  if (base::contains(rest, "taint")) {
    const std::size_t open = rest.find('{');
    const std::size_t close = rest.find('}', open == std::string_view::npos ? 0 : open);
    if (open != std::string_view::npos && close != std::string_view::npos)
      clause.detail = std::string(base::trim(rest.substr(open + 1, close - open - 1)));
    clause.kind = taint_kind(std::string_view(clause.detail).substr(0, clause.detail.find(':')));
    return clause;
  }
  clause.detail = std::string(rest);
  for (const auto& [fragment, kind] : k_fragments) {
    if (!base::icontains(rest, fragment)) continue;
    clause.kind = std::string(kind);
    return clause;
  }
  clause.kind = "other";
  return clause;
}

}  // namespace

const SchedulerClause* SchedulerMessage::find(std::string_view kind) const {
  for (const SchedulerClause& clause : clauses)
    if (clause.kind == kind) return &clause;
  return nullptr;
}

SchedulerMessage read_scheduler_message(std::string_view message) {
  SchedulerMessage read;
  const std::size_t slash = message.find("0/");
  if (slash != std::string_view::npos) {
    std::size_t at = slash + 2;
    while (at < message.size() && digit(message[at])) ++at;
    read.nodes =
        static_cast<int>(base::parse_int(message.substr(slash + 2, at - slash - 2)).value_or(0));
  }
  std::string_view body = message;
  for (std::string_view start : {"are available: ", "are unavailable: "})
    if (const std::size_t at = message.find(start); at != std::string_view::npos)
      body = message.substr(at + start.size());
  for (std::string_view end : {". no new claims to deallocate", ". still not schedulable",
                               ". preemption: ", " preemption: ", ", preemption: "})
    body = body.substr(0, body.find(end));
  for (std::string_view part : split_clauses(body)) {
    if (base::trim(part).empty()) continue;
    SchedulerClause clause = read_clause(part);
    if (read.clauses.size() < 64) read.clauses.push_back(std::move(clause));
  }
  return read;
}

std::string taint_kind(std::string_view key) {
  key = base::trim(key);
  if (base::contains(key, "control-plane") ||
      base::contains(key, "node-role.kubernetes.io/master") ||
      base::contains(key, "node-role.kubernetes.io/etcd"))
    return "control-plane";
  if (key == "node.kubernetes.io/unschedulable" ||
      base::contains(key, "ToBeDeletedByClusterAutoscaler") ||
      base::contains(key, "DeletionCandidate") || key == "karpenter.sh/disrupted" ||
      key == "karpenter.sh/disruption")
    return "unschedulable";
  if (key == "node.kubernetes.io/disk-pressure" || key == "node.kubernetes.io/memory-pressure" ||
      key == "node.kubernetes.io/pid-pressure")
    return "node-pressure";
  if (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable" ||
      key == "node.kubernetes.io/network-unavailable" ||
      key == "node.kubernetes.io/out-of-service" ||
      base::contains(key, "cloudprovider.kubernetes.io/"))
    return "node-not-ready";
  return "untolerated-taint";
}

bool is_gpu_taint(std::string_view key_and_value) {
  for (std::string_view word : {"gpu", "nvidia", "amd.com", "accelerator", "habana", "mi300",
                                "mi250", "a100", "h100", "h200", "b200", "l40", "inference"})
    if (base::icontains(key_and_value, word)) return true;
  return false;
}

std::string deciding_clause(const SchedulerMessage& message) {
  const SchedulerClause* taint = nullptr;
  for (const SchedulerClause& clause : message.clauses)
    if (clause.kind == "untolerated-taint" && (taint == nullptr || is_gpu_taint(clause.detail)))
      taint = &clause;
  for (std::string_view late :
       {"volume-affinity", "volume-missing", "volume-unbound", "topology-spread", "anti-affinity"})
    if (message.find(late) != nullptr) return std::string(late);
  if (taint != nullptr && is_gpu_taint(taint->detail)) return taint->kind;
  for (std::string_view kind : {"insufficient-mig", "insufficient-gpu", "unschedulable"})
    if (message.find(kind) != nullptr) return std::string(kind);
  // Newest schedulers count taints without naming them: most clusters have tainted control planes,
  // so another refusal tells more.
  const bool named = taint != nullptr && !taint->detail.empty();
  if (named) return taint->kind;
  for (std::string_view kind :
       {"affinity", "insufficient-memory", "insufficient-cpu", "insufficient-storage", "ports",
        "too-many-pods", "node-pressure", "node-not-ready", "other"})
    if (message.find(kind) != nullptr) return std::string(kind);
  if (taint != nullptr) return taint->kind;
  return "other";
}

}  // namespace triage::analysis::derive

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "analysis/derive/derivers.hpp"
#include "analysis/derive/scheduler_message.hpp"
#include "analysis/formats/kubernetes_names.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {
namespace {

using evidence::Fact;
using evidence::Kind;

/// A message about one pod and the fact that holds it.
struct Said {
  std::size_t fact = 0;
  bool event = false;
};

struct Pending {
  std::vector<Said> said;
  const Fact* pod = nullptr;       ///< base or container facts of the pod
  std::vector<const Fact*> facts;  ///< all of them
  bool placed = false;             ///< it has a node by now
};

bool tolerates(const std::string& tolerations, std::string_view key, std::string_view value,
               std::string_view effect) {
  for (std::string_view part : base::split(tolerations, ',')) {
    part = base::trim(part);
    const bool exists = base::contains(part, "op=Exists");
    part = part.substr(0, part.find(' '));
    if (part.empty() && exists) return true;
    if (part.substr(0, 9) == "op=Exists") return true;
    std::string_view wanted_effect;
    if (const std::size_t colon = part.rfind(':'); colon != std::string_view::npos) {
      wanted_effect = part.substr(colon + 1);
      part = part.substr(0, colon);
    }
    const std::size_t equal = part.find('=');
    const std::string_view wanted_key = part.substr(0, equal);
    const std::string_view wanted_value =
        equal == std::string_view::npos ? std::string_view() : part.substr(equal + 1);
    if (wanted_key != key && !wanted_key.empty()) continue;
    if (!wanted_effect.empty() && wanted_effect != effect) continue;
    if (exists || wanted_value == value) return true;
  }
  return false;
}

/// `key In [a b]; key2 Exists []`: false only when an expression certainly refuses the node.
bool matches_affinity(const std::string& affinity, const Fact& node) {
  for (std::string_view part : base::split(affinity, ';')) {
    part = base::trim(part);
    const std::size_t open = part.find('[');
    const auto words = base::split_blanks(part.substr(0, open));
    if (words.size() != 2 || open == std::string_view::npos) continue;
    const evidence::Value* label = node.find("labels." + std::string(words[0]));
    const std::string_view inside = part.substr(open + 1, part.find(']', open) - open - 1);
    const auto values = base::split_blanks(inside);
    const bool listed =
        label != nullptr && std::find(values.begin(), values.end(), label->text) != values.end();
    if (words[1] == "In" && !listed) return false;
    if (words[1] == "NotIn" && listed) return false;
    if (words[1] == "Exists" && label == nullptr) return false;
    if (words[1] == "DoesNotExist" && label != nullptr) return false;
  }
  return true;
}

bool matches_selector(const Fact& pod, const Fact& node) {
  static constexpr std::string_view k_stem = "node_selector.";
  for (auto it = pod.fields.lower_bound(k_stem);
       it != pod.fields.end() && it->first.compare(0, k_stem.size(), k_stem) == 0; ++it) {
    const evidence::Value* label = node.find("labels." + it->first.substr(k_stem.size()));
    if (label == nullptr || label->text != it->second.text) return false;
  }
  return true;
}

/// Why a GPU node is no home for the pod: `fits`, or the kind of the first filter that refuses it.
std::string verdict_of_node(const Fact& node, const Pending& pending) {
  if (node.get("unschedulable") == "true") return "unschedulable";
  const std::string tolerations = pending.pod == nullptr ? "" : pending.pod->get("tolerations");
  static constexpr std::string_view k_stem = "taint.";
  for (auto it = node.fields.lower_bound(k_stem);
       it != node.fields.end() && it->first.compare(0, k_stem.size(), k_stem) == 0; ++it) {
    const std::string key = it->first.substr(k_stem.size());
    for (std::string_view one : base::split(it->second.text, ',')) {
      const std::size_t colon = one.rfind(':');
      const std::string_view value = one.substr(0, colon);
      const std::string_view effect =
          colon == std::string_view::npos ? std::string_view() : one.substr(colon + 1);
      if (effect == "PreferNoSchedule") continue;
      // Nothing is known of the pod: only taints that speak of the node's own state count.
      if (pending.pod == nullptr && taint_kind(key) == "untolerated-taint") continue;
      if (!tolerates(tolerations, key, value, effect)) return taint_kind(key);
    }
  }
  if (pending.pod != nullptr && node.find("labels.kubernetes.io/hostname") != nullptr) {
    if (!matches_selector(*pending.pod, node)) return "affinity";
    const std::string affinity = pending.pod->get("affinity");
    if (!affinity.empty() && !matches_affinity(affinity, node)) return "affinity";
  }
  return "fits";
}

double number(const Fact& fact, const std::string& field) {
  return base::parse_double(fact.get(field)).value_or(0);
}

/// The GPU resource that the pod asks for: from its specification, else from the message.
std::string wanted_resource(const Pending& pending, const SchedulerMessage& message) {
  for (const Fact* fact : pending.facts)
    for (const char* stem : {"limits.", "requests."})
      for (auto it = fact->fields.lower_bound(std::string_view(stem));
           it != fact->fields.end() && it->first.rfind(stem, 0) == 0; ++it) {
        std::string resource = it->first.substr(it->first.find('.') + 1);
        if (formats::is_gpu_resource(resource)) return resource;
      }
  for (const SchedulerClause& clause : message.clauses)
    if (clause.kind == "insufficient-mig" ||
        (clause.kind == "insufficient-gpu" && formats::is_gpu_resource(clause.detail)))
      return clause.detail;
  return {};
}

/// Rows of `kubectl get nodes`, which know neither GPUs nor taints.
struct TableNodes {
  int all = 0, cordoned = 0, control_plane = 0;

  /// Whether every node that may run workloads is cordoned.
  [[nodiscard]] bool all_cordoned(const SchedulerMessage& message) const {
    return cordoned > 0 && all == cordoned + control_plane && all == message.nodes;
  }
};

struct GpuNodes {
  int all = 0, tainted = 0, cordoned = 0, unmatched = 0, short_of = 0, fitting = 0, troubled = 0;
  std::string trouble;  ///< `node-pressure` or `node-not-ready`
  bool any_known = false;
};

GpuNodes weigh(const std::vector<const Fact*>& nodes, const Pending& pending,
               const std::string& resource) {
  GpuNodes found;
  for (const Fact* node : nodes) {
    found.any_known = true;
    if (resource.empty() || number(*node, "capacity." + resource) <= 0) continue;
    ++found.all;
    if (number(*node, "allocatable." + resource) < number(*node, "capacity." + resource))
      ++found.short_of;
    const std::string verdict = verdict_of_node(*node, pending);
    if (verdict == "unschedulable") ++found.cordoned;
    if (verdict == "untolerated-taint" || verdict == "control-plane") ++found.tainted;
    if (verdict == "affinity") ++found.unmatched;
    if (verdict == "node-pressure" || verdict == "node-not-ready") {
      ++found.troubled;
      found.trouble = verdict;
    }
    if (verdict == "fits") ++found.fitting;
  }
  return found;
}

/// Of a pod that nothing is known of: when no more nodes lack the device than have none at all, the
/// nodes that have it refuse the pod for another reason, the one that most of them give.
std::string beside_nodes_without_gpu(const SchedulerMessage& message, std::size_t without) {
  std::size_t lacking = 0;
  const SchedulerClause* most = nullptr;
  for (const SchedulerClause& clause : message.clauses) {
    if (clause.kind == "insufficient-gpu" || clause.kind == "insufficient-mig")
      lacking += static_cast<std::size_t>(clause.nodes);
    else if (clause.kind != "control-plane" && (most == nullptr || clause.nodes > most->nodes))
      most = &clause;
  }
  return lacking > 0 && lacking <= without && most != nullptr ? most->kind : std::string();
}

/// The deciding clause with what is known of the GPU nodes; the message alone where that is
/// nothing.
std::string decide(const SchedulerMessage& message, const GpuNodes& nodes, std::size_t known,
                   const std::string& resource, const TableNodes& table, bool pod_known) {
  std::string by_message = deciding_clause(message);
  if (by_message == "insufficient-gpu" && message.find("unschedulable") != nullptr &&
      table.all_cordoned(message))
    return "unschedulable";
  for (std::string_view late :
       {"volume-affinity", "volume-missing", "volume-unbound", "topology-spread", "anti-affinity"})
    if (by_message == late) return by_message;
  if (!nodes.any_known || resource.empty()) return by_message;
  const bool all_known = message.nodes > 0 && known >= static_cast<std::size_t>(message.nodes);
  if (nodes.all == 0) {
    if (!all_known) return by_message;
    return formats::is_mig_resource(resource) ? "insufficient-mig" : by_message;
  }
  if (nodes.fitting > 0 && !pod_known && all_known)
    if (std::string other =
            beside_nodes_without_gpu(message, known - static_cast<std::size_t>(nodes.all));
        !other.empty())
      return other;
  if (nodes.fitting > 0) {
    // Those nodes have the device and nothing keeps the pod off: it is the count that lacks.
    for (std::string_view other : {"insufficient-memory", "insufficient-cpu", "too-many-pods"})
      if (message.find("insufficient-gpu") == nullptr &&
          message.find("insufficient-mig") == nullptr && message.find(other) != nullptr)
        return std::string(other);
    return message.find("insufficient-gpu") != nullptr ||
                   message.find("insufficient-mig") != nullptr
               ? "insufficient-gpu"
               : by_message;
  }
  struct Weight {
    int count;
    std::string kind;
  };
  const Weight weights[] = {{nodes.tainted, "untolerated-taint"},
                            {nodes.unmatched, "affinity"},
                            {nodes.cordoned, "unschedulable"},
                            {nodes.troubled, nodes.trouble}};
  const Weight* most = &weights[0];
  for (const Weight& weight : weights)
    if (weight.count > most->count) most = &weight;
  return most->count > 0 && (all_known || message.find(most->kind) != nullptr) ? most->kind
                                                                               : by_message;
}

void emit(const Evidence& evidence, const Pending& pending, const std::vector<const Fact*>& nodes,
          const TableNodes& table, const evidence::FactSink& sink) {
  // Events carry the message at its source; the pod's condition repeats it. The newest message
  // decides, the first that says the same is where it began.
  std::vector<Said> said = pending.said;
  const bool events = std::any_of(said.begin(), said.end(), [](const Said& s) { return s.event; });
  if (events)
    said.erase(std::remove_if(said.begin(), said.end(), [](const Said& s) { return !s.event; }),
               said.end());
  const auto newer = [&](const Said& a, const Said& b) {
    const std::string x = evidence.facts[a.fact].get("last");
    const std::string y = evidence.facts[b.fact].get("last");
    return !x.empty() && !y.empty() && x < y;
  };
  const Said& newest = *std::max_element(said.begin(), said.end(), newer);
  const auto decide_for = [&](const Said& s) {
    const SchedulerMessage message = read_scheduler_message(evidence.facts[s.fact].text);
    const std::string resource = wanted_resource(pending, message);
    return decide(message, weigh(nodes, pending, resource), nodes.size(), resource, table,
                  pending.pod != nullptr);
  };
  const std::string deciding = decide_for(newest);
  const Said* first = &newest;
  for (const Said& s : said)
    if (decide_for(s) == deciding) {
      first = &s;
      break;
    }
  const Fact& source = evidence.facts[first->fact];
  const SchedulerMessage message = read_scheduler_message(source.text);
  const std::string resource = wanted_resource(pending, message);
  const GpuNodes found = weigh(nodes, pending, resource);
  Fact fact;
  fact.kind = Kind::scheduling;
  fact.file = source.file;
  fact.line = source.line;
  fact.place = source.place;
  fact.text = source.text;
  fact.stamp = stamp_of(time_of(evidence, first->fact));
  const auto set = [&](const std::string& field, const std::string& value) {
    if (!value.empty()) fact.set(field, value, source.line);
  };
  set("message", source.text);
  set("pod", source.place.pod);
  set("deciding", deciding);
  set("resource", resource);
  if (message.nodes > 0) set("nodes", std::to_string(message.nodes));
  std::map<std::string, int> counts;
  for (const SchedulerClause& clause : message.clauses) counts[clause.kind] += clause.nodes;
  for (const auto& [kind, count] : counts) set("clauses." + kind, std::to_string(count));
  if (found.any_known) {
    set("gpu_nodes", std::to_string(found.all));
    set("gpu_nodes_tainted", std::to_string(found.tainted));
    set("gpu_nodes_cordoned", std::to_string(found.cordoned));
    set("gpu_nodes_unmatched", std::to_string(found.unmatched));
    set("gpu_nodes_short", std::to_string(found.short_of));
  }
  sink(std::move(fact));
}

}  // namespace

void derive_scheduling(const Evidence& evidence, const evidence::FactSink& sink) {
  // By pod name alone: event tables of one namespace do not name it, and names with a hash are
  // unique enough.
  std::map<std::string, Pending> pods, owners;
  std::vector<const Fact*> nodes;
  TableNodes table;
  for (std::size_t i = 0; i < evidence.facts.size(); ++i) {
    const Fact& fact = evidence.facts[i];
    if (fact.kind == Kind::node && fact.find("table.roles") != nullptr) {
      const std::string roles = fact.get("table.roles");
      ++table.all;
      if (base::contains(roles, "control-plane") || base::contains(roles, "master"))
        ++table.control_plane;
      else if (fact.get("unschedulable") == "true")
        ++table.cordoned;
    }
    if (fact.kind == Kind::node && fact.fields.lower_bound("capacity.") != fact.fields.end() &&
        fact.find("name") != nullptr &&
        fact.fields.lower_bound("capacity.")->first.rfind("capacity.", 0) == 0)
      nodes.push_back(&fact);
    const bool speaks = base::contains(fact.text, " nodes are available") ||
                        base::contains(fact.text, " nodes are unavailable");
    if (fact.kind == Kind::event && (speaks || fact.get("reason") == "FailedScheduling") &&
        fact.get("reason") != "NotTriggerScaleUp") {
      if (!fact.text.empty()) pods[fact.place.pod].said.push_back({i, true});
    } else if (fact.kind == Kind::pod && speaks) {
      pods[fact.place.pod].said.push_back({i, false});
    } else if ((fact.kind == Kind::model || fact.kind == Kind::workload) && speaks) {
      owners[fact.place.workload].said.push_back({i, false});
    }
  }
  // A model or a service repeats what the scheduler said of its pods: worth its word where no pod
  // is at hand.
  if (pods.empty()) pods = std::move(owners);
  if (pods.empty()) return;
  // The same node from `describe` and from JSON counts once: the one with labels.
  std::map<std::string, const Fact*> by_name;
  for (const Fact* node : nodes) {
    const Fact*& known = by_name[node->get("name")];
    if (known == nullptr || node->fields.size() > known->fields.size()) known = node;
  }
  nodes.clear();
  for (const auto& [name, node] : by_name) nodes.push_back(node);

  for (std::size_t i = 0; i < evidence.facts.size(); ++i) {
    const Fact& fact = evidence.facts[i];
    if (fact.place.pod.empty()) continue;
    const auto pending = pods.find(fact.place.pod);
    if (pending == pods.end()) continue;
    if (fact.kind == Kind::event && fact.get("reason") == "Scheduled")
      pending->second.placed = true;
    if (fact.kind != Kind::pod || fact.find("name") == nullptr) continue;
    if (fact.find("node") != nullptr) pending->second.placed = true;
    pending->second.facts.push_back(&fact);
    // A row of a table knows no tolerations: that is not the same as having none.
    if (fact.find("container") == nullptr && fact.find("tolerations") == nullptr) continue;
    if (pending->second.pod == nullptr || fact.fields.size() > pending->second.pod->fields.size())
      pending->second.pod = &fact;
  }
  for (const auto& [key, pending] : pods)
    if (!pending.said.empty() && !pending.placed) emit(evidence, pending, nodes, table, sink);
}

}  // namespace triage::analysis::derive

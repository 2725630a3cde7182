#include "analysis/formats/kubernetes_objects.hpp"

#include <array>

#include "analysis/formats/kubernetes_names.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using evidence::FactSink;
using evidence::Kind;

constexpr std::array<std::string_view, 4> k_name_fields{"name", "namespace", "workload",
                                                        "container"};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void start(Fact& fact, Kind kind, const LocatedNode& object, const ParseContext& context) {
  fact.kind = kind;
  fact.line = object.line;
  fact.place = context.place;
}

void facts_of_event(const LocatedNode& event, const ParseContext& context, const FactSink& sink) {
  Fact fact;
  start(fact, Kind::event, event, context);
  const bool old_shape = static_cast<bool>(event.at("involvedObject"));
  const LocatedNode& object = old_shape ? event.at("involvedObject") : event.at("regarding");
  const LocatedNode& message = event.at("message") ? event.at("message") : event.at("note");
  put(fact, "reason", event.at("reason"));
  put(fact, "type", event.at("type"));
  put(fact, "message", message);
  put(fact, "object.kind", object.at("kind"));
  put(fact, "object.name", object.at("name"));
  put(fact, "object.namespace", object.at("namespace"));
  put(fact, "object.field_path", object.at("fieldPath"));
  // Later ones win: the newest count is the series', the reporter's own fields beat the old ones.
  const LocatedNode& source =
      event.at("source") ? event.at("source") : event.at("deprecatedSource");
  const LocatedNode& series = event.at("series");
  put(fact, "count", event.at("deprecatedCount"));
  put(fact, "count", event.at("count"));
  put(fact, "count", series.at("count"));
  put(fact, "source", event.at("reportingController"));
  put(fact, "source", event.at("reportingComponent"));
  put(fact, "source", source.at("component"));
  if (fact.get("source") == "kubelet") put(fact, "host", event.at("reportingInstance"));
  put(fact, "host", source.at("host"));
  for (std::string_view name : {"eventTime", "deprecatedFirstTimestamp", "firstTimestamp"})
    put(fact, "first", event.at(name));
  for (std::string_view name : {"eventTime", "deprecatedLastTimestamp", "lastTimestamp"})
    put(fact, "last", event.at(name));
  put(fact, "last", series.at("lastObservedTime"));

  fact.text = message.text;
  if (message) fact.line = message.line;
  const LocatedNode& name_space =
      object.at("namespace") ? object.at("namespace") : event.at("metadata", "namespace");
  place_event_object(fact.place, object.at("kind").text, object.at("name").text, name_space.text,
                     object.at("fieldPath").text);
  if (const std::string host = fact.get("host"); !host.empty()) fact.place.node = host;
  place_event_message(fact.place, fact.get("reason"), fact.text);
  if (const evidence::Value* first = fact.find("first"))
    fact.stamp = evidence::parse_rfc3339(first->text);
  else
    set_stamp(fact, event.at("metadata", "creationTimestamp"));
  sink(std::move(fact));
}

std::string taint_text(const LocatedNode& taint) {
  std::string text = taint.at("key").text;
  if (!taint.at("value").text.empty()) text += "=" + taint.at("value").text;
  return text + ":" + taint.at("effect").text;
}

void put_taints(Fact& fact, const LocatedNode& taints) {
  std::string all;
  for (const LocatedNode& taint : taints.items) {
    if (!all.empty()) all += ", ";
    all += taint_text(taint);
    const std::string field = "taint." + taint.at("key").text;
    const std::string value = taint.at("value").text + ":" + taint.at("effect").text;
    const evidence::Value* known = fact.find(field);
    const std::uint32_t line = taint.at("key") ? taint.at("key").line : taint.line;
    fact.set(field, known == nullptr ? value : known->text + "," + value,
             known == nullptr ? line : known->line);
  }
  if (!taints.items.empty()) fact.set("taints", all, taints.items.front().line);
}

void facts_of_node(const LocatedNode& node, const ParseContext& context, const FactSink& sink) {
  Fact fact;
  start(fact, Kind::node, node, context);
  const LocatedNode& status = node.at("status");
  const LocatedNode& info = status.at("nodeInfo");
  const LocatedNode& conditions = status.at("conditions");
  put(fact, "name", node.at("metadata", "name"));
  put(fact, "created", node.at("metadata", "creationTimestamp"));
  put(fact, "unschedulable", node.at("spec", "unschedulable"));
  put_taints(fact, node.at("spec", "taints"));
  put_map(fact, "labels", node.at("metadata", "labels"));
  put_quantities(fact, "capacity", status.at("capacity"));
  put_quantities(fact, "allocatable", status.at("allocatable"));
  put_node_gpu(fact);
  put_conditions(fact, conditions);
  put(fact, "kubelet_version", info.at("kubeletVersion"));
  put(fact, "kernel_version", info.at("kernelVersion"));
  put(fact, "os_image", info.at("osImage"));
  put(fact, "container_runtime", info.at("containerRuntimeVersion"));
  put(fact, "boot_id", info.at("bootID"));
  fact.place.node = fact.get("name");
  for (const LocatedNode& condition : conditions.items)
    if (condition.at("type").text == "Ready") set_stamp(fact, condition.at("lastHeartbeatTime"));
  emit_condition_texts(fact, conditions, sink);
  sink(std::move(fact));
}

void facts_of_workload(const LocatedNode& object, const ParseContext& context,
                       const FactSink& sink) {
  Fact fact;
  start(fact, Kind::workload, object, context);
  const LocatedNode& meta = object.at("metadata");
  const LocatedNode& status = object.at("status");
  put(fact, "object.kind", object.at("kind"));
  put(fact, "name", meta.at("name"));
  put(fact, "namespace", meta.at("namespace"));
  put(fact, "replicas", object.at("spec", "replicas"));
  put(fact, "ready", status.at("numberReady"));
  put(fact, "ready", status.at("readyReplicas"));
  put(fact, "available", status.at("numberAvailable"));
  put(fact, "available", status.at("availableReplicas"));
  put(fact, "unavailable", status.at("numberUnavailable"));
  put(fact, "unavailable", status.at("unavailableReplicas"));
  put(fact, "updated", status.at("updatedNumberScheduled"));
  put(fact, "updated", status.at("updatedReplicas"));
  put(fact, "revision", meta.at("annotations", "deployment.kubernetes.io/revision"));
  put(fact, "revision", status.at("updateRevision"));
  put(fact, "revision", meta.at("labels", "pod-template-hash"));
  const LocatedNode& containers = object.at("spec", "template", "spec", "containers");
  if (!containers.items.empty()) put(fact, "image", containers.items.front().at("image"));
  put_map(fact, "labels", meta.at("labels"));
  put_conditions(fact, status.at("conditions"));
  fact.place.name_space = fact.get("namespace");
  const Owner owner = owner_from_object(object.at("kind").text, fact.get("name"));
  fact.place.workload = owner.workload;
  fact.place.revision = owner.revision;
  emit_condition_texts(fact, status.at("conditions"), sink);
  sink(std::move(fact));
}

/// Scalars below `node` as `stem.a.b`, at most four levels deep, leaving out what has its own
/// field.
void put_scalars(Fact& fact, const std::string& stem, const LocatedNode& node, int depth) {
  if (depth > 4) return;
  for (const auto& [name, value] : node.members) {
    if (name == "conditions") continue;
    if (value.is_scalar())
      put(fact, stem + "." + name, value);
    else if (value.is_object())
      put_scalars(fact, stem + "." + name, value, depth + 1);
  }
}

void facts_of_model(const LocatedNode& model, const ParseContext& context, const FactSink& sink) {
  Fact fact;
  start(fact, Kind::model, model, context);
  const LocatedNode& meta = model.at("metadata");
  const LocatedNode& spec = model.at("spec");
  const LocatedNode& status = model.at("status");
  const LocatedNode& shared = status.at("sharedGroup");
  put_scalars(fact, "spec", spec, 1);
  put_scalars(fact, "status", status, 1);
  put(fact, "name", meta.at("name"));
  put(fact, "namespace", meta.at("namespace"));
  put(fact, "phase", status.at("phase"));
  put(fact, "substage", status.at("loadingSubstage"));
  put(fact, "message", status.at("message"));
  put(fact, "progress_at", status.at("loadingProgressAt"));
  put(fact, "backend", spec.at("backend"));
  put(fact, "source", spec.at("source"));
  put(fact, "node", status.at("gpu", "node"));
  put(fact, "replicas", spec.at("replicas"));
  put(fact, "ready_replicas", status.at("readyReplicas"));
  put(fact, "gpu.count", spec.at("gpu", "count"));
  put(fact, "gpu.vendor", spec.at("gpu", "vendor"));
  put(fact, "priority", spec.at("gpu", "priority"));
  put(fact, "shared_group.name", spec.at("gpu", "shared"));
  put(fact, "shared_group.name", shared.at("groupName"));
  put(fact, "shared_group.state", shared.at("state"));
  put(fact, "shared_group.preempted_by", shared.at("preemptedBy"));
  put(fact, "shared_group.preemptions", shared.at("preemptionCount"));
  put_conditions(fact, status.at("conditions"));
  fact.place.name_space = fact.get("namespace");
  fact.place.workload = fact.get("name");
  if (const std::string node = fact.get("node"); !node.empty()) fact.place.node = node;
  fact.text = status.at("message").text;
  if (status.at("message")) fact.line = status.at("message").line;
  set_stamp(fact, status.at("loadingProgressAt"));
  emit_condition_texts(fact, status.at("conditions"), sink);
  sink(std::move(fact));
}

bool is_model(const LocatedNode& object) {
  const std::string& kind = object.at("kind").text;
  if (object.at("status", "loadingSubstage") || object.at("status", "loadingProgressAt"))
    return true;
  // FlexInfer, Ollama and KubeAI operators all call it Model; KServe's is a workload.
  return (kind == "Model" || kind == "InferenceModel" || kind == "ModelDeployment") &&
         object.at("status").is_object();
}

}  // namespace

void put(Fact& fact, std::string_view field, const LocatedNode& value) {
  if (value.is_scalar() && !value.text.empty())
    fact.set(std::string(field), value.text, value.line);
}

void put_quantity(Fact& fact, const std::string& field, const LocatedNode& value) {
  if (value.is_scalar() && !value.text.empty()) fact.set(field, quantity(value.text), value.line);
}

void put_map(Fact& fact, std::string_view stem, const LocatedNode& map) {
  for (const auto& [name, value] : map.members)
    if (value.is_scalar() && !name.empty())
      fact.set(std::string(stem) + "." + name, value.text, value.line);
}

void put_quantities(Fact& fact, std::string_view stem, const LocatedNode& map) {
  for (const auto& [name, value] : map.members)
    if (!name.empty()) put_quantity(fact, std::string(stem) + "." + name, value);
}

void put_node_gpu(Fact& fact) {
  static constexpr std::string_view k_capacity = "capacity.";
  std::string best;
  double best_count = -1;
  for (auto it = fact.fields.lower_bound(k_capacity);
       it != fact.fields.end() && it->first.compare(0, k_capacity.size(), k_capacity) == 0; ++it) {
    const std::string resource = it->first.substr(k_capacity.size());
    if (!is_gpu_resource(resource)) continue;
    const double count = base::parse_double(it->second.text).value_or(0);
    // After a MIG re-layout kubelet keeps the old resource at 0: the one that still has devices
    // counts.
    if (count > best_count) {
      best = resource;
      best_count = count;
    }
  }
  if (best.empty()) return;
  const evidence::Value capacity = *fact.find(std::string(k_capacity) + best);
  fact.set("gpu.resource", best, capacity.line);
  fact.set("gpu.capacity", capacity.text, capacity.line);
  if (const evidence::Value* left = fact.find("allocatable." + best)) {
    const evidence::Value copy = *left;
    fact.set("gpu.allocatable", copy.text, copy.line);
  }
}

void put_conditions(Fact& fact, const LocatedNode& conditions) {
  for (const LocatedNode& condition : conditions.items) {
    const std::string& type = condition.at("type").text;
    if (type.empty()) continue;
    const std::string field = "condition." + type;
    const LocatedNode& status = condition.at("status");
    if (status.is_scalar()) fact.set(field, condition_status(status.text), status.line);
    put(fact, field + ".reason", condition.at("reason"));
    put(fact, field + ".message", condition.at("message"));
    put(fact, field + ".since", condition.at("lastTransitionTime"));
  }
}

Fact text_fact(const Fact& base, const LocatedNode& text) {
  Fact fact;
  fact.kind = base.kind;
  fact.place = base.place;
  fact.text = text.text;
  fact.line = text.line;
  for (std::string_view name : k_name_fields)
    if (const evidence::Value* value = base.find(name))
      fact.set(std::string(name), value->text, value->line);
  return fact;
}

void emit_condition_texts(const Fact& base, const LocatedNode& conditions, const FactSink& sink) {
  for (const LocatedNode& condition : conditions.items) {
    const LocatedNode& message = condition.at("message");
    if (!message.is_scalar() || message.text.empty()) continue;
    if (!is_bad_condition(condition.at("type").text, condition.at("status").text)) continue;
    Fact fact = text_fact(base, message);
    set_stamp(fact, condition.at("lastTransitionTime"));
    sink(std::move(fact));
  }
}

void set_stamp(Fact& fact, const LocatedNode& time) {
  if (!time.is_scalar()) return;
  if (auto stamp = evidence::parse_rfc3339(time.text)) fact.stamp = stamp;
}

void facts_of_object(const LocatedNode& object, const ParseContext& context, const FactSink& sink) {
  const std::string& kind = object.at("kind").text;
  if (object.at("items").is_array() && (ends_with(kind, "List") || kind.empty())) {
    for (const LocatedNode& item : object.at("items").items)
      if (item.is_object()) facts_of_object(item, context, sink);
    return;
  }
  // Items of a typed list (`PodList` from the raw API) carry no kind of their own.
  if (kind == "Pod" || (kind.empty() && object.at("spec", "containers").is_array()))
    return facts_of_pod(object, context, sink);
  if (kind == "Event" || (kind.empty() && (object.at("involvedObject") || object.at("regarding"))))
    return facts_of_event(object, context, sink);
  if (kind == "Node" || (kind.empty() && object.at("status", "nodeInfo").is_object()))
    return facts_of_node(object, context, sink);
  if (is_model(object)) return facts_of_model(object, context, sink);
  if (object.at("metadata").is_object() &&
      (object.at("spec", "template").is_object() || object.at("status", "conditions").is_array()))
    return facts_of_workload(object, context, sink);
}

void parse_kubernetes_json(std::string_view text, const ParseContext& context,
                           const FactSink& sink) {
  read_located_json(text, [&](const LocatedNode& document) {
    facts_of_object(document, context, sink);
    return true;
  });
}

}  // namespace triage::analysis::formats

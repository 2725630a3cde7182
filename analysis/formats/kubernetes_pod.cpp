#include <algorithm>

#include <fmt/format.h>

#include "analysis/formats/kubernetes_names.hpp"
#include "analysis/formats/kubernetes_objects.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using evidence::FactSink;

std::int64_t whole(const LocatedNode& node, std::int64_t fallback) {
  if (!node.is_scalar()) return fallback;
  const auto value = base::parse_int(node.text);
  return value ? std::clamp<std::int64_t>(*value, 0, 1'000'000'000) : fallback;
}

/// `key=value:Effect op=Exists for 300s`, as `kubectl describe` prints it.
std::string toleration_text(const LocatedNode& toleration) {
  std::string text = toleration.at("key").text;
  if (!toleration.at("value").text.empty()) text += "=" + toleration.at("value").text;
  if (!toleration.at("effect").text.empty()) text += ":" + toleration.at("effect").text;
  if (toleration.at("operator").text == "Exists") text += " op=Exists";
  if (toleration.at("tolerationSeconds"))
    text += " for " + toleration.at("tolerationSeconds").text + "s";
  return std::string(base::trim(text));
}

void put_tolerations(Fact& fact, const LocatedNode& tolerations) {
  std::string all;
  for (const LocatedNode& toleration : tolerations.items) {
    if (!all.empty()) all += ", ";
    all += toleration_text(toleration);
  }
  if (!all.empty()) fact.set("tolerations", all, tolerations.line);
}

/// `key In [a b]`: the terms of required node affinity, joined with '; '.
void put_affinity(Fact& fact, const LocatedNode& spec) {
  const LocatedNode& terms =
      spec.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
              "nodeSelectorTerms");
  std::string all;
  for (const LocatedNode& term : terms.items) {
    for (const LocatedNode& expression : term.at("matchExpressions").items) {
      if (!all.empty()) all += "; ";
      all += expression.at("key").text + " " + expression.at("operator").text + " [";
      std::string separator;
      for (const LocatedNode& value : expression.at("values").items) {
        all += separator + value.text;
        separator = " ";
      }
      all += "]";
    }
  }
  if (!all.empty()) fact.set("affinity", all, terms.line);
}

void put_owner(Fact& fact, const LocatedNode& meta) {
  const LocatedNode& owners = meta.at("ownerReferences");
  const LocatedNode* owner = nullptr;
  for (const LocatedNode& candidate : owners.items)
    if (owner == nullptr || candidate.at("controller").text == "true") owner = &candidate;
  const LocatedNode& labels = meta.at("labels");
  put(fact, "revision", labels.at("controller-revision-hash"));
  put(fact, "revision", labels.at("pod-template-hash"));
  if (owner == nullptr) {
    const Owner guessed = owner_from_pod_name(meta.at("name").text);
    if (!guessed.workload.empty()) fact.set("workload", guessed.workload, meta.at("name").line);
    return;
  }
  put(fact, "owner.kind", owner->at("kind"));
  put(fact, "owner.name", owner->at("name"));
  std::string workload = owner->at("name").text;
  const std::string hash = "-" + labels.at("pod-template-hash").text;
  if (hash.size() > 1 && workload.size() > hash.size() &&
      workload.compare(workload.size() - hash.size(), hash.size(), hash) == 0)
    workload.resize(workload.size() - hash.size());
  else
    workload = owner_from_object(owner->at("kind").text, workload).workload;
  // The leader's and the workers' StatefulSets of one LeaderWorkerSet are one workload.
  const LocatedNode& set = labels.at("leaderworkerset.sigs.k8s.io/name");
  if (set) workload = set.text;
  fact.set("workload", workload, owner->at("name").line);
}

void put_pod_fields(Fact& fact, const LocatedNode& pod) {
  const LocatedNode& meta = pod.at("metadata");
  const LocatedNode& spec = pod.at("spec");
  const LocatedNode& status = pod.at("status");
  put(fact, "name", meta.at("name"));
  put(fact, "namespace", meta.at("namespace"));
  put(fact, "uid", meta.at("uid"));
  put(fact, "created", meta.at("creationTimestamp"));
  put(fact, "deleted", meta.at("deletionTimestamp"));
  put(fact, "node", spec.at("nodeName"));
  put(fact, "phase", status.at("phase"));
  put(fact, "status.reason", status.at("reason"));
  put(fact, "status.message", status.at("message"));
  put(fact, "qos", status.at("qosClass"));
  put(fact, "priority", spec.at("priority"));
  put(fact, "restart_policy", spec.at("restartPolicy"));
  put_owner(fact, meta);
  put_map(fact, "labels", meta.at("labels"));
  put_map(fact, "annotations", meta.at("annotations"));
  put_map(fact, "node_selector", spec.at("nodeSelector"));
  put_tolerations(fact, spec.at("tolerations"));
  put_affinity(fact, spec);
  put_conditions(fact, status.at("conditions"));
  fact.place.node = fact.get("node");
  fact.place.name_space = fact.get("namespace");
  fact.place.pod = fact.get("name");
  fact.place.workload = fact.get("workload");
  fact.place.revision = fact.get("revision");
}

void put_probe(Fact& fact, const std::string& name, const LocatedNode& probe) {
  if (!probe.is_object()) return;
  // Defaults of the API: period 10 s, threshold 3, timeout 1 s.
  const std::int64_t period = whole(probe.at("periodSeconds"), 10);
  const std::int64_t threshold = whole(probe.at("failureThreshold"), 3);
  const std::int64_t delay = whole(probe.at("initialDelaySeconds"), 0);
  const std::string stem = "probe." + name;
  const auto line_of = [&](std::string_view member) {
    return probe.at(member) ? probe.at(member).line : probe.line;
  };
  fact.set(stem + ".budget", fmt::format("{}", delay + period * threshold),
           line_of("failureThreshold"));
  fact.set(stem + ".timeout", fmt::format("{}", whole(probe.at("timeoutSeconds"), 1)),
           line_of("timeoutSeconds"));
  fact.set(stem + ".period", fmt::format("{}", period), line_of("periodSeconds"));
  fact.set(stem + ".failure_threshold", fmt::format("{}", threshold), line_of("failureThreshold"));
}

void put_args(Fact& fact, const LocatedNode& container) {
  std::string all;
  std::uint32_t line = 0;
  for (std::string_view part : {"command", "args"}) {
    for (const LocatedNode& word : container.at(part).items) {
      if (!word.is_scalar()) continue;
      if (line == 0) line = word.line;
      if (!all.empty()) all += ' ';
      all += word.text;
    }
  }
  if (line != 0) fact.set("args", all, line);
}

void put_shm(Fact& fact, const LocatedNode& container, const LocatedNode& volumes) {
  for (const LocatedNode& mount : container.at("volumeMounts").items) {
    if (mount.at("mountPath").text != "/dev/shm") continue;
    for (const LocatedNode& volume : volumes.items) {
      if (volume.at("name").text != mount.at("name").text) continue;
      if (volume.at("emptyDir", "medium").text == "Memory")
        fact.set("shm.mounted", "true", mount.at("mountPath").line);
      put_quantity(fact, "shm.size_limit", volume.at("emptyDir", "sizeLimit"));
    }
  }
}

void put_container_spec(Fact& fact, const LocatedNode& container, const LocatedNode& volumes) {
  put(fact, "container", container.at("name"));
  put(fact, "image", container.at("image"));
  put_args(fact, container);
  for (const LocatedNode& variable : container.at("env").items)
    put(fact, "env." + variable.at("name").text, variable.at("value"));
  put_quantities(fact, "limits", container.at("resources", "limits"));
  put_quantities(fact, "requests", container.at("resources", "requests"));
  put_probe(fact, "startup", container.at("startupProbe"));
  put_probe(fact, "liveness", container.at("livenessProbe"));
  put_probe(fact, "readiness", container.at("readinessProbe"));
  put_shm(fact, container, volumes);
}

void put_terminated(Fact& fact, const std::string& stem, const LocatedNode& state) {
  put(fact, stem + ".reason", state.at("reason"));
  put(fact, stem + ".exit_code", state.at("exitCode"));
  put(fact, stem + ".signal", state.at("signal"));
  put(fact, stem + ".message", state.at("message"));
  put(fact, stem + ".started_at", state.at("startedAt"));
  put(fact, stem + ".finished_at", state.at("finishedAt"));
}

void put_last_duration(Fact& fact) {
  const auto began = evidence::parse_rfc3339(fact.get("last.started_at"));
  const auto ended = evidence::parse_rfc3339(fact.get("last.finished_at"));
  // A container that never ran (StartError) says that it began in 1970.
  if (!began || !ended || began->ns <= 0 || ended->ns < began->ns) return;
  fact.set("last.duration", fmt::format("{}", (ended->ns - began->ns) / 1'000'000'000),
           fact.find("last.finished_at")->line);
}

void put_container_status(Fact& fact, const LocatedNode& status) {
  const LocatedNode& state = status.at("state");
  const LocatedNode& last = status.at("lastState", "terminated");
  put(fact, "image_id", status.at("imageID"));
  put(fact, "ready", status.at("ready"));
  put(fact, "started", status.at("started"));
  put(fact, "restart_count", status.at("restartCount"));
  put(fact, "waiting.reason", state.at("waiting", "reason"));
  put(fact, "waiting.message", state.at("waiting", "message"));
  put(fact, "running.started_at", state.at("running", "startedAt"));
  put_terminated(fact, "terminated", state.at("terminated"));
  put_terminated(fact, "last", last);
  put_last_duration(fact);
  for (std::string_view field :
       {"running.started_at", "last.finished_at", "terminated.finished_at"})
    if (const evidence::Value* value = fact.find(field))
      if (auto stamp = evidence::parse_rfc3339(value->text)) fact.stamp = stamp;
}

/// The container's texts: the first is the base fact's own, each other a fact with the text only.
void emit_container(Fact fact, const LocatedNode& status, const FactSink& sink) {
  const LocatedNode& state = status.at("state");
  const LocatedNode& last = status.at("lastState", "terminated");
  const LocatedNode& ended = state.at("terminated");
  struct Text {
    const LocatedNode* text;
    const LocatedNode* time;
  };
  const Text texts[] = {{&ended.at("message"), &ended.at("finishedAt")},
                        {&last.at("message"), &last.at("finishedAt")},
                        {&state.at("waiting", "message"), nullptr}};
  bool first = true;
  for (const Text& candidate : texts) {
    if (!candidate.text->is_scalar() || candidate.text->text.empty()) continue;
    if (first) {
      fact.text = candidate.text->text;
      fact.line = candidate.text->line;
      first = false;
      continue;
    }
    Fact other = text_fact(fact, *candidate.text);
    if (candidate.time != nullptr)
      set_stamp(other, *candidate.time);
    else
      other.stamp = fact.stamp;
    sink(std::move(other));
  }
  sink(std::move(fact));
}

void set_pod_stamp(Fact& fact, const LocatedNode& pod) {
  set_stamp(fact, pod.at("metadata", "creationTimestamp"));
  set_stamp(fact, pod.at("status", "startTime"));
  // A pod that was pushed out carries the moment in this condition only.
  for (const LocatedNode& condition : pod.at("status", "conditions").items)
    if (condition.at("type").text == "DisruptionTarget")
      set_stamp(fact, condition.at("lastTransitionTime"));
}

}  // namespace

void facts_of_pod(const LocatedNode& pod, const ParseContext& context, const FactSink& sink) {
  Fact base;
  base.kind = evidence::Kind::pod;
  base.line = pod.line;
  base.place = context.place;
  put_pod_fields(base, pod);
  set_pod_stamp(base, pod);
  const LocatedNode& spec = pod.at("spec");
  const LocatedNode& status = pod.at("status");

  struct List {
    std::string_view spec_name;
    std::string_view status_name;
    bool init;
  };
  static constexpr List k_lists[] = {{"initContainers", "initContainerStatuses", true},
                                     {"containers", "containerStatuses", false},
                                     {"ephemeralContainers", "ephemeralContainerStatuses", false}};
  for (const List& list : k_lists) {
    for (const LocatedNode& container : spec.at(list.spec_name).items) {
      Fact fact = base;
      fact.line = container.line;
      put_container_spec(fact, container, spec.at("volumes"));
      fact.place.container = fact.get("container");
      if (list.init) fact.set("init", "true", container.line);
      const LocatedNode* own = nullptr;
      for (const LocatedNode& candidate : status.at(list.status_name).items)
        if (candidate.at("name").text == container.at("name").text) own = &candidate;
      if (own == nullptr) {
        sink(std::move(fact));
        continue;
      }
      fact.line = own->line;
      put_container_status(fact, *own);
      emit_container(std::move(fact), *own, sink);
    }
  }
  emit_condition_texts(base, status.at("conditions"), sink);
  base.text = status.at("message").text;
  if (status.at("message")) base.line = status.at("message").line;
  sink(std::move(base));
}

}  // namespace triage::analysis::formats

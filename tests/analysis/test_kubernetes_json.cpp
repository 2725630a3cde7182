#include <doctest/doctest.h>

#include "analysis/formats/located_tree.hpp"
#include "facts_helper.hpp"

using namespace triage;
using analysis::formats::LocatedNode;
using analysis::formats::parse_kubernetes_json;
using test::fact_saying;
using test::fact_with;
using test::facts_of;
using test::line_in;
using test::line_of;

namespace {

constexpr std::string_view k_pod = R"({
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "creationTimestamp": "2026-01-09T03:00:41Z",
                "labels": {"pod-template-hash": "66f7c9d8bb"},
                "name": "scorer-66f7c9d8bb-w4v8n",
                "namespace": "llm",
                "ownerReferences": [
                    {"controller": true, "kind": "ReplicaSet", "name": "scorer-66f7c9d8bb"}
                ]
            },
            "spec": {
                "containers": [
                    {
                        "args": ["--model", "/models/x"],
                        "command": ["vllm", "serve"],
                        "image": "vllm/vllm-openai:v0.11.0",
                        "livenessProbe": {
                            "failureThreshold": 5,
                            "initialDelaySeconds": 20,
                            "periodSeconds": 6
                        },
                        "name": "vllm",
                        "resources": {
                            "limits": {
                                "cpu": "1500m",
                                "memory": "96Gi",
                                "nvidia.com/gpu": "2"
                            }
                        },
                        "volumeMounts": [{"mountPath": "/dev/shm", "name": "dshm"}]
                    }
                ],
                "nodeName": "node-7",
                "tolerations": [
                    {"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"},
                    {"key": "sku", "operator": "Equal", "value": "gpu"}
                ],
                "volumes": [{"emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}, "name": "dshm"}]
            },
            "status": {
                "conditions": [
                    {
                        "lastTransitionTime": "2026-01-09T03:10:00Z",
                        "message": "containers with unready status: [vllm]",
                        "reason": "ContainersNotReady",
                        "status": "False",
                        "type": "Ready"
                    }
                ],
                "containerStatuses": [
                    {
                        "lastState": {
                            "terminated": {
                                "exitCode": 137,
                                "finishedAt": "2026-01-09T03:09:30Z",
                                "message": "first line\nCUDA error",
                                "reason": "OOMKilled",
                                "startedAt": "2026-01-09T03:02:00Z"
                            }
                        },
                        "name": "vllm",
                        "ready": false,
                        "restartCount": 5,
                        "state": {
                            "waiting": {
                                "message": "back-off 2m40s restarting failed container",
                                "reason": "CrashLoopBackOff"
                            }
                        }
                    }
                ],
                "phase": "Running"
            }
        }
    ],
    "kind": "List"
}
)";

}  // namespace

TEST_CASE("kubernetes JSON: a container carries its state with the line of each value") {
  const auto facts = facts_of(parse_kubernetes_json, k_pod);
  const auto container = fact_with(facts, "last.reason", "OOMKilled");
  CHECK(line_of(container, "last.reason") == line_in(k_pod, "OOMKilled"));
  CHECK(container.get("last.exit_code") == "137");
  CHECK(container.get("last.duration") == "450");
  CHECK(container.get("waiting.reason") == "CrashLoopBackOff");
  CHECK(container.get("restart_count") == "5");
  CHECK(container.get("args") == "vllm serve --model /models/x");
  CHECK(container.get("limits.memory") == "103079215104");
  CHECK(container.get("limits.cpu") == "1.5");
  CHECK(container.get("limits.nvidia.com/gpu") == "2");
  CHECK(container.get("probe.liveness.budget") == "50");
  CHECK(container.get("probe.liveness.timeout") == "1");
  CHECK(container.get("shm.mounted") == "true");
  CHECK(container.get("shm.size_limit") == "17179869184");
  CHECK(container.get("tolerations") == "nvidia.com/gpu:NoSchedule op=Exists, sku=gpu");
  CHECK(container.place.pod == "scorer-66f7c9d8bb-w4v8n");
  CHECK(container.place.workload == "scorer");
  CHECK(container.place.revision == "66f7c9d8bb");
  CHECK(container.place.node == "node-7");
  CHECK(container.place.container == "vllm");
  REQUIRE(container.stamp);
  CHECK(container.stamp->ns == evidence::parse_rfc3339("2026-01-09T03:09:30Z")->ns);
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubernetes JSON: each message of a container is a text of its own with its own line") {
  const auto facts = facts_of(parse_kubernetes_json, k_pod);
  CHECK(fact_saying(facts, "CUDA error").line == line_in(k_pod, "CUDA error"));
  CHECK(fact_saying(facts, "first line\nCUDA error").place.container == "vllm");
  CHECK(fact_saying(facts, "back-off 2m40s").line == line_in(k_pod, "back-off"));
  const auto condition = fact_saying(facts, "unready status");
  CHECK(condition.line == line_in(k_pod, "unready status"));
  REQUIRE(condition.stamp);
  CHECK(condition.stamp->ns == evidence::parse_rfc3339("2026-01-09T03:10:00Z")->ns);
}

TEST_CASE("kubernetes JSON: the pod itself is one fact without a container") {
  std::size_t pods = 0;
  for (const auto& fact : facts_of(parse_kubernetes_json, k_pod))
    if (fact.find("phase") != nullptr && fact.find("container") == nullptr) ++pods;
  CHECK(pods == 1);
}

TEST_CASE("kubernetes JSON: events of the core API give message, object, host and first time") {
  const auto facts = facts_of(parse_kubernetes_json, R"({"kind": "Event",
 "count": 6, "firstTimestamp": "2026-02-01T10:00:00Z", "lastTimestamp": "2026-02-01T10:05:00Z",
 "involvedObject": {"fieldPath": "spec.containers{vllm}", "kind": "Pod",
   "name": "chat-7c4d9f6b58-b2hzl", "namespace": "llm"},
 "message": "Container vllm failed \u003cliveness\u003e probe \"x\", will be restarted",
 "reason": "Killing", "source": {"component": "kubelet", "host": "node-1"}, "type": "Normal"})",
                              evidence::Kind::event);
  REQUIRE(facts.size() == 1);
  const auto& event = facts.front();
  CHECK(event.text == "Container vllm failed <liveness> probe \"x\", will be restarted");
  CHECK(event.line == 5);
  CHECK(event.get("reason") == "Killing");
  CHECK(event.get("count") == "6");
  CHECK(event.get("host") == "node-1");
  CHECK(event.place.node == "node-1");
  CHECK(event.place.pod == "chat-7c4d9f6b58-b2hzl");
  CHECK(event.place.workload == "chat");
  CHECK(event.place.container == "vllm");
  REQUIRE(event.stamp);
  CHECK(event.stamp->ns == evidence::parse_rfc3339("2026-02-01T10:00:00Z")->ns);
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubernetes JSON: events of events.k8s.io and scheduler series are the same to rules") {
  const auto facts = facts_of(parse_kubernetes_json, R"([{"eventTime": "2026-02-01T10:00:00.5Z",
 "note": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "reason": "FailedScheduling",
 "regarding": {"kind": "Pod", "name": "p-0", "namespace": "llm"},
 "reportingController": "default-scheduler", "deprecatedFirstTimestamp": null,
 "series": {"count": 9, "lastObservedTime": "2026-02-01T10:09:00.5Z"}, "type": "Warning"},
 {"kind": "Event", "eventTime": "2026-02-01T11:00:00Z", "firstTimestamp": null, "source": {},
 "involvedObject": {"kind": "Pod", "name": "q-0"}, "message": "Successfully assigned llm/q-0 to gpu-4",
 "reason": "Scheduled"}])",
                              evidence::Kind::event);
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].get("count") == "9");
  CHECK(facts[0].get("message") == "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.");
  CHECK(facts[0].get("source") == "default-scheduler");
  CHECK(facts[0].get("last") == "2026-02-01T10:09:00.5Z");
  REQUIRE(facts[0].stamp);
  CHECK(facts[1].place.node == "gpu-4");
}

TEST_CASE(
    "kubernetes JSON: a node tells taints, conditions and the GPU resource that has devices") {
  const auto facts = facts_of(parse_kubernetes_json, R"({"kind": "Node", "metadata": {"name": "n1"},
 "spec": {"taints": [{"effect": "NoSchedule", "key": "sku", "value": "gpu"}], "unschedulable": true},
 "status": {
  "allocatable": {"memory": "1048165552Ki",
    "nvidia.com/gpu": "0",
    "nvidia.com/mig-1g.10gb": "13"},
  "capacity": {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb": "14"},
  "conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
    "message": "Kubelet stopped posting node status.", "lastHeartbeatTime": "2026-02-01T10:00:00Z"}]}})",
                              evidence::Kind::node);
  const auto node = fact_with(facts, "name", "n1");
  const auto base = fact_with(facts, "unschedulable", "true");
  CHECK(node.place.node == "n1");
  CHECK(base.get("taints") == "sku=gpu:NoSchedule");
  CHECK(base.get("taint.sku") == "gpu:NoSchedule");
  CHECK(base.get("gpu.resource") == "nvidia.com/mig-1g.10gb");
  CHECK(base.get("gpu.capacity") == "14");
  CHECK(base.get("gpu.allocatable") == "13");
  CHECK(line_of(base, "gpu.allocatable") == 6);
  CHECK(base.get("condition.Ready") == "unknown");
  CHECK(base.get("allocatable.memory") == "1073321525248");
  CHECK(fact_saying(facts, "Kubelet stopped posting").kind == evidence::Kind::node);
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubernetes JSON: a FlexInfer model tells phase, substage, progress and shared group") {
  const auto facts = facts_of(parse_kubernetes_json, R"J({"apiVersion": "ai.flexinfer/v1alpha2",
 "kind": "Model", "metadata": {"name": "m", "namespace": "f"},
 "spec": {"backend": "vllm", "gpu": {"count": 2, "priority": 100, "shared": "g0", "swapCooldown": "30s"}},
 "status": {"phase": "Loading",
  "loadingSubstage": "LoadingWeights",
  "loadingProgressAt": "2026-06-18T20:00:23Z",
  "message": "loading weights (31/34 shards, 141.75s/it)",
  "sharedGroup": {"groupName": "g0", "state": "Queued", "preemptedBy": "other"}}})J",
                              evidence::Kind::model);
  const auto model = fact_with(facts, "phase", "Loading");
  CHECK(model.kind == evidence::Kind::model);
  CHECK(model.get("substage") == "LoadingWeights");
  CHECK(line_of(model, "progress_at") == 6);
  CHECK(model.text == "loading weights (31/34 shards, 141.75s/it)");
  CHECK(model.line == 7);
  CHECK(model.get("shared_group.name") == "g0");
  CHECK(model.get("shared_group.preempted_by") == "other");
  CHECK(model.get("spec.gpu.swapCooldown") == "30s");
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubernetes JSON: a workload's failure condition is a text") {
  const auto facts = facts_of(parse_kubernetes_json, R"({"kind": "Deployment",
 "metadata": {"name": "chat", "namespace": "llm"}, "spec": {"replicas": 6, "template": {"spec": {}}},
 "status": {"readyReplicas": 4, "conditions": [{"type": "ReplicaFailure", "status": "True",
   "message": "pods is forbidden: exceeded quota: gpu"}]}})",
                              evidence::Kind::workload);
  CHECK(fact_with(facts, "replicas", "6").get("ready") == "4");
  CHECK(fact_saying(facts, "exceeded quota").place.workload == "chat");
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE(
    "kubernetes JSON: concatenated documents and text between them are read with true lines") {
  const auto facts = facts_of(parse_kubernetes_json,
                              "{\"kind\":\"Event\",\"message\":\"one\",\"involvedObject\":{}}\n"
                              "{\"kind\":\"Event\",\n\"message\":\"two\",\"involvedObject\":{}}\n"
                              "==== START logs for container c of pod n/p ====\n"
                              "{\"kind\":\"Event\",\"message\":\"three\",\"involvedObject\":{}}\n");
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].line == 1);
  CHECK(facts[1].line == 3);
  CHECK(facts[2].line == 5);
}

TEST_CASE("kubernetes JSON: a truncated file gives the facts of its sound part at every cut") {
  bool seen = false;
  for (std::size_t cut = 0; cut < k_pod.size(); cut += 7) {
    const auto facts = facts_of(parse_kubernetes_json, k_pod.substr(0, cut));
    if (fact_with(facts, "last.reason", "OOMKilled").line != 0) seen = true;
  }
  CHECK(seen);
  const std::string cut(k_pod.substr(0, k_pod.find("\"restartCount\"")));
  CHECK(fact_with(facts_of(parse_kubernetes_json, cut), "last.reason", "OOMKilled")
            .get("container") == "vllm");
}

TEST_CASE("located JSON: hostile nesting and endless strings end without harm") {
  std::size_t documents = 0;
  const auto count = [&](const LocatedNode&) {
    ++documents;
    return true;
  };
  analysis::formats::read_located_json(std::string(200'000, '['), count);
  analysis::formats::read_located_json(std::string(200'000, '{'), count);
  std::string deep = "{\"a\":";
  for (int i = 0; i < 50'000; ++i) deep += "{\"a\":";
  analysis::formats::read_located_json(deep, count);
  analysis::formats::read_located_json("{\"a\":\"\\u12", count);
  analysis::formats::read_located_json("{\"a\":\"\\ud83d\\ude00\"}", [&](const LocatedNode& node) {
    CHECK(node.at("a").text == "\xF0\x9F\x98\x80");
    return true;
  });
  CHECK(documents > 0);
}

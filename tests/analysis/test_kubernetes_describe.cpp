#include <doctest/doctest.h>

#include "facts_helper.hpp"

using namespace triage;
using analysis::formats::parse_kubernetes_describe;
using test::fact_saying;
using test::fact_with;
using test::facts_of;
using test::line_in;
using test::line_of;

namespace {

constexpr std::string_view k_pod = R"(Name:             chat-7c4d9f6b58-b2hzl
Namespace:        llm
Priority:         1000
Node:             gpu-7/10.20.0.7
Start Time:       Fri, 20 Feb 2026 15:45:00 +0000
Labels:           app=chat
                  pod-template-hash=7c4d9f6b58
Annotations:      <none>
Status:           Running
IP:               10.244.12.44
Controlled By:  ReplicaSet/chat-7c4d9f6b58
Init Containers:
  fetch:
    Image:          busybox
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
Containers:
  vllm:
    Image:         vllm/vllm-openai:v0.11.0
    Port:          8000/TCP
    Args:
      --model
      /models/x
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Error
      Message:      Traceback (most recent call last):
  File "/x.py", line 3
RuntimeError: CUDA error: an illegal memory access was encountered
      Exit Code:    1
      Started:      Thu, 07 Aug 2025 02:14:44 +0000
      Finished:     Thu, 07 Aug 2025 02:15:24 +0000
    Ready:          False
    Restart Count:  6
    Limits:
      memory:          96Gi
      nvidia.com/gpu:  4
    Liveness:          http-get http://:8000/health delay=30s timeout=2s period=5s #success=1 #failure=4
    Environment:
      NCCL_DEBUG:  INFO
    Mounts:
      /dev/shm from dshm (rw)
Conditions:
  Type              Status
  Initialized       True 
  Ready             False 
  PodScheduled      True 
Node-Selectors:              pool=prefill
Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                             nvidia.com/gpu:NoSchedule op=Exists
Events:
  Type     Reason     Age                  From               Message
  ----     ------     ----                 ----               -------
  Normal   Scheduled  14m                  default-scheduler  Successfully assigned llm/chat-7c4d9f6b58-b2hzl to gpu-7
  Warning  Failed     91s (x6 over 14m)    kubelet            Error: failed to create containerd task: OCI runtime create failed: nvidia-container-cli: initialization error:
nvml error: driver/library version mismatch: unknown
  Warning  BackOff    8s (x54 over 14m)    kubelet            Back-off restarting failed container


Name:         second-0
Namespace:    llm
Node:         gpu-8/10.20.0.8
Status:       Failed
Reason:       Evicted
Message:      The node was low on resource: memory.
Events:       <none>
)";

constexpr std::string_view k_node = R"(Name:               gpu-11
Roles:              <none>
Labels:             kubernetes.io/hostname=gpu-11
                    nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3
Annotations:        node.alpha.kubernetes.io/ttl: 0
CreationTimestamp:  Wed, 24 Dec 2025 17:22:10 +0000
Taints:             nvidia.com/gpu=present:NoSchedule
                    node.kubernetes.io/unschedulable:NoSchedule
Unschedulable:      true
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message
  ----             ------  -----------------                 ------------------                ------                       -------
  MemoryPressure   False   Wed, 20 Aug 2025 19:09:40 +0000   Tue, 01 Jul 2025 19:10:00 +0000   KubeletHasSufficientMemory   kubelet has sufficient memory available
  Ready            False   Wed, 20 Aug 2025 19:09:40 +0000   Tue, 01 Jul 2025 19:11:00 +0000   KubeletNotReady              PLEG is not healthy: pleg was last seen active 3m ago
Capacity:
  memory:          1056456688Ki
  nvidia.com/gpu:  8
Allocatable:
  memory:          1048165552Ki
  nvidia.com/gpu:  7
System Info:
  Kernel Version:             5.15.0-139-generic
  Container Runtime Version:  containerd://1.7.27
Non-terminated Pods:          (1 in total)
  Namespace                   Name                   CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------                   ----                   ------------  ----------  ---------------  -------------  ---
  llm                         chat-7c4d9f6b58-b2hzl  16 (8%)       32 (16%)    96Gi (9%)        128Gi (12%)    3d
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests  Limits
  --------           --------  ------
  cpu                16 (8%)   32 (16%)
  nvidia.com/gpu     6         6
Events:
  Type    Reason              Age   From     Message
  ----    ------              ----  ----     -------
  Normal  NodeNotSchedulable  4m    kubelet  Node gpu-11 status is now: NodeNotSchedulable
)";

}  // namespace

TEST_CASE("kubectl describe pod: containers carry states, probes and limits with their lines") {
  const auto facts = facts_of(parse_kubernetes_describe, k_pod);
  const auto container = fact_with(facts, "container", "vllm");
  CHECK(container.get("waiting.reason") == "CrashLoopBackOff");
  CHECK(container.get("last.reason") == "Error");
  CHECK(container.get("last.exit_code") == "1");
  CHECK(line_of(container, "last.exit_code") == line_in(k_pod, "Exit Code:    1"));
  CHECK(container.get("last.duration") == "40");
  CHECK(container.get("restart_count") == "6");
  CHECK(container.get("limits.memory") == "103079215104");
  CHECK(container.get("limits.nvidia.com/gpu") == "4");
  CHECK(container.get("probe.liveness.budget") == "50");
  CHECK(container.get("probe.liveness.timeout") == "2");
  CHECK(container.get("args") == "--model /models/x");
  CHECK(container.get("shm.mounted") == "true");
  CHECK(container.get("env.NCCL_DEBUG") == "INFO");
  CHECK(container.get("tolerations") ==
        "node.kubernetes.io/not-ready:NoExecute op=Exists for 300s, nvidia.com/gpu:NoSchedule "
        "op=Exists");
  CHECK(container.get("node_selector.pool") == "prefill");
  CHECK(container.get("condition.Ready") == "false");
  CHECK(container.place.node == "gpu-7");
  CHECK(container.place.workload == "chat");
  CHECK(container.place.revision == "7c4d9f6b58");
  CHECK(fact_with(facts, "container", "fetch").get("init") == "true");
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubectl describe pod: a termination message of several lines stays one text") {
  const auto facts = facts_of(parse_kubernetes_describe, k_pod);
  const auto message = fact_saying(facts, "illegal memory access");
  CHECK(message.line == line_in(k_pod, "Message:      Traceback"));
  CHECK(message.place.container == "vllm");
  REQUIRE(message.stamp);
  CHECK(message.stamp->ns == evidence::parse_rfc3339("2025-08-07T02:15:24Z")->ns);
}

TEST_CASE("kubectl describe pod: events are placed at the pod and broken messages are joined") {
  const auto facts = facts_of(parse_kubernetes_describe, k_pod);
  const auto failed = fact_saying(facts, "driver/library version mismatch");
  CHECK(failed.kind == evidence::Kind::event);
  CHECK(failed.line == line_in(k_pod, "Error: failed to create containerd task"));
  CHECK(failed.get("reason") == "Failed");
  CHECK(failed.get("count") == "6");
  CHECK(failed.get("age.last") == "91");
  CHECK(failed.get("age.first") == "840");
  CHECK(failed.get("object.kind") == "Pod");
  CHECK(failed.place.pod == "chat-7c4d9f6b58-b2hzl");
  CHECK(failed.place.workload == "chat");
  CHECK(fact_saying(facts, "Back-off restarting").get("source") == "kubelet");
}

TEST_CASE("kubectl describe pod: several pods in one file are told apart") {
  const auto facts = facts_of(parse_kubernetes_describe, k_pod);
  const auto evicted = fact_with(facts, "status.reason", "Evicted");
  CHECK(evicted.place.pod == "second-0");
  CHECK(evicted.place.node == "gpu-8");
  CHECK(evicted.text == "The node was low on resource: memory.");
  CHECK(evicted.line == line_in(k_pod, "The node was low"));
}

TEST_CASE("kubectl describe node: taints, conditions, GPUs, allocation and pods") {
  const auto facts = facts_of(parse_kubernetes_describe, k_node, evidence::Kind::node);
  const auto node = fact_with(facts, "unschedulable", "true");
  CHECK(node.kind == evidence::Kind::node);
  CHECK(node.place.node == "gpu-11");
  CHECK(node.get("taints") ==
        "nvidia.com/gpu=present:NoSchedule, node.kubernetes.io/unschedulable:NoSchedule");
  CHECK(node.get("taint.nvidia.com/gpu") == "present:NoSchedule");
  CHECK(node.get("gpu.capacity") == "8");
  CHECK(node.get("gpu.allocatable") == "7");
  CHECK(node.get("gpu.allocated") == "6");
  CHECK(line_of(node, "gpu.allocatable") == line_in(k_node, "nvidia.com/gpu:  7"));
  CHECK(node.get("condition.Ready") == "false");
  CHECK(node.get("condition.Ready.reason") == "KubeletNotReady");
  CHECK(node.get("labels.nvidia.com/gpu.product") == "NVIDIA-H100-80GB-HBM3");
  REQUIRE(node.stamp);
  CHECK(node.stamp->ns == evidence::parse_rfc3339("2025-08-20T19:09:40Z")->ns);
  CHECK(fact_saying(facts, "kubelet has sufficient memory").line == 0);  // no evidence of a fault
  const auto pleg = fact_saying(facts, "PLEG is not healthy");
  REQUIRE(pleg.stamp);
  CHECK(pleg.stamp->ns == evidence::parse_rfc3339("2025-07-01T19:11:00Z")->ns);
  CHECK(fact_with(facts, "node", "gpu-11").place.pod == "chat-7c4d9f6b58-b2hzl");
  CHECK(fact_saying(facts, "NodeNotSchedulable").get("object.kind") == "Node");
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubectl describe of a custom resource gives what its JSON would give") {
  constexpr std::string_view text = R"(Name:         qwen
Namespace:    flexinfer-system
Labels:       <none>
API Version:  ai.flexinfer/v1alpha2
Kind:         Model
Metadata:
  Creation Timestamp:  2026-06-10T20:14:30Z
Spec:
  Backend:  vllm
  Gpu:
    Count:   2
    Shared:  g0
Status:
  Conditions:
    Last Transition Time:  2026-06-18T19:47:50Z
    Message:               backend is starting
    Reason:                Loading
    Status:                False
    Type:                  Ready
  Loading Progress At:     2026-06-18T20:00:23Z
  Loading Substage:        LoadingWeights
  Message:                 loading weights (31/34 shards)
  Phase:                   Loading
Events:
  Type     Reason     Age   From   Message
  ----     ------     ----  ----   -------
  Warning  Preempted  2m    model  Preempted by other with priority 100
)";
  const auto facts = facts_of(parse_kubernetes_describe, text, evidence::Kind::model);
  const auto model = fact_with(facts, "phase", "Loading");
  CHECK(model.kind == evidence::Kind::model);
  CHECK(model.get("name") == "qwen");
  CHECK(model.get("substage") == "LoadingWeights");
  CHECK(line_of(model, "progress_at") == line_in(text, "Loading Progress At"));
  CHECK(model.get("gpu.count") == "2");
  CHECK(model.get("shared_group.name") == "g0");
  CHECK(model.get("condition.Ready.reason") == "Loading");
  CHECK(fact_saying(facts, "Preempted by other").get("object.name") == "qwen");
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubectl describe: cut short or damaged text never harms") {
  std::size_t facts = 0;
  for (std::string_view whole : {k_pod, k_node})
    for (std::size_t cut = 0; cut < whole.size(); cut += 11)
      facts += facts_of(parse_kubernetes_describe, whole.substr(0, cut)).size();
  CHECK(facts > 100);
}

#include <doctest/doctest.h>

#include "analysis/formats/kubernetes_names.hpp"
#include "facts_helper.hpp"

using namespace triage;
using analysis::formats::owner_from_pod_name;
using analysis::formats::parse_kubernetes_table;
using analysis::formats::quantity;
using test::fact_saying;
using test::fact_with;
using test::facts_of;

TEST_CASE("kubectl get events: rows give time, reason, object and message") {
  const auto facts = facts_of(
      parse_kubernetes_table,
      "LAST SEEN              TYPE      REASON             OBJECT                        MESSAGE\n"
      "3m39s (x12 over 60m)   Warning   FailedScheduling   pod/rerank-5d8b9c7f6d-9k4vx   0/4 nodes "
      "are available: 3 node(s) didn't match.\n"
      "12m                    Normal    NodeHasDiskPressure   node/gpu-9   Node gpu-9 status is "
      "now: "
      "NodeHasDiskPressure\n"
      "<unknown>              Warning   Failed             pod/a-0                       Error: "
      "first\n"
      "second line\n"
      "5m                     Normal    TaintManagerEviction pod/p-7f8d9c-4kq2p   Marking for "
      "deletion\n",
      evidence::Kind::event);
  REQUIRE(facts.size() == 4);
  CHECK(facts[0].get("reason") == "FailedScheduling");
  CHECK(facts[0].get("count") == "12");
  CHECK(facts[0].get("age.last") == "219");
  CHECK(facts[0].get("age.first") == "3600");
  CHECK(facts[0].get("object.kind") == "Pod");
  CHECK(facts[0].place.pod == "rerank-5d8b9c7f6d-9k4vx");
  CHECK(facts[0].place.workload == "rerank");
  CHECK(facts[0].text == "0/4 nodes are available: 3 node(s) didn't match.");
  CHECK(facts[0].line == 2);
  CHECK(facts[1].place.node == "gpu-9");
  CHECK(facts[2].text == "Error: first\nsecond line");
  CHECK(facts[2].line == 4);
  CHECK(facts[3].line == 6);
  CHECK(facts[3].get("reason") == "TaintManagerEviction");
  CHECK(facts[3].text == "Marking for deletion");
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubectl get events: all namespaces, wide, time stamps and collapsed blanks") {
  auto facts = facts_of(
      parse_kubernetes_table,
      "NAMESPACE   LAST SEEN   TYPE      REASON      OBJECT           SUBOBJECT               "
      "SOURCE             MESSAGE                        FIRST SEEN   COUNT   NAME\n"
      "llm         8s          Warning   Unhealthy   pod/vllm-0       spec.containers{vllm}   "
      "kubelet, gpu-3     Liveness probe failed: dial    15m          54      vllm-0.17a\n",
      evidence::Kind::event);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("object.namespace") == "llm");
  CHECK(facts[0].place.container == "vllm");
  CHECK(facts[0].place.node == "gpu-3");
  CHECK(facts[0].get("count") == "54");
  CHECK(facts[0].text == "Liveness probe failed: dial");
  facts = facts_of(
      parse_kubernetes_table,
      "LAST SEEN TYPE REASON OBJECT MESSAGE\n"
      "2026-02-01T10:00:00Z Warning Evicted pod/a-0 The node was low on resource: memory.\n",
      evidence::Kind::event);
  REQUIRE(facts.size() == 1);
  REQUIRE(facts[0].stamp);
  CHECK(facts[0].text == "The node was low on resource: memory.");
}

TEST_CASE("kubectl get pods: status, restarts, node and owner of each row") {
  const auto facts =
      facts_of(parse_kubernetes_table,
               "NAME                        READY   STATUS                  RESTARTS        AGE   "
               "IP            NODE          NOMINATED NODE   READINESS GATES\n"
               "chat-70b-7f6c9b8d54-4k2vb   0/1     Running                 1 (7m16s ago)   2d    "
               "10.244.3.21   gpu-h100-01   <none>           <none>\n"
               "chat-70b-7f6c9b8d54-m6tzp   0/1     CrashLoopBackOff        2 (4m25s ago)   2d    "
               "10.244.5.35   gpu-h100-04   <none>           <none>\n"
               "fetch-0                     0/1     Init:ImagePullBackOff   0               2d    "
               "<none>        <none>        <none>           <none>\n"
               "gone-1                      0/1     Evicted                 0               2d    "
               "<none>        gpu-1         <none>           <none>\n"
               "dead-2                      0/1     OOMKilled               3               2d    "
               "<none>        gpu-1         <none>           <none>\n");
  REQUIRE(facts.size() == 5);
  CHECK(facts[0].get("phase") == "Running");
  CHECK(facts[0].get("ready") == "false");
  CHECK(facts[0].get("restart_count") == "1");
  CHECK(facts[0].place.node == "gpu-h100-01");
  CHECK(facts[0].place.workload == "chat-70b");
  CHECK(facts[0].place.revision == "7f6c9b8d54");
  CHECK(facts[1].get("waiting.reason") == "CrashLoopBackOff");
  CHECK(facts[1].line == 3);
  CHECK(facts[2].get("waiting.reason") == "ImagePullBackOff");
  CHECK(facts[2].get("init") == "true");
  CHECK(facts[2].place.node.empty());
  CHECK(facts[3].get("status.reason") == "Evicted");
  CHECK(facts[4].get("terminated.reason") == "OOMKilled");
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubectl get: several tables in one file, nodes, workloads and models") {
  const auto facts = facts_of(parse_kubernetes_table,
                              "NAME    STATUS                     ROLES    AGE   VERSION\n"
                              "gpu-1   NotReady                   <none>   9d    v1.31.6\n"
                              "gpu-2   Ready,SchedulingDisabled   <none>   9d    v1.31.6\n"
                              "\n"
                              "NAME                   READY   UP-TO-DATE   AVAILABLE   AGE\n"
                              "deployment.apps/chat   4/6     6            4           2d\n"
                              "\n"
                              "NAME   BACKEND   PHASE     TPS   AGE\n"
                              "qwen   vllm      Loading         4h\n"
                              "\n"
                              "NAME       STATUS   VOLUME   CAPACITY   ACCESS MODES   AGE\n"
                              "models     Bound    pv-1     1Ti        ROX            2d\n");
  CHECK(fact_with(facts, "name", "gpu-1").get("condition.Ready") == "false");
  CHECK(fact_with(facts, "name", "gpu-2").get("unschedulable") == "true");
  CHECK(fact_with(facts, "name", "gpu-2").get("condition.Ready") == "true");
  const auto deployment = fact_with(facts, "name", "chat");
  CHECK(deployment.get("ready") == "4");
  CHECK(deployment.get("replicas") == "6");
  CHECK(fact_with(facts, "name", "qwen").get("phase") == "Loading");
  CHECK(fact_with(facts, "name", "models").line == 0);
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubernetes names: owners are told from pod names only where their form is certain") {
  CHECK(owner_from_pod_name("chat-70b-7f6c9b8d54-4k2vb").workload == "chat-70b");
  CHECK(owner_from_pod_name("chat-70b-7f6c9b8d54-4k2vb").revision == "7f6c9b8d54");
  CHECK(owner_from_pod_name("vllm-0").workload == "vllm");
  CHECK(owner_from_pod_name("group-0-1").workload == "group");
  CHECK(owner_from_pod_name("nvidia-device-plugin-x7k2p").workload == "nvidia-device-plugin");
  CHECK(owner_from_pod_name("my-model").workload.empty());
  CHECK(owner_from_pod_name("single").workload.empty());
}

TEST_CASE("kubernetes names: quantities become plain numbers in base units") {
  CHECK(quantity("96Gi") == "103079215104");
  CHECK(quantity("500m") == "0.5");
  CHECK(quantity("128M") == "128000000");
  CHECK(quantity("1e3") == "1000");
  CHECK(quantity("8") == "8");
  CHECK(quantity("whatever") == "whatever");
}

#include <doctest/doctest.h>

#include "collectors/cluster.hpp"
#include "collectors/host.hpp"

using namespace triage;

namespace {

const char* k_pod =
    R"({"kind": "Pod", "metadata": {"name": "chat-0", "namespace": "llm", "uid": "u",
  "labels": {"leaderworkerset.sigs.k8s.io/group-key": "g7", "app": "chat"},
  "ownerReferences": [{"kind": "StatefulSet", "apiVersion": "apps/v1", "name": "chat"}]},
  "spec": {"nodeName": "gpu-3", "initContainers": [{"name": "fetch"}],
    "containers": [{"name": "vllm", "image": "vllm/vllm-openai:v0.9", "args": ["serve", "--port", "8001"],
      "ports": [{"containerPort": 9100}], "readinessProbe": {"httpGet": {"port": 8001}},
      "resources": {"limits": {"nvidia.com/gpu": "4"}}}]},
  "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})";

collectors::Pod named(const std::string& name, const std::string& key = "",
                      const std::string& value = "") {
  collectors::Pod pod;
  pod.name = name;
  if (!key.empty()) pod.labels[key] = value;
  return pod;
}

}  // namespace

TEST_CASE("a pod's object tells its containers, ports, owner, group and GPU") {
  const auto pods = collectors::parse_pods(k_pod);
  REQUIRE(pods.size() == 1);
  const auto& pod = pods[0];
  CHECK(pod.node == "gpu-3");
  CHECK(pod.requests_gpu);
  CHECK(pod.ready);
  REQUIRE(pod.containers.size() == 2);
  CHECK(pod.containers[0].init);
  CHECK(pod.containers[1].ports == std::vector<int>{8001, 9100});
  CHECK(pod.owners[0].resource() == "statefulsets.apps");
  CHECK(collectors::group_of(pod) == "leaderworkerset.sigs.k8s.io/group-key=g7");
  CHECK(collectors::engine_ports(pod.containers[1]) == std::vector<int>{8001, 9100, 8000});
  CHECK(collectors::parse_pods(pod.raw).size() == 1);
}

TEST_CASE("lists of pods are read, and anything else gives none") {
  CHECK(collectors::parse_pods(std::string(R"({"kind": "List", "items": [)") + k_pod + "," + k_pod +
                               "]}")
            .size() == 2);
  for (const char* text : {"", "[]", "{", "{\"items\": 3}", "{\"items\": [1, null, {}]}",
                           "{\"kind\": \"Pod\", \"spec\": []}", "{\"kind\": \"Node\"}", "\xff\xfe"})
    for (const auto& pod : collectors::parse_pods(text)) CHECK(pod.name.empty());
}

TEST_CASE("a workload's selector is taken from its object or its kind's label") {
  const auto object = collectors::parse_object(
      R"({"kind": "Deployment", "metadata": {"name": "chat"}, "spec": {"selector": {"matchLabels": {"app": "chat", "tier": "x"}}}})");
  REQUIRE(object.has_value());
  CHECK(object->match_labels == "app=chat,tier=x");
  CHECK(collectors::group_selector("lws", "chat") == "leaderworkerset.sigs.k8s.io/name=chat");
  CHECK(collectors::group_selector("InferenceService", "m") ==
        "serving.kserve.io/inferenceservice=m");
  CHECK(collectors::group_selector("deploy", "chat").empty());
}

TEST_CASE("pods of the GPU stack are known by labels or names, and others are not") {
  using evidence::Kind;
  const auto role = [](const collectors::Pod& pod) {
    const auto daemon = collectors::gpu_daemon(pod);
    return daemon ? std::string(evidence::to_string(daemon->role)) : std::string("none");
  };
  CHECK(role(named("x", "app", "nvidia-device-plugin-daemonset")) == "device-plugin-log");
  CHECK(role(named("amdgpu-device-plugin-daemonset-abc")) == "device-plugin-log");
  CHECK(role(named("x", "app.kubernetes.io/component", "nvidia-driver")) == "driver-log");
  CHECK(role(named("nvidia-driver-daemonset-x2")) == "driver-log");
  CHECK(role(named("nvidia-dcgm-exporter-abc")) == "driver-log");
  CHECK(role(named("sriov-device-plugin-abc")) == "none");
  CHECK(role(named("chat-0", "app", "chat")) == "none");
  CHECK(collectors::gpu_daemon(named("nvidia-driver-daemonset-x2"))->exec_rank <
        collectors::gpu_daemon(named("nvidia-device-plugin-daemonset-x2"))->exec_rank);
}

TEST_CASE("the oldest event opens the window") {
  CHECK(collectors::oldest_event(R"({"items": [{"firstTimestamp": "2026-01-12T08:00:00Z"},
      {"firstTimestamp": null, "eventTime": "2026-01-12T07:00:00.123456Z"}]})") ==
        "2026-01-12T07:00:00.123456Z");
  CHECK(collectors::oldest_event("{\"items\": []}").empty());
  CHECK(collectors::oldest_event("nonsense").empty());
}

TEST_CASE("GPU identities are read by the names of the columns") {
  const auto gpus = collectors::parse_gpu_csv(
      "index, uuid, serial, pci.bus_id, name, driver_version, vbios_version, memory.total [MiB]\n"
      "0, GPU-0d2f8a46-1111-2222-3333-444455556666, 13, 00000000:3B:00.0, NVIDIA H100, 570.1, "
      "96.00, 81559 MiB\n"
      "1, [GPU requires reset], 14, 00000000:5E:00.0, NVIDIA H100, 570.1, 96.00, 81559 MiB\n");
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].pci == "0000:3b:00.0");
  CHECK(gpus[0].uuid == "GPU-0d2f8a46-1111-2222-3333-444455556666");
  CHECK(gpus[1].uuid.empty());
  CHECK(gpus[1].pci == "0000:5e:00.0");
  CHECK(collectors::parse_gpu_csv("No devices were found\n").empty());
}

TEST_CASE("the clock command's answer is read, and what is missing stays unknown") {
  const auto clock = collectors::parse_clock(
      "now 1768206000.250000000\nuptime 1000.25 2000.5\nboot 0a1b\nbtime 1768204999\nzone CET\n");
  CHECK(clock.now_s == doctest::Approx(1768206000.25));
  CHECK(clock.uptime_s == doctest::Approx(1000.25));
  CHECK(clock.boot_id == "0a1b");
  CHECK(clock.boot_time_s == 1768204999);
  CHECK(clock.zone == "CET");
  CHECK_FALSE(collectors::parse_clock("sh: not found\n").uptime_s.has_value());
}

TEST_CASE("AMD's device plugin is known by its operator's namespace") {
  collectors::Pod pod = named("default-device-plugin-abcde");
  CHECK_FALSE(collectors::gpu_daemon(pod).has_value());  // storage and network have some too
  pod.name_space = "kube-amd-gpu";
  REQUIRE(collectors::gpu_daemon(pod).has_value());
  CHECK(collectors::gpu_daemon(pod)->role == evidence::Kind::device_plugin_log);
}

TEST_CASE("what a person may read is told in one line") {
  CHECK(collectors::rights_in_short("Resources   Non-Resource URLs   Resource Names   Verbs\n"
                                    "pods        []   []   [get list watch]\n"
                                    "pods/log    []   []   [get]\n"
                                    "events.events.k8s.io   []   []   [list]\n"
                                    "pods/exec   []   [only-this-one]   [create]\n") ==
        "may get pods, get pods/log, list events; may not get nodes, create pods/exec, get "
        "pods/proxy, get nodes/proxy");
  CHECK(collectors::rights_in_short("Resources Verbs\n*.*   []   []   [*]\n") ==
        "may get pods, get pods/log, list events, get nodes, create pods/exec, get pods/proxy, get "
        "nodes/proxy");
  CHECK(collectors::rights_in_short("error: forbidden").empty());
}

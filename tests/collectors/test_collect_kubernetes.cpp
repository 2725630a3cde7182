#include "collect_run.hpp"

using namespace triage;
using namespace collect_run;
using nlohmann::json;

namespace {

json pod(const std::string& name, const std::string& node, json labels = json::object()) {
  return {{"metadata",
           {{"name", name},
            {"namespace", "llm"},
            {"uid", "0a1b2c3d-0000-0000-0000-00000000000" + std::to_string(name.size() % 10)},
            {"labels", labels},
            {"ownerReferences",
             {{{"kind", "ReplicaSet"}, {"apiVersion", "apps/v1"}, {"name", "chat-rs"}}}}}},
          {"spec",
           {{"nodeName", node},
            {"containers",
             {{{"name", "vllm"},
               {"image", "vllm/vllm-openai:v0.9.1"},
               {"ports", {{{"containerPort", 8000}}}},
               {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}}}}}},
          {"status", {{"phase", "Running"}}}};
}

/// A replica of a Deployment on a node with the GPU operator.
json scenario() {
  json driver = {
      {"metadata",
       {{"name", "nvidia-driver-daemonset-abcde"},
        {"namespace", "gpu-operator"},
        {"uid", "d"},
        {"labels", {{"app.kubernetes.io/component", "nvidia-driver"}}}}},
      {"spec", {{"nodeName", "gpu-3"}, {"containers", {{{"name", "nvidia-driver-ctr"}}}}}},
      {"status", {{"phase", "Running"}}}};
  json s;
  s["pods"] = {pod("chat-0", "gpu-3", {{"app", "chat"}}),
               pod("chat-10", "gpu-3", {{"app", "chat"}}), driver};
  s["nodes"] = {{{"metadata", {{"name", "gpu-3"}}}, {"status", {{"nodeInfo", {{"bootID", "b"}}}}}}};
  s["events"] = {{{"metadata", {{"name", "e1"}, {"namespace", "llm"}}},
                  {"type", "Warning"},
                  {"reason", "BackOff"},
                  {"message", "Back-off restarting failed container"},
                  {"firstTimestamp", "2026-01-12T07:00:00Z"},
                  {"lastTimestamp", "2026-01-12T08:00:00Z"},
                  {"involvedObject", {{"kind", "Pod"}, {"name", "chat-0"}, {"namespace", "llm"}}}}};
  s["objects"]["/apis/apps/v1/replicasets"] = {
      {{"metadata",
        {{"name", "chat-rs"},
         {"namespace", "llm"},
         {"ownerReferences",
          {{{"kind", "Deployment"}, {"apiVersion", "apps/v1"}, {"name", "chat"}}}}}}}};
  s["objects"]["/apis/apps/v1/deployments"] = {
      {{"metadata", {{"name", "chat"}, {"namespace", "llm"}}},
       {"spec", {{"selector", {{"matchLabels", {{"app", "chat"}}}}}}}}};
  s["logs"]["llm/chat-0/vllm"] = "INFO 01-12 08:00:00 [core.py:1] vLLM engine\n";
  s["logs"]["llm/chat-10/vllm"] = "INFO 01-12 08:00:00 [core.py:1] vLLM engine of another\n";
  s["logs"]["gpu-operator/nvidia-driver-daemonset-abcde/nvidia-driver-ctr"] =
      "Installing NVIDIA driver kernel modules...\n";
  s["previous"]["llm/chat-0/vllm"] =
      "INFO 01-12 07:59:00 [core.py:1] vLLM engine\n"
      "ERROR 01-12 07:59:30 [core.py:2] torch.OutOfMemoryError: CUDA out of memory. Tried to "
      "allocate 2.00 GiB. "
      "GPU 0 has a total capacity of 79.11 GiB of which 1.00 GiB is free.\n";
  s["proxy"]["llm/chat-0:8000/metrics"] =
      "# HELP vllm:num_requests_running r\n# TYPE vllm:num_requests_running gauge\n"
      "vllm:num_requests_running{engine=\"0\"} 3.0\n";
  s["proxy"]["llm/chat-0:8000/health"] = {{"status", 503}, {"body", "sick"}};
  s["node_logs"]["gpu-3/pods/llm_chat-0_0a1b2c3d-0000-0000-0000-000000000006/vllm/0.log"] =
      "2026-01-12T07:00:00.000000000Z stderr F an older instance\n";
  auto& exec = s["exec"]["gpu-operator/nvidia-driver-daemonset-abcde"];
  exec["nvidia-smi -L"] = {
      {"stdout", "GPU 0: NVIDIA H100 (UUID: GPU-0d2f8a46-1111-2222-3333-444455556666)\n"}};
  exec["nvidia-smi -q"] = {{"stdout", "\n==============NVSMI LOG==============\n"}};
  exec["dmesg"] = {{"stdout", "[    1.000000] NVRM: loading\n"}};
  exec["~^sh -c echo now"] = {
      {"stdout", "now 4102444800.5\nuptime 1000.0 1\nboot 0a1b\nbtime 4102443800\nzone UTC\n"}};
  return s;
}

std::vector<std::string> collect(const World& world, std::vector<std::string> more,
                                 std::vector<std::pair<std::string, std::string>> plan = {}) {
  std::vector<std::string> arguments{"collect",
                                     "-n",
                                     "llm",
                                     "-o",
                                     world.path("out/b.tar.gz"),
                                     "--plan",
                                     hasty_plan(world, std::move(plan))};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const std::vector<std::string> k_tools{"kubectl", "python3"};

}  // namespace

TEST_CASE(
    "a pod is collected through the real kubectl: logs, events, objects, node, engine, driver "
    "pod") {
  if (!have(k_tools)) return;
  const World world;
  const Server server(world, scenario());
  const Run got = run(world, collect(world, {"chat-0", "--tier", "full"}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  const auto& manifest = bundle.checked.manifest;
  CHECK(bundle.file("k8s/llm/pods/chat-0/vllm/previous.log").find("CUDA out of memory") !=
        std::string::npos);
  CHECK(bundle.file("k8s/llm/pods/chat-0/vllm/current.log").find("vLLM engine\n") !=
        std::string::npos);
  CHECK(bundle.file("k8s/llm/pods/chat-0/vllm/rotated/0.log").find("an older instance") !=
        std::string::npos);
  CHECK(bundle.file("k8s/llm/pods/chat-0/pod.json").find("\"chat-0\"") != std::string::npos);
  CHECK(bundle.file("k8s/llm/pods/chat-0/describe.txt").find("Name:") == 0);
  CHECK(bundle.file("k8s/llm/events.json").find("BackOff") != std::string::npos);
  CHECK(bundle.file("k8s/nodes/gpu-3/node.json").find("gpu-3") != std::string::npos);
  CHECK(bundle.file("k8s/llm/owners/replicaset-chat-rs.json").find("chat-rs") != std::string::npos);
  CHECK(bundle.file("k8s/llm/owners/deployment-chat.json").find("\"chat\"") != std::string::npos);
  CHECK(bundle.file("engines/llm_chat-0/metrics-1.prom").find("num_requests_running") !=
        std::string::npos);
  CHECK(bundle.file("engines/llm_chat-0/metrics-2.prom").find("num_requests_running") !=
        std::string::npos);
  const std::string health = bundle.file("engines/llm_chat-0/health.txt");
  CHECK(health.find("HTTP 503 Service Unavailable\n") == 0);
  CHECK(health.find("Content-Type: ") != std::string::npos);
  CHECK(health.find("\n\nsick") != std::string::npos);
  CHECK(bundle.status("engine-health") == "ok");
  CHECK(bundle.status("engine-version") == "missing");
  CHECK(bundle.files.count("engines/llm_chat-0/version.json") == 0);
  CHECK(bundle.file("k8s/gpu-operator/nvidia-driver-daemonset-abcde/nvidia-driver-ctr/current.log")
            .find("Installing NVIDIA driver") != std::string::npos);
  CHECK(manifest.event_window_oldest == "2026-01-12T07:00:00Z");
  REQUIRE(manifest.targets.size() == 1);
  CHECK(manifest.targets[0].node == "gpu-3");
  CHECK(manifest.cluster.at("server") == "v1.31.4");
  CHECK(manifest.cluster.at("context") == "t");
  CHECK(bundle.row("logs-previous")->exit_code == 0);
  CHECK_FALSE(bundle.row("logs-previous")->sha256.empty());
  if (!kubectl_execs_over_websocket()) return;
  CHECK(bundle.file("nodes/gpu-3/nvidia/smi-q.txt").find("NVSMI LOG") != std::string::npos);
  CHECK(bundle.file("nodes/gpu-3/kernel/dmesg.txt").find("NVRM: loading") != std::string::npos);
  REQUIRE(manifest.node("gpu-3") != nullptr);
  CHECK(manifest.node("gpu-3")->smi_state == "ok");
  CHECK(manifest.node("gpu-3")->boot_id == "0a1b");
  // The node's clock runs decades ahead of this host's.
  CHECK(manifest.node("gpu-3")->clock_skew_ns.value_or(0) > 1'000'000'000);
  CHECK(bundle.status("amd-metric") == "skipped");
}

TEST_CASE("a workload means all its replicas, a selector all its pods") {
  if (!have(k_tools)) return;
  const World world;
  const Server server(world, scenario());
  for (const std::vector<std::string>& target :
       {std::vector<std::string>{"deploy/chat"}, std::vector<std::string>{"-l", "app=chat"},
        std::vector<std::string>{"chat-0", "pod/chat-10"}}) {
    const Run got = run(world, [&] {
      auto arguments = collect(world, {"--tier", "minimal", "--no-exec"});
      arguments.insert(arguments.end(), target.begin(), target.end());
      return arguments;
    }());
    INFO(got.errors());
    const Bundle bundle = open(got.bundle);
    CHECK(bundle.checked.manifest.targets.size() == 2);
    CHECK(bundle.file("k8s/llm/pods/chat-10/vllm/current.log").find("another") !=
          std::string::npos);
  }
}

TEST_CASE("a node means its state and the GPU pods on it") {
  if (!have(k_tools)) return;
  const World world;
  const Server server(world, scenario());
  const Run got = run(world, collect(world, {"--node", "gpu-3", "--tier", "minimal", "--no-exec"}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.checked.manifest.targets.size() == 2);
  CHECK(bundle.status("node") == "ok");
  CHECK(bundle.status("dmesg") == "skipped");
}

TEST_CASE("the other ranks of a group are gathered with the one that was named") {
  if (!have(k_tools)) return;
  const World world;
  json s = scenario();
  s["pods"][0]["metadata"]["labels"] = {{"leaderworkerset.sigs.k8s.io/group-key", "g"}};
  s["pods"][1]["metadata"]["labels"] = {{"leaderworkerset.sigs.k8s.io/group-key", "g"}};
  const Server server(world, s);
  const Run got = run(world, collect(world, {"chat-0", "--tier", "minimal", "--no-exec"}));
  INFO(got.errors());
  CHECK(open(got.bundle).checked.manifest.targets.size() == 2);
}

TEST_CASE("what is forbidden is recorded as denied with its reason, and the rest is gathered") {
  if (!have(k_tools)) return;
  const World world;
  json s = scenario();
  s["faults"] = {{{"path", "/namespaces/llm/events"}, {"do", "forbid"}},
                 {{"path", "^/api/v1/nodes"}, {"do", "forbid"}},
                 {{"path", "^/api/v1/pods$"}, {"do", "forbid"}}};
  const Server server(world, s);
  const Run got = run(world, collect(world, {"chat-0"}));
  INFO(got.errors());
  CHECK(got.exit() == 4);  // events of the own namespace were wanted
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.status("events") == "denied");
  CHECK(bundle.row("events")->reason.find("forbidden") != std::string::npos);
  CHECK(bundle.status("node") == "denied");
  CHECK(bundle.status("logs-previous") == "ok");
  // The driver pod is found in its usual namespace all the same.
  CHECK(bundle.status("gpu-daemon") == "ok");
}

TEST_CASE("a pod that does not exist is said, and the namespace's events are kept") {
  if (!have(k_tools)) return;
  const World world;
  const Server server(world, scenario());
  const Run got = run(world, collect(world, {"chat-77"}));
  INFO(got.errors());
  CHECK(got.exit() == 4);
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.status("target") == "missing");
  CHECK(bundle.status("events") == "ok");
}

TEST_CASE("a node that does not exist is said like a pod, and not taken for an empty one") {
  if (!have(k_tools)) return;
  const World world;
  const Server server(world, scenario());
  const Run got = run(world, collect(world, {"--node", "gpu-3", "--node", "gpu-77", "--tier",
                                             "minimal", "--no-exec"}));
  INFO(got.errors());
  CHECK(got.exit() == 4);
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.status("target") == "missing");
  CHECK(bundle.row("target")->place.node == "gpu-77");
  CHECK(got.errors().find("without  target (gpu-77): missing: ") != std::string::npos);
  CHECK(bundle.status("node") == "ok");
}

TEST_CASE("of a log that does not come in time, the newest lines are asked for by themselves") {
  if (!have(k_tools)) return;
  const World world;
  const Server server(world, scenario());
  const auto kubectl = base::find_program("kubectl");
  world.tool("kubectl",
             "case \"$*\" in *--tail=*) echo '2026-01-12T09:00:00Z ERROR the newest';; "
             "*logs*) echo '2026-01-12T08:00:00Z INFO the oldest'; exec sleep 600;; "
             "*) exec " +
                 *kubectl + " \"$@\";; esac");
  const Run got = run(world, collect(world, {"chat-0", "--tier", "minimal", "--no-exec"},
                                     {{"deadline: 60s, cap: 32MiB", "deadline: 1s, cap: 32MiB"}}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.status("logs-current") == "timeout");
  CHECK(bundle.file("k8s/llm/pods/chat-0/vllm/current.log").find("the oldest") !=
        std::string::npos);
  CHECK(bundle.status("logs-current-newest") == "ok");
  CHECK(bundle.row("logs-current-newest")->reason.find("the newest lines") == 0);
  CHECK(bundle.file("k8s/llm/pods/chat-0/vllm/current-newest.log").find("the newest") !=
        std::string::npos);
}

TEST_CASE("a pod that vanishes between calls is kept as it was seen first") {
  if (!have(k_tools)) return;
  const World world;
  json s = scenario();
  s["faults"] = {{{"path", "/namespaces/llm/pods/chat-0$"}, {"do", "gone"}, {"after", 1}}};
  const Server server(world, s);
  const Run got = run(world, collect(world, {"chat-0", "--tier", "minimal", "--no-exec"}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.file("k8s/llm/pods/chat-0/pod.json").find("\"chat-0\"") != std::string::npos);
  bool noted = false;
  for (const auto& row : bundle.checked.manifest.items)
    noted = noted || (row.id == "pod" && row.reason.find("gone since") == 0);
  CHECK(noted);
}

TEST_CASE("a failed list is a failure, never an empty list") {
  if (!have(k_tools)) return;
  const World world;
  for (const char* fault : {"missing", "garbage", "die"}) {
    CAPTURE(std::string(fault));
    json s = scenario();
    s["faults"] = {{{"path", "/namespaces/llm/events"}, {"do", fault}}};
    const Server server(world, s);
    const Run got = run(world, collect(world, {"chat-0", "--tier", "minimal", "--no-exec"}));
    INFO(got.errors());
    const Bundle bundle = open(got.bundle);
    CHECK(bundle.status("events") != "ok");
    CHECK(bundle.status("events") != "empty");
    CHECK(bundle.files.count("k8s/llm/events.json") == 0);
    CHECK(bundle.status("logs-previous") == "ok");
  }
}

TEST_CASE("a request that hangs ends at its deadline and costs nothing else") {
  if (!have(k_tools)) return;
  const World world;
  json s = scenario();
  s["faults"] = {{{"path", "/namespaces/llm/events"}, {"do", "hang"}}};
  const Server server(world, s);
  const auto before = std::chrono::steady_clock::now();
  const Run got = run(world, collect(world, {"chat-0", "--tier", "minimal", "--no-exec"},
                                     {{"deadline: 20s, cap: 8MiB", "deadline: 1s, cap: 8MiB"}}));
  INFO(got.errors());
  CHECK(std::chrono::steady_clock::now() - before <
        std::chrono::seconds(110));  // the server holds for 120
  CHECK(got.exit() == 4);
  const Bundle bundle = open(got.bundle);
  CHECK(bundle.status("events") == "timeout");
  CHECK(bundle.status("logs-previous") == "ok");
}

TEST_CASE("a cluster that does not answer is one clear message, without a bundle") {
  if (!have(k_tools)) return;
  const World world;
  world.write("kubeconfig",
              "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
              "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: u, "
              "user: {}}]\n"
              "contexts: [{name: t, context: {cluster: c, user: u}}]\n");
  const Run got = run(world, collect(world, {"chat-0"}));
  INFO(got.errors());
  CHECK(got.exit() == 3);
  CHECK(got.errors().find("the cluster does not answer") != std::string::npos);
  CHECK(world.left_in_out().empty());
}

TEST_CASE("secrets in logs, objects and events are in no file of the bundle") {
  if (!have(k_tools)) return;
  const World world;
  const std::string token = "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";
  json s = scenario();
  s["pods"][0]["spec"]["containers"][0]["env"] = {{{"name", "HF_TOKEN"}, {"value", token}}};
  s["previous"]["llm/chat-0/vllm"] =
      "INFO 01-12 07:59:00 [core.py:1] vLLM engine, token " + token + "\n";
  s["events"][0]["message"] = "Failed to pull: Authorization: Bearer " + token;
  const Server server(world, s);
  const Run got = run(world, collect(world, {"chat-0"}));
  INFO(got.errors());
  const Bundle bundle = open(got.bundle);
  CHECK_FALSE(bundle.holds(token));
  CHECK(bundle.checked.manifest.redaction.verified);
  std::uint64_t masked = 0;
  for (const auto& [what, count] : bundle.checked.manifest.redaction.totals) masked += count;
  CHECK(masked >= 3);
  const Run verified = run(world, {"verify", got.bundle});
  INFO(verified.out);
  INFO(verified.errors());
  CHECK(verified.exit() == 0);
}

TEST_CASE("an interrupt while the debug pod is being made deletes it all the same") {
  if (!have(k_tools) || !kubectl_execs_over_websocket()) return;
  const World world;
  json s = scenario();
  s["pods"].erase(2);  // no driver pod
  const Server server(world, s);
  const auto kubectl = base::find_program("kubectl");
  world.tool("kubectl", "case \"$*\" in *debug*) touch \"$HOME/making\"; sleep 2;; esac; exec " +
                            *kubectl + " \"$@\"");
  std::atomic<bool> cancel{false};
  std::thread interrupt([&] {
    for (int i = 0; i < 1200 && !std::filesystem::exists(world.path("home/making")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel = true;
  });
  base::Command command;
  command.argv = {TRIAGE_BINARY};
  for (const auto& word : collect(world, {"chat-0", "--tier", "minimal", "--debug-node"}))
    command.argv.push_back(word);
  command.environment = world.environment();
  command.deadline = std::chrono::minutes(4);
  command.grace = std::chrono::minutes(1);  // SIGTERM, and time to tidy up
  (void)base::run(
      command, [](std::string_view) { return true; }, &cancel);
  interrupt.join();
  CHECK(read_file(world.path("port.deleted")).find("node-debugger-gpu-3-") == 0);
}

TEST_CASE("a debug pod is made by flag only, entered, and deleted again") {
  if (!have(k_tools) || !kubectl_execs_over_websocket()) return;
  const World world;
  json s = scenario();
  s["pods"].erase(2);  // no driver pod
  s["debug_exec"]["chroot /host dmesg"] = {{"stdout", "[    1.000000] NVRM: from the debug pod\n"}};
  s["debug_exec"]["chroot /host nvidia-smi -L"] = {
      {"stdout", "GPU 0: NVIDIA H100 (UUID: GPU-x)\n"}};
  const Server server(world, s);
  const Run without = run(world, collect(world, {"chat-0", "--tier", "minimal"}));
  CHECK(open(without.bundle).status("dmesg") == "skipped");
  CHECK_FALSE(std::filesystem::exists(world.path("port.deleted")));
  const Run got = run(world, collect(world, {"chat-0", "--tier", "minimal", "--debug-node"}));
  INFO(got.errors());
  CHECK(open(got.bundle).file("nodes/gpu-3/kernel/dmesg.txt").find("from the debug pod") !=
        std::string::npos);
  CHECK(read_file(world.path("port.deleted")).find("node-debugger-gpu-3-") == 0);
}

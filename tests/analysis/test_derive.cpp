#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "analysis/derive/derivers.hpp"
#include "analysis/derive/scheduler_message.hpp"
#include "base/text.hpp"
#include "facts_helper.hpp"

using namespace triage;
using namespace triage::analysis;
using evidence::Fact;
using evidence::Kind;
using test::fact_with;

namespace {

/// Evidence made of parsed Kubernetes text and of observations of rules that carry tags.
struct World {
  std::vector<Fact> facts;
  std::vector<std::unique_ptr<rules::Rule>> rules;
  std::vector<Observation> observations;
  std::optional<evidence::Time> end;

  void parse(std::string_view text, formats::Parser parser, std::uint32_t file = 0) {
    parser(text, {Kind::pod, {}}, [&](Fact&& fact) {
      fact.file = file;
      facts.push_back(std::move(fact));
    });
  }
  Observation& observe(const char* tag, std::uint32_t line, std::string text,
                       std::map<std::string, std::string> captures = {},
                       rules::Role role = rules::Role::context) {
    rules.push_back(std::make_unique<rules::Rule>());
    rules.back()->id = tag;
    rules.back()->tags = {tag};
    rules.back()->role = role;
    Observation o;
    o.rule = rules.back().get();
    o.line = line;
    o.text = std::move(text);
    o.captures = std::move(captures);
    observations.push_back(std::move(o));
    return observations.back();
  }
  Fact& metric(const char* name, double value, std::map<std::string, std::string> labels = {}) {
    Fact fact;
    fact.kind = Kind::metrics;
    fact.line = static_cast<std::uint32_t>(facts.size() + 1);
    fact.set("name", name, fact.line);
    fact.set("value", derive::plain(value), fact.line);
    for (const auto& [label, text] : labels) fact.set("labels." + label, text, fact.line);
    facts.push_back(std::move(fact));
    return facts.back();
  }
  template <class Derive>
  std::vector<Fact> run(Derive derive) {
    std::vector<std::optional<evidence::Time>> times;
    for (const Fact& fact : facts)
      times.push_back(fact.stamp ? std::optional<evidence::Time>({fact.stamp->ns, 0})
                                 : std::nullopt);
    std::vector<Fact> out;
    derive({observations, facts, times, end}, [&](Fact&& fact) { out.push_back(std::move(fact)); });
    return out;
  }
};

evidence::Time at(const char* text) {
  return {evidence::parse_rfc3339(text)->ns, 0};
}

std::string node(const char* name, const char* gpus, const char* more) {
  return std::string(R"({"kind": "Node", "metadata": {"name": ")") + name +
         R"(", "labels": {"kubernetes.io/hostname": ")" + name +
         R"(", "pool": "gpu"}}, "status": {"capacity": {"nvidia.com/gpu": ")" + gpus +
         R"("}, "allocatable": {"nvidia.com/gpu": ")" + gpus + R"("}})" + more + "}\n";
}

constexpr std::string_view k_pending_pod = R"({"kind": "Pod", "metadata": {"name": "p-0"},
 "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
  "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}, "status": {"phase": "Pending"}})";

constexpr std::string_view k_failed = R"({"kind": "Event", "reason": "FailedScheduling",
 "involvedObject": {"kind": "Pod", "name": "p-0"}, "eventTime": "2026-01-01T00:00:00Z",
 "message": "0/3 nodes are available: 1 node(s) had untolerated taint {sku: gpu}, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."})";

}  // namespace

TEST_CASE("scheduler message: clauses, counts and details, without the preemption part") {
  const auto read = derive::read_scheduler_message(
      "0/9 nodes are available: 1 node(s) had taint {a: b}, that the pod didn't tolerate, "
      "2 Insufficient nvidia.com/mig-1g.10gb, 3 node(s) didn't match Pod's node affinity/selector, "
      "3 node(s) had volume node affinity conflict. preemption: 0/9 nodes are available: "
      "9 Preemption is not helpful for scheduling..");
  CHECK(read.nodes == 9);
  REQUIRE(read.clauses.size() == 4);
  CHECK(read.find("untolerated-taint")->detail == "a: b");
  CHECK(read.find("insufficient-mig")->nodes == 2);
  CHECK(read.find("affinity")->nodes == 3);
  CHECK(derive::deciding_clause(read) == "volume-affinity");
}

TEST_CASE("scheduler message: the deciding clause where nothing is known of the nodes") {
  const auto decide = [](const char* message) {
    return derive::deciding_clause(derive::read_scheduler_message(message));
  };
  CHECK(decide("0/7 nodes are available: 3 node(s) had untolerated taint "
               "{node-role.kubernetes.io/control-plane: }, 4 Insufficient nvidia.com/gpu.") ==
        "insufficient-gpu");
  CHECK(
      decide("0/5 nodes are available: 2 node(s) had untolerated taint {nvidia.com/gpu: present}, "
             "3 Insufficient nvidia.com/gpu.") == "untolerated-taint");
  CHECK(
      decide("0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match Pod's "
             "node affinity/selector.") == "unschedulable");
  CHECK(decide("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. "
               "preemption: not helpful") == "volume-unbound");
  CHECK(decide("0/3 nodes are available: 3 node(s) had untolerated taint(s)") ==
        "untolerated-taint");
  CHECK(decide("0/3 nodes are available: 3 Insufficient memory.") == "insufficient-memory");
  // Taints without a name may be the control planes' own.
  CHECK(decide("0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient cpu. "
               "no new claims to deallocate, preemption: 0/5 nodes are available: 2 Preemption is "
               "not helpful for scheduling, 3 No preemption victims found for incoming pod.") ==
        "insufficient-cpu");
  CHECK(decide("0/3 nodes are available: 2 node(s) had untolerated taint "
               "{node.kubernetes.io/not-ready: }, 1 node(s) had untolerated taint "
               "{node-role.kubernetes.io/master: }.") == "node-not-ready");
  CHECK(decide("") == "other");
}

TEST_CASE("scheduling: a taint of the GPU nodes decides against the greater number of CPU nodes") {
  World world;
  world.parse(k_failed, formats::parse_kubernetes_json);
  world.parse(k_pending_pod, formats::parse_kubernetes_json);
  const std::string nodes =
      node("g1", "8",
           R"(, "spec": {"taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]})") +
      R"({"kind": "Node", "metadata": {"name": "c1"}, "status": {"capacity": {"cpu": "4"}}}
 {"kind": "Node", "metadata": {"name": "c2"}, "status": {"capacity": {"cpu": "4"}}})";
  world.parse(nodes, formats::parse_kubernetes_json);
  const auto facts = world.run(derive::derive_scheduling);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("deciding") == "untolerated-taint");
  CHECK(facts[0].get("gpu_nodes") == "1");
  CHECK(facts[0].get("gpu_nodes_tainted") == "1");
  CHECK(facts[0].get("pod") == "p-0");
  CHECK(facts[0].line == 3);
  CHECK(facts[0].stamp.has_value());
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("scheduling: GPU nodes that fit but are full make it a shortage") {
  World world;
  world.parse(k_failed, formats::parse_kubernetes_json);
  world.parse(k_pending_pod, formats::parse_kubernetes_json);
  world.parse(node("g1", "8", "") + node("g2", "8", "") + node("g3", "8", ""),
              formats::parse_kubernetes_json);
  const auto facts = world.run(derive::derive_scheduling);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("deciding") == "insufficient-gpu");
  CHECK(facts[0].get("gpu_nodes") == "3");
}

TEST_CASE("scheduling: a pod that has a node by now is no verdict") {
  World world;
  world.parse(k_failed, formats::parse_kubernetes_json);
  world.parse(
      R"({"kind": "Event", "reason": "Scheduled", "message": "Successfully assigned a/p-0 to g1",
 "involvedObject": {"kind": "Pod", "name": "p-0"}})",
      formats::parse_kubernetes_json);
  CHECK(world.run(derive::derive_scheduling).empty());
}

TEST_CASE("replicas: failed, ready and revisions are counted once for each pod") {
  World world;
  world.parse(
      "NAME                    READY   STATUS             RESTARTS   AGE   IP    NODE\n"
      "chat-5c8d7f9b64-8sd6t   1/1     Running            0          15d   1.1   g1\n"
      "chat-79f6b5c8d7-5vqx8   0/1     CrashLoopBackOff   6          14m   1.2   g2\n"
      "chat-79f6b5c8d7-gm2rd   0/1     CrashLoopBackOff   6          14m   1.3   g3\n",
      formats::parse_kubernetes_table);
  world.parse(
      "NAME                    READY   STATUS             RESTARTS   AGE\n"
      "chat-79f6b5c8d7-5vqx8   0/1     CrashLoopBackOff   6          14m\n",
      formats::parse_kubernetes_table);
  const auto facts = world.run(derive::derive_replicas);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("total") == "3");
  CHECK(facts[0].get("ready") == "1");
  CHECK(facts[0].get("failed") == "2");
  CHECK(facts[0].get("failed_nodes") == "2");
  CHECK(facts[0].get("revision") == "79f6b5c8d7");
  CHECK(facts[0].get("revision_total") == "2");
  CHECK(facts[0].get("other_revision_ready") == "1");
  CHECK(facts[0].line == 3);
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("loading: progress that came at an even pace up to the end is advancing") {
  World world;
  for (int i = 1; i <= 5; ++i) {
    Observation& o = world.observe(
        "loading-progress", static_cast<std::uint32_t>(i),
        "shards: " + std::to_string(i) + "/10 [00:" + std::to_string(i * 11) + "<01:00, 11.0s/it]",
        {{"done", std::to_string(i)}, {"total", "10"}});
    o.time = at("2026-01-01T00:00:00Z");
    o.stamp_is_own = false;
  }
  world.end = at("2026-01-01T00:01:00Z");
  const auto facts = world.run(derive::derive_loading);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("advancing") == "true");
  CHECK(facts[0].get("done") == "false");
  CHECK(facts[0].get("fraction") == "0.5");
  CHECK(facts[0].get("substage") == "weights");
  CHECK(facts[0].get("stalled_for") == "5");
  CHECK(facts[0].line == 5);
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("loading: a last step far slower than the others, or long silence after it, is a stall") {
  World world;
  for (int i = 1; i <= 6; ++i)
    world.observe("loading-progress", static_cast<std::uint32_t>(i),
                  "shards: " + std::to_string(i) + "/10 [" +
                      (i < 6 ? "00:0" + std::to_string(i * 1) : std::string("08:47")) +
                      "<01:00, 2.0s/it]",
                  {{"done", std::to_string(i)}, {"total", "10"}});
  auto facts = world.run(derive::derive_loading);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("advancing") == "false");

  World silent;
  for (int i = 1; i <= 3; ++i) {
    Observation& o = silent.observe("loading-progress", static_cast<std::uint32_t>(i), "x",
                                    {{"done", std::to_string(i)}, {"total", "10"}});
    o.time = at("2026-01-01T00:00:00Z");
  }
  silent.end = at("2026-01-01T00:20:00Z");
  facts = silent.run(derive::derive_loading);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("advancing") == "false");
  CHECK(facts[0].get("stalled_for") == "1200");
}

TEST_CASE("loading: a fault after the newest progress ended the load: that is no stall") {
  World world;
  for (int i = 1; i <= 3; ++i) {
    Observation& o = world.observe("loading-progress", static_cast<std::uint32_t>(i), "x",
                                   {{"done", std::to_string(i)}, {"total", "10"}});
    o.time = at("2026-01-01T00:00:00Z");
  }
  world.observe("vram-exhausted", 4, "CUDA out of memory", {}, rules::Role::root);
  world.end = at("2026-01-01T00:20:00Z");
  const auto facts = world.run(derive::derive_loading);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].find("advancing") == nullptr);
  CHECK(facts[0].find("stalled_for") == nullptr);
}

TEST_CASE("loading: the controller's progress stamp is measured against the end of the evidence") {
  World world;
  world.parse(R"({"kind": "Model", "metadata": {"name": "m"}, "status": {"phase": "Loading",
 "loadingSubstage": "LoadingWeights",
 "loadingProgressAt": "2026-06-18T20:00:23Z", "message": "loading weights (31/34 shards"
}
})",
              formats::parse_kubernetes_json);
  world.metric("flexinfer_proxy_stalled_load_total", 9, {{"model", "m"}});
  world.end = at("2026-06-18T20:13:45Z");
  const auto facts = world.run(derive::derive_loading);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("source") == "model");
  CHECK(facts[0].get("substage") == "weights");
  CHECK(facts[0].get("stalled_for") == "802");
  CHECK(facts[0].get("advancing") == "false");
  CHECK(facts[0].get("stalled_counter") == "9");
  CHECK(facts[0].line == 3);
}

TEST_CASE("load: engine metrics become one fact with the newest, greatest and quantile values") {
  World world;
  world.metric("vllm:num_requests_running", 64);
  world.metric("vllm:num_requests_waiting", 212);
  world.metric("vllm:kv_cache_usage_perc", 0.93);
  world.metric("vllm:num_preemptions_total", 38);
  world.metric("vllm:request_success_total", 1190, {{"finished_reason", "stop"}});
  world.metric("vllm:time_to_first_token_seconds_bucket", 10, {{"le", "1"}});
  world.metric("vllm:time_to_first_token_seconds_bucket", 100, {{"le", "20"}});
  world.metric("vllm:time_to_first_token_seconds_bucket", 100, {{"le", "+Inf"}});
  const auto facts = world.run(derive::derive_load);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("engine") == "vllm");
  CHECK(facts[0].get("waiting") == "212");
  CHECK(test::line_of(facts[0], "waiting") == 2);
  CHECK(facts[0].get("kv_usage") == "0.93");
  CHECK(facts[0].get("preemptions") == "38");
  CHECK(facts[0].get("serving") == "true");
  CHECK(std::stod(facts[0].get("ttft_p95")) == doctest::Approx(18.94).epsilon(0.01));
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("load: engine log lines give usage as a fraction and a rising queue") {
  World world;
  for (int i = 0; i < 9; ++i)
    world.observe("engine-stats", static_cast<std::uint32_t>(i + 1),
                  "Running: 38 reqs, Waiting: 0 reqs, GPU KV cache usage: 93.1%",
                  {{"running", "38"}, {"waiting", std::to_string(10 * i)}, {"kv_usage", "93.1"}});
  const auto facts = world.run(derive::derive_load);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("kv_usage") == "0.931");
  CHECK(facts[0].get("waiting") == "80");
  CHECK(facts[0].get("waiting_rising") == "true");
  CHECK(facts[0].get("source") == "log");
}

TEST_CASE("memory trend: steady growth at quiet points is a leak, a load or a level line is none") {
  const auto readings = [](std::vector<double> gib, int minutes) {
    World world;
    for (std::size_t i = 0; i < gib.size(); ++i) {
      Fact fact;
      fact.kind = Kind::gpu_state;
      fact.line = static_cast<std::uint32_t>(i + 2);
      fact.set("tool", "nvidia-smi-csv", fact.line);
      fact.set("index", "0", fact.line);
      fact.set("memory.used", derive::plain(std::floor(gib[i] * 1073741824.0)), fact.line);
      fact.set("memory.total", "85899345920", fact.line);
      fact.set("utilization.gpu", "0", fact.line);
      fact.stamp = evidence::parse_rfc3339("2026-01-01T00:00:00Z");
      fact.stamp->ns += static_cast<std::int64_t>(i) * minutes * 60'000'000'000;
      world.facts.push_back(std::move(fact));
    }
    const auto facts = world.run(derive::derive_memory_trend);
    CHECK(test::unknown_fields(facts).empty());
    return facts.empty() ? std::string("none") : facts[0].get("memory_rising");
  };
  CHECK(readings({60, 62, 64, 67, 70, 74}, 30) == "true");
  CHECK(readings({60, 60, 60, 60, 60.1, 60}, 30) == "false");
  CHECK(readings({1, 70, 70.2, 70.3, 70.3}, 30) == "false");
  CHECK(readings({10, 20, 30, 40, 50, 60}, 0) == "false");
  CHECK(readings({60, 70}, 30) == "none");
}

TEST_CASE("swap: counters of both directions make a thrash, with the time of a swap") {
  World world;
  const auto labels = [](const char* from, const char* to) {
    return std::map<std::string, std::string>{{"from", from}, {"to", to}, {"group", "g"}};
  };
  world.metric("flexinfer_sharedgroup_preemptions_total", 211, labels("a", "b"));
  world.metric("flexinfer_sharedgroup_preemptions_total", 209, labels("b", "a"));
  world.metric("flexinfer_model_swap_duration_seconds_bucket", 50, {{"group", "g"}, {"le", "34"}});
  world.metric("flexinfer_model_swap_duration_seconds_bucket", 100, {{"group", "g"}, {"le", "55"}});
  const auto facts = world.run(derive::derive_swap);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("both_ways") == "true");
  CHECK(facts[0].get("count") == "420");
  CHECK(facts[0].get("models") == "2");
  CHECK(std::stod(facts[0].get("p95")) == doctest::Approx(52.9));
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("gateway meter: attempts of one request share its id, in every gateway's form") {
  const auto measure = [](std::vector<std::string> lines) {
    const auto meter = derive::meter_for(Kind::gateway_log, evidence::Format::lines, {});
    REQUIRE(meter != nullptr);
    std::uint32_t number = 0;
    for (const std::string& line : lines) meter->line(line, ++number);
    std::vector<Fact> facts;
    meter->finish([&](Fact&& fact) { facts.push_back(std::move(fact)); });
    REQUIRE(facts.size() == 1);
    CHECK(test::unknown_fields(facts).empty());
    return facts[0];
  };
  const std::string envoy =
      R"([2026-03-05T13:11:04.148Z] "POST /v1/chat/completions HTTP/1.1" 504 UT upstream_response_timeout - "-" 3120 24 10000 - "10.20.4.21" "x" "94d998ed-0c0c-4bd1-a729-e2cb4355027e" "chat")";
  const std::string sound =
      R"([2026-03-05T13:11:03.148Z] "POST /v1/chat/completions HTTP/1.1" 200 - via_upstream - "-" 3120 24 10000 - "10.20.4.21" "x" "11d998ed-0c0c-4bd1-a729-e2cb4355027e" "chat")";
  Fact fact = measure({sound, envoy, envoy, envoy});
  CHECK(fact.get("retry_factor") == "2");
  CHECK(fact.get("errors_5xx") == "3");
  CHECK(test::line_of(fact, "errors_5xx") == 2);
  CHECK(fact.stamp.has_value());
  fact = measure(
      {R"(10.0.0.1 - - [22/Apr/2026:15:01:11 +0000] "POST /v1/chat/completions HTTP/1.1" 429 0 "-" "py" 1 0.1 [a] [] - - - - 18d54fbb95152ec6a0558fd8d9f65e64)",
       R"(level=info msg=done status=200 request_id=abc123 )",
       R"({"status":503,"request_id":"abc123"})"});
  CHECK(fact.get("requests") == "3");
  CHECK(fact.get("rejected_429") == "1");
  CHECK(fact.get("errors_5xx") == "1");
  CHECK(fact.get("retry_factor") == "1.5");
}

TEST_CASE("gateway meter: the status of most failures is found in every gateway's form") {
  const std::vector<std::pair<const char*, const char*>> forms{
      {"10.0.0.9 - - [24/Mar/2026:09:45:00 +0000] \"POST /v1/x HTTP/1.1\" {} 12 \"-\"", "nginx"},
      {"https 2026-03-24T09:45:00.1Z app/llm/50 10.0.4.7:4 10.3.7.31:8 0.001 60.0 -1 {} - 812 0 "
       "\"POST https://llm.corp:443/v1/x HTTP/2.0\" \"curl\" - -",
       "AWS"},
      {R"({"DownstreamStatus": {}, "RequestPath": "/v1/x", "msg": ""})", "Traefik"}};
  for (const auto& [form, who] : forms) {
    CAPTURE(who);
    const auto meter = derive::meter_for(Kind::gateway_log, evidence::Format::lines, {});
    REQUIRE(meter != nullptr);
    std::uint32_t number = 0;
    for (const char* status : {"200", "504", "200", "504", "502"})
      meter->line(triage::base::replace_all(form, "{}", status), ++number);
    std::vector<Fact> facts;
    meter->finish([&](Fact&& fact) { facts.push_back(std::move(fact)); });
    REQUIRE(facts.size() == 1);
    CHECK(facts[0].get("requests") == "5");
    CHECK(facts[0].get("errors_5xx") == "3");
    CHECK(facts[0].get("most_5xx") == "504");
    CHECK(facts[0].line == 2);
  }
}

TEST_CASE(
    "gateway meter: memory stays bounded over millions of requests and the ratio stays true") {
  const auto meter = derive::meter_for(Kind::gateway_log, evidence::Format::lines, {});
  std::uint32_t number = 0;
  for (int i = 0; i < 250'000; ++i) {
    const std::string line = "status=503 request_id=request-" + std::to_string(i);
    meter->line(line, ++number);
    meter->line(line, ++number);
  }
  meter->finish([&](Fact&& fact) {
    CHECK(fact.get("requests") == "500000");
    CHECK(std::stod(fact.get("retry_factor")) == doctest::Approx(2).epsilon(0.05));
  });
}

TEST_CASE("histogram: quantiles interpolate inside their bucket and never invent beyond the last") {
  derive::Histogram histogram;
  CHECK(!histogram.quantile(0.95));
  histogram.add(10, 50);
  histogram.add(INFINITY, 100);
  CHECK(*histogram.quantile(0.25) == doctest::Approx(5));
  CHECK(*histogram.quantile(0.95) == doctest::Approx(10));
}

// --- gpu
// -------------------------------------------------------------------------------------------

namespace {

Fact gpu_state(const char* tool, const char* node, const char* pci, const char* uuid,
               const char* index, std::uint32_t file) {
  Fact fact;
  fact.kind = Kind::gpu_state;
  fact.file = file;
  fact.line = 7;
  fact.set("tool", tool, 7);
  if (*pci != '\0') fact.set("pci", pci, 7);
  if (*uuid != '\0') fact.set("uuid", uuid, 8);
  if (*index != '\0') fact.set("index", index, 7);
  fact.place.node = node;
  fact.place.pci = pci;
  fact.place.gpu_uuid = uuid;
  fact.place.gpu_index = index;
  return fact;
}

constexpr const char* k_uuid = "GPU-11111111-2222-3333-4444-555555555555";

}  // namespace

TEST_CASE("gpu: the table, the query and the kernel log of one GPU become one fact") {
  World world;
  world.facts.push_back(gpu_state("nvidia-smi", "n1", "0000:3b:00.0", "", "4", 1));
  world.facts.back().set("temperature.gpu", "41", 9);
  world.facts.push_back(gpu_state("nvidia-smi-q", "n1", "0000:3b:00.0", k_uuid, "", 2));
  world.facts.back().set("recovery_action", "reset", 30);
  world.facts.push_back(gpu_state("nvidia-smi", "n1", "0000:5e:00.0", "", "5", 1));
  Observation& xid = world.observe("xid", 12, "NVRM: Xid", {{"xid", "94"}});
  xid.file = 3;
  xid.place.node = "n1";
  xid.place.pci = "0000:3b:00.0";
  Observation& again = world.observe("xid", 13, "NVRM: Xid", {{"xid", "63"}});
  again.file = 3;
  again.place.node = "n1";
  again.place.pci = "0000:3b:00.0";
  const auto facts = world.run(derive::derive_gpu);
  REQUIRE(facts.size() == 2);
  const Fact& gpu = facts[0];
  CHECK(gpu.kind == Kind::gpu);
  CHECK(gpu.get("uuid") == k_uuid);
  CHECK(gpu.get("index") == "4");
  CHECK(gpu.get("node") == "n1");
  CHECK(gpu.get("temperature.gpu") == "41");
  CHECK(gpu.get("recovery_action") == "reset");
  CHECK(gpu.get("listed") == "true");
  CHECK(gpu.get("xid") == "94");
  CHECK(gpu.get("xids") == "94,63");
  CHECK(gpu.place.gpu_uuid == k_uuid);
}

TEST_CASE("gpu: a value of another file than the fact's goes without a line") {
  World world;
  world.facts.push_back(gpu_state("nvidia-smi", "n1", "0000:3b:00.0", k_uuid, "4", 1));
  Observation& withheld = world.observe("plugin-unhealthy", 44, "marked unhealthy");
  withheld.file = 6;
  withheld.place.gpu_uuid = k_uuid;
  const auto facts = world.run(derive::derive_gpu);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].file == 1);
  CHECK(facts[0].find("pci")->line == 7);
  REQUIRE(facts[0].find("plugin.unhealthy") != nullptr);
  CHECK(facts[0].get("plugin.unhealthy") == "true");
  CHECK(facts[0].find("plugin.unhealthy")->line == 0);
}

TEST_CASE("gpu: one address on two nodes is two GPUs") {
  World world;
  world.facts.push_back(gpu_state("nvidia-smi", "n1", "0000:3b:00.0", "", "0", 1));
  world.facts.push_back(gpu_state("nvidia-smi", "n2", "0000:3b:00.0", "", "0", 2));
  CHECK(world.run(derive::derive_gpu).size() == 2);
}

TEST_CASE("gpu: a GPU that its node's tool does not list is said to be unlisted") {
  World world;
  world.facts.push_back(gpu_state("nvidia-smi", "n1", "0000:3b:00.0", "", "0", 1));
  Observation& lost = world.observe("gpu-lost", 3, "fallen off the bus");
  lost.place.node = "n1";
  lost.place.pci = "0000:5e:00.0";
  const auto facts = world.run(derive::derive_gpu);
  REQUIRE(facts.size() == 2);
  CHECK(facts[1].get("listed") == "false");
  CHECK(facts[1].get("state") == "lost");
}

TEST_CASE("gpu: what a container lists says nothing of the node's other GPUs") {
  World world;
  world.facts.push_back(gpu_state("nvidia-smi", "n1", "0000:3b:00.0", "", "0", 1));
  world.facts.back().place.pod = "chat-0";
  Observation& xid = world.observe("xid", 3, "NVRM: Xid", {{"xid", "31"}});
  xid.place.node = "n1";
  xid.place.pci = "0000:5e:00.0";
  const auto facts = world.run(derive::derive_gpu);
  REQUIRE(facts.size() == 2);
  CHECK(facts[1].find("listed") == nullptr);
}

TEST_CASE("gpu: DCGM fills what no tool said, in base units") {
  World world;
  world.facts.push_back(gpu_state("nvidia-smi", "n1", "0000:3b:00.0", k_uuid, "0", 1));
  world.facts.back().set("temperature.gpu", "50", 9);
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, double>>{{"DCGM_FI_DEV_GPU_TEMP", 91},
                                                   {"DCGM_FI_DEV_FB_USED", 1024},
                                                   {"DCGM_FI_DEV_ROW_REMAP_PENDING", 1},
                                                   {"DCGM_FI_DEV_XID_ERRORS", 48},
                                                   {"DCGM_FI_DEV_POWER_USAGE", 9e18}})
    world.metric(name, value).place.gpu_uuid = k_uuid;
  const auto facts = world.run(derive::derive_gpu);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("temperature.gpu") == "50");
  CHECK(facts[0].get("memory.used") == "1073741824");
  CHECK(facts[0].get("remapped_rows.pending") == "true");
  CHECK(facts[0].get("xid") == "48");
  CHECK(facts[0].find("power.draw") == nullptr);
}

TEST_CASE("gpu: evidence that names no GPU gives no fact") {
  World world;
  world.metric("DCGM_FI_DEV_GPU_TEMP", 91);
  world.observe("xid", 3, "NVRM: Xid", {{"xid", "31"}});
  CHECK(world.run(derive::derive_gpu).empty());
}

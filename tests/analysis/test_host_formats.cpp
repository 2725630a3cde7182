#include <string>

#include "format_support.hpp"

using namespace triage;
using namespace triage::analysis::formats;
using evidence::Fact;
using evidence::Kind;
using test::facts_of;
using test::find_fact;

TEST_CASE("prometheus: samples with labels, values in plain decimals, histogram buckets too") {
  const auto facts = facts_of(parse_prometheus, Kind::metrics, R"(# HELP vllm:x Something.
# TYPE vllm:x gauge
vllm:num_requests_running{engine="0",model_name="a \"b\" \\c"} 64.0
process_virtual_memory_bytes 1.2374433792e+10
small 2.5e-07
DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-e72278fb-234a-4070-98b2-6fad2782fc6b",Hostname="n7",exported_pod="vllm-0",pod="dcgm-x",namespace="llm"} 79 1767225600250
h_bucket{le="0.5"} 3
h_bucket{le="+Inf"} 4
broken{le="0.5" 3
gauge NaN
)");
  REQUIRE(facts.size() == 7);
  CHECK(facts[0].get("name") == "vllm:num_requests_running");
  CHECK(facts[0].get("value") == "64");
  CHECK(facts[0].get("labels.model_name") == "a \"b\" \\c");
  CHECK(facts[0].line == 3);
  CHECK(facts[1].get("value") == "12374433792");
  CHECK(facts[2].get("value") == "0.00000025");
  const Fact& xid = facts[3];
  CHECK(xid.place.gpu_uuid == "GPU-e72278fb-234a-4070-98b2-6fad2782fc6b");
  CHECK(xid.place.gpu_index == "3");
  CHECK(xid.place.node == "n7");
  CHECK(xid.place.pod == "vllm-0");
  REQUIRE(xid.stamp);
  CHECK(xid.stamp->ns == 1767225600250'000'000);
  CHECK(facts[5].get("labels.le") == "+Inf");
  CHECK(facts[6].get("value") == "nan");
}

TEST_CASE("prometheus: a series that comes again begins the next scrape, a comment dates it") {
  const auto facts = facts_of(parse_prometheus, Kind::metrics,
                              "# scraped 2026-01-02T15:04:05Z\na{x=\"1\"} 1\na{x=\"2\"} 2\nb 3\n"
                              "# scraped 2026-01-02T15:04:15Z\na{x=\"1\"} 4\nb 5\n");
  REQUIRE(facts.size() == 5);
  CHECK(facts[1].get("scrape") == "1");
  CHECK(facts[3].get("scrape") == "2");
  CHECK(facts[4].get("scrape") == "2");
  REQUIRE(facts[4].stamp);
  CHECK(facts[4].stamp->ns - facts[0].stamp->ns == 10'000'000'000);
  const auto repeated =
      facts_of(parse_prometheus, Kind::metrics, "a 1\nb 2\na 3\nb 4\n# EOF\nc 1\n");
  CHECK(repeated[2].get("scrape") == "2");
  CHECK(repeated[3].get("scrape") == "2");
  CHECK(repeated[4].get("scrape") == "3");
}

TEST_CASE("prometheus: text inside a JSON string is read, all of it on the line of the string") {
  const auto facts =
      facts_of(parse_prometheus, Kind::metrics,
               R"("# HELP llamacpp:x y\n# TYPE llamacpp:x gauge\nllamacpp:x{a=\"b\"} 12\nz 3")");
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].get("name") == "llamacpp:x");
  CHECK(facts[0].get("labels.a") == "b");
  CHECK(facts[1].line == 1);
}

TEST_CASE("gateway stats: Envoy's names hold colons, nginx's stub has its own form") {
  const auto envoy = facts_of(parse_gateway_stats, Kind::gateway_stats,
                              "cluster.outbound|8000||chat.llm.svc.upstream_rq_504: 15210\n"
                              "cluster.x.upstream_rq_time: P0(nan,1.0) P25(nan,2.0)\n"
                              "http.ingress::a.downstream_rq_5xx: 7\n");
  REQUIRE(envoy.size() == 2);
  CHECK(envoy[0].get("name") == "cluster.outbound|8000||chat.llm.svc.upstream_rq_504");
  CHECK(envoy[0].get("value") == "15210");
  CHECK(envoy[1].line == 3);
  const auto nginx =
      facts_of(parse_gateway_stats, Kind::gateway_stats,
               "Active connections: 291 \nserver accepts handled requests\n"
               " 16630948 16630948 31070465 \nReading: 6 Writing: 179 Waiting: 106\n");
  REQUIRE(nginx.size() == 4);
  CHECK(find_fact(nginx, "name", "nginx.requests")->get("value") == "31070465");
}

TEST_CASE("dcgm: each result of a test is a fact, with its warning as text") {
  const std::string text = R"({
  "DCGM Diagnostic": {
    "test_categories": [
      {
        "category": "Integration",
        "tests": [
          {
            "name": "PCIe",
            "results": [
              {"gpu_id": "0", "status": "Pass"},
              {
                "gpu_id": "3",
                "status": "Fail",
                "warnings": [
                  {"warning": "GPU 3 has uncorrectable errors", "error_id": 95, "error_category": 6, "error_severity": 2}
                ]
              }
            ]
          }
        ]
      }
    ]
  }
})";
  const auto facts = facts_of(parse_dcgm_json, Kind::dcgm_diag, text);
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].get("status") == "pass");
  CHECK(facts[1].get("test") == "PCIe");
  CHECK(facts[1].get("category") == "Integration");
  CHECK(facts[1].get("status") == "fail");
  CHECK(facts[1].get("gpu") == "3");
  CHECK(facts[1].get("error_id") == "95");
  CHECK(facts[1].text == "GPU 3 has uncorrectable errors");
  CHECK(facts[1].line == 15);
  const auto failed = facts_of(parse_dcgm_json, Kind::dcgm_diag,
                               R"({"DCGM Diagnostic": {"runtime_error": "no GPU"}})");
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].get("runtime_error") == "no GPU");
}

TEST_CASE("dcgm: health reports name system and GPU") {
  const auto facts = facts_of(parse_dcgm_json, Kind::dcgm_diag, R"({
    "body": {"Overall Health": {"value": "Failure", "children": {"GPU: 2": {"children": {
      "Memory": {"children": {"Errors": {"value": "row remap failed"}, "Health": {"value": "Failure"}}}}}}}},
    "header": ["Health Monitor Report"]})");
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].get("status") == "fail");
  CHECK(facts[1].get("test") == "Memory");
  CHECK(facts[1].get("gpu") == "2");
  CHECK(facts[1].text == "row remap failed");
}

TEST_CASE("host memory: meminfo, free in any unit, df of /dev/shm and cgroup files") {
  const std::string text = R"(MemTotal:       1056789544 kB
MemFree:         2000000 kB
MemAvailable:    5000000 kB
SwapTotal:             0 kB
Filesystem     1B-blocks     Used Available Use% Mounted on
tmpfs           67108864 67108864         0 100% /dev/shm
==> /sys/fs/cgroup/kubepods/memory.max <==
137438953472
==> /sys/fs/cgroup/kubepods/memory.peak <==
137438953472
memory.events
low 0
oom 3
oom_kill 2
)";
  const auto facts = facts_of(parse_host_memory, Kind::host_memory, text);
  REQUIRE(facts.size() == 1);
  const Fact& memory = facts[0];
  CHECK(memory.get("mem.total") == std::to_string(1056789544LL * 1024));
  CHECK(memory.get("mem.available") == std::to_string(5000000LL * 1024));
  CHECK(memory.get("swap.total") == "0");
  CHECK(memory.get("shm.size") == "67108864");
  CHECK(memory.get("shm.used_percent") == "100.0");
  CHECK(memory.find("shm.size")->line == 6);
  CHECK(memory.get("cgroup.max") == "137438953472");
  CHECK(memory.get("cgroup.peak") == "137438953472");
  CHECK(memory.get("cgroup.oom_kill") == "2");
  CHECK(memory.get("cgroup.oom") == "3");

  const std::string bytes =
      "              total        used        free      shared  buff/cache   available\n"
      "Mem:    1081864757248 900000000000 100000000000 1 2 150000000000\nSwap: 0 0 0\n";
  CHECK(facts_of(parse_host_memory, Kind::host_memory, bytes)[0].get("mem.available") ==
        "150000000000");
  const std::string human =
      "       total  used  free  shared  buff/cache  available\n"
      "Mem:   1.0Ti  900Gi  50Gi  1Gi  2Gi  100Gi\n";
  CHECK(facts_of(parse_host_memory, Kind::host_memory, human)[0].get("mem.available") ==
        std::to_string(100LL << 30));
  const std::string df =
      "Filesystem      Size  Used Avail Use% Mounted on\n"
      "shm              64M   64M     0 100% /dev/shm\n";
  CHECK(facts_of(parse_host_memory, Kind::host_memory, df)[0].get("shm.size") == "67108864");
}

TEST_CASE("collect_env: versions by name, and every line by its key") {
  const auto facts = facts_of(parse_collect_env, Kind::environment,
                              R"(Collecting environment information...
PyTorch version: 2.7.0+cu126
Is debug build: False
CUDA used to build PyTorch: 12.6
ROCM used to build PyTorch: N/A

Is CUDA available: True
GPU models and configuration: 
GPU 0: NVIDIA H100 80GB HBM3
GPU 1: NVIDIA H100 80GB HBM3

Nvidia driver version: 570.124.06
[pip3] torch==2.7.0
vLLM Version: 0.9.2
NCCL_DEBUG=INFO
)");
  const Fact* versions = find_fact(facts, "pytorch", "2.7.0+cu126");
  REQUIRE(versions != nullptr);
  CHECK(versions->get("cuda") == "12.6");
  CHECK(versions->find("rocm") == nullptr);
  CHECK(versions->get("cuda_available") == "true");
  CHECK(versions->get("driver") == "570.124.06");
  CHECK(versions->find("driver")->line == 12);
  CHECK(versions->get("vllm") == "0.9.2");
  CHECK(versions->get("gpus") == "NVIDIA H100 80GB HBM3, NVIDIA H100 80GB HBM3");
  CHECK(find_fact(facts, "key", "NCCL_DEBUG")->get("value") == "INFO");
  CHECK(find_fact(facts, "key", "torch")->get("value") == "2.7.0");
}

TEST_CASE("key and value: variables, engine arguments and the driver's version file") {
  const auto facts =
      facts_of(parse_key_value, Kind::environment,
               "# comment\nexport CUDA_VISIBLE_DEVICES=\"0,1\"\n"
               "python3 -m vllm.entrypoints.openai.api_server --model /m/1 "
               "--max-num-seqs=256 -tp 8 --enforce-eager --rope '{\"a\": 1}'\n"
               "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  "
               "Release Build  (dvs)\n2025-08-14 00:00:00\n");
  const auto value = [&facts](std::string_view key) {
    const Fact* fact = find_fact(facts, "key", key);
    return fact == nullptr ? std::string("(none)") : fact->get("value");
  };
  CHECK(value("CUDA_VISIBLE_DEVICES") == "0,1");
  CHECK(value("--model") == "/m/1");
  CHECK(value("--max-num-seqs") == "256");
  CHECK(value("-tp") == "8");
  CHECK(value("--enforce-eager") == "true");
  CHECK(value("--rope") == "{\"a\": 1}");
  CHECK(value("-m") == "(none)");
  CHECK(value("boot_time") == "2025-08-14 00:00:00");
  CHECK(find_fact(facts, "driver", "570.124.06") != nullptr);
}

TEST_CASE("key and value: /proc/stat gives the boot time") {
  const auto facts = facts_of(parse_key_value, Kind::environment,
                              "cpu  1 2 3\nintr 5\nbtime 1755129600\nprocesses 7\n");
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].get("key") == "boot_time");
  CHECK(facts[0].get("value") == "1755129600");
  CHECK(facts[0].line == 3);
}

TEST_CASE("clock.json: the boot time, told or computed") {
  const auto told =
      facts_of(parse_clock, Kind::environment,
               "{\n \"boot_id\": \"x\",\n \"boot_time\": \"2025-08-14T00:00:00Z\"\n}");
  REQUIRE(find_fact(told, "key", "boot_time") != nullptr);
  CHECK(find_fact(told, "key", "boot_time")->find("value")->line == 3);
  const auto computed = facts_of(
      parse_clock, Kind::environment,
      R"({"boot_id": "x", "date": "2025-08-14T00:01:40Z", "uptime_s": 100.5, "tz": "UTC"})");
  REQUIRE(find_fact(computed, "key", "boot_time") != nullptr);
  CHECK(find_fact(computed, "key", "boot_time")->get("value").substr(0, 19) ==
        "2025-08-13T23:59:59");
}

TEST_CASE("host formats: damaged text is survived") {
  const std::string text = R"(MemTotal: 1 kB
a{x="1",y="2"} 3 4
cluster.x: 5
KEY=value --flag 1
{"DCGM Diagnostic": {"test_categories": [{"tests": [{"results": [{"status": "Fail"}]}]}]}}
)";
  test::survive_damage(parse_prometheus, Kind::metrics, text);
  test::survive_damage(parse_gateway_stats, Kind::gateway_stats, text);
  test::survive_damage(parse_dcgm_json, Kind::dcgm_diag, text);
  test::survive_damage(parse_host_memory, Kind::host_memory, text);
  test::survive_damage(parse_collect_env, Kind::environment, text);
  test::survive_damage(parse_key_value, Kind::environment, text);
  test::survive_damage(parse_clock, Kind::environment, text);
}

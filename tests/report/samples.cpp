#include "samples.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/text.hpp"

namespace triage::tests {
namespace {

using analysis::Cited;
using analysis::Report;
using evidence::Place;
using evidence::Time;

constexpr std::int64_t k_second = 1'000'000'000;
// 2025-08-14T03:12:07Z
constexpr std::int64_t k_start = 1755141127 * k_second;

Time at(double seconds, std::int64_t uncertainty_ns = 1'000'000) {
  return {k_start + static_cast<std::int64_t>(seconds * 1e9), uncertainty_ns};
}

Place place(const std::string& node, const std::string& pod, const std::string& rank) {
  Place p;
  p.node = node;
  p.pod = pod;
  p.rank = rank;
  return p;
}

Cited cited(const std::string& file, std::uint32_t line, std::optional<Time> time,
            const std::string& text, const std::string& rank = "") {
  return {file, line, time, text, rank};
}

analysis::ObservationEntry observation(const std::string& rule, const std::string& class_name,
                                       const std::string& role, Cited where, Place seen_at) {
  analysis::ObservationEntry entry;
  entry.rule = rule;
  entry.cause = rule;
  entry.class_ = class_name;
  entry.role = role;
  entry.severity = role == "root" ? "critical" : "error";
  entry.at = std::move(where);
  entry.place = std::move(seen_at);
  return entry;
}

analysis::MetricSeries series(const std::string& name, const std::string& rank, double from,
                              double step) {
  analysis::MetricSeries s;
  s.name = name;
  s.labels = {{"rank", rank}};
  s.file = "node-b/metrics.txt";
  s.line = 12;
  for (int i = 0; i < 8; ++i) s.points.emplace_back(at(i * 15.0 - 120), from + step * i);
  return s;
}

void fill_environment(Report& r) {
  r.environment.driver = "570.124.06";
  r.environment.cuda = "12.8";
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    analysis::GpuEntity gpu{"GPU-1018f3f9-a408-4b6c-9d3e-00000000000" + n,
                            "0000:" + std::to_string(40 + i) + ":00.0", n, "node-b",
                            "NVIDIA H100 80GB HBM3"};
    if (i == 5) gpu = r.verdict.entities.gpus[0];
    r.environment.gpus.push_back(gpu);
  }
  r.environment.engine = {
      "vllm", "0.9.1", {{"--tensor-parallel-size", "16"}, {"--gpu-memory-utilization", "0.92"}}};
  r.environment.images = {"registry.example/vllm@sha256:0f1e2d3c"};
  r.environment.kubernetes = {{"version", "v1.31.2"}};
}

void fill_sections(Report& r) {
  r.load = analysis::Section{{"running", {"31", "node-b/metrics.txt", 12}},
                             {"kv_usage", {"0.71", "node-b/metrics.txt", 14}}};
  r.memory_budget = analysis::Section{{"weights", {"65.0 GiB", "node-b/worker.log", 31}},
                                      {"kv_cache", {"8.1 GiB", "node-b/worker.log", 40}}};
  r.recurrence =
      analysis::Recurrence{2, 2, 1, {"7", "12"}, "Third critical fault of this GPU in 30 days"};
  r.missing_evidence = {{"nvidia-smi -q of node-b", "would say whether other GPUs wait for a reset",
                         "nvidia-smi -q"}};
  r.warnings = {"node-a/dmesg.txt ends in the middle of a line"};
  r.metrics = {series("vllm:gpu_cache_usage_perc", "0", 0.4, 0.05),
               series("vllm:num_requests_running", "0", 20, 2),
               series("DCGM_FI_DEV_FB_USED", "0", 70000, 400)};
  r.coverage = analysis::Coverage{4,
                                  3,
                                  1842,
                                  210'334,
                                  {"node-a/core.1: binary"},
                                  {{"something odd: E1234", "node-a/worker.log", 77, 3}}};
}

}  // namespace

Report hardware_report() {
  Report r;
  r.tool_version = "0.1.0";
  r.rules_digest = "5f3a0c";
  r.inputs = {{"node-b/dmesg.txt", "kernel-log", "lines", "", 120'111, 905, "node-b", "", "",
               at(-3600), at(620)},
              {"node-b/worker.log", "container-log", "lines", "ab12", 90'223, 937, "node-b",
               "worker-1", "vllm", at(-900), at(700)}};
  auto& v = r.verdict;
  v.class_ = "hardware";
  v.cause = "xid-79";
  v.title = "GPU fell off the PCIe bus";
  v.severity = "critical";
  v.confidence = "high";
  v.confidence_reasons = {"the kernel names the GPU", "no earlier root in any file"};
  v.fault_domain = "node";
  v.scope = "local";
  v.pattern = "dead-rank";
  v.first_error = cited("node-b/dmesg.txt", 41, at(0, 100'000'000),
                        "NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.");
  v.first_cuda_error = cited("node-b/worker.log", 180, at(0.4), "CUDA error: unknown error", "13");
  v.entities.nodes = {"node-b"};
  v.entities.pods = {"worker-1"};
  v.entities.gpus = {{"GPU-1018f3f9-a408-4b6c-9d3e-0d1f2a3b4c5d", "0000:52:00.0", "5", "node-b",
                      "NVIDIA H100 80GB HBM3"}};
  v.entities.ranks = {"13"};
  r.quarantine = {"node",
                  "reboot-node",
                  {{"node", "node-b", "", "", ""}},
                  "Xid 154 asks for a node reboot (node-b/dmesg.txt:43)",
                  "8 GPUs listed after reboot, diagnostics pass, no Xid for 24 h",
                  {"kubectl cordon node-b && kubectl drain node-b --ignore-daemonsets"}};
  r.next_steps = {
      {"contain", "Rebuild the tensor-parallel group of 16 ranks as one, away from node-b", "", ""},
      {"recover", "Reboot node-b", "", "the device is gone from PCIe"},
      {"diagnose", "Read the state of the slot", "lspci -vvv -s 52:00.0", ""},
      {"verify", "Run a real completion on the new group before routing to it", "", ""},
      {"prevent", "Alert on Xid 79", "", ""},
      {"avoid", "Restarting pods on node-b", "", "the device stays gone until the node reboots"}};
  r.causal_chain = {{"xid-79", "xid-79", "root", *v.first_error, {1, 2}},
                    {"cuda-unknown", "cuda-unknown-error", "symptom", *v.first_cuda_error, {2}},
                    {"nccl-watchdog",
                     "nccl-timeout",
                     "symptom",
                     cited("node-a/worker.log", 512, at(600),
                           "Watchdog caught collective operation timeout", "0"),
                     {}}};
  r.other_incidents.emplace_back();
  r.other_incidents[0].verdict.class_ = "loading";
  r.other_incidents[0].verdict.cause = "tokenizer-missing";
  r.other_incidents[0].verdict.title = "Tokenizer file is missing";
  r.other_incidents[0].verdict.first_error =
      cited("node-a/other.log", 9, std::nullopt, "OSError: no tokenizer.json");
  for (int rank = 0; rank < 16; ++rank) {
    const std::string node = rank < 8 ? "node-a" : "node-b";
    auto seen = observation(
        "nccl-watchdog", "distributed", "symptom",
        cited(node + "/worker.log", 500 + static_cast<std::uint32_t>(rank), at(600 + rank * 0.25),
              "Watchdog caught collective operation timeout", std::to_string(rank)),
        place(node, "worker-" + std::to_string(rank / 8), std::to_string(rank)));
    if (rank == 3) seen.count = 12, seen.first = at(600.75), seen.last = at(660);
    r.observations.push_back(seen);
    r.timeline.push_back({seen.at, seen.rule, seen.role, seen.place});
  }
  auto root = observation("xid-79", "hardware", "root", *v.first_error, place("node-b", "", ""));
  root.place.pci = "0000:52:00.0";
  root.captures = {{"xid", "79"}, {"pci", "0000:52:00.0"}};
  r.observations.insert(r.observations.begin(), root);
  r.timeline.insert(r.timeline.begin(), {root.at, root.rule, root.role, root.place});
  fill_environment(r);
  fill_sections(r);
  r.excerpts = {{"node-b/dmesg.txt",
                 39,
                 {"usb 1-1: new device", "audit: backlog limit exceeded",
                  "NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.",
                  "NVRM: GPU 0000:52:00.0: GPU has fallen off the bus."},
                 41}};
  r.loudest = "16 ranks: NCCL watchdog timeout, 600 s later; explained by the first";
  return r;
}

Report healthy_report() {
  Report r;
  r.tool_version = "0.1.0";
  r.verdict.class_ = "none";
  r.verdict.cause = "healthy";
  r.verdict.title = "No fault in the evidence";
  r.verdict.confidence = "high";
  r.verdict.scope = "unknown";
  r.coverage = analysis::Coverage{2, 2, 810, 64'000, {}, {}};
  return r;
}

Report unknown_report() {
  Report r;
  r.tool_version = "0.1.0";
  r.verdict.title = "No rule explains this evidence";
  r.verdict.confidence_reasons = {"nothing matched"};
  r.coverage = analysis::Coverage{
      1, 1, 12, 900, {}, {{"FATAL frobnicator wedged in state 7", "app.log", 9, 4}}};
  r.missing_evidence = {{"the kernel log", "would show a device fault", "dmesg -T"}};
  return r;
}

std::string hostile_text() {
  using std::string_literals::operator""s;
  return "</script><img src=x onerror=alert(1)> ]]> <!-- [x](javascript:alert(1)) "
         "![i](http://e.x/p) "
         "`code` **b** | cell | \n# heading\n```\n@team &amp; \"q\" 'q' \x1b[2J\x1b]0;t\x07 "
         "\xE2\x80\xAE gnp.exe \xE2\x81\xA6 \xE2\x80\x8B z \xFF\xC0\x80 \x00 \xEF\xBF\xBF end"s;
}

Report hostile_report() {
  Report r = hardware_report();
  const std::string text = hostile_text();
  const auto spoil = [&](std::string& s) { s = text; };
  spoil(r.verdict.title);
  spoil(r.verdict.cause);
  spoil(r.verdict.pattern);
  spoil(r.verdict.first_error->text);
  spoil(r.verdict.first_error->file);
  spoil(r.verdict.first_cuda_error->text);
  r.verdict.confidence = "medium";
  r.verdict.confidence_reasons = {text};
  r.verdict.entities.nodes = {text};
  r.verdict.entities.pods = {text};
  r.verdict.entities.gpus[0].uuid = text;
  r.verdict.entities.ranks = {text};
  r.quarantine.subjects[0].name = text;
  spoil(r.quarantine.reason);
  spoil(r.quarantine.lift_when);
  r.quarantine.commands = {text};
  for (auto& step : r.next_steps) spoil(step.text), spoil(step.command), spoil(step.why);
  for (auto& link : r.causal_chain) spoil(link.at.text), spoil(link.at.file), spoil(link.cause);
  for (auto& other : r.other_incidents) spoil(other.verdict.title), spoil(other.verdict.cause);
  for (auto& entry : r.timeline)
    spoil(entry.at.text), spoil(entry.at.file), spoil(entry.place.node), spoil(entry.at.rank);
  for (auto& seen : r.observations) {
    spoil(seen.at.text), spoil(seen.at.file), spoil(seen.rule), spoil(seen.place.pod);
    seen.captures = {{text, text}};
  }
  for (auto& gpu : r.environment.gpus) spoil(gpu.name);
  spoil(r.environment.driver);
  r.environment.engine.args = {{text, text}};
  r.environment.images = {text};
  r.load = analysis::Section{{text, {text, text, 3}}};
  r.missing_evidence = {{text, text, text}};
  r.warnings = {text};
  for (auto& s : r.metrics) spoil(s.name), s.labels = {{text, text}};
  for (auto& e : r.excerpts) e.file = text, e.lines = {text, text, text};
  r.coverage->unread = {text};
  r.coverage->unmatched_errors = {{text, text, 1, 2}};
  for (auto& input : r.inputs) spoil(input.path);
  spoil(r.loudest);
  spoil(r.recurrence->note);
  return r;
}

Report large_report(std::size_t count) {
  Report r = hardware_report();
  r.observations.clear();
  r.timeline.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string rank = std::to_string(i % 8);
    const std::string node = i % 8 < 4 ? "node-a" : "node-b";
    auto seen = observation(
        i % 97 == 0 ? "nccl-watchdog" : "engine-error-" + std::to_string(i % 13), "distributed",
        i == 0 ? "root" : (i % 5 == 0 ? "context" : "symptom"),
        cited(node + "/worker-" + rank + ".log", static_cast<std::uint32_t>(i + 1),
              at(static_cast<double>(i) * 0.01),
              "[rank" + rank + "]: RuntimeError: CUDA error: unspecified launch failure, step " +
                  std::to_string(i * 7919 % 100'003),
              rank),
        place(node, "worker-" + rank, rank));
    seen.captures = {{"step", std::to_string(i)}};
    r.timeline.push_back({seen.at, seen.rule, seen.role, seen.place});
    r.observations.push_back(std::move(seen));
  }
  return r;
}

std::string compare_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(TRIAGE_SOURCE_DIR) + "/tests/report/golden/" + name;
  const char* update = std::getenv("TRIAGE_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << actual;
    return {};
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return path + " is missing: run script/golden";
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  if (expected == actual) return {};
  std::size_t line = 1;
  for (std::size_t i = 0; i < expected.size() && i < actual.size() && expected[i] == actual[i]; ++i)
    if (expected[i] == '\n') ++line;
  return path + ": differs at line " + std::to_string(line) +
         ": run script/golden and review the difference";
}

}  // namespace triage::tests

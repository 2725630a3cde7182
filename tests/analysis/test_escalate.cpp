#include <doctest/doctest.h>

#include "analysis/escalate.hpp"

namespace triage::analysis {
namespace {

Report fault(const std::string& class_name, const std::string& target, const std::string& action) {
  Report report;
  report.verdict.class_ = class_name;
  report.verdict.cause = "some-cause";
  report.verdict.severity = "critical";
  report.verdict.scope = "local";
  report.verdict.entities.nodes = {"n1"};
  report.verdict.entities.gpus = {{"GPU-1", "0000:52:00.0", "5", "n1", ""}};
  report.quarantine.target = target;
  report.quarantine.action = action;
  return report;
}

PriorIncidents gpu_past(std::uint64_t critical, std::uint64_t remediations) {
  PriorIncidents prior;
  prior.gpu_critical_30d["GPU-1"] = critical;
  prior.gpu_remediations_7d["GPU-1"] = remediations;
  return prior;
}

}  // namespace

TEST_CASE("escalate: the third critical fault of a GPU in 30 days asks for its replacement") {
  const auto report = escalate(fault("hardware", "gpu", "drain-and-reset"), gpu_past(2, 0));
  CHECK(report.quarantine.action == "replace-hardware");
  CHECK(report.quarantine.target == "gpu");
  REQUIRE(report.quarantine.subjects.size() == 1);
  CHECK(report.quarantine.subjects[0].uuid == "GPU-1");
  CHECK(report.recurrence->same_gpu_critical_30d == 2);
  CHECK(report.recurrence->note.find("third critical fault") != std::string::npos);
}

TEST_CASE("escalate: the second critical fault does not") {
  const auto report = escalate(fault("hardware", "gpu", "drain-and-reset"), gpu_past(1, 1));
  CHECK(report.quarantine.action == "drain-and-reset");
  CHECK(report.recurrence->same_gpu_critical_30d == 1);
}

TEST_CASE("escalate: a fault after two remediations in 7 days asks for a replacement") {
  const auto report = escalate(fault("hardware", "gpu", "reset-gpu"), gpu_past(0, 2));
  CHECK(report.quarantine.action == "replace-hardware");
}

TEST_CASE("escalate: a node that is held stays held") {
  const auto report = escalate(fault("hardware", "node", "reboot-node"), gpu_past(5, 0));
  CHECK(report.quarantine.target == "node");
  CHECK(report.quarantine.action == "replace-hardware");
}

TEST_CASE("escalate: memory that ran out or an application fault never holds hardware") {
  for (const char* class_name : {"gpu-oom", "cuda-fault", "distributed", "loading"}) {
    const auto report = escalate(fault(class_name, "worker", "replace-worker"), gpu_past(9, 9));
    CHECK(report.quarantine.target == "worker");
    CHECK(report.quarantine.action == "replace-worker");
  }
}

TEST_CASE("escalate: one failure on many nodes after one change is a regression") {
  PriorIncidents prior;
  prior.same_fingerprint = 2;
  prior.same_fingerprint_nodes = 2;
  prior.fingerprint_follows_change = true;
  prior.change = "registry/vllm:0.9.2";
  const auto report = escalate(fault("loading", "none", "none"), prior);
  CHECK(report.verdict.scope == "regression");
  CHECK(report.verdict.pattern == "rollout-regression");
  CHECK(report.recurrence->note.find("registry/vllm:0.9.2") != std::string::npos);
  prior.same_fingerprint_nodes = 1;
  CHECK(escalate(fault("loading", "none", "none"), prior).verdict.scope == "local");
  prior.same_fingerprint_nodes = 4;
  prior.fingerprint_follows_change = false;
  CHECK(escalate(fault("loading", "none", "none"), prior).verdict.scope == "local");
}

TEST_CASE("escalate: without earlier incidents only an empty recurrence is added") {
  const auto before = fault("hardware", "gpu", "drain-and-reset");
  const auto report = escalate(before, {});
  CHECK(report.quarantine.action == before.quarantine.action);
  CHECK(report.verdict.scope == before.verdict.scope);
  REQUIRE(report.recurrence.has_value());
  CHECK(report.recurrence->note.empty());
}

}  // namespace triage::analysis

#include <doctest/doctest.h>

#include "analysis/compare.hpp"

namespace triage::analysis {
namespace {

Report report_of(const std::string& class_name, const std::string& cause, const std::string& node) {
  Report report;
  report.verdict.class_ = class_name;
  report.verdict.cause = cause;
  report.verdict.entities.nodes = {node};
  report.environment.driver = "570.1";
  report.environment.images = {"vllm:1"};
  report.environment.engine = {"vllm", "0.9.1", {{"--max-num-seqs", "64"}}};
  return report;
}

const Difference* find(const Comparison& comparison, const std::string& name) {
  for (const auto& d : comparison.differences)
    if (d.name == name) return &d;
  return nullptr;
}

}  // namespace

TEST_CASE("compare: other software and a fault that software makes is a regression") {
  const auto good = report_of("none", "healthy", "n1");
  auto bad = report_of("gpu-oom", "cuda-oom", "n1");
  bad.environment.images = {"vllm:2"};
  bad.environment.engine.args["--max-num-seqs"] = "256";
  bad.environment.engine.args["--enforce-eager"] = "";
  const auto comparison = compare(good, bad);
  CHECK(comparison.kind == Comparison::Kind::regression);
  CHECK(find(comparison, "images")->bad == "vllm:2");
  CHECK(find(comparison, "--max-num-seqs")->good == "64");
  CHECK(find(comparison, "--enforce-eager")->good.empty());
  CHECK(find(comparison, "--enforce-eager")->bad == "set");
}

TEST_CASE("compare: the same software on another node is a local fault") {
  const auto comparison =
      compare(report_of("none", "healthy", "n1"), report_of("cuda-fault", "illegal-access", "n2"));
  CHECK(comparison.kind == Comparison::Kind::local);
}

TEST_CASE("compare: a device's fault is local whatever the software") {
  auto bad = report_of("hardware", "xid-79", "n1");
  bad.environment.images = {"vllm:2"};
  CHECK(compare(report_of("none", "healthy", "n1"), bad).kind == Comparison::Kind::local);
}

TEST_CASE("compare: the same software and node with other metrics is load") {
  auto good = report_of("none", "healthy", "n1");
  auto bad = report_of("capacity", "kv-exhausted", "n1");
  good.metrics = {{"vllm:num_requests_waiting", {{"pod", "a"}}, {{std::nullopt, 1}}, "m.txt", 3}};
  bad.metrics = {{"vllm:num_requests_waiting", {{"pod", "b"}}, {{std::nullopt, 90}}, "m.txt", 5}};
  const auto comparison = compare(good, bad);
  CHECK(comparison.kind == Comparison::Kind::load);
  const auto* metric = find(comparison, "vllm:num_requests_waiting");
  REQUIRE(metric != nullptr);
  CHECK(metric->bad == "90");
  CHECK(metric->bad_source == "m.txt:5");
}

TEST_CASE("compare: what only one of the two says is no difference") {
  auto good = report_of("none", "healthy", "n1");
  good.environment = {};
  const auto comparison = compare(good, report_of("cuda-fault", "illegal-access", "n2"));
  CHECK(find(comparison, "driver") == nullptr);
  CHECK(find(comparison, "images") == nullptr);
  CHECK(comparison.kind == Comparison::Kind::unknown);
}

TEST_CASE("compare: a sound bad one and two equal faults say so") {
  CHECK(compare(report_of("none", "healthy", "n1"), report_of("none", "healthy", "n2")).kind ==
        Comparison::Kind::same);
  CHECK(compare(report_of("loading", "x", "n1"), report_of("loading", "x", "n2")).kind ==
        Comparison::Kind::same);
}

}  // namespace triage::analysis

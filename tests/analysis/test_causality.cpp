#include <doctest/doctest.h>

#include "analysis/causality.hpp"
#include "analysis/fill.hpp"
#include "analysis/history.hpp"

using namespace triage;

namespace {

analysis::Observation observation(const rules::Rule& rule, std::uint32_t file, std::uint32_t line,
                                  std::optional<std::int64_t> seconds) {
  analysis::Observation o;
  o.rule = &rule;
  o.file = file;
  o.line = line;
  o.role = rule.role;
  o.severity = rule.severity;
  o.class_ = rule.class_;
  o.cause = rule.cause;
  o.fatal = rule.fatal;
  o.stands_alone = rule.stands_alone;
  o.tags = rule.tags;
  if (seconds) o.time = evidence::Time{*seconds * 1'000'000'000, 0};
  return o;
}

rules::Rule rule(const std::string& id, const std::string& class_,
                 rules::Role role = rules::Role::root) {
  rules::Rule r;
  r.id = r.cause = id;
  r.class_ = class_;
  r.role = role;
  r.evidence = {evidence::Kind::container_log};
  return r;
}

}  // namespace

TEST_CASE("causality: a device fault explains the CUDA error and the timeout that follow it") {
  const auto xid = rule("xid-79", "hardware");
  const auto cuda = rule("cuda-unknown", "cuda-fault");
  auto timeout = rule("timeout", "distributed", rules::Role::symptom);
  analysis::EvidenceModel model;
  model.observations = {observation(timeout, 1, 5, 700), observation(cuda, 1, 3, 101),
                        observation(xid, 0, 9, 100)};
  const auto causality = analysis::explain(model);
  REQUIRE(causality.candidates.size() == 1);
  CHECK(causality.candidates[0] == 2);
}

TEST_CASE("causality: what certainly came later explains nothing before it") {
  const auto xid = rule("xid-79", "hardware");
  const auto loading = rule("corrupt-checkpoint", "loading");
  analysis::EvidenceModel model;
  model.observations = {observation(loading, 1, 3, 100), observation(xid, 0, 9, 5000)};
  const auto causality = analysis::explain(model);
  CHECK(causality.candidates.size() == 2);
  CHECK(causality.candidates[0] == 0);
}

TEST_CASE("causality: in one file line order decides, whatever the stamps say") {
  const auto first = rule("first", "gpu-oom");
  const auto second = rule("second", "distributed");
  analysis::EvidenceModel model;
  model.observations = {observation(second, 0, 8, 10), observation(first, 0, 3, 99)};
  CHECK(analysis::order_of(model.observations[1], model.observations[0]) ==
        analysis::Ordering::before);
  const auto causality = analysis::explain(model);
  REQUIRE(causality.candidates.size() == 1);
  CHECK(causality.candidates[0] == 1);
}

TEST_CASE("causality: a collective timeout is the verdict only when no root is left") {
  auto timeout = rule("timeout", "distributed", rules::Role::symptom);
  timeout.stands_alone = true;
  analysis::EvidenceModel model;
  model.observations = {observation(timeout, 0, 5, 700)};
  CHECK(analysis::explain(model).standing_alone.size() == 1);
  const auto oom = rule("oom", "gpu-oom");
  model.observations.push_back(observation(oom, 1, 2, 100));
  const auto causality = analysis::explain(model);
  CHECK(causality.standing_alone.empty());
  CHECK(causality.candidates.size() == 1);
}

TEST_CASE("causality: of two faults in a log that nothing dates the old process's one is over") {
  const auto fault = rule("xid-31", "cuda-fault");
  const auto lost = rule("xid-79", "hardware");
  const auto at = [](analysis::Observation o, const char* pci, std::int64_t hours) {
    o.stamp = evidence::Stamp{evidence::Stamp::Base::monotonic, hours * 3600 * 1'000'000'000, 0};
    o.place.pci = pci;
    return o;
  };
  const auto first_candidate = [&](std::int64_t hours) {
    analysis::EvidenceModel model;
    model.observations = {at(observation(fault, 0, 3, std::nullopt), "0000:1a:00.0", 1),
                          at(observation(lost, 0, 9, std::nullopt), "0000:5d:00.0", 1 + hours)};
    return analysis::explain(model).candidates.front();
  };
  CHECK(first_candidate(20) == 1);
  CHECK(first_candidate(1) == 0);
}

TEST_CASE("causality: a warning does not explain a grave fault away") {
  auto pending = rule("insufficient-gpu", "scheduling");
  pending.severity = rules::Severity::warning;
  const auto lost = rule("peer-lost", "distributed");
  analysis::EvidenceModel model;
  model.observations = {observation(pending, 0, 1, std::nullopt), observation(lost, 1, 4, 50)};
  const auto causality = analysis::explain(model);
  REQUIRE_FALSE(causality.candidates.empty());
  CHECK(causality.candidates[0] == 1);
}

TEST_CASE("causality: places that differ are not held together, unnamed ones are") {
  evidence::Place a;
  evidence::Place b;
  a.node = "n1";
  CHECK(analysis::agrees(a, b, rules::Same::node));
  b.node = "n2";
  CHECK_FALSE(analysis::agrees(a, b, rules::Same::node));
  CHECK(analysis::agrees(a, b, rules::Same::group));
  b.node = "n1";
  a.pci = "0000:3b:00.0";
  b.pci = "0000:5e:00.0";
  CHECK_FALSE(analysis::agrees(a, b, rules::Same::gpu));
}

TEST_CASE("fill: a name without a value goes with the words that lead to it") {
  CHECK(analysis::fill("Xid {xid} on GPU {pci}: fell off",
                       {{"xid", "79"}, {"pci", "0000:3b:00.0"}}) ==
        "Xid 79 on GPU 0000:3b:00.0: fell off");
  CHECK(analysis::fill("Xid {xid} on GPU {pci}: fell off", {{"xid", "79"}}) == "Xid 79: fell off");
  CHECK(analysis::fill("printf '{}' and {not a name}", {}) == "printf '{}' and {not a name}");
}

namespace {

constexpr std::int64_t k_hour = 3600;

/// A model of files of these kinds, in order.
analysis::EvidenceModel model_of(std::initializer_list<evidence::Kind> kinds) {
  analysis::EvidenceModel model;
  for (const evidence::Kind kind : kinds) {
    bundle::EvidenceFile file;
    file.kind = kind;
    model.files.push_back(file);
    analysis::StreamInfo stream;
    stream.kind = kind;
    model.streams.push_back(stream);
  }
  return model;
}

/// An observation of a fact about a pod.
analysis::Observation of_pod(analysis::EvidenceModel& model, const rules::Rule& rule,
                             const std::string& pod, bool asks_gpu) {
  evidence::Fact fact;
  fact.kind = evidence::Kind::pod;
  fact.place.pod = pod;
  fact.set("image", "x", 1);
  fact.set(asks_gpu ? "limits.nvidia.com/gpu" : "limits.memory", "1", 1);
  model.facts.push_back(fact);
  analysis::Observation o = observation(rule, 0, 1, std::nullopt);
  o.fact = static_cast<int>(model.facts.size()) - 1;
  o.place.pod = pod;
  return o;
}

}  // namespace

TEST_CASE("history: an old kill of the kernel's is no trouble of the engine that broke later") {
  auto kill = rule("kernel-oom-kill", "host-oom");
  kill.evidence = {evidence::Kind::kernel_log};
  const auto refused = rule("engine-args-rejected", "loading");
  for (const std::int64_t apart : {k_hour, 30 * k_hour}) {
    auto model = model_of({evidence::Kind::kernel_log, evidence::Kind::container_log});
    model.observations = {observation(kill, 0, 3, 1000), observation(refused, 1, 7, 1000 + apart)};
    analysis::set_history_aside(model);
    CHECK((model.observations[0].role == rules::Role::context) == (apart > 3 * k_hour));
    CHECK(model.observations[1].role == rules::Role::root);
  }
}

TEST_CASE("history: a kill that another file tells of is an incident, however old") {
  auto kill = rule("kernel-oom-kill", "host-oom");
  kill.evidence = {evidence::Kind::kernel_log};
  const auto refused = rule("engine-args-rejected", "loading");
  const auto died = rule("worker-died", "distributed");
  auto model = model_of(
      {evidence::Kind::kernel_log, evidence::Kind::container_log, evidence::Kind::container_log});
  model.observations = {observation(kill, 0, 3, 1000), observation(refused, 1, 7, 200'000),
                        observation(died, 2, 9, 1010)};
  analysis::set_history_aside(model);
  CHECK(model.observations[0].role == rules::Role::root);
}

TEST_CASE("history: a broken device stays broken") {
  auto xid = rule("xid-79", "hardware");
  xid.evidence = {evidence::Kind::kernel_log};
  const auto refused = rule("engine-args-rejected", "loading");
  auto model = model_of({evidence::Kind::kernel_log, evidence::Kind::container_log});
  model.observations = {observation(xid, 0, 3, 1000), observation(refused, 1, 7, 200'000)};
  analysis::set_history_aside(model);
  CHECK(model.observations[0].role == rules::Role::root);
}

TEST_CASE("neighbours: a pod that waits for a node wrote no CUDA error") {
  const auto waits = rule("insufficient-gpu", "scheduling");
  const auto cuda = rule("illegal-access", "cuda-fault");
  auto model = model_of({evidence::Kind::pod, evidence::Kind::container_log});
  model.observations = {of_pod(model, waits, "batch-9", true), observation(cuda, 1, 7, 100)};
  model.observations[0].time = evidence::Time{50'000'000'000, 0};
  const auto causality = analysis::explain(model);
  REQUIRE(causality.candidates.size() == 2);
  CHECK(causality.candidates[0] == 1);
}

TEST_CASE("neighbours: the kill of a pod without a GPU explains no fault of an engine's GPU") {
  const auto killed = rule("container-oom-killed", "host-oom");
  const auto cuda = rule("illegal-access", "cuda-fault");
  for (const bool asks_gpu : {false, true}) {
    auto model = model_of({evidence::Kind::pod, evidence::Kind::container_log});
    model.observations = {of_pod(model, killed, "shipper", asks_gpu), observation(cuda, 1, 7, 100)};
    model.observations[0].time = evidence::Time{50'000'000'000, 0};
    CHECK(analysis::explain(model).candidates.at(0) == (asks_gpu ? 0U : 1U));
  }
}

TEST_CASE("order: ages of one table count from one moment, cut to the unit that they show") {
  const auto any = rule("any", "loading");
  const auto aged = [&](std::int64_t first, std::int64_t last, std::uint32_t line, bool sorted) {
    auto o = observation(any, 0, line, std::nullopt);
    o.fact = 0;
    o.age = analysis::Age{first, last, sorted};
    return o;
  };
  using analysis::Ordering;
  const auto order = [&](const analysis::Observation& a, const analysis::Observation& b) {
    return analysis::order_of(a, b);
  };
  CHECK(order(aged(840, 840, 1, false), aged(660, 660, 2, false)) == Ordering::before);
  CHECK(order(aged(660, 660, 1, false), aged(840, 840, 2, false)) == Ordering::after);
  CHECK(order(aged(840, 840, 2, false), aged(840, 840, 1, false)) == Ordering::unknown);
  CHECK(order(aged(840, 840, 1, true), aged(840, 840, 2, true)) == Ordering::before);
  // `27h` may be 27 hours and 59 minutes: nothing says which of the two came first.
  CHECK(order(aged(27 * k_hour, 27 * k_hour, 1, false), aged(27 * k_hour, 60, 2, false)) ==
        Ordering::unknown);
  // The newest repeat counts for what comes after.
  CHECK(analysis::end_order_of(aged(840, 60, 1, false), aged(660, 660, 2, false)) ==
        Ordering::after);
  auto elsewhere = aged(10, 10, 1, false);
  elsewhere.file = 1;
  CHECK(order(aged(840, 840, 1, false), elsewhere) == Ordering::unknown);
}

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "collectors/plan.hpp"

using namespace triage;
using collectors::Plan;

namespace {

base::Result<Plan> plan_of(const std::string& item) {
  return collectors::parse_plan("plan: t\nitems:\n  - {" + item + "}\n", "p.yaml");
}

const std::string k_good = "id: a, role: kernel-log, for: host, command: [dmesg], path: 'x/{node}'";

}  // namespace

TEST_CASE("the built-in plan is sound, and every tier has evidence of pods and hosts") {
  const auto plan = collectors::load_plan("");
  REQUIRE_MESSAGE(plan.ok(), plan.problem().to_string());
  CHECK(plan->gates.count("nvidia") == 1);
  CHECK(plan->gates.count("amd") == 1);
  bool previous_logs = false;
  int order = 0;
  for (const auto& item : plan->items) {
    CHECK(item.order >= order);
    order = item.order;
    previous_logs =
        previous_logs || (item.id == "logs-previous" && item.tier == collectors::Tier::minimal);
  }
  CHECK(previous_logs);
  CHECK(plan->items.front().id == "logs-previous");  // what the next restart destroys
}

TEST_CASE("a plan's mistakes are named with their line and a mend") {
  struct Mistake {
    std::string item;
    const char* says;
  };
  const Mistake mistakes[] = {
      {"id: a", "is no kind of evidence"},
      {"id: a, role: kernel-log, for: moon, command: [x], path: y", "unknown"},
      {"id: a, role: kernel-log, for: host, path: y", "needs one of `command`"},
      {"id: a, role: kernel-log, for: host, command: [x], url: z, path: y", "needs one of"},
      {"id: a, role: metrics, for: host, url: z, path: y", "`url` is for engines"},
      {"id: a, role: kernel-log, for: host, command: [x], path: '{pods}'", "has no value"},
      {"id: a, role: kernel-log, for: host, command: [x], path: y, deadlin: 3s", "unknown key"},
      {"id: a, role: kernel-log, for: host, command: [x], path: y, deadline: soon", "no duration"},
      {"id: a, role: kernel-log, for: host, command: [x], path: y, cap: much", "no size"},
      {"id: a, role: kernel-log, for: host, command: [x], path: y, gate: intel", "no gate"},
      {"id: a, role: kernel-log, for: host, command: [x], path: 'y/{node}', after: b", "waits for"},
      {"id: a, role: kernel-log, for: host, command: [x], path: y", "needs {node} in `path`"},
      {"id: a, role: pod, for: pod, command: [kubectl, get, pod], path: 'k8s/{pod}.json'",
       "needs {namespace} in `path`"},
      {"id: a, role: kernel-log, for: host, command: [x], path: '../{node}/x'", "no path inside"},
      {"id: a, role: kernel-log, for: host, command: [x], path: '/etc/{node}'", "no path inside"},
      {"id: a, role: pod, for: run, command: [x], path: manifest.json", "triage itself writes"},
      {"id: a, role: pod, for: run, command: [x], answer: whole, path: y", "beside a `url`"},
      {"id: a, role: loading, for: host, command: [x], path: y", "is no kind of evidence"},
      {"id: a, role: pod, for: run, command: [kubectl, -n, get, delete, pod, x], path: y",
       "only reading"},
      {"id: a, role: pod, for: run, command: [kubectl, auth, reconcile], path: y", "only reading"},
      {"id: a, id: b, role: kernel-log", "twice"},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.item);
    const auto plan = plan_of(mistake.item);
    REQUIRE_FALSE(plan.ok());
    CHECK(plan.problem().message.find(mistake.says) != std::string::npos);
    CHECK(plan.problem().where.substr(0, 8) == "p.yaml:3");
  }
  CHECK(plan_of("id: a, role: kernel-log, for: host, command: [x], path: y, deadlin: 3s")
            .problem()
            .mend == "did you mean `deadline`?");
  const auto same_path =
      collectors::parse_plan("plan: t\nitems:\n  - {" + k_good + "}\n  - {" +
                                 base::replace_all(k_good, "id: a", "id: b") + "}\n",
                             "p.yaml");
  REQUIRE_FALSE(same_path.ok());
  CHECK(same_path.problem().message == "`b` and `a` have the same `path`");
  CHECK_FALSE(collectors::parse_plan("- 1", "p").ok());
  CHECK_FALSE(collectors::parse_plan("plan: {a", "p").ok());
  CHECK_FALSE(collectors::load_plan("/no/such/plan.yaml").ok());
  CHECK(plan_of(k_good).ok());
}

TEST_CASE("placeholders are filled, and those without a value are shown") {
  const collectors::Values values{{"pod", "chat-0"}, {"namespace", "llm"}};
  CHECK(collectors::fill("k8s/{namespace}/{pod}/{container}.log", values) ==
        "k8s/llm/chat-0/<container>.log");
  CHECK(collectors::fill("{print $1} {", values) == "{print $1} {");
  CHECK(collectors::fill("no braces", values) == "no braces");
}

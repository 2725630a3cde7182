#include <doctest/doctest.h>

#include "analysis/formats/located_tree.hpp"
#include "facts_helper.hpp"

using namespace triage;
using analysis::formats::parse_kubernetes_yaml;
using test::fact_saying;
using test::fact_with;
using test::facts_of;
using test::line_of;

TEST_CASE("kubernetes YAML: documents and Lists give facts with true lines") {
  const auto facts = facts_of(parse_kubernetes_yaml, R"(apiVersion: v1
items:
- apiVersion: v1
  kind: Event
  involvedObject: {kind: Pod, name: a-0, namespace: llm}
  message: 'Failed to pull image "x:y": rpc error: code = NotFound
    desc = not found'
  reason: Failed
- kind: Pod
  metadata:
    name: b-0
  spec:
    containers:
    - name: c
      image: x
  status:
    containerStatuses:
    - name: c
      lastState:
        terminated:
          exitCode: 137
          reason: OOMKilled
kind: List
---
kind: Node
metadata:
  name: n1
status:
  capacity:
    nvidia.com/gpu: "8"
  allocatable:
    nvidia.com/gpu: "7"
)");
  const auto event = fact_saying(facts, "not found");
  CHECK(event.line == 6);
  CHECK(event.text == "Failed to pull image \"x:y\": rpc error: code = NotFound desc = not found");
  CHECK(line_of(fact_with(facts, "last.reason", "OOMKilled"), "last.reason") == 22);
  CHECK(line_of(fact_with(facts, "name", "n1"), "gpu.allocatable") == 32);
  CHECK(test::unknown_fields(facts).empty());
}

TEST_CASE("kubernetes YAML: damaged documents give their sound part and the next is still read") {
  const auto facts = facts_of(parse_kubernetes_yaml, R"(kind: Event
involvedObject: {kind: Pod, name: a}
message: first
bad: [unclosed
  x: : :
---
kind: Event
involvedObject: {kind: Pod, name: b}
message: second
)");
  CHECK(fact_saying(facts, "first").line == 3);
  CHECK(fact_saying(facts, "second").line == 9);
}

TEST_CASE("located YAML: alias bombs and deep nesting end without harm") {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string prev(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + std::string(1, c) + " [*" + prev + ",*" + prev + ",*" +
            prev + "]\n";
  }
  std::size_t documents = 0;
  const auto count = [&](const analysis::formats::LocatedNode&) {
    ++documents;
    return true;
  };
  analysis::formats::read_located_yaml(bomb, count);
  CHECK(documents == 1);
  analysis::formats::read_located_yaml(std::string(100'000, '['), count);
  analysis::formats::read_located_yaml("a: \t\x01\xff", count);
}

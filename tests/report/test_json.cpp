#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "samples.hpp"

namespace triage::report {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> keys_of(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

void check_begins_with(const std::vector<std::string>& keys,
                       const std::vector<std::string>& expected) {
  REQUIRE(keys.size() >= expected.size());
  CHECK(std::vector<std::string>(
            keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(expected.size())) == expected);
}

}  // namespace

TEST_CASE("json: the keys of triage.report/v1 come in the order of the schema") {
  const auto json = ordered_json::parse(render_json(tests::hardware_report()));
  check_begins_with(keys_of(json), {"schema",
                                    "tool",
                                    "input",
                                    "verdict",
                                    "quarantine",
                                    "next_steps",
                                    "causal_chain",
                                    "other_incidents",
                                    "timeline",
                                    "observations",
                                    "environment",
                                    "coverage",
                                    "memory_budget",
                                    "load",
                                    "loading",
                                    "replicas",
                                    "capacity",
                                    "recurrence",
                                    "missing_evidence",
                                    "warnings"});
  check_begins_with(
      keys_of(json["verdict"]),
      {"class", "cause", "title", "severity", "confidence", "confidence_reasons", "fault_domain",
       "scope", "pattern", "first_error", "first_cuda_error", "entities"});
  check_begins_with(keys_of(json["verdict"]["first_error"]), {"file", "line", "time", "text"});
  check_begins_with(keys_of(json["quarantine"]),
                    {"target", "action", "subjects", "reason", "lift_when", "commands"});
  check_begins_with(keys_of(json["causal_chain"][0]),
                    {"rule", "cause", "role", "file", "line", "time", "text", "explains"});
  check_begins_with(keys_of(json["timeline"][0]),
                    {"time", "uncertainty_ms", "file", "line", "rule", "role", "place", "text"});
  check_begins_with(keys_of(json["observations"][0]),
                    {"rule", "cause", "class", "role", "severity", "file", "line", "time",
                     "uncertainty_ms", "place", "count", "first", "last", "captures", "text"});
  check_begins_with(keys_of(json["environment"]),
                    {"driver", "cuda", "gpus", "engine", "images", "kubernetes"});
}

TEST_CASE("json: what is not known is null and what is known has its type") {
  const auto json = ordered_json::parse(render_json(tests::healthy_report()));
  CHECK(json["verdict"]["first_error"].is_null());
  CHECK(json["verdict"]["fault_domain"].is_null());
  CHECK(json["verdict"]["pattern"].is_null());
  CHECK(json["load"].is_null());
  CHECK(json["recurrence"].is_null());
  const auto fault = ordered_json::parse(render_json(tests::hardware_report()));
  CHECK(fault["verdict"]["first_error"]["line"] == 41);
  CHECK(fault["verdict"]["first_error"]["time"] == "2025-08-14T03:12:07Z");
  CHECK(fault["verdict"]["entities"]["gpus"][0]["index"] == 5);
  CHECK(fault["timeline"][0]["uncertainty_ms"] == 100);
  CHECK(fault["input"][0]["sha256"].is_null());
  CHECK(fault["next_steps"][0]["command"].is_null());
  CHECK(fault["causal_chain"][0]["explains"] == ordered_json::array({1, 2}));
}

TEST_CASE("json: any byte in any text still gives valid UTF-8 that a terminal can show") {
  const std::string text = render_json(tests::hostile_report());
  const auto json = ordered_json::parse(text);  // throws on invalid UTF-8
  CHECK(json["verdict"]["title"].get<std::string>().find("</script>") == 0);
  CHECK(json["verdict"]["title"].get<std::string>().find("\x1b[2J") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
}

TEST_CASE("json: one observation stands on one line") {
  const std::string text = render_json(tests::hardware_report());
  CHECK(text.find("\n    {\"rule\": \"xid-79\"") != std::string::npos);
}

TEST_CASE("json: numbers that JSON cannot say become null") {
  JsonWriter out(0);
  out.begin_array().number(1.5).number(1e300 * 1e10).number(3.0).end_array();
  CHECK(out.take() == "[1.5, null, 3]");
}

}  // namespace triage::report

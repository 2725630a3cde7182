#include <doctest/doctest.h>

#include <chrono>

#include "report/json.hpp"
#include "report/json_reader.hpp"
#include "report/text.hpp"
#include "samples.hpp"

namespace triage::report {

TEST_CASE("json reader: what was written reads back and writes the same bytes") {
  for (const auto& report : {tests::hardware_report(), tests::healthy_report(),
                             tests::unknown_report(), tests::hostile_report()}) {
    const std::string text = render_json(report);
    const auto read = read_json(text);
    REQUIRE(read.ok());
    const bool same = render_json(read.value()) == text;
    CHECK(same);
  }
}

TEST_CASE("json reader: the terminal report of a stored report is that of the first") {
  TextOptions options;
  options.detail = TextOptions::Detail::verbose;
  const auto report = tests::hardware_report();
  const bool same =
      render_text(read_json(render_json(report)).value(), options) == render_text(report, options);
  CHECK(same);
}

TEST_CASE("json reader: text that is no report is refused with a mend") {
  for (const char* text : {"", "{", "[]", "null", "{\"schema\": \"triage.report/v9\"}",
                           "{\"schema\": 1}", "{\"a\": [[[[[[", "\xFF\xFE"}) {
    const auto read = read_json(text);
    REQUIRE_FALSE(read.ok());
    CHECK_FALSE(read.problem().mend.empty());
  }
}

TEST_CASE("json reader: fields of a wrong type are empty and indices into nothing are dropped") {
  const auto read = read_json(R"({"schema": "triage.report/v1", "verdict": [1], "input": {"a": 1},
    "observations": [1, "x", null, {"line": -5, "count": "many", "time": 7, "place": []}],
    "timeline": [{"time": "not a time", "line": 99999999999999}],
    "causal_chain": [{"explains": [0, 7, -1, "0"]}], "metrics": [{"points": [[1], [null, "x"], 3]}],
    "coverage": 3, "load": [], "quarantine": {"subjects": [null]}, "next_steps": "no"})");
  REQUIRE(read.ok());
  CHECK(read->observations.size() == 1);
  CHECK(read->observations[0].at.line == 0);
  CHECK(read->timeline[0].at.line == 4294967295U);
  CHECK_FALSE(read->timeline[0].at.time.has_value());
  CHECK(read->causal_chain[0].explains == std::vector<std::size_t>{0});
  CHECK(read->metrics[0].points.size() == 1);
}

TEST_CASE("json reader: deep nesting is refused or read without exhausting the stack") {
  const std::string deep(200'000, '[');
  CHECK_FALSE(read_json(deep).ok());
  const std::string closed =
      R"({"schema": "triage.report/v1", "x": )" + deep + std::string(200'000, ']') + "}";
  CHECK(read_json(closed).ok());
}

TEST_CASE("json reader: every cut of a report is refused or read, never more") {
  const std::string text = render_json(tests::hostile_report());
  for (std::size_t cut = 0; cut + 2 < text.size(); cut += 97)
    CHECK_FALSE(read_json(std::string_view(text).substr(0, cut)).ok());
}

}  // namespace triage::report

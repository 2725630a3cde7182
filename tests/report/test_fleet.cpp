#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/fleet.hpp"
#include "report/fleet_groups.hpp"
#include "samples.hpp"

namespace triage::report {
namespace {

/// Two nodes with one failure under a new image, a sound one under the old, an unknown one.
struct Fleet {
  analysis::Report a = tests::hardware_report();
  analysis::Report b = tests::hardware_report();
  analysis::Report sound = tests::healthy_report();
  analysis::Report unknown = tests::unknown_report();
  std::vector<NamedReport> named;
  Fleet() {
    b.verdict.entities.nodes = {"node-c"};
    b.verdict.entities.gpus[0].uuid = "GPU-other";
    sound.environment.images = {"registry.example/vllm@sha256:old"};
    sound.environment.driver = "570.124.06";
    named = {{"sound", &sound}, {"a", &a}, {"unknown", &unknown}, {"b", &b}};
  }
};

}  // namespace

TEST_CASE("fleet: as recorded") {
  const Fleet fleet;
  CHECK(tests::compare_golden("fleet.txt", render_fleet(Format::text, fleet.named)) == "");
  CHECK(tests::compare_golden("fleet.md", render_fleet(Format::markdown, fleet.named)) == "");
}

TEST_CASE("fleet: what the failing share and the sound lack is named, what all have is not") {
  const Fleet fleet;
  const auto groups = group_reports(fleet.named);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].cause == "xid-79");
  CHECK(groups[0].members.size() == 2);
  CHECK(groups[0].nodes == std::vector<std::string>{"node-b", "node-c"});
  CHECK(groups[0].shared ==
        std::vector<std::string>{"image registry.example/vllm@sha256:0f1e2d3c", "vllm 0.9.1"});
  CHECK(groups[2].class_ == "none");
}

TEST_CASE("fleet: JSON holds the groups and every report whole") {
  const Fleet fleet;
  const auto json = nlohmann::json::parse(render_fleet(Format::json, fleet.named));
  CHECK(json["schema"] == "triage.fleet/v1");
  CHECK(json["groups"][0]["count"] == 2);
  CHECK(json["reports"].size() == 4);
  CHECK(json["reports"][1]["report"]["verdict"]["cause"] == "xid-79");
}

TEST_CASE("fleet: hostile names and log text are harmless in every format") {
  const auto hostile = tests::hostile_report();
  const std::vector<NamedReport> named{{tests::hostile_text(), &hostile},
                                       {tests::hostile_text(), &hostile}};
  for (const Format format : {Format::text, Format::json, Format::markdown, Format::html,
                              Format::ndjson, Format::junit, Format::sarif}) {
    const std::string text = render_fleet(format, named);
    CHECK_FALSE(base::contains(text, "\x1b"));
    CHECK_FALSE(base::contains(text, "\xE2\x80\xAE"));
    if (format == Format::html) CHECK_FALSE(base::contains(text, "<img"));
  }
}

}  // namespace triage::report

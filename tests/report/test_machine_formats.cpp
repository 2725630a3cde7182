#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/formats.hpp"
#include "samples.hpp"
#include "tools.hpp"

namespace triage::report {
namespace {

std::string rendered(Format format, const analysis::Report& report) {
  return render(format, {"", &report});
}

std::string validate_junit(const std::string& xml) {
  const auto path = tests::write_temporary("junit.xml", xml);
  const auto ran = tests::run_shell("xmllint --noout --schema " + tests::schema_folder() +
                                    "/junit-10.xsd " + path);
  return ran.status == 0 ? "" : ran.output;
}

std::string validate_sarif(const std::string& json) {
  const auto path = tests::write_temporary("report.sarif", json);
  const auto ran = tests::run_shell(
      "python3 -c 'import json, sys, jsonschema; "
      "schema = json.load(open(sys.argv[1])); "
      "jsonschema.validators.validator_for(schema)(schema).validate(json.load(open(sys.argv[2])))'"
      " " +
      tests::schema_folder() + "/sarif-schema-2.1.0.json " + path);
  return ran.status == 0 ? "" : ran.output;
}

}  // namespace

TEST_CASE("ndjson: one observation a line, as recorded") {
  const std::string text = rendered(Format::ndjson, tests::hardware_report());
  CHECK(tests::compare_golden("hardware.ndjson", text) == "");
  const auto lines = base::split_lines(text);
  CHECK(lines.size() == tests::hardware_report().observations.size());
  for (const auto line : lines) CHECK(nlohmann::json::accept(line));
}

TEST_CASE("ndjson: a line break in log text does not break a line") {
  const auto report = tests::hostile_report();
  const std::string text = rendered(Format::ndjson, report);
  CHECK(base::split_lines(text).size() == report.observations.size());
  for (const auto line : base::split_lines(text)) CHECK(nlohmann::json::accept(line));
}

TEST_CASE("json, junit and sarif: as recorded") {
  CHECK(tests::compare_golden("hardware.json", rendered(Format::json, tests::hardware_report())) ==
        "");
  CHECK(tests::compare_golden("hardware.junit.xml",
                              rendered(Format::junit, tests::hardware_report())) == "");
  CHECK(tests::compare_golden("hardware.sarif",
                              rendered(Format::sarif, tests::hardware_report())) == "");
}

TEST_CASE("junit: a fault fails the check of its class and of the hardware to hold") {
  const std::string fault = rendered(Format::junit, tests::hardware_report());
  CHECK(base::contains(fault, "failures=\"3\""));  // hardware, quarantine, the second incident
  CHECK(base::contains(fault, "name=\"no fault of class hardware\" time=\"0\">\n      <failure"));
  CHECK(base::contains(rendered(Format::junit, tests::healthy_report()), "failures=\"0\""));
  const std::string unknown = rendered(Format::junit, tests::unknown_report());
  CHECK(base::contains(unknown, "failures=\"1\""));
  CHECK(base::contains(unknown, "<failure type=\"unknown\""));
}

TEST_CASE("junit: every report is valid against the schema of Jenkins") {
  if (tests::schema_folder().empty() || !tests::has_program("xmllint")) {
    MESSAGE("skipped: needs xmllint and ../shared/schemas");
    return;
  }
  for (const auto& report : {tests::hardware_report(), tests::healthy_report(),
                             tests::unknown_report(), tests::hostile_report()})
    CHECK(validate_junit(rendered(Format::junit, report)) == "");
  const auto a = tests::hardware_report();
  const auto b = tests::hostile_report();
  const std::vector<NamedReport> both{{tests::hostile_text(), &a}, {"b", &b}};
  CHECK(validate_junit(render_each(Format::junit, both)) == "");
  CHECK(validate_junit("<testsuites><bogus/></testsuites>") != "");
}

TEST_CASE("sarif: every report is valid against the schema of OASIS") {
  if (tests::schema_folder().empty() ||
      tests::run_shell("python3 -c 'import jsonschema'").status != 0) {
    MESSAGE("skipped: needs python3-jsonschema and ../shared/schemas");
    return;
  }
  for (const auto& report : {tests::hardware_report(), tests::healthy_report(),
                             tests::unknown_report(), tests::hostile_report()})
    CHECK(validate_sarif(rendered(Format::sarif, report)) == "");
  const auto a = tests::hardware_report();
  const auto b = tests::hostile_report();
  const std::vector<NamedReport> both{{tests::hostile_text(), &a}, {"b", &b}};
  CHECK(validate_sarif(render_each(Format::sarif, both)) == "");
  CHECK(validate_sarif("{\"version\": \"2.1.0\"}") != "");
}

TEST_CASE("sarif: the first error's file and line, and the chain as a flow") {
  const auto json = nlohmann::json::parse(rendered(Format::sarif, tests::hardware_report()));
  const auto& result = json["runs"][0]["results"][0];
  CHECK(result["level"] == "error");
  const auto& place = result["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "node-b/dmesg.txt");
  CHECK(place["region"]["startLine"] == 41);
  CHECK(result["codeFlows"][0]["threadFlows"][0]["locations"].size() == 3);
  const auto healthy = nlohmann::json::parse(rendered(Format::sarif, tests::healthy_report()));
  CHECK(healthy["runs"][0]["results"][0]["kind"] == "pass");
}

TEST_CASE("sarif: a file name cannot become an absolute or foreign URI") {
  auto report = tests::hardware_report();
  for (const char* name :
       {"/etc/passwd", "http://evil.example/x", "javascript:alert(1)", "//h/x"}) {
    report.verdict.first_error->file = name;
    const auto json = nlohmann::json::parse(rendered(Format::sarif, report));
    const std::string uri = json["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
                                ["artifactLocation"]["uri"];
    CHECK(uri.find(':') == std::string::npos);
    CHECK_FALSE(uri.starts_with('/'));
  }
}

TEST_CASE("machine formats: no terminal escape and no bidirectional override reaches the file") {
  for (const Format format : {Format::json, Format::ndjson, Format::junit, Format::sarif}) {
    const std::string text = rendered(format, tests::hostile_report());
    CHECK_FALSE(base::contains(text, "\x1b"));
    CHECK_FALSE(base::contains(text, "\xE2\x80\xAE"));
  }
}

TEST_CASE("formats: every name reads back and a file's name chooses its format") {
  for (const auto& name : format_names()) {
    const auto format = format_from(name);
    REQUIRE(format.has_value());
    CHECK(to_string(*format) == name);
  }
  CHECK_FALSE(format_from("yaml").has_value());
  CHECK(format_of_file("a/b.sarif.json") == Format::sarif);
  CHECK(format_of_file("x.md") == Format::markdown);
  CHECK(format_of_file("x.json") == Format::json);
  CHECK_FALSE(format_of_file("x.log").has_value());
}

}  // namespace triage::report

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "run.hpp"

namespace triage::tests {
namespace {

const std::string k_xid79 = "distributed/nccl-timeout-two-nodes-xid79-on-peer";
const std::string k_healthy = "amd/mi300x-healthy-correctable-ecc";

nlohmann::json json_of(const std::string& text) {
  return nlohmann::json::parse(text, nullptr, false);
}

/// A workplace with the JSON report of an incident in report.json.
void analyse(const Workplace& at, const std::string& name, const std::string& file) {
  const Ran ran = at.sh("triage analyze " + fixture(name) + " -o " + file);
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
}

}  // namespace

TEST_CASE("report: a stored report gives in every format what analyze gives at once") {
  const Workplace at;
  analyse(at, k_xid79, "report.json");
  for (const char* format : {"text", "json", "ndjson", "markdown", "html", "junit", "sarif"}) {
    const Ran direct = at.sh("triage analyze " + fixture(k_xid79) + " -f " + format);
    const Ran stored = at.sh(std::string("triage report report.json -f ") + format);
    CHECK(direct.status == 0);
    CHECK(stored.status == 0);
    const bool same = direct.out == stored.out;
    CHECK_MESSAGE(same, format);
    CHECK_FALSE(direct.out.empty());
  }
  const Ran piped = at.sh("triage report - -f json < report.json");
  CHECK(piped.out == at.read("report.json"));
}

TEST_CASE("report: the name of the output chooses the format") {
  const Workplace at;
  analyse(at, k_xid79, "report.json");
  CHECK(at.sh("triage report report.json -o r.html && triage report report.json -o r.sarif && "
              "triage report report.json -o r.xml")
            .status == 0);
  CHECK(at.read("r.html").starts_with("<!doctype html>"));
  CHECK(json_of(at.read("r.sarif"))["version"] == "2.1.0");
  CHECK(at.read("r.xml").starts_with("<?xml"));
}

TEST_CASE("report: what is wrong with the command line or the file is said, with its status") {
  const Workplace at;
  at.write("broken.json", "{\"schema\": \"triage.report/v1\", ");
  at.write("other.json", "{\"a\": 1}");
  analyse(at, k_healthy, "report.json");
  const auto fails = [&](const std::string& command, int status, const std::string& says) {
    const Ran ran = at.sh(command);
    CHECK_MESSAGE(ran.status == status, command);
    CHECK_MESSAGE(base::contains(ran.err, says), ran.err);
    CHECK(ran.out.empty());
  };
  fails("triage report report.json -f yaml", 2, "unknown format 'yaml'");
  fails("triage report", 2, "REPORT");
  fails("triage report broken.json", 3, "broken.json: not JSON");
  fails("triage report other.json", 3, "names no schema");
  fails("triage report missing.json", 3, "missing.json");
  fails("triage report .", 3, "cannot be read");
  fails("triage report report.json report.json -f html", 2, "--combine");
  fails("triage report report.json -o no/such/folder.txt", 1, "cannot be written");
  fails("triage report report.json -o /dev/full", 1, "No space left");
  fails("triage report report.json > /dev/full", 1, "");
}

TEST_CASE("report: --fail-on gives one exit status in every format") {
  const Workplace at;
  analyse(at, k_xid79, "fault.json");
  analyse(at, k_healthy, "sound.json");
  for (const char* format : {"text", "json", "ndjson", "markdown", "html", "junit", "sarif"}) {
    const auto status = [&](const std::string& file, const std::string& what) {
      return at.sh("triage report " + file + " -f " + format + " --fail-on " + what).status;
    };
    CHECK(status("fault.json", "quarantine") == 20);
    CHECK(status("fault.json", "fault") == 20);
    CHECK(status("fault.json", "never") == 0);
    CHECK(status("sound.json", "fault") == 0);
  }
  CHECK(at.sh("triage analyze " + fixture(k_xid79) + " -f sarif --fail-on quarantine").status ==
        20);
}

TEST_CASE("report: several reports make one view, one document or a folder of files") {
  const Workplace at;
  analyse(at, k_xid79, "fault.json");
  analyse(at, k_healthy, "sound.json");
  const Ran fleet = at.sh("triage report fault.json sound.json --combine");
  CHECK(fleet.status == 0);
  CHECK(base::contains(fleet.out, "FLEET  2 reports"));
  CHECK(at.sh("triage report fault.json sound.json -f html -o pages/").status == 0);
  CHECK(at.read("pages/fault.html").starts_with("<!doctype html>"));
  CHECK(at.read("pages/sound.html").starts_with("<!doctype html>"));
  const Ran direct =
      at.sh("triage analyze " + fixture(k_xid79) + " " + fixture(k_healthy) + " --combine -f json");
  CHECK(json_of(direct.out)["groups"].size() == 2);
  const Ran each =
      at.sh("triage analyze " + fixture(k_xid79) + " " + fixture(k_healthy) + " --each -f sarif");
  CHECK(json_of(each.out)["runs"].size() == 2);
}

TEST_CASE("history: what was recorded is listed, shown, found, exported and imported") {
  const Workplace at;
  const std::string analyze = "triage analyze " + fixture(k_xid79) + " -f json --record ";
  CHECK(base::contains(at.sh(analyze + "-o a.json").err, "recorded as run 1"));
  CHECK(base::contains(at.sh(analyze + "--incident INC-7 -o b.json").err, "recorded as run 2"));
  const auto runs = json_of(at.sh("triage history list -f json").out);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["fingerprint"] == runs[1]["fingerprint"]);
  CHECK(at.sh("triage history show 1 -f json").out == at.read("a.json"));
  CHECK(at.sh("triage history show INC-7 -f json").out == at.read("b.json"));
  CHECK(at.sh("triage history show 99").status == 3);
  const std::string node = runs[0]["nodes"][0];
  CHECK(base::contains(at.sh("triage history node " + node).out, "2 incidents in 2 runs"));
  CHECK(base::contains(at.sh("triage history node nowhere").out, "0 incidents"));
  CHECK(at.sh("triage history export -o all.json && triage history export -f csv -o all.csv")
            .status == 0);
  const Ran import = at.sh("TRIAGE_HISTORY=other.db triage history import all.json all.json");
  CHECK(base::contains(import.err, "2 added, 2 were there already"));
  CHECK(at.sh("triage history --store other.db show 1 -f json").out == at.read("a.json"));
  CHECK(at.sh("triage history --store other.db export").out == at.read("all.json"));
  CHECK(
      base::contains(at.sh("triage history prune --older-than 0s --keep 1").err, "1 runs removed"));
  CHECK(json_of(at.sh("triage history list -f json").out).size() == 1);
}

TEST_CASE("history: an incident is like an earlier one of the same failure, and not like itself") {
  const Workplace at;
  CHECK(at.sh("triage analyze " + fixture(k_xid79) + " --record --incident one").status == 0);
  const Ran other = at.sh("triage history similar " + fixture(k_xid79));
  CHECK(base::contains(other.out, "same fingerprint"));
  const Workplace fresh;
  CHECK(fresh.sh("triage analyze " + fixture(k_xid79) + " --record").status == 0);
  CHECK(base::contains(fresh.sh("triage history similar " + fixture(k_xid79)).out,
                       "no similar incident"));
}

TEST_CASE("history: only --history lets earlier incidents into the verdict") {
  const Workplace at;
  const std::string analyze = "triage analyze " + fixture(k_xid79);
  const std::string before = at.sh(analyze + " -f json").out;
  for (const char* incident : {"one", "two", "three"})
    CHECK(at.sh(analyze + " --record --incident " + incident).status == 0);
  CHECK(at.sh(analyze + " -f json").out == before);
  const auto seen = json_of(at.sh(analyze + " -f json --history").out);
  CHECK(seen["recurrence"]["same_fingerprint"] == 3);
  CHECK(seen["quarantine"]["action"] == "replace-hardware");
}

TEST_CASE("history: 16 runs of analyze at once are all recorded") {
  const Workplace at;
  const Ran ran = at.sh("for i in $(seq 16); do triage analyze " + fixture(k_healthy) +
                        " -o r$i.json --record --incident i$i & done; wait");
  CHECK(ran.status == 0);
  CHECK(json_of(at.sh("triage history list -n 100 -f json").out).size() == 16);
}

TEST_CASE("history: a store that cannot be written does not cost the report") {
  const Workplace at;
  at.write("store.db", "this is no database, and long enough to be taken for none at all........");
  const Ran ran = at.sh("TRIAGE_HISTORY=store.db triage analyze " + fixture(k_healthy) +
                        " -f json --record --history");
  CHECK(ran.status == 1);
  CHECK(base::contains(ran.err, "store.db"));
  CHECK(json_of(ran.out)["schema"] == "triage.report/v1");
}

TEST_CASE("postmortem: writing it again keeps what a person added") {
  const Workplace at;
  const std::string command = "triage postmortem " + fixture(k_xid79) + " -o p.md";
  CHECK(at.sh(command).status == 0);
  std::string text = at.read("p.md");
  CHECK(base::contains(text, "TO FILL IN"));
  CHECK(base::contains(text, "SHA-256"));
  at.write("p.md", base::replace_all(text, "## Impact\n", "## Impact\n\nOne hour without chat.\n"));
  CHECK(at.sh(command).status == 0);
  CHECK(base::contains(at.read("p.md"), "One hour without chat."));
  at.write("notes.md", "# notes\n");
  const Ran refused = at.sh("triage postmortem " + fixture(k_xid79) + " -o notes.md");
  CHECK(refused.status == 2);
  CHECK(at.read("notes.md") == "# notes\n");
  CHECK(at.sh("triage postmortem " + fixture(k_xid79) + " -o p.html").status == 0);
  CHECK(at.read("p.html").starts_with("<!doctype html>"));
}

TEST_CASE("diff: a sound and a broken one are told apart") {
  const Workplace at;
  analyse(at, k_healthy, "good.json");
  const Ran ran = at.sh("triage diff good.json " + fixture(k_xid79) + " -f json");
  CHECK(ran.status == 0);
  const auto json = json_of(ran.out);
  CHECK(json["schema"] == "triage.diff/v1");
  CHECK(json["conclusion"] == "local");
  CHECK(json["bad"]["cause"] == "xid-79");
  CHECK(at.sh("triage diff good.json missing").status == 3);
  CHECK(base::contains(at.sh("triage diff good.json good.json").out, "no fault"));
}

}  // namespace triage::tests

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "base/text.hpp"
#include "run.hpp"

namespace triage::tests {
namespace {

std::size_t indent_of(std::string_view line) {
  const auto at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? line.size() : at;
}

/// The shell parts of the page's YAML: every block scalar (`run: |`, `- |`) that runs triage.
std::vector<std::string> scripts_of(const std::string& page) {
  std::vector<std::string> scripts;
  const auto lines = base::split_lines(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].ends_with("|") || !(lines[i].ends_with("run: |") || lines[i].ends_with("- |")))
      continue;
    const std::size_t indent = indent_of(lines[i + 1]);
    std::string script;
    for (std::size_t n = i + 1; n < lines.size() && indent_of(lines[n]) >= indent; ++n)
      script += std::string(lines[n].substr(indent)) + "\n";
    if (base::contains(script, "triage ")) scripts.push_back(script);
  }
  return scripts;
}

/// `collect` needs a cluster: its place takes a bundle of an incident; the rest is the binary.
constexpr const char* k_stand_in = R"(#!/bin/bash
if [ "$1" = collect ]; then
  while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
  tar -C "$INCIDENT" -czf "$out" . && exit "${COLLECT_STATUS:-0}"
fi
exec "$TRIAGE_REAL" "$@"
)";

}  // namespace

TEST_CASE("docs/ci.md: the shell parts of every example run and leave what the page promises") {
  std::ifstream in(std::string(TRIAGE_SOURCE_DIR) + "/docs/ci.md");
  const auto scripts = scripts_of({std::istreambuf_iterator<char>(in), {}});
  REQUIRE(scripts.size() == 5);  // three steps of GitHub, one of GitLab, one Job
  const std::string incident = fixture("distributed/nccl-timeout-two-nodes-xid79-on-peer");
  const Workplace at;
  std::filesystem::remove(at.path() / ".bin" / "triage");
  at.write(".bin/triage", k_stand_in);
  std::filesystem::permissions(at.path() / ".bin" / "triage", std::filesystem::perms::all);
  const std::string setup = "export INCIDENT='" + incident +
                            "' TRIAGE_REAL='" TRIAGE_BINARY
                            "' NAMESPACE=inference WORKLOAD=deploy/vllm CI_JOB_STATUS=failed "
                            "OUT=\"$PWD\" TRIAGE_HISTORY=\"$PWD/history.db\" "
                            "GITHUB_STEP_SUMMARY=\"$PWD/summary.md\" COLLECT_STATUS=4\nset -eo "
                            "pipefail\n";
  for (const std::string& script : scripts) {
    const Ran ran = at.sh(setup + script);
    // The step that keeps hardware out of the pool fails on purpose.
    const int expected = base::contains(script, "--fail-on quarantine") ? 20 : 0;
    CHECK_MESSAGE(ran.status == expected, script << ran.err);
  }
  CHECK(at.read("triage-report.html").starts_with("<!doctype html>"));
  CHECK(base::contains(at.read("triage-report.sarif"), "\"2.1.0\""));
  CHECK(base::contains(at.read("triage-junit.xml"), "<failure"));
  CHECK(base::contains(at.read("summary.md"), "## HARDWARE"));
  CHECK(std::filesystem::exists(at.path() / "history.db"));
}

TEST_CASE("docs/ci.md: a collection that failed altogether fails the step") {
  const Workplace at;
  CHECK(at.sh("(exit 3) || [ $? -eq 4 ]").status == 1);
  CHECK(at.sh("(exit 4) || [ $? -eq 4 ]").status == 0);
}

}  // namespace triage::tests

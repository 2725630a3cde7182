#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>

#include "analysis/analyze.hpp"
#include "analysis/scan_crew.hpp"
#include "incidents.hpp"
#include "rules/loader.hpp"

using namespace triage;

namespace {

/// Files enough for every thread: logs that wait in memory, one that is opened by its thread.
std::filesystem::path make_node(const std::string& name) {
  const auto folder = std::filesystem::temp_directory_path() / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (int file = 0; file < 9; ++file) {
    std::string text;
    const std::size_t size = file == 4 ? 3U << 20U : 200U << 10U;
    for (int i = 0; text.size() < size; ++i) {
      text += "2025-06-03T10:00:0" + std::to_string(file) +
              "Z INFO: \"POST /v1/chat/completions HTTP/1.1\" 200 OK " + std::to_string(i) + "\n";
      if (i == 700 + file)
        text += "2025-06-03T10:00:0" + std::to_string(file) +
                "Z RuntimeError: CUDA error: an illegal memory access was encountered\n";
    }
    incidents::write_file(folder / ("server-" + std::to_string(file) + ".log"), text);
  }
  return folder;
}

}  // namespace

TEST_CASE("scan crew: the report is the same whatever the number of threads") {
  const auto folder = make_node("triage-crew-test");
  std::vector<analysis::Report> reports;
  for (const int jobs : {1, 2, 8}) {
    analysis::AnalyzeOptions options;
    options.jobs = jobs;
    options.digest = true;
    auto report = analysis::analyze({folder.string()}, rules::built_in_rules(), options);
    REQUIRE(report);
    reports.push_back(std::move(*report));
  }
  const analysis::Report& one = reports.front();
  CHECK(one.inputs.size() == 9);
  CHECK(one.inputs[4].bytes > (3U << 20U));
  for (const analysis::Report& other : reports) {
    REQUIRE(other.inputs.size() == one.inputs.size());
    for (std::size_t i = 0; i < one.inputs.size(); ++i) {
      CHECK(other.inputs[i].path == one.inputs[i].path);
      CHECK(other.inputs[i].sha256 == one.inputs[i].sha256);
      CHECK(other.inputs[i].lines == one.inputs[i].lines);
    }
    REQUIRE(other.observations.size() == one.observations.size());
    for (std::size_t i = 0; i < one.observations.size(); ++i) {
      CHECK(other.observations[i].at.file == one.observations[i].at.file);
      CHECK(other.observations[i].at.line == one.observations[i].at.line);
      CHECK(other.observations[i].count == one.observations[i].count);
    }
    CHECK(other.warnings == one.warnings);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("scan crew: every job runs once, and what one throws reaches the caller") {
  const analysis::LineRules rules(rules::built_in_rules());
  const auto filter = analysis::make_literal_filter(rules);
  for (const int jobs : {1, 3}) {
    analysis::ScanCrew crew(rules, *filter, jobs);
    std::atomic<int> done = 0;
    for (int i = 0; i < 200; ++i)
      crew.submit(std::size_t{100} << 10U, [&](analysis::Scanner&) { ++done; });
    crew.finish();
    CHECK(done == 200);
    crew.submit(0, [](analysis::Scanner&) { throw std::runtime_error("lost"); });
    crew.submit(0, [&](analysis::Scanner&) { ++done; });
    CHECK_THROWS_WITH_AS(crew.finish(), "lost", std::runtime_error);
    CHECK(done == 201);
  }
}

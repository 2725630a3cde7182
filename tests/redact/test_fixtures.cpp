#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.hpp"
#include "redact/redactor.hpp"

using namespace triage;
namespace fs = std::filesystem;

namespace {

/// Evidence files of the labelled incidents, small enough to be looked at twice.
std::vector<std::pair<std::string, std::string>> fixture_files() {
  constexpr std::uintmax_t k_largest = 256U << 10U;
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(std::string(TRIAGE_SOURCE_DIR) + "/fixtures")) {
    if (!entry.is_regular_file() || entry.file_size() > k_largest) continue;
    if (entry.path().filename() == "case.json") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (text.str().find('\0') != std::string::npos) continue;
    files.emplace_back(entry.path().string(), text.str());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string redacted(std::string_view text, evidence::Kind kind) {
  redact::Options options;
  options.salt = "test";
  redact::Redactor redactor(options);
  return redactor.redact(text, {"x", kind, evidence::Format::lines});
}

std::size_t json_lines(std::string_view text) {
  std::size_t count = 0;
  for (const std::string_view line : base::split_lines(text))
    if (base::trim(line).starts_with('{') && nlohmann::json::accept(line)) ++count;
  return count;
}

}  // namespace

TEST_CASE("fixtures: a second run changes nothing, lines stay, JSON stays JSON") {
  const auto files = fixture_files();
  REQUIRE(files.size() > 300);
  std::size_t unsettled = 0;
  for (const auto& [path, text] : files) {
    for (const auto kind : {evidence::Kind::container_log, evidence::Kind::unknown_text}) {
      const std::string once = redacted(text, kind);
      CHECK_MESSAGE(
          std::count(once.begin(), once.end(), '\n') == std::count(text.begin(), text.end(), '\n'),
          path);
      CHECK_MESSAGE((!nlohmann::json::accept(text) || nlohmann::json::accept(once)), path);
      CHECK_MESSAGE(json_lines(once) >= json_lines(text), path);
      if (redacted(once, kind) == once) continue;
      ++unsettled;
      MESSAGE(path);
    }
  }
  CHECK(unsettled == 0);
}

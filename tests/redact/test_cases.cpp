#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "case_file.hpp"
#include "redact/excerpt.hpp"
#include "redact/redactor.hpp"

using namespace triage;

namespace {

std::vector<test::Case> all_cases() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TRIAGE_SOURCE_DIR) + "/tests/redact/cases"))
    if (entry.path().extension() == ".case") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<test::Case> cases;
  for (const std::string& file : files)
    for (test::Case& one : test::read_cases(file)) cases.push_back(std::move(one));
  return cases;
}

std::string redacted(const std::string& input, evidence::Kind kind, std::size_t chunk = 0) {
  redact::Options options;
  options.salt = "test";
  redact::Redactor redactor(options);
  redact::Stream stream = redactor.open({"case", kind, evidence::Format::lines});
  std::string out;
  const redact::Sink sink = [&out](std::string_view part) { out += part; };
  if (chunk == 0) {
    stream.feed(input, sink);
  } else {
    for (std::size_t at = 0; at < input.size(); at += chunk)
      stream.feed(std::string_view(input).substr(at, chunk), sink);
  }
  stream.finish(sink);
  return out;
}

std::size_t json_lines(const std::string& text) {
  std::size_t count = 0;
  for (const std::string_view line : base::split_lines(text))
    if (base::trim(line).starts_with('{') && nlohmann::json::accept(line)) ++count;
  return count;
}

}  // namespace

TEST_CASE("cases: what must go is gone, what must stay is there, for every seed") {
  const auto cases = all_cases();
  REQUIRE(cases.size() > 100);
  const char* wanted = std::getenv("TRIAGE_CASE");
  std::size_t leaks = 0;
  std::size_t lost = 0;
  for (const test::Case& one : cases) {
    if (wanted != nullptr && one.title.find(wanted) == std::string::npos) continue;
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      test::Filler filler(seed);
      const std::string input = filler.fill(one.input);
      const std::string out = redacted(input, one.kind);
      for (const std::string& gone : one.gone) {
        const std::string secret = filler.fill(gone);
        const std::string part = test::leaked_part(out, secret);
        if (!part.empty()) {
          ++leaks;
          MESSAGE(one.file << ":" << one.line << " " << one.title << " (seed " << seed
                           << "): still there: " << part << "\n"
                           << out);
        }
        // In the clear or encoded: a mistyped mark would test nothing.
        const bool there =
            !test::leaked_part(input, secret).empty() || base::contains(one.input, "(");
        REQUIRE_MESSAGE(there, one.title << ": not in the input: " << secret);
      }
      for (const std::string& kept : one.kept) {
        const std::string text = filler.fill(kept);
        REQUIRE_MESSAGE(base::contains(input, text), one.title << ": not in the input: " << text);
        if (!base::contains(out, text)) {
          ++lost;
          MESSAGE(one.file << ":" << one.line << " " << one.title << " (seed " << seed
                           << "): lost: " << text << "\n"
                           << out);
        }
      }
      CHECK_MESSAGE(
          std::count(out.begin(), out.end(), '\n') == std::count(input.begin(), input.end(), '\n'),
          one.title << ": the number of lines changed");
      CHECK_MESSAGE(json_lines(out) >= json_lines(input), one.title << ": JSON broke\n" << out);
      CHECK_MESSAGE(redacted(out, one.kind) == out, one.title << ": not idempotent\n"
                                                              << out << redacted(out, one.kind));
      if (wanted != nullptr && seed == 1) MESSAGE(out);
    }
  }
  CHECK(leaks == 0);
  CHECK(lost == 0);
}

TEST_CASE("cases: chunks of any size give the same output") {
  for (const test::Case& one : all_cases()) {
    const std::string input = test::Filler(7).fill(one.input);
    const std::string whole = redacted(input, one.kind);
    for (const std::size_t chunk : {1U, 2U, 3U, 7U, 64U, 1000U})
      CHECK_MESSAGE(redacted(input, one.kind, chunk) == whole,
                    one.title << ", chunks of " << chunk);
  }
}

TEST_CASE("cases: excerpts of single lines hold no credential either") {
  for (const test::Case& one : all_cases()) {
    test::Filler filler(3);
    const std::string input = filler.fill(one.input);
    if (std::count(input.begin(), input.end(), '\n') != 1) continue;
    const std::string line = input.substr(0, input.size() - 1);
    const std::string out = redact::excerpt(line, one.kind);
    for (const std::string& gone : one.gone)
      CHECK_MESSAGE(test::leaked_part(out, filler.fill(gone)).empty(), one.title << "\n" << out);
    CHECK_MESSAGE(redact::excerpt(out, one.kind) == out, one.title);
  }
}

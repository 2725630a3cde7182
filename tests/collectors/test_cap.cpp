#include <doctest/doctest.h>

#include "collectors/cap.hpp"

using namespace triage;
using collectors::CappedText;
using collectors::Keep;

namespace {

struct Kept {
  std::string text;
  std::optional<bundle::Cut> cut;
  std::uint64_t seen = 0;
};

Kept cap(const std::string& input, std::uint64_t limit, Keep keep, std::size_t chunk) {
  Kept kept;
  CappedText capped(limit, keep);
  const auto write = [&](std::string_view piece) { kept.text += piece; };
  for (std::size_t at = 0; at < input.size(); at += chunk)
    capped.feed(std::string_view(input).substr(at, chunk), write);
  capped.finish(write);
  kept.cut = capped.cut();
  kept.seen = capped.seen();
  CHECK(capped.kept() == kept.text.size());
  return kept;
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

}  // namespace

TEST_CASE("a stream below its cap is kept whole, however it is cut into pieces") {
  const std::string input = numbered_lines(100);
  for (const std::size_t chunk : {1U, 7U, 64U, 5000U})
    for (const std::uint64_t limit : {input.size(), input.size() + 1, input.size() * 2}) {
      for (const Keep keep : {Keep::head, Keep::head_and_tail}) {
        const Kept kept = cap(input, limit, keep, chunk);
        CHECK(kept.text == input);
        CHECK_FALSE(kept.cut.has_value());
      }
    }
}

TEST_CASE("of a long stream head and tail are kept with one line between that says what was cut") {
  const std::string input = numbered_lines(1000);
  for (const std::size_t chunk : {1U, 13U, 100U, 499U, 500U, 501U, 5000U, 50'000U}) {
    CAPTURE(chunk);
    const Kept kept = cap(input, 1000, Keep::head_and_tail, chunk);
    REQUIRE(kept.cut.has_value());
    CHECK(kept.text.substr(0, 7) == "line 0\n");
    CHECK(kept.text.substr(kept.text.size() - 9) == "line 999\n");
    CHECK(kept.text.find("bytes were cut here]\n") != std::string::npos);
    CHECK(kept.cut->head + kept.cut->tail + kept.cut->dropped == input.size());
    CHECK(kept.text.size() < 1100);
    CHECK(input.compare(input.size() - kept.cut->tail, kept.cut->tail,
                        kept.text.substr(kept.text.size() - kept.cut->tail)) == 0);
    // The seam falls on line ends.
    const auto note = kept.text.find("[triage: ");
    CHECK(kept.text[note - 1] == '\n');
    CHECK(kept.text.compare(kept.text.find('\n', note) + 1, 5, "line ") == 0);
  }
}

TEST_CASE("head only keeps the beginning to the byte") {
  const std::string input = numbered_lines(1000);
  for (const std::size_t chunk : {1U, 333U, 20'000U}) {
    const Kept kept = cap(input, 100, Keep::head, chunk);
    CHECK(kept.text == input.substr(0, 100));
    REQUIRE(kept.cut.has_value());
    CHECK(kept.cut->dropped == input.size() - 100);
  }
}

TEST_CASE("every length around the cap keeps its promise") {
  for (std::size_t length = 0; length < 70; ++length)
    for (const std::size_t chunk : {1U, 3U, 31U, 32U, 33U}) {
      std::string input;
      for (std::size_t i = 0; i < length; ++i) input += static_cast<char>('a' + i % 26);
      const Kept kept = cap(input, 64, Keep::head_and_tail, chunk);
      if (length <= 64) {
        CHECK(kept.text == input);
      } else {
        REQUIRE(kept.cut.has_value());
        CHECK(kept.cut->dropped == length - 64);
      }
    }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "redact/redactor.hpp"

using namespace triage;

namespace {

constexpr std::size_t k_mib = 1U << 20U;

std::string redacted(std::string_view text, std::size_t chunk = 256U << 10U) {
  redact::Options options;
  options.salt = "test";
  redact::Redactor redactor(options);
  redact::Stream stream =
      redactor.open({"x", evidence::Kind::container_log, evidence::Format::lines});
  std::string out;
  const redact::Sink sink = [&out](std::string_view part) { out += part; };
  for (std::size_t at = 0; at < text.size(); at += chunk) stream.feed(text.substr(at, chunk), sink);
  stream.finish(sink);
  return out;
}

std::string filled(std::string_view piece, std::size_t size) {
  std::string text;
  while (text.size() < size) text += piece;
  return text;
}

/// No secret of these tests stands in `out`, and a second run leaves it as it is.
void check(const std::string& out, const std::string& what) {
  const bool leaked =
      out.find("hunter2secret") != std::string::npos || out.find("Katalin") != std::string::npos;
  CHECK_MESSAGE(!leaked, what);
  CHECK_MESSAGE(redacted(out) == out, what << ": not idempotent");
}

}  // namespace

TEST_CASE("long lines: a field behind a text of any length keeps its name") {
  const std::string words = filled("x y z ", k_mib + 70'000);
  for (const std::string& line :
       {"{\"message\":\"" + words + "\",\"password\":\"hunter2secretZ9\",\"a\":1}\n",
        "{\"password\":\"hunter2secretZ9\",\"message\":\"" + words + "\",\"a\":1}\n",
        "{'message': '" + words + "', 'password': 'hunter2secretZ9', 'a': 1}\n",
        "INFO msg=\"" + words + "\" password=hunter2secretZ9 a=1\n",
        "{\"n\":[\"" + words +
            "\",{\"password\":\"hunter2secretZ9\"}],\"prompt\":\"where does "
            "Katalin hide from him\"}\n"}) {
    const std::string out = redacted(line);
    check(out, line.substr(0, 40));
    CHECK(out.find(words) != std::string::npos);
    CHECK(out.ends_with(line.substr(line.size() - 2)));
  }
}

TEST_CASE("long lines: what is secret is masked before, across and behind every MiB of a line") {
  for (const std::size_t edge : {k_mib, 2 * k_mib, 3 * k_mib}) {
    for (const int back : {0, 1, 2, 5, 9, 12, 16, 20, 24, 29, 40}) {
      const std::string before = "{\"message\":\"";
      const std::string words =
          filled("x y z ", edge).substr(0, edge - before.size() - static_cast<std::size_t>(back));
      const std::string line = before + words +
                               "\",\"password\":\"hunter2secretZ9\",\"prompt\":\"where does "
                               "Katalin hide from him\",\"a\":1}\n";
      const std::string out = redacted(line);
      REQUIRE(out.size() > words.size());
      CHECK(out.find("hunter2secret") == std::string::npos);
      CHECK(out.find("Katalin") == std::string::npos);
      CHECK(out.ends_with("\",\"a\":1}\n"));
    }
  }
}

TEST_CASE("long lines: a text of any length becomes one placeholder, escaped or not") {
  const std::string said = filled("where does Katalin hide from her ex husband? ", 3 * k_mib);
  const nlohmann::json inner = {{"prompt", said + "\n"}, {"password", "hunter2secretZ9"}};
  const nlohmann::json outer = {{"message", inner.dump()}, {"n", 17}};
  for (const std::string& line :
       {inner.dump() + "\n", outer.dump() + "\n", "prompt: '" + said + "', n: 17\n",
        "{'prompt': '" + said + "', 'n': 17}\n", "{\"prompt\":\"" + said}) {
    const std::string out = redacted(line);
    check(out, line.substr(0, 40));
    CHECK(out.size() < 200);
    const auto first = out.find("<prompt:");
    REQUIRE(first != std::string::npos);
    CHECK(out.find("<prompt:", first + 1) == std::string::npos);
    CHECK((line.find("17") == std::string::npos || out.find("17") != std::string::npos));
  }
}

TEST_CASE("long lines: a line that no memory should hold is masked behind its start") {
  std::string line = "{\"id\":\"req-7\",\"message\":\"";
  line += filled("x y z ", 66 * k_mib);
  line += "\",\"password\":\"hunter2secretZ9\"}\nnext line stays\n";
  const std::string out = redacted(line);
  CHECK(out.find("hunter2secret") == std::string::npos);
  CHECK(out.starts_with("{\"id\":\"req-7\",\"message\":\"x y z "));
  CHECK(out.ends_with("x y z <text>\nnext line stays\n"));
  CHECK(redacted(line, line.size()) == out);
  CHECK(redacted(out) == out);
}

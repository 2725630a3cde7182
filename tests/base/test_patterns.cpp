#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/pattern_literals.hpp"
#include "base/pattern_tree.hpp"

using triage::base::read_pattern;
using triage::base::required_literals;
using Literals = std::vector<std::string>;

namespace {

Literals shortest_wins(const char* pattern, std::size_t most = 8) {
  const auto tree = read_pattern(pattern);
  REQUIRE(tree.has_value());
  return required_literals(
      *tree, {3, most, [](const std::string& text) { return static_cast<long>(text.size()); }});
}

}  // namespace

TEST_CASE("patterns: what the reader does not know is left unread rather than read as narrower") {
  for (const char* pattern : {"[[:alpha:]]+ tail", "\\pN", "(unclosed", "*", "a{2}{3}", "a\\"})
    CHECK_MESSAGE(!read_pattern(pattern).has_value(), std::string(pattern));
}

TEST_CASE("patterns: of the literals that a match must hold those that cost least are taken") {
  CHECK(shortest_wins("Prompt text: .*body=") == Literals{"body="});
  CHECK(shortest_wins("(?:Prompt|Text)s?\\d+ .*tail") == Literals{"tail"});
  CHECK(shortest_wins("abc|defg") == Literals{"abc", "defg"});
  CHECK(shortest_wins("(?:abc)?[0-9]").empty());
}

TEST_CASE("patterns: more alternatives than are of use are no literals") {
  CHECK(shortest_wins("(?:one|two|six) days", 2) == Literals{" days"});
  CHECK(shortest_wins("one|two|six", 2).empty());
}

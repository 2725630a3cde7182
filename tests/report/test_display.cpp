#include <doctest/doctest.h>

#include "report/display.hpp"

namespace triage::report {

TEST_CASE(
    "display: terminal escapes, bidirectional overrides and invisible characters become text") {
  CHECK(visible("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(visible("x\xE2\x80\xAEy") == "x\\u202ey");
  CHECK(visible("p\xE2\x80\x8Bq") == "p\\u200bq");
  CHECK(visible("c\xC2\x9B"
                "1m") == "c\\x9b1m");
  CHECK(visible("tag\xF3\xA0\x81\x81") == "tag\\ue0041");
  CHECK(visible("a\tb\nc") == "a b\\x0ac");
}

TEST_CASE("display: an invalid byte becomes U+FFFD and valid text stays") {
  CHECK(visible("\xFF") == "\xEF\xBF\xBD");
  CHECK(visible("caf\xC3\xA9 \xE6\x97\xA5") == "caf\xC3\xA9 \xE6\x97\xA5");
  CHECK(visible("\xED\xA0\x80").find("\xED\xA0\x80") == std::string::npos);
}

TEST_CASE("display: wide characters take two columns and combining marks none") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xE6\x97\xA5") == 2);
  CHECK(display_width("e\xCC\x81") == 1);
}

TEST_CASE("display: wrapped lines never exceed the width and lose no character but blanks") {
  const std::string text =
      "one two three "
      "averyveryverylongwordthatfitsnowhereatallintwentycolumns \xE6\x97\xA5\xE6\x9C\xAC end";
  std::string joined;
  for (const auto& line : wrap(text, 20)) {
    CHECK(display_width(line) <= 20);
    joined += line;
  }
  std::string expected;
  for (const char c : text)
    if (c != ' ') expected += c;
  std::string got;
  for (const char c : joined)
    if (c != ' ') got += c;
  CHECK(got == expected);
}

TEST_CASE("display: a text cut by a line limit ends with an ellipsis inside the width") {
  const auto lines = wrap("aaaa bbbb \xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 cccc dddd", 9, 2);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].size() > 3);
  CHECK(lines[1].substr(lines[1].size() - 3) == "…");
  CHECK(display_width(lines[1]) <= 9);
}

}  // namespace triage::report

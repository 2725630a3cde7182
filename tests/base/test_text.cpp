#include "base/text.hpp"

#include <doctest/doctest.h>

using namespace triage;

TEST_CASE("text: durations and sizes take units") {
  CHECK(base::parse_duration_ns("90s") == 90'000'000'000);
  CHECK(base::parse_duration_ns("1h30m") == 5'400'000'000'000);
  CHECK(base::parse_duration_ns("250ms") == 250'000'000);
  CHECK(base::parse_duration_ns("15") == 15'000'000'000);
  CHECK_FALSE(base::parse_duration_ns("soon"));
  CHECK(base::parse_bytes("50MiB") == 52'428'800);
  CHECK(base::parse_bytes("1.5 GiB") == 1'610'612'736);
  CHECK(base::parse_bytes("4096") == 4096);
  CHECK_FALSE(base::parse_bytes("many"));
}

TEST_CASE("text: invalid UTF-8 becomes replacement characters and valid UTF-8 stays") {
  CHECK(base::to_valid_utf8("Grüße") == "Grüße");
  CHECK(base::to_valid_utf8("a\xff"
                            "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(base::to_valid_utf8("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("text: colours go, and nothing else") {
  CHECK(base::without_colours("\x1b[32m[42500.02] \x1b[0m\x1b[33mNVRM: \x1b[0mXid") ==
        "[42500.02] NVRM: Xid");
  CHECK(base::without_colours("\x1b[38;5;208mpeach\x1b(B\x1b[m") == "peach");
  CHECK(base::without_colours("plain [0m text") == "plain [0m text");
  CHECK(base::without_colours("cut \x1b[3") == "cut ");
  CHECK(base::without_colours("cut \x1b") == "cut ");
  CHECK(base::without_colours("\x1bword") == "word");
}

TEST_CASE("text: a typing mistake finds the word that was meant") {
  CHECK(base::nearest("quarantene", {"quarantine", "samples"}) == "quarantine");
  CHECK(base::nearest("zzz", {"quarantine", "samples"}).empty());
}

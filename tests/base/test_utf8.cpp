#include <doctest/doctest.h>

#include "base/utf8.hpp"

using namespace triage;

TEST_CASE("utf8: a code point is written in as many bytes as it needs, and read back whole") {
  for (const auto& [code, bytes] : {std::pair<std::uint32_t, std::string>{0x41, "A"},
                                    {0xe9, "\xc3\xa9"},
                                    {0x20ac, "\xe2\x82\xac"},
                                    {0x1f680, "\xf0\x9f\x9a\x80"}}) {
    std::string out;
    base::append_utf8(out, code);
    CHECK(out == bytes);
    CHECK(base::utf8_length(out, 0) == bytes.size());
  }
}

TEST_CASE("utf8: bytes that form no character have no length") {
  for (const std::string text :
       {"\x80", "\xc3", "\xe2\x82", "\xff\xff", "\xc0\x80", "\xf5\x80\x80\x80"})
    CHECK(base::utf8_length(text, 0) == 0);
  CHECK(base::utf8_length("a", 1) == 0);
}

TEST_CASE("utf8: hexadecimal digits of an escape, all of them or nothing") {
  CHECK(base::hex_number("00e9x", 4) == 0xe9);
  CHECK(base::hex_number("FFff", 4) == 0xffff);
  CHECK_FALSE(base::hex_number("00g9", 4));
  CHECK_FALSE(base::hex_number("00e", 4));
}

#include <doctest/doctest.h>

#include "base/sha256.hpp"

using triage::base::Sha256;
using triage::base::sha256_hex;

TEST_CASE("sha256: the vectors of FIPS 180-4 come out") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("sha256: pieces of any size give the digest of the whole") {
  const std::string text(1000, 'a');
  Sha256 pieces;
  for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = size % 70 + 1)
    pieces.update(std::string_view(text).substr(at, size));
  CHECK(pieces.hex() == sha256_hex(text));
  CHECK(sha256_hex(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

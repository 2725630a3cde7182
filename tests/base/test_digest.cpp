#include "base/digest.hpp"

#include <doctest/doctest.h>

using namespace triage;

TEST_CASE("digest: SHA-256 of the standard's examples, in one piece and in several") {
  CHECK(base::to_hex(base::sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  base::Sha256 sum;
  sum.update("a");
  sum.update("bc");
  CHECK(sum.finish() == base::sha256("abc"));
  CHECK(base::to_hex(sum.finish()) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("digest: HMAC of RFC 4231, test case 2") {
  CHECK(base::to_hex(base::hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("digest: two draws of random bytes differ") {
  CHECK(base::random_bytes(16).size() == 16);
  CHECK(base::random_bytes(16) != base::random_bytes(16));
}

#include "redact/excerpt.hpp"

#include <doctest/doctest.h>

using namespace triage;

TEST_CASE("excerpt: a token becomes a fixed placeholder and the words around it stay") {
  CHECK(redact::excerpt("HF download 401 for token hf_abcdefghijklmnopqrstuvwxyzABCDEFGH; gated",
                        evidence::Kind::container_log) ==
        "HF download 401 for token <redacted:token>; gated");
}

TEST_CASE("excerpt: diagnostic text stays as it is") {
  const std::string line =
      "NVRM: Xid (PCI:0000:3b:00): 79, pid=40000, name=python3, GPU has fallen off the bus.";
  CHECK(redact::excerpt(line, evidence::Kind::kernel_log) == line);
}

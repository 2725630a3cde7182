#include <doctest/doctest.h>

#include "evidence/fields.hpp"
#include "evidence/place.hpp"
#include "evidence/time.hpp"

using namespace triage;

TEST_CASE("place: PCI addresses of every tool become one form") {
  CHECK(evidence::normalise_pci("0000:3b:00") == "0000:3b:00.0");
  CHECK(evidence::normalise_pci("00000000:A1:00.0") == "0000:a1:00.0");
  CHECK(evidence::normalise_pci("PCI:0009:01:00") == "0009:01:00.0");
  CHECK(evidence::normalise_pci("GPU0000:A1:00.0") == "0000:a1:00.0");
  CHECK(evidence::normalise_pci("3b:00.0") == "0000:3b:00.0");
  CHECK(evidence::normalise_pci("00000008:06:00.0") == "0008:06:00.0");
  CHECK(evidence::normalise_pci("hello").empty());
}

TEST_CASE("time: RFC 3339 is read with zone, fraction and blank, and printed in UTC") {
  const auto utc = evidence::parse_rfc3339("2025-08-14T03:12:07.250Z");
  REQUIRE(utc);
  CHECK(utc->base == evidence::Stamp::Base::utc);
  CHECK(evidence::to_rfc3339({utc->ns, utc->resolution_ns}) == "2025-08-14T03:12:07.250Z");
  const auto zoned = evidence::parse_rfc3339("2025-08-14T05:12:07+02:00");
  REQUIRE(zoned);
  CHECK(evidence::to_rfc3339({zoned->ns, 1'000'000'000}) == "2025-08-14T03:12:07Z");
  CHECK(evidence::parse_rfc3339("2025-08-14 05:12:07,123")->base == evidence::Stamp::Base::no_zone);
  CHECK_FALSE(evidence::parse_rfc3339("2025-13-14T05:12:07Z"));
}

TEST_CASE("fields: a name below a starred field is known, others are not") {
  CHECK(evidence::is_field(evidence::Kind::pod, "labels.app"));
  CHECK(evidence::is_field(evidence::Kind::gpu_state, "clocks.hw_slowdown"));
  CHECK_FALSE(evidence::is_field(evidence::Kind::gpu_state, "clocks.hw_slowdwn"));
  CHECK_FALSE(evidence::is_field(evidence::Kind::pod, "labels."));
}

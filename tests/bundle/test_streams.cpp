#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bundle/streams.hpp"

using namespace triage::bundle;

namespace {

/// Gives a few bytes at a time, and damage at the end.
class Trickle final : public ByteStream {
 public:
  explicit Trickle(std::size_t size) : left_(size) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min({buffer.size(), left_, std::size_t{777}});
    for (std::size_t i = 0; i < count; ++i) buffer[i] = static_cast<char>('a' + (next_++ % 26));
    left_ -= count;
    if (left_ == 0) damage_ = "torn";
    return count;
  }
  const std::optional<std::string>& damage() const override { return damage_; }

 private:
  std::size_t left_;
  std::size_t next_ = 0;
  std::optional<std::string> damage_;
};

std::string rest_of(ByteStream& stream) {
  std::string text;
  std::vector<char> buffer(1000);
  while (const std::size_t got = stream.read(buffer)) text.append(buffer.data(), got);
  return text;
}

}  // namespace

TEST_CASE("streams: a head that holds a short source whole no longer needs it") {
  for (const std::size_t size : {0U, 1U, 5000U, 199'999U}) {
    auto source = std::make_unique<Trickle>(size);
    HeadStream head(*source, 200'000);
    CHECK(head.whole());
    CHECK(head.held() == size);
    source.reset();
    CHECK(rest_of(head).size() == size);
    CHECK_FALSE(head.damage());
  }
}

TEST_CASE("streams: what a head holds whole can be taken where it lies, once") {
  Trickle all(5000);
  const std::string wanted = rest_of(all);
  for (const std::uint64_t expected : {0U, 10U, 5000U, 9999U}) {
    Trickle source(5000);
    HeadStream head(source, 200'000, expected);
    std::vector<char> first(100);
    CHECK(head.read(first) == first.size());
    CHECK(head.take_held() == std::optional<std::string_view>(wanted.substr(first.size())));
    CHECK(rest_of(head).empty());
  }
  Trickle longer(300'000);
  HeadStream head(longer, 200'000);
  CHECK_FALSE(head.take_held());
  CHECK(rest_of(head).size() == 300'000);
}

TEST_CASE("streams: a head of a long source goes on where it ends") {
  Trickle all(300'000);
  const std::string wanted = rest_of(all);
  Trickle source(300'000);
  HeadStream head(source, 200'000);
  CHECK_FALSE(head.whole());
  CHECK(head.held() == 200'000);
  CHECK(rest_of(head) == wanted);
  CHECK(head.damage() == std::optional<std::string>("torn"));
}

#include "rules/deferred.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using triage::rules::Deferred;

namespace {

int decoded = 0;

std::string decode(std::string_view bytes) {
  ++decoded;
  return "<" + std::string(bytes) + ">";
}

}  // namespace

TEST_CASE("deferred: bytes are decoded when somebody asks, and once") {
  decoded = 0;
  const Deferred<std::string> value("abc", &decode, nullptr);
  const Deferred<std::string> copy = value;
  CHECK(decoded == 0);
  CHECK(*value == "<abc>");
  CHECK(value->size() == 5);
  CHECK(decoded == 1);
  CHECK(*copy == "<abc>");
  const Deferred<std::string> later = value;
  CHECK(*later == "<abc>");
  CHECK(decoded == 2);
}

TEST_CASE("deferred: an edited copy leaves the value alone") {
  Deferred<std::string> value("abc", &decode, nullptr);
  Deferred<std::string> copy = value;
  copy.edit() += "!";
  CHECK(*copy == "<abc>!");
  CHECK(*value == "<abc>");
  CHECK_FALSE(value == copy);
  value = std::move(copy);
  CHECK(*value == "<abc>!");
  CHECK(Deferred<std::string>(std::string("plain")) == Deferred<std::string>(std::string("plain")));
  CHECK(Deferred<std::string>()->empty());
}

TEST_CASE("deferred: the bytes live as long as a value that may still need them") {
  Deferred<std::string> value;
  {
    const auto owner = std::make_shared<const std::string>(1000, 'x');
    const Deferred<std::string> first(std::string_view(*owner).substr(1), &decode, owner);
    value = first;
  }
  CHECK(value->size() == 1001);
}

TEST_CASE("deferred: several threads that ask at once see one value") {
  const Deferred<std::string> value(
      "abc", [](std::string_view b) { return std::string(b); }, nullptr);
  std::vector<const std::string*> seen(4);
  std::vector<std::thread> threads;
  for (auto& place : seen) threads.emplace_back([&value, &place] { place = &*value; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string* one : seen) {
    CHECK(one == seen[0]);
    CHECK(*one == "abc");
  }
}

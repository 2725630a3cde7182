#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "analysis/window.hpp"

using namespace triage;

namespace {

/// Gives a text in pieces of at most `step` bytes, or, without a step, as it lies in memory.
class TextStream final : public bundle::ByteStream {
 public:
  TextStream(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t size = std::min({buffer.size(), step_, text_.size() - at_});
    std::memcpy(buffer.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }
  std::optional<std::string_view> take_held() override {
    if (step_ > 0) return std::nullopt;
    at_ = text_.size();
    return text_;
  }
  const std::optional<std::string>& damage() const override { return damage_; }

 private:
  std::string text_;
  std::size_t step_;
  std::size_t at_ = 0;
  std::optional<std::string> damage_;
};

constexpr std::size_t k_held = 0;  ///< a step

std::string many_lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 1; i <= count; ++i)
    text += "line " + std::to_string(i) + std::string(i % 97, 'x') + "\n";
  return text;
}

}  // namespace

TEST_CASE("window: blocks hold whole lines, all of them once, with their numbers") {
  const std::string text = many_lines(100'000);
  for (const std::size_t step : {std::size_t{70'001}, k_held}) {
    TextStream stream(text, step);
    std::vector<char> memory;
    analysis::Window window(stream, 1, memory);
    std::string together;
    while (window.next()) {
      const std::string_view block = window.block();
      CHECK(block.substr(0, 5) == "line ");
      CHECK(block.size() <= analysis::Window::k_block + analysis::Window::k_context);
      CHECK(std::stoull(std::string(block.substr(5, 8))) == window.first_line());
      CHECK(window.file_offset(window.block_begin()) == together.size());
      CHECK(window.at_start() == together.empty());
      together += block;
    }
    CHECK(together == text);
    CHECK(window.lines() == 100'000);
    CHECK(window.bytes() == text.size());
  }
}

TEST_CASE("window: neighbours of a line reach over the block border") {
  const std::string text = many_lines(60'000);
  for (const std::size_t step : {std::size_t{1U << 20U}, k_held}) {
    TextStream stream(text, step);
    std::vector<char> memory;
    analysis::Window window(stream, 1, memory);
    REQUIRE(window.next());
    REQUIRE(window.next());
    const std::size_t at = window.block_begin();
    const std::uint64_t number = window.first_line();
    const auto before = window.lines_before(at, 3);
    REQUIRE(before.size() == 3);
    CHECK(before[0].substr(0, 5 + std::to_string(number - 1).size()) ==
          "line " + std::to_string(number - 1));
    CHECK(before[2].substr(0, 5 + std::to_string(number - 3).size()) ==
          "line " + std::to_string(number - 3));
    const auto after = window.lines_after(at, 2);
    REQUIRE(after.size() == 2);
    CHECK(after[1].substr(0, 5 + std::to_string(number + 2).size()) ==
          "line " + std::to_string(number + 2));
  }
}

TEST_CASE("window: a line of many blocks comes in overlapping pieces and counts once") {
  const std::string giant(5U << 20U, 'g');
  for (const std::size_t step : {std::size_t{1U << 18U}, k_held}) {
    TextStream stream("first\n" + giant + "\nlast", step);
    std::vector<char> memory;
    analysis::Window window(stream, 1, memory);
    std::size_t pieces = 0;
    std::uint64_t last_number = 0;
    std::string tail;
    while (window.next()) {
      pieces += window.piece_of_long_line() ? 1 : 0;
      last_number = window.first_line();
      tail = std::string(window.block().substr(window.block().size() - 4));
    }
    CHECK(pieces >= 3);
    CHECK(window.cut_lines() == pieces);
    CHECK(window.lines() == 3);
    CHECK(last_number == 2);
    CHECK(tail == "last");
  }
}

TEST_CASE("window: an empty stream has no block and no line") {
  for (const std::size_t step : {std::size_t{10}, k_held}) {
    TextStream stream("", step);
    std::vector<char> memory;
    analysis::Window window(stream, 1, memory);
    CHECK_FALSE(window.next());
    CHECK(window.lines() == 0);
  }
}

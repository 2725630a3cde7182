#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>

#include "analysis/literal_plan.hpp"

using namespace triage;
using analysis::Literal;
using analysis::LiteralPlan;

namespace {

using Places = std::set<std::pair<std::uint32_t, std::size_t>>;  // literal, where it begins

char folded(char c) {
  return static_cast<char>(c | 0x20);
}

Places by_hand(const std::vector<Literal>& literals, const std::string& text) {
  std::string all = text;
  for (char& c : all) c = folded(c);
  Places places;
  for (std::uint32_t i = 0; i < literals.size(); ++i)
    for (std::size_t at = all.find(literals[i].folded); at != std::string::npos;
         at = all.find(literals[i].folded, at + 1))
      places.emplace(i, at);
  return places;
}

Places by_plan(const std::vector<Literal>& literals, const LiteralPlan& plan,
               const std::string& text) {
  analysis::WindowBitmap bitmap;
  plan.mark(literals, bitmap, [](const Literal&) { return true; });
  std::string all = text;
  for (char& c : all) c = folded(c);
  Places places;
  for (std::size_t at = 0; at + LiteralPlan::k_window <= text.size(); at += plan.stride()) {
    const std::uint32_t window = analysis::load_folded(text.data() + at);
    const LiteralPlan::Entry* entry = plan.find(window);
    if (entry != nullptr) CHECK(analysis::WindowBitmap::marked(bitmap.bits(), window));
    for (; entry != nullptr; entry = entry->last ? nullptr : entry + 1) {
      const auto begin = static_cast<std::ptrdiff_t>(at) - entry->offset;
      if (begin < 0 || begin + entry->length > static_cast<std::ptrdiff_t>(text.size())) continue;
      CHECK(entry->length == literals[entry->literal].text.size());
      if (all.compare(static_cast<std::size_t>(begin), entry->length,
                      literals[entry->literal].folded) != 0)
        continue;
      CHECK(analysis::load_folded(text.data() + at + entry->word_at) == entry->word);
      places.emplace(entry->literal, static_cast<std::size_t>(begin));
    }
  }
  return places;
}

Literal literal(const std::string& text, std::uint32_t kinds = 1) {
  Literal out{text, text, kinds, {0}};
  for (char& c : out.folded) c = folded(c);
  return out;
}

}  // namespace

TEST_CASE("literal plan: every literal is found wherever it lies, at every stride") {
  std::mt19937 random(20250814);
  for (int round = 0; round < 60; ++round) {
    const std::size_t shortest = 4 + static_cast<std::size_t>(round % 4);
    std::vector<Literal> literals;
    for (int i = 0; i < 12; ++i) {
      std::string text;
      const std::size_t size = shortest + random() % 9;
      while (text.size() < size) text += "abcd _[9"[random() % 8];
      literals.push_back(literal(text));
    }
    std::string text;
    while (text.size() < 3000) {
      if (random() % 3 == 0) text += literals[random() % literals.size()].text;
      text += "ABcd _[9\n"[random() % 9];
    }
    const Places wanted = by_hand(literals, text);
    CHECK(wanted.size() > 50);
    const analysis::WindowCounts counts(text);
    for (std::size_t stride = 1; stride <= LiteralPlan::k_longest_stride; ++stride) {
      const LiteralPlan general(literals, 1, stride, analysis::score_by_ordinary_logs);
      CHECK(by_plan(literals, general, text) == wanted);
      const LiteralPlan tuned(
          literals, 1, stride,
          [&](const std::string& l, std::vector<int>& scores) { counts.score(l, scores); });
      CHECK(by_plan(literals, tuned, text) == wanted);
    }
  }
}

TEST_CASE("literal plan: the stride is what the shortest literals allow") {
  const auto stride = [](const std::vector<Literal>& literals) {
    return LiteralPlan(literals, ~0U, 4, analysis::score_by_ordinary_logs).stride();
  };
  CHECK(stride({literal("seven b"), literal("much longer")}) == 4);
  CHECK(stride({literal("six by"), literal("much longer")}) == 4);
  CHECK(stride({literal("five5"), literal("much longer")}) == 3);
  CHECK(stride({literal("four"), literal("much longer")}) == 2);
  // Many short ones would fill the bitmap.
  std::vector<Literal> many;
  for (int i = 0; i < 100; ++i) many.push_back(literal("ab" + std::to_string(1000 + i)));
  CHECK(stride(many) == 3);
}

TEST_CASE("literal plan: windows that a text does not hold are preferred to those it is full of") {
  const std::vector<Literal> literals{literal("token usage: zebra quagga")};
  std::string text;
  for (int i = 0; i < 100; ++i) text += "zebra quagga and others\n";
  const analysis::WindowCounts counts(text);
  const LiteralPlan plan(literals, 1, 4, [&](const std::string& l, std::vector<int>& scores) {
    counts.score(l, scores);
  });
  CHECK(counts.share(plan.windows()) == 0);
  CHECK(counts.share(std::vector<std::uint32_t>{analysis::load_folded("zebr")}) > 0.03);
}

TEST_CASE("literal plan: literals of other kinds take no part") {
  const std::vector<Literal> literals{literal("kernel only", 1), literal("server only", 2)};
  const LiteralPlan plan(literals, 2, 4, analysis::score_by_ordinary_logs);
  CHECK(by_plan(literals, plan, "kernel only, server only") == Places{{1, 13}});
}

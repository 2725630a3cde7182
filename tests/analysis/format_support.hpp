#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/formats/parsers.hpp"
#include "base/text.hpp"
#include "evidence/fields.hpp"

/// What the tests of all parsers share.
namespace triage::test {

/// The facts of a text. Holds every parser to the published fields and to lines that exist.
inline std::vector<evidence::Fact> facts_of(analysis::formats::Parser parser, evidence::Kind kind,
                                            std::string_view text,
                                            const evidence::Place& place = {}) {
  std::vector<evidence::Fact> facts;
  parser(text, {kind, place},
         [&facts](evidence::Fact&& fact) { facts.push_back(std::move(fact)); });
  const std::size_t lines = base::split_lines(text).size();
  for (const evidence::Fact& fact : facts) {
    CHECK(fact.line >= 1);
    CHECK(fact.line <= lines);
    CHECK(is_derived(fact.kind) == false);
    for (const auto& [name, value] : fact.fields) {
      CAPTURE(name);
      CHECK(evidence::is_field(fact.kind, name));
      CHECK(value.line >= 1);
      CHECK(value.line <= lines);
    }
  }
  return facts;
}

/// The text of a 1-based line.
inline std::string line_of(std::string_view text, std::uint32_t line) {
  const auto lines = base::split_lines(text);
  return line >= 1 && line <= lines.size() ? std::string(lines[line - 1]) : std::string();
}

/// The first fact that has the field with that value.
inline const evidence::Fact* find_fact(const std::vector<evidence::Fact>& facts,
                                       std::string_view field, std::string_view value) {
  for (const evidence::Fact& fact : facts)
    if (fact.get(field) == value && fact.find(field) != nullptr) return &fact;
  return nullptr;
}

/// Runs a parser over every kind of damage: cut anywhere, bytes replaced, lines doubled. Parsers
/// must survive it and keep to their fields.
inline void survive_damage(analysis::formats::Parser parser, evidence::Kind kind,
                           std::string_view text) {
  const std::size_t step = text.size() / 200 + 1;
  for (std::size_t cut = 0; cut < text.size(); cut += step)
    (void)facts_of(parser, kind, text.substr(0, cut));
  std::uint32_t random = 12345;
  for (int round = 0; round < 60; ++round) {
    std::string damaged(text);
    for (int hit = 0; hit < 20 && !damaged.empty(); ++hit) {
      random = random * 1664525U + 1013904223U;
      const std::size_t at = random % damaged.size();
      const std::string_view bytes = "\0\xff:|{}[]\"\\\n <>/0,=-";
      damaged[at] = bytes[(random >> 16U) % 20U];
    }
    (void)facts_of(parser, kind, damaged);
  }
  std::string long_line(300000, '|');
  (void)facts_of(parser, kind, long_line + "\n" + std::string(text));
  (void)facts_of(parser, kind, "");
}

}  // namespace triage::test

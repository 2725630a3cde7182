#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/formats/parsers.hpp"
#include "evidence/fields.hpp"

namespace triage::test {

inline std::vector<evidence::Fact> facts_of(analysis::formats::Parser parser, std::string_view text,
                                            evidence::Kind kind = evidence::Kind::pod) {
  std::vector<evidence::Fact> facts;
  parser(text, {kind, {}}, [&](evidence::Fact&& fact) { facts.push_back(std::move(fact)); });
  return facts;
}

/// The first fact whose `field` is `value`, or an empty one.
inline evidence::Fact fact_with(const std::vector<evidence::Fact>& facts, std::string_view field,
                                std::string_view value) {
  for (const evidence::Fact& fact : facts)
    if (fact.get(field) == value) return fact;
  return {};
}

inline evidence::Fact fact_saying(const std::vector<evidence::Fact>& facts, std::string_view part) {
  for (const evidence::Fact& fact : facts)
    if (fact.text.find(part) != std::string::npos) return fact;
  return {};
}

inline std::uint32_t line_of(const evidence::Fact& fact, std::string_view field) {
  const evidence::Value* value = fact.find(field);
  return value == nullptr ? 0 : value->line;
}

/// The line of the first place where `text` holds `part`, counted without any parser.
inline std::uint32_t line_in(std::string_view text, std::string_view part) {
  const std::size_t at = text.find(part);
  if (at == std::string_view::npos) return 0;
  return 1 + static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + at, '\n'));
}

/// Names of fields that their kind does not know; empty when all is well.
inline std::string unknown_fields(const std::vector<evidence::Fact>& facts) {
  std::string unknown;
  for (const evidence::Fact& fact : facts)
    for (const auto& [name, value] : fact.fields)
      if (!evidence::is_field(fact.kind, name))
        unknown += std::string(evidence::to_string(fact.kind)) + "." + name + " ";
  return unknown;
}

}  // namespace triage::test

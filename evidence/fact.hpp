#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "evidence/kind.hpp"
#include "evidence/place.hpp"
#include "evidence/time.hpp"

namespace triage::evidence {

/// One value of a fact and the line that says it. Numbers are kept as plain decimal text in base
/// units (bytes, seconds, degrees Celsius), so that a rule can compare them; yes/no values are
/// `true` and `false`; enumerations are lower case with hyphens (`not-active`).
struct Value {
  std::string text;
  std::uint32_t line = 0;  ///< 1-based in the original file
};

/// What a parser of structured evidence found: one object (a container, an event, a GPU, a metric
/// sample) as dotted fields. The fields of each kind are listed in evidence/fields.hpp.
struct Fact {
  Kind kind = Kind::unknown_text;
  std::uint32_t line = 0;  ///< the line that stands for the object when no field decides
  std::string
      text;  ///< what `match` sees: event message, waiting or termination message, an unparsed line
  std::map<std::string, Value, std::less<>> fields;
  Place place;
  std::optional<Stamp> stamp;  ///< when the fact happened or was true
  std::uint32_t file = 0;      ///< set by analysis: index of the input file

  [[nodiscard]] const Value* find(std::string_view field) const {
    const auto it = fields.find(field);
    return it == fields.end() ? nullptr : &it->second;
  }
  [[nodiscard]] std::string get(std::string_view field) const {
    const Value* value = find(field);
    return value == nullptr ? std::string() : value->text;
  }
  void set(std::string field, std::string text_value, std::uint32_t at_line) {
    fields.insert_or_assign(std::move(field), Value{std::move(text_value), at_line});
  }
};

/// Where parsers put what they find.
using FactSink = std::function<void(Fact&&)>;

}  // namespace triage::evidence

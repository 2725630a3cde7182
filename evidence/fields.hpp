#pragma once

#include <span>
#include <string_view>

#include "evidence/kind.hpp"

namespace triage::evidence {

enum class FieldType : std::uint8_t { text, number, boolean, bytes, seconds, time };

/// A field that rules may read with `where`. A name ending in `.*` stands for any field below it
/// (`labels.*`).
struct Field {
  std::string_view name;
  FieldType type;
  std::string_view meaning;
};

/// The fields of a kind, for the linter and `triage rules fields KIND`. Parsers must not emit
/// others: a test holds them to it.
[[nodiscard]] std::span<const Field> fields_of(Kind kind);
[[nodiscard]] bool is_field(Kind kind, std::string_view name);
[[nodiscard]] std::string_view to_string(FieldType type);

}  // namespace triage::evidence

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/line_prefix.hpp"

namespace triage::analysis {

/// A line of a JSON-lines log as the program wrote it.
struct JsonLine {
  /// The message, decoded. Line ends inside it stay. Fields of a structured logger follow as
  /// `key=value`, quoted as in logfmt, so that one pattern matches both ways of writing
  /// (`load failed model=q error="no route"`).
  std::string text;
  /// What the object and a prefix inside the message say together; `message` is an offset in
  /// `text`.
  LinePrefix prefix;
};

/// Decodes one line of docker (`log`), journald (`MESSAGE`, also as an array of bytes), fluentd and
/// cloud exports (`textPayload`, `line`) or of a structured logger (`msg`, `message`, `event`,
/// `fields.message`), also behind a collector's stamp. Nothing when the line is no JSON object or
/// holds no message. Damaged or cut objects give what their sound part says. Never throws; one pass
/// over the line, no tree.
[[nodiscard]] std::optional<JsonLine> decode_json_line(std::string_view line, evidence::Kind kind);
/// Its text alone, which costs a fraction.
[[nodiscard]] std::optional<std::string> decode_json_text(std::string_view line,
                                                          evidence::Kind kind);

}  // namespace triage::analysis

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evidence/kind.hpp"

namespace triage::evidence {

/// Marks logged prompts, request bodies and model outputs: nothing inside a span is matched by a
/// fault rule, and redaction masks it. `start` and `end` are RE2 patterns; the span runs from the
/// end of `start` to the beginning of `end`, or to the end of the line when there is no `end`. With
/// `multiline` an `end` may stand on a later line.
struct UserTextSpan {
  std::string id;
  std::vector<Kind> kinds;  ///< empty: every log kind
  std::string start;
  std::optional<std::string> end;
  bool multiline = false;
  std::size_t max_lines = 200;  ///< a multi-line span without its end stops here
};

}  // namespace triage::evidence

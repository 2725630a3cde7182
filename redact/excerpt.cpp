#include "redact/excerpt.hpp"

#include "redact/line_machine.hpp"
#include "redact/profiles.hpp"

namespace triage::redact {

std::string excerpt(std::string_view line, evidence::Kind kind) {
  static const KeyClassifier k_classifier;
  thread_local KeyCache keys(k_classifier);  // remembers names of fields, changes no result
  Namer namer(Namer::Style::fixed, {});
  Env env{namer, keys, nullptr, profile_of(kind, evidence::Format::lines)};
  Edits edits;
  scan_text(env, line, 0, edits);
  if (edits.empty()) return std::string(line);
  normalise(edits);
  std::string out;
  apply(line, edits, out);
  return out;
}

}  // namespace triage::redact

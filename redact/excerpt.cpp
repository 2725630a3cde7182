#include "redact/excerpt.hpp"

#include "redact/line_machine.hpp"
#include "redact/profiles.hpp"

namespace triage::redact {

std::string excerpt(std::string_view line, evidence::Kind kind) {
  static const KeyClassifier k_classifier;
  thread_local KeyCache keys(k_classifier);  // remembers names of fields, changes no result
  Namer namer(Namer::Style::fixed, {});
  Env env{namer, keys, nullptr, profile_of(kind, evidence::Format::lines)};
  std::string out(line);
  // A placeholder may read differently from what it stands for: until nothing changes any more.
  for (int round = 0; round < 4; ++round) {
    Edits edits;
    scan_text(env, out, 0, edits);
    if (edits.empty()) break;
    normalise(edits);
    std::string redacted;
    apply(out, edits, redacted);
    out = std::move(redacted);
  }
  return out;
}

}  // namespace triage::redact

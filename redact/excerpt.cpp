#include "redact/excerpt.hpp"

#include <re2/re2.h>

namespace triage::redact {
namespace {

/// A pattern whose first group is kept and whose rest is replaced.
struct Mask {
  const char* pattern;
  const char* replacement;
};

constexpr Mask k_masks[] = {
    {R"re((?:sk-(?:proj-|ant-|or-)?|hf_|nvapi-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_)[A-Za-z0-9_-]{16,})re",
     "<redacted:token>"},
    {R"re(\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)re", "<redacted:access-key>"},
    {R"re(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)re", "<redacted:jwt>"},
    {R"re((?i)\b(bearer|basic) [A-Za-z0-9._~+/=-]{8,})re", "\\1 <redacted:token>"},
    {R"re(([a-z][a-z0-9+.-]*://[^\s:/@"']*:)[^\s/@"']+@)re", "\\1<redacted:password>@"},
    {R"re((?i)\b([a-z_-]*(?:api[_-]?key|password|passwd|secret|_token)=)[^\s,;&"')]+)re",
     "\\1<redacted:secret>"},
    {R"re((prompt: )'(?:[^'\\]|\\.)*')re", "\\1'<redacted:prompt>'"},
    {R"re((prompt: )"(?:[^"\\]|\\.)*")re", "\\1\"<redacted:prompt>\""},
};

}  // namespace

std::string excerpt(std::string_view line, evidence::Kind /*kind*/) {
  std::string text(line);
  for (const Mask& mask : k_masks) {
    const re2::RE2 pattern(mask.pattern, re2::RE2::Latin1);
    re2::RE2::GlobalReplace(&text, pattern, mask.replacement);
  }
  return text;
}

}  // namespace triage::redact

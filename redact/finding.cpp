#include "redact/finding.hpp"

#include <algorithm>
#include <array>

namespace triage::redact {

std::string_view to_string(What what) {
  static constexpr std::array<std::string_view, k_what_count> k_names{
      "token",     "password", "secret", "private-key", "cookie", "prompt", "output", "document",
      "token-ids", "text",     "email",  "user",        "ip",     "host",   "mac",    "custom"};
  return k_names.at(static_cast<std::size_t>(what));
}

void normalise(Edits& edits) {
  if (edits.size() < 2) return;
  const auto earlier = [](const Edit& a, const Edit& b) { return a.begin < b.begin; };
  if (!std::is_sorted(edits.begin(), edits.end(), earlier))
    std::stable_sort(edits.begin(), edits.end(), earlier);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < edits.size(); ++i) {
    Edit& last = edits[kept];
    if (edits[i].begin < last.end) {
      const std::size_t begin = last.begin;
      const std::size_t end = std::max(last.end, edits[i].end);
      if (edits[i].end - edits[i].begin > last.end - last.begin) last = std::move(edits[i]);
      last.begin = begin;
      last.end = end;
    } else if (++kept != i) {
      edits[kept] = std::move(edits[i]);
    }
  }
  edits.resize(kept + 1);
}

void apply(std::string_view text, const Edits& edits, std::string& out) {
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    out += text.substr(at, edit.begin - at);
    out += edit.replacement;
    at = edit.end;
  }
  out += text.substr(at);
}

}  // namespace triage::redact

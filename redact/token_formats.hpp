#pragma once

#include <cstddef>
#include <string_view>

#include "redact/finding.hpp"

namespace triage::redact {

/// A credential recognised by its own form.
struct TokenMatch {
  std::size_t begin = 0;  ///< of the whole token, its public prefix included
  std::size_t end = 0;
  What what = What::token;
  bool cut = false;  ///< shorter than its format, up to the end of the text: wrapped by a terminal
};

/// The credential that starts exactly at `at`, or `end == 0`. Covers the forms of cloud providers,
/// code hosts, model providers, observability and payment services, JWTs and password hashes.
/// `at_line_end` says whether the end of `text` may be a line break inside a token.
[[nodiscard]] TokenMatch match_token(std::string_view text, std::size_t at,
                                     bool at_line_end = false);

/// Whether a token may start with these two bytes: cheap test before match_token.
[[nodiscard]] bool may_start_token(char first, char second);

}  // namespace triage::redact

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What redaction finds in a text and how it is replaced.
namespace triage::redact {

/// What a masked piece of text was. The name is what the placeholder and the redaction report say.
enum class What : std::uint8_t {
  token,        ///< API keys, access tokens, signatures: issued by a machine
  password,     ///< passwords and passphrases: chosen by a person or a generator
  secret,       ///< a value whose key says that it is secret
  private_key,  ///< PEM blocks and their base64 forms
  cookie,
  prompt,    ///< what a user or a system prompt said to a model
  output,    ///< what a model said
  document,  ///< retrieved text
  token_ids,
  text,  ///< content whose side is not known; everything that strict mode drops
  email,
  user,
  ip,
  host,
  mac,
  custom,  ///< found by a rule of the user
};

inline constexpr std::size_t k_what_count = 16;

[[nodiscard]] std::string_view to_string(What what);

/// Tier 1: credentials and content. A text that still holds one must not leave the machine.
[[nodiscard]] constexpr bool is_credential(What what) {
  return what <= What::cookie;
}
[[nodiscard]] constexpr bool is_content(What what) {
  return what >= What::prompt && what <= What::text;
}
[[nodiscard]] constexpr bool is_address(What what) {
  return what == What::ip || what == What::host || what == What::mac;
}

/// One replacement: bytes [begin, end) of the text become `replacement`.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  What what = What::token;
  std::string replacement;
};

using Edits = std::vector<Edit>;

/// Sorts by place and joins edits that overlap; the longer one's replacement stays.
void normalise(Edits& edits);

/// `text` with `edits` (normalised) made, appended to `out`.
void apply(std::string_view text, const Edits& edits, std::string& out);

}  // namespace triage::redact

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redact/finding.hpp"

namespace triage::redact {

/// What the name of a field says about its value.
enum class KeyKind : std::uint8_t {
  none,
  secret,        ///< any value is a secret (password, api_key)
  token,         ///< a secret unless it is a number: `token` also counts things
  if_random,     ///< a secret only when it looks generated (session, key, sig)
  auth,          ///< `Authorization`: scheme and credential
  cookie,        ///< `Cookie`, `Set-Cookie`
  pair,          ///< `user:password`
  encoded,       ///< base64 that holds a secret (`data:` of a Kubernetes Secret, `client-key-data`)
  content,       ///< prompts, outputs, documents: any text
  maybe_text,    ///< content unless it reads like a program's own message (`text`, `input`, `body`)
  perhaps_text,  ///< programs and persons use the name alike (`summary`, `comment`): sentences only
  arguments,     ///< of a tool call: every value inside is content
  token_ids,     ///< arrays of token ids
  pieces,        ///< `tokens`: a count, ids, or pieces of text
  user,
  host,
  name,   ///< of a name/value pair: its value says what the sibling `value` is
  value,  ///< of a name/value pair
  role,   ///< `role`, `from`: whose text the sibling content is
  key,    ///< `key` alone: a name as above, or a secret when it looks generated
};

struct KeyClass {
  KeyKind kind = KeyKind::none;
  What what = What::token;
  bool ends_phrase = false;  ///< may be the last word of a name in prose: `User prompt was: `

  [[nodiscard]] bool masks_text() const {
    return kind == KeyKind::content || kind == KeyKind::maybe_text;
  }
  [[nodiscard]] bool is_secret() const {
    return kind >= KeyKind::secret && kind <= KeyKind::encoded;
  }
};

/// The name in a key as written: `--api-key`, `$env.token`, `owner.example/email`; empty when the
/// word is none.
[[nodiscard]] std::string_view bare_key(std::string_view word);

/// Splits at everything that is no letter or digit and at camelCase borders; lower-case.
[[nodiscard]] std::vector<std::string> key_words(std::string_view key);

/// Whether a name before a colon may be that of the function or module that speaks:
/// `llama_context: ...`, `_print_cred: ...`. `retrieved_context` is none.
[[nodiscard]] bool names_function(std::string_view key);

/// Classifies names of fields. Names that a person added win over the built-in knowledge.
class KeyClassifier {
 public:
  KeyClassifier();

  void add(std::string_view key, KeyClass result);
  [[nodiscard]] KeyClass classify(std::string_view key) const;

 private:
  [[nodiscard]] KeyClass class_of_name(std::string_view key) const;

  std::vector<std::pair<std::string, KeyClass>> added_;
};

/// A classifier with a memory, one for each stream: logs repeat their keys.
class KeyCache {
 public:
  explicit KeyCache(const KeyClassifier& classifier) : classifier_(&classifier) {}
  [[nodiscard]] KeyClass classify(std::string_view key);

 private:
  /// A small file needs few; a stream that misses often gets more.
  static constexpr std::size_t k_first_slots = 128;
  static constexpr std::size_t k_most_slots = 8192;
  static constexpr std::size_t k_longest = 60;
  /// One line of the processor's cache.
  struct alignas(64) Slot {
    std::uint8_t length = 0;
    KeyClass result;
    std::array<char, k_longest> key{};
  };
  static_assert(sizeof(Slot) == 64);
  const KeyClassifier* classifier_;
  std::vector<Slot> slots_ = std::vector<Slot>(k_first_slots);
  std::size_t misses_ = 0;
};

}  // namespace triage::redact

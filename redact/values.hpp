#pragma once

#include <string_view>

/// Judgements about single values: is this a secret, a count, a path, prose? None of them
/// allocates.
namespace triage::redact {

/// Placeholders of this program, and masks that other tools leave (`***`, `[REDACTED]`, `xxxx`).
[[nodiscard]] bool is_masked(std::string_view value);
/// Length of the placeholder of this program at the start of `text` (`<token:1f…>`,
/// `<redacted:token>`, the same in square brackets), or 0.
[[nodiscard]] std::size_t placeholder_length(std::string_view text);

/// Says where a value is or that there is none: `${X}`, `$(X)`, `{{ x }}`, `%s`, `<set to the key
/// ...>`, `None`, `null`, `true`, `<nil>`.
[[nodiscard]] bool is_reference(std::string_view value);
/// `/run/secrets/x`, `./tls.key`, `~/.netrc`: the place of a secret, not the secret.
[[nodiscard]] bool is_path(std::string_view value);
/// Integer, decimal, hexadecimal with 0x, or number with unit (`40/s`, `8Gi`, `30s`, `75%`).
[[nodiscard]] bool is_number(std::string_view value);
[[nodiscard]] bool is_uuid(std::string_view value);
/// Words that stand after a credential's name and are none: `enabled`, `missing`, `expired` ...
[[nodiscard]] bool is_status_word(std::string_view value);
/// Words that a sentence goes on with behind the name of a flag: `--password via`, `--user option`.
[[nodiscard]] bool is_joining_word(std::string_view value);
/// A name as Kubernetes gives objects: lower-case words joined by hyphens or dots.
[[nodiscard]] bool is_object_name(std::string_view value);

/// Letters and digits as a generator mixes them; words, identifiers and versions are not.
[[nodiscard]] bool looks_random(std::string_view value, std::size_t minimum = 12);
[[nodiscard]] bool all_lower_letters(std::string_view value);
[[nodiscard]] bool has_letter_and_digit(std::string_view value);
/// base64 of some length and nothing else; no path and no digest.
[[nodiscard]] bool is_long_base64(std::string_view value);
/// What stands before a credential in an HTTP header: `Bearer`, `Basic` ...
[[nodiscard]] bool is_scheme(std::string_view word);
/// What stands before the quote of a literal: `b'x'`, `rb"x"`, `u8"x"`.
[[nodiscard]] bool is_string_prefix(std::string_view word);
/// Whether the value is so particular that it may be replaced wherever it stands.
[[nodiscard]] bool is_distinctive(std::string_view value);

/// Sentences rather than names, numbers or code: at least `words` words of letters, or enough text
/// in a script without blanks.
[[nodiscard]] bool is_prose(std::string_view value, std::size_t words = 3);
/// Text that programs write about faults: stack frames, exception names, CUDA, NCCL, Xid, HTTP
/// status lines. Wins over prose where the key leaves it open.
[[nodiscard]] bool is_technical(std::string_view value);

}  // namespace triage::redact

#pragma once

#include <cstddef>
#include <string_view>

/// Who wrote a sentence: a person or a model, or the programs that serve them.
namespace triage::redact {

/// How much must speak for a program before a text counts as its report.
enum class Doubt : unsigned char {
  content,  ///< the key leaves it open (`response`, `text`): a report is full of a program's words
  report,   ///< the key is a program's as often as a person's (`summary`): one in ten will do
};

/// Whether a text reads like what a program says of itself or an operator of a program: `worker
/// lost its heartbeat and will be restarted`, `GPU temperature above the slowdown threshold`. Who
/// says `I` or `please`, or asks, is a person.
[[nodiscard]] bool reads_as_report(std::string_view text, Doubt doubt);

/// Whether what stands behind `output:` is a command's, not a model's: `mount.nfs: Connection timed
/// out`, or the words before speak of a probe, an exit or a mount.
[[nodiscard]] bool is_command_output(std::string_view before, std::string_view output);

/// `connection was closed by the peer`, `cannot bind port`: how a program begins to say what went
/// wrong.
[[nodiscard]] bool begins_as_report(std::string_view text);

/// Whether a text begins like a line of a log or of a stack: with a time, `File "..."`, `frame #3`,
/// `Thread 0x7f..`.
[[nodiscard]] bool begins_as_log(std::string_view text);

/// The status line of an HTTP message, also as http.client prints it: `HTTP/1.1 529 Overloaded`.
[[nodiscard]] bool is_status_line(std::string_view text);

/// `100%|####| 4/4 [00:02<00:00]`: a progress bar at the start of `text`.
[[nodiscard]] bool is_progress(std::string_view text);

/// `sha256:9f31...`, `SHA256:b4yi...`: a digest or a fingerprint.
[[nodiscard]] bool is_digest(std::string_view value);

/// `HS256`, `scram-sha-256`, `argon2id`: how something is signed or hashed.
[[nodiscard]] bool is_algorithm(std::string_view value);

/// What stands for a value in a help text: `API_KEY`, `[TOKEN]`, `PASSWORD`.
[[nodiscard]] bool is_metavariable(std::string_view value);
/// `x-user-session`: the header in which the value comes, not the value.
[[nodiscard]] bool is_header_name(std::string_view value);

/// A picture, a recording or a document in base64, by how its format begins.
[[nodiscard]] bool is_media_base64(std::string_view value);

}  // namespace triage::redact

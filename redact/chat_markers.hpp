#pragma once

#include <cstddef>
#include <string_view>

/// The markers by which the templates of models divide a conversation. One table for all who read
/// texts as a model sees them.
namespace triage::redact {

/// Whether a marker that opens a turn, or that names whose turn it is, stands at the start.
[[nodiscard]] bool begins_turn(std::string_view text);

/// Behind the last marker that ends a turn, or 0.
[[nodiscard]] std::size_t behind_last_turn(std::string_view text);

/// Where the first marker stands that ends a turn, from `from` on; the size of `text` when there is
/// none.
[[nodiscard]] std::size_t end_of_turn(std::string_view text, std::size_t from);

/// Whether a text ends inside a turn: after its last marker stands at most a role, or its words.
[[nodiscard]] bool leaves_turn_open(std::string_view text);

/// Whose words a message holds: `user`, `assistant`, `tool` ...
[[nodiscard]] bool is_role(std::string_view word);

}  // namespace triage::redact

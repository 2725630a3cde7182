// Command lines as the audit system writes them: hexadecimal when they hold blanks or zeros, and
// each argument under a name of its own.

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "redact/chars.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

constexpr std::size_t k_shortest_hex = 16;
constexpr std::size_t k_longest_hex = 32U << 10U;

/// `a0`, `a12`: an argument of EXECVE.
bool is_argument_name(std::string_view key) {
  return key.size() >= 2 && key.size() <= 5 && key[0] == 'a' &&
         std::all_of(key.begin() + 1, key.end(), is_digit);
}

bool holds_hex(std::string_view key) {
  static constexpr std::array<std::string_view, 8> k_fields{"proctitle", "cmd",  "exe",  "cwd",
                                                            "comm",      "name", "data", "acct"};
  return std::find(k_fields.begin(), k_fields.end(), key) != k_fields.end() ||
         is_argument_name(key);
}

/// The text in hexadecimal, arguments with blanks between; empty when it is none.
std::string decoded_hex(std::string_view hex) {
  std::string text;
  text.reserve(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const unsigned byte = base::hex_number(hex.substr(i), 2).value_or(127);
    const bool printable = (byte >= ' ' && byte != 127) || byte == '\t' || byte == '\n';
    if (!printable && byte != 0) return {};
    text += byte == 0 || byte == '\n' ? ' ' : static_cast<char>(byte);
  }
  return text;
}

std::string hex_of(std::string_view text) {
  static constexpr char k_digits[] = "0123456789ABCDEF";
  std::string hex;
  for (const char c : text) {
    hex += k_digits[static_cast<unsigned char>(c) >> 4U];
    hex += k_digits[static_cast<unsigned char>(c) & 15U];
  }
  return hex;
}

}  // namespace

/// `proctitle=63757264...`: a credential or a prompt inside takes all of it, addresses and users
/// only their part. Where the value ended, or `at`.
std::size_t Scanner::on_hex_text(std::string_view key, std::size_t at, std::size_t end) {
  if (depth_ >= k_deepest || !holds_hex(key)) return at;
  std::size_t stop = at;
  while (stop < end && is_hex(text_[stop])) ++stop;
  const bool word_ends = stop == end || static_cast<unsigned char>(text_[stop]) <= ' ' ||
                         text_[stop] == '\'' || text_[stop] == '"' || text_[stop] == 0x1D;
  if (!word_ends || stop - at < k_shortest_hex || stop - at > k_longest_hex ||
      (stop - at) % 2 != 0 || !env_.spend((stop - at) * 4))
    return at;
  const std::string text = decoded_hex(part(at, stop));
  if (text.empty()) return at;
  Edits edits;
  ScanState state;
  state.frames.emplace_back();
  Scanner inner(env_, state, text, edits, depth_ + 1, false);
  inner.scan(0, text.size());
  normalise(edits);
  for (const Edit& edit : edits)
    if (is_credential(edit.what) || is_content(edit.what)) {
      mask(at, stop, edit.what, part(at, stop));
      return stop;
    }
  for (Edit& edit : edits)
    add_edit({at + edit.begin * 2, at + edit.end * 2, edit.what, hex_of(edit.replacement)});
  return stop;
}

/// `a1="--token" a2="x"`: what the argument before says of this one.
KeyClass Scanner::class_of_argument(std::string_view key, std::size_t quote, std::size_t end) {
  if (!is_argument_name(key)) return {};
  const std::size_t close = next_of(text_.substr(quote, 1), quote + 1, end);
  const std::string_view value = part(quote + 1, close);
  Frame& around = frame();
  const KeyClass flagged = around.flagged;
  around.flagged = {};
  if (value.size() > 2 && value.front() == '-' && value.find('=') == std::string_view::npos) {
    const KeyClass named = allowed(env_.keys.classify(bare_key(value)));
    if (named.is_secret() || named.masks_text()) around.flagged = named;
    return {};
  }
  return flagged;
}

}  // namespace triage::redact

// What the text around says of a value: commands that read a secret, objects that hold some.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

/// Whether a command reads a secret from its standard input.
bool reads_secret(std::string_view command) {
  static constexpr std::array<std::string_view, 21> k_signs{
      "--key-file -", "--key-file=-",     "cryptsetup ",   "ssh-add",       "passphrase-fd",
      "| passwd",     "--password-stdin", "--with-token",  "--token-stdin", "passwd --stdin",
      "chpasswd",     "sudo -S",          "secret create", "vault login",   "kinit",
      "-pass stdin",  "smbpasswd",        "htpasswd -i",   "su -c",         "luksOpen",
      "auth login"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](std::string_view sign) { return base::contains(command, sign); });
}

/// Whether a command, the sign of its pipe before it, asks a model what it reads.
bool reads_prompt(std::string_view command) {
  static constexpr std::array<std::string_view, 11> k_programs{
      "ollama run", "llm",       "aichat", "mods",   "sgpt",     "gptme",
      "tgpt",       "chatblade", "claude", "gemini", "llama-cli"};
  while (!command.empty() && (command.front() == '|' || command.front() == ' '))
    command.remove_prefix(1);
  return std::any_of(k_programs.begin(), k_programs.end(), [&](std::string_view program) {
    return command.starts_with(program) &&
           (command.size() == program.size() || !is_alnum(command[program.size()]));
  });
}

}  // namespace

/// Whether what stands in a secret's place at `first` is masked already, a variable or a
/// placeholder.
bool Scanner::names_none(std::string_view value, std::size_t first, std::size_t end) const {
  return value.empty() || is_masked(value) || is_reference(value) || value.front() == '$' ||
         placeholder_length(part(first, end)) > 0;
}

/// `echo x | docker login --password-stdin`: the last argument before the pipe.
std::size_t Scanner::on_piped_secret(std::size_t begin, std::size_t word_end, std::size_t end) {
  const std::size_t pipe = text_.substr(0, std::min(end, begin + 4096)).find('|', word_end);
  if (pipe == std::string_view::npos) return 0;
  constexpr std::size_t k_command = 512;
  const std::size_t stop_of_command = next_of(";&\n", pipe, std::min(end, pipe + k_command));
  const std::string_view command = part(pipe, stop_of_command);
  if (env_.profile.content && env_.profile.free_text && reads_prompt(command)) {
    const std::size_t quote = text_.substr(0, pipe).find_first_of("\"'", word_end);
    if (quote == std::string_view::npos) return 0;
    const std::size_t close = closing_quote(quote, pipe, true);
    if (close == std::string_view::npos || !is_prose(part(quote + 1, close), 4)) return 0;
    mask(quote + 1, close, What::prompt, part(quote + 1, close));
    return pipe;
  }
  if (!reads_secret(command)) return 0;
  std::size_t stop = pipe;
  while (stop > word_end && (text_[stop - 1] == ' ' || text_[stop - 1] == '\t')) --stop;
  if (stop <= word_end + 1) return 0;
  std::size_t first = stop;
  const char last = text_[stop - 1];
  if (last == '"' || last == '\'') {
    --stop;
    first = stop;
    while (first > word_end + 1 && text_[first - 1] != last) --first;
  } else {
    while (first > word_end + 1 && text_[first - 1] != ' ') --first;
    if (first < stop && text_[first] == '-') return 0;
  }
  std::string_view value = part(first, stop);
  if (value.ends_with("\\n")) value.remove_suffix(2);
  if (names_none(value, first, end)) return 0;
  mask(first, first + value.size(), What::password, value);
  return pipe;
}

/// `docker login --password-stdin <<< x`.
std::size_t Scanner::on_here_string(std::size_t at, std::size_t end) {
  std::size_t first = skip_blanks(at + 3, end);
  if (first >= end || !reads_secret(part(at > 512 ? at - 512 : 0, at))) return at + 3;
  std::size_t stop = 0;
  if (text_[first] == '"' || text_[first] == '\'') {
    stop = closing_quote(first, end, false);
    if (stop == std::string_view::npos) return at + 3;
    ++first;
  } else {
    stop = next_of(" \t;|&", first, end);
  }
  const std::string_view value = part(first, stop);
  if (names_none(value, first, end)) return at + 3;
  mask(first, stop, What::password, value);
  return stop;
}

/// `docker login --password-stdin <<EOF`: what it reads stands on the next line.
std::size_t Scanner::on_here_document(std::size_t at, std::size_t end) {
  const bool word = at + 2 < end && (is_upper(text_[at + 2]) || text_[at + 2] == '-' ||
                                     text_[at + 2] == '\'' || text_[at + 2] == '"');
  if (word && depth_ == 0) state_.here = true;
  constexpr std::size_t k_command = 512;  // `cat <<EOF | docker login ...` stands behind it
  if (word && depth_ == 0 && env_.profile.free_text &&
      reads_secret(part(at > k_command ? at - k_command : 0, std::min(end, at + k_command))))
    state_.pending = {KeyKind::secret, What::password};
  return at + 2;
}

/// Whether the brace opens what a tool is called with or gave back: `Calling tool book with args
/// {`,
/// `[tool] result of book -> {`.
bool Scanner::passes_to_tool(std::size_t brace) const {
  if (!env_.profile.content || !env_.profile.free_text) return false;
  static constexpr std::array<std::string_view, 9> k_leads{"args ",       "arguments ", "params ",
                                                           "parameters ", "-> ",        "=> ",
                                                           "returned ",   "result: ",   "output: "};
  const std::size_t begin = brace > 120 ? brace - 120 : 0;
  const std::string_view before = text_.substr(begin, brace - begin);
  const bool leads = std::any_of(k_leads.begin(), k_leads.end(),
                                 [&](std::string_view lead) { return before.ends_with(lead); });
  return leads && (base::icontains(before, "tool") || base::icontains(before, "function call"));
}

/// Whether the `data` whose brace stands at `at` is that of a Kubernetes Secret: its object says so
/// before or behind it. Where the object goes on over other lines, it is taken for one unless
/// something else was named.
bool Scanner::is_secret_object(std::size_t at) {
  if (!env_.profile.secret_data && depth_ == 0 && !base::contains(text_, "\"Secret\""))
    return false;
  constexpr std::size_t k_farthest = 32U << 10U;
  const std::string_view near = text_.substr(0, std::min(text_.size(), at + k_farthest));
  (void)env_.spend(std::min(at, k_farthest) + near.size() - at);
  const auto kind_in = [&](std::size_t place) -> int {
    if (!near.substr(place).starts_with("\"kind\"")) return 0;
    const auto colon = near.find(':', place);
    if (colon == std::string_view::npos) return 0;
    return near.substr(skip_blanks(colon + 1, near.size())).starts_with("\"Secret\"") ? 1 : -1;
  };
  int depth = 0;
  std::size_t first = at;
  while (first > 0 && at - first < k_farthest) {
    --first;
    const char c = text_[first];
    if (c == '}' || c == ']') ++depth;
    if ((c == '{' || c == '[') && depth-- == 0) break;
    if (depth == 0 && c == '"')
      if (const int kind = kind_in(first); kind != 0) return kind > 0;
  }
  const bool begins_here = depth < 0;
  depth = 0;
  for (std::size_t i = at; i < near.size(); ++i) {
    const char c = near[i];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth < 0) return false;
    if (depth == 0 && c == '"')
      if (const int kind = kind_in(i); kind != 0) return kind > 0;
  }
  return !begins_here && depth_ == 0 && env_.profile.secret_data && !state_.other_object;
}

}  // namespace triage::redact

// Credentials by their place in what clients send to log in, and users before the host they use.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

bool is_word_end(char c) {
  return c == ' ' || c == '\t' || c == '"' || c == '\'' || c == '<' || c == '`';
}

/// A password among the words of a protocol: no method, no path, no word of a sentence.
bool is_argument_secret(std::string_view value) {
  return value.size() >= 6 && is_distinctive(value) && !is_algorithm(value) && !is_uuid(value) &&
         !is_digest(value) && std::any_of(value.begin(), value.end(), is_digit);
}

}  // namespace

/// What follows `AUTH`: `AUTH name x`, `HELLO 3 AUTH name x`, `AUTH PLAIN eA==` of SMTP and IMAP. 0
/// when it is no password.
std::size_t Scanner::on_auth_command(std::size_t word_end, std::size_t end) {
  const auto next_word = [&](std::size_t& at) {
    at = skip_blanks(at, end);
    std::size_t stop = at;
    while (stop < end && !is_word_end(text_[stop])) ++stop;
    return stop;
  };
  std::size_t name = word_end;
  const std::size_t name_end = next_word(name);
  if (name_end >= end || name == name_end || text_[name_end] != ' ') return 0;
  std::size_t value = name_end;
  const std::size_t value_end = next_word(value);
  const std::string_view first = part(name, name_end);
  const std::string_view secret = part(value, value_end);
  const bool usual = is_one_of(first, {"default", "plain", "login"});
  if ((is_status_word(first) && !usual) || first.find_first_of("/:=,") != std::string_view::npos ||
      placeholder_length(first) > 0)
    return 0;
  if (!is_argument_secret(secret) || names_none(secret, value, end)) return 0;
  // What follows in a sentence is no password.
  const std::size_t behind = skip_blanks(value_end, end);
  if (behind < end && is_lower(text_[behind]) && secret.size() < 16) return 0;
  mask(value, value_end, What::password, secret);
  return value_end;
}

/// `ACL SETUSER name on >x ~* +@all` of Redis. Always 0: the words are read as others are.
std::size_t Scanner::on_acl(std::size_t word_end, std::size_t end) {
  constexpr std::size_t k_farthest = 512;
  end = std::min(end, word_end + k_farthest);
  for (std::size_t at = word_end; at + 2 < end; ++at) {
    if (text_[at] != '>' || (text_[at - 1] != ' ' && text_[at - 1] != '"')) continue;
    std::size_t stop = at + 1;
    while (stop < end && !is_word_end(text_[stop])) ++stop;
    const std::string_view secret = part(at + 1, stop);
    if (secret.size() < 3 || names_none(secret, at + 1, end)) continue;
    mask(at + 1, stop, What::password, secret);
  }
  return 0;
}

/// The user of `ada@10.0.0.7`, `ada@gw:~$ ls`, `scp ada@gw:/tmp/x .`: as addresses of people have a
/// domain, find_email leaves these.
void Scanner::user_at_host(std::size_t begin, std::size_t end) {
  const std::size_t sign = text_.substr(0, end).find('@', begin);
  if (sign == std::string_view::npos || sign + 1 >= end) return;
  std::size_t first = sign;
  while (first > begin &&
         (is_alnum(text_[first - 1]) || is_high(text_[first - 1]) || text_[first - 1] == '_' ||
          text_[first - 1] == '.' || text_[first - 1] == '-'))
    --first;
  const std::string_view user = part(first, sign);
  if (first > begin && text_[first - 1] != '=' && text_[first - 1] != ':') return;
  // Lustre names an object at a network so: `lfs-OST0007-osc-ffff8f@10.0.0.1@o2ib`.
  const bool name = std::all_of(user.begin(), user.end(), [](char c) { return !is_upper(c); });
  if (user.size() > 32 || user.size() < 2 || !is_lower(user.front()) || !name ||
      is_service_account(user) || text_.substr(0, end).find('@', sign + 1) < end)
    return;
  static constexpr std::array<std::string_view, 14> k_of_machines{
      "git", "core",   "cloud-user", "azureuser", "slurm", "hdfs",   "ansible",
      "opc", "celery", "emqx",       "kafka",     "spark", "hadoop", "flannel"};
  if (is_one_of(user, k_of_machines)) return;
  const std::string_view host = part(sign + 1, end);
  const bool address = !find_ip4(text_, sign + 1, end).empty();
  // A prompt or a place on the other machine.
  const char behind = end < text_.size() ? text_[end] : '\0';
  const char then = end + 1 < text_.size() ? text_[end + 1] : '\0';
  const bool bracket = behind == ' ' && begin > 0 && text_[begin - 1] == '[' &&
                       base::contains(text_.substr(end, 64), "]");
  const bool place = behind == ':' && (then == '~' || then == '/');
  const bool named = is_alpha(host.front()) && host.find('/') == std::string_view::npos;
  if (!address && !(named && (place || bracket))) return;
  mask(first, sign, What::user, user);
}

}  // namespace triage::redact

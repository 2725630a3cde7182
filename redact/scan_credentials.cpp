// Values that carry credentials in a form of their own: schemes, cookies, pairs.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/scanner.hpp"
#include "redact/token_formats.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

/// Their fields only mean something together.
constexpr std::array<std::string_view, 5> k_field_schemes{"Digest", "Hawk", "OAuth", "Signature",
                                                          "MAC"};

}  // namespace

/// `Bearer x`, `Basic x`, or the credential alone; the end of what was masked, or `at`.
std::size_t Scanner::credentials(std::size_t at, std::size_t end) {
  std::size_t word = at;
  while (word < end && (is_alpha(text_[word]) || text_[word] == '-')) ++word;
  std::size_t value = at;
  const std::string_view scheme = part(at, word);
  if (is_scheme(scheme) && word < end) {
    if (text_[word] == ' ' || text_[word] == '+' || text_[word] == ':') value = word + 1;
    if (part(word, end).starts_with("%20")) value = word + 3;
    value = skip_blanks(value, end);
  }
  if (value == at) {
    // Digest and the like carry fields that only mean something together: all of them go.
    // AWS4-HMAC-SHA256 and SharedAccessSignature carry fields that have names of their own.
    constexpr std::size_t k_longest = 4096;
    std::size_t blank = next_of(" ", at, std::min(end, at + k_longest));
    if (blank == at + k_longest) blank = end;
    if (blank < end && is_one_of(part(at, blank), k_field_schemes)) {
      std::size_t stop = end;
      if (quote_ == 0) stop = next_of("'`", blank, end);
      if (placeholder_length(part(blank + 1, stop)) > 0) return stop;
      mask(blank + 1, stop, What::token, part(blank + 1, stop));
      return stop;
    }
    if (blank < end && !looks_random(part(at, blank))) return at;
  }
  if (value >= end || placeholder_length(part(value, end)) > 0) return value >= end ? at : value;
  std::size_t stop = value;
  while (stop < end &&
         std::string_view(" \t\"'`<;,\\)]}").find(text_[stop]) == std::string_view::npos)
    ++stop;
  // haproxy divides the headers that it captures: `{api.example.net|Bearer x|curl/8.5}`. Keys of
  // some frameworks hold the sign, behind a short number.
  constexpr std::size_t k_shortest = 16;
  if (const auto bar = part(value, stop).find('|');
      bar != std::string_view::npos && bar >= k_shortest)
    stop = value + bar;
  const std::string_view secret = part(value, stop);
  if (value == at) {
    if (!is_secret_value({KeyKind::auth, What::token}, secret) || base::contains(secret, "://"))
      return at;
    if (all_lower_letters(secret) && secret.size() < 20) return at;
    if (is_object_name(secret)) return at;
  } else if (secret.size() < 4 || is_masked(secret) || is_reference(secret) ||
             is_status_word(secret)) {
    return at;
  }
  mask(value, stop, What::token, secret);
  if (stop == text_.size() && line_end_ && depth_ == 0) {
    const TokenMatch token = match_token(text_, value, true);
    if (token.end != stop || token.cut) state_.wrap = {true, token.cut, What::token};
  }
  return stop;
}

/// `a=b; c=d; Path=/`: values, not attributes, not short settings. Where the header ended.
std::size_t Scanner::cookies(std::size_t at, std::size_t end) {
  while (at < end) {
    at = skip_blanks(at, end);
    const std::size_t stop = next_of(";", at, end);
    (void)env_.spend(stop - at);
    const std::size_t sign = text_.substr(0, stop).find('=', at);
    if (sign == std::string_view::npos) {
      const std::string_view alone = part(at, std::min(stop, bare_end(at, stop, '=')));
      const bool value_alone =
          looks_random(alone, 8) || (alone.size() >= 8 && has_letter_and_digit(alone));
      if (value_alone && placeholder_length(alone) == 0)
        mask(at, at + alone.size(), What::cookie, alone);
      if (stop >= end || base::contains(alone, " ")) break;
      at = stop + 1;
      continue;
    }
    const std::string_view name = base::trim(part(at, sign));
    if (name.find(' ') != std::string_view::npos) break;  // not a cookie any more
    static constexpr std::array<std::string_view, 7> k_attributes{
        "path", "domain", "expires", "max-age", "samesite", "version", "priority"};
    std::size_t value_end = sign + 1;
    while (value_end < stop && text_[value_end] != ' ' && text_[value_end] != ',' &&
           text_[value_end] != '"' && text_[value_end] != '\'' && text_[value_end] != '\\')
      ++value_end;
    const std::string_view value = part(sign + 1, value_end);
    const bool secret_name = env_.keys.classify(name).is_secret();
    const bool secret = looks_random(value, 8) || is_uuid(value) || value.size() >= 16 ||
                        (secret_name && value.size() >= 4);
    if (!is_one_of(name, k_attributes) && secret && !is_masked(value) &&
        placeholder_length(value) == 0)
      mask(sign + 1, value_end, What::cookie, value);
    const std::size_t rest = skip_blanks(value_end, stop);
    if (rest < stop) {
      return rest;  // the header ended; what follows is the line's
    }
    at = stop + 1;
  }
  return std::min(at, end);
}

/// `user:password`; the user stays.
bool Scanner::pair(std::size_t at, std::size_t end) {
  const std::string_view value = part(at, end);
  const auto colon = value.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 >= value.size()) return false;
  const std::string_view user = value.substr(0, colon);
  const std::string_view password = value.substr(colon + 1);
  if (user.find_first_of("/ ") != std::string_view::npos || password.starts_with("//"))
    return false;
  if (is_number(password) && password.size() < 6) return false;  // uid:gid, host:port
  if (is_masked(password) || is_reference(password) || is_path(password)) return false;
  mask(at + colon + 1, end, What::password, password);
  return true;
}

}  // namespace triage::redact

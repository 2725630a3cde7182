// Values by the class of their key: which of them are secrets or content, and how far they reach.

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/token_formats.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return iequals(w, word); });
}

constexpr std::array<std::string_view, 5> k_field_schemes{"Digest", "Hawk", "OAuth", "Signature",
                                                          "MAC"};

bool is_scheme(std::string_view word) {
  static constexpr std::array<std::string_view, 14> k_schemes{
      "Bearer", "Basic",  "Token",    "ApiKey", "Api-Key", "Key", "Negotiate",
      "NTLM",   "Splunk", "GenieKey", "SSWS",   "JWT",     "Bot", "GoogleLogin"};
  return is_one_of(word, k_schemes);
}

/// Whose words a message holds.
bool is_role(std::string_view word) {
  static constexpr std::array<std::string_view, 12> k_roles{
      "user", "assistant", "system", "tool",     "developer", "human",
      "ai",   "gpt",       "model",  "function", "bot",       "chatbot"};
  return is_one_of(word, k_roles);
}

bool all_lower_letters(std::string_view value) {
  return std::all_of(value.begin(), value.end(), is_lower);
}

bool has_letter_and_digit(std::string_view value) {
  return std::any_of(value.begin(), value.end(), is_digit) &&
         std::any_of(value.begin(), value.end(), is_alpha);
}

/// `hf-token-secret`, `regcred-tls`: what objects that hold secrets are called.
bool names_a_secret(std::string_view value) {
  static constexpr std::array<std::string_view, 12> k_words{
      "secret", "secrets", "creds", "cred",    "credentials", "token",
      "key",    "tls",     "cert",  "regcred", "auth",        "pull"};
  if (!is_object_name(value)) return false;
  for (const std::string_view part : base::split(value, '-'))
    if (is_one_of(part, k_words)) return true;
  return false;
}

/// `hf_token`, `db_password` in a list of secrets: names.
bool is_snake_name(std::string_view value) {
  return value.find('_') != std::string_view::npos && !looks_random(value, 8) &&
         std::all_of(value.begin(), value.end(), [](char c) { return is_lower(c) || c == '_'; });
}

/// `hf:/etc/hf.cred`: a name and where it lies.
bool is_named_path(std::string_view value) {
  const auto colon = value.find(":/");
  return colon != std::string_view::npos && is_path(value.substr(colon + 1));
}

/// base64 of `user:password`, as registries store it.
bool is_basic_credential(std::string_view value) {
  const auto decoded = decode_base64_text(value, 512);
  if (!decoded) return false;
  const auto colon = decoded->find(':');
  return colon != std::string::npos && colon > 0 && colon + 3 < decoded->size() &&
         decoded->find_first_of(" \n{\"") == std::string::npos;
}

bool is_printable(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (static_cast<unsigned char>(c) >= ' ' && c != 127) || c == '\n' || c == '\t';
  });
}

/// `[101 2023 2003 ...]`, `101, 2023, ...`: at least six numbers and nothing else.
bool is_number_list(std::string_view value) {
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < value.size(); ++i)
    if (is_digit(value[i]) && (i == 0 || !is_digit(value[i - 1]))) ++numbers;
  return numbers >= 6 && value.find_first_not_of("0123456789, []()\n") == std::string_view::npos;
}

/// Looks like a JSON or Python structure written into a text.
bool is_structured(std::string_view value) {
  value = base::trim(value);
  if (value.size() < 2) return false;
  const char first = value.front();
  if (first != '{' && first != '[') return false;
  return value.find_first_of("\"':") != std::string_view::npos &&
         value.find_first_of(":=") != std::string_view::npos;
}

}  // namespace

bool Scanner::is_secret_value(KeyClass key, std::string_view value) const {
  value = base::trim(value);
  if (value.empty() || is_masked(value) || is_reference(value) || is_path(value)) return false;
  if (is_digest(value) || is_algorithm(value) || is_metavariable(value) || is_header_name(value) ||
      is_named_path(value))
    return false;
  const bool status = is_status_word(value);
  switch (key.kind) {
    case KeyKind::secret:
      if (status) return false;
      if (key.what == What::password)
        return value.size() >= 3 && !(is_number(value) && value.size() < 4);
      if (key.what == What::secret && (names_a_secret(value) || is_snake_name(value))) return false;
      if (is_number(value) && value.size() < 9) return false;
      return value.size() >= 4;
    case KeyKind::token:
      if (status || (is_number(value) && value.size() < 10)) return false;
      if (value.front() == '<' || is_object_name(value)) return false;
      if (key.what == What::secret && is_snake_name(value)) return false;
      if (all_lower_letters(value) && value.size() < 16) return false;
      return value.size() >= 6;
    case KeyKind::if_random:
    case KeyKind::key:
      if (key.what == What::cookie && is_uuid(value)) return true;
      if (key.kind == KeyKind::if_random && key.what == What::secret && is_uuid(value)) return true;
      if (is_number(value) || is_uuid(value) || is_object_name(value)) return false;
      // `key: litellm:9f31...`: of a cache.
      if (key.kind == KeyKind::key && value.find(':') != std::string_view::npos) return false;
      return looks_random(value, key.kind == KeyKind::key ? 20 : 12) ||
             (value.size() >= 8 && looks_random(value, 8) && has_letter_and_digit(value));
    case KeyKind::auth:
    case KeyKind::cookie:
    case KeyKind::pair:
      return !status && value.size() >= 6;
    case KeyKind::encoded:
      return value.size() >= 4;
    default:
      return false;
  }
}

void Scanner::mask_value(KeyClass key, std::size_t begin, std::size_t end) {
  const std::string_view raw = part(begin, end);
  (void)env_.spend(raw.size());
  const bool escaped = raw.find('\\') != std::string_view::npos;
  std::string decoded;
  if (escaped && key.kind != KeyKind::none) decoded = decode(raw, Escapes::backslash).text;
  const std::string_view value = escaped ? std::string_view(decoded) : raw;
  switch (key.kind) {
    case KeyKind::secret:
    case KeyKind::token:
    case KeyKind::if_random:
      if (is_structured(value))
        return look_inside(key, key.kind == KeyKind::secret, begin, end, quote_);
      // `{"token": " Ada", "logprob": -0.1}`: a piece of text.
      if (key.kind == KeyKind::token && env_.profile.content && value.size() <= 64 &&
          !is_secret_value(key, value) &&
          base::contains(part(end, std::min(end + 24, text_.size())), "logprob") &&
          !is_masked(value))
        return mask(begin, end, What::text, value);
      if (base::contains(value, "://") || base::contains(value, "-----BEGIN")) break;
      if (const auto blank = value.find(' ');
          blank != std::string_view::npos && is_scheme(value.substr(0, blank))) {
        if (credentials(begin, end) != begin) return;
      }
      if (is_secret_value(key, value)) return mask(begin, end, key.what, value);
      if (key.kind == KeyKind::if_random && is_basic_credential(value))
        return mask(begin, end, What::password, value);
      break;
    case KeyKind::encoded:
      if (encoded_value(key, begin, end)) return;
      break;
    case KeyKind::auth:
      if (credentials(begin, end) != begin) return;
      break;
    case KeyKind::cookie:
      return scan(cookies(begin, end), end);
    case KeyKind::pair:
      if (pair(begin, end)) return;
      if (looks_random(value)) return mask(begin, end, What::token, value);
      break;
    case KeyKind::content:
      return text_value(key, begin, end, true);
    case KeyKind::maybe_text:
      return text_value(key, begin, end, frame().speech);
    case KeyKind::perhaps_text:
      if (frame().speech) return text_value(key, begin, end, false);
      if (env_.profile.free_text && is_prose(value, 5) && !is_structured(value) &&
          !is_technical(value) && !reads_as_report(value, Doubt::report) &&
          value.find("{%") == std::string_view::npos)
        return mask_guess(begin, end, key.what, value);
      break;
    case KeyKind::arguments: {
      const KeyClass inside{KeyKind::content, key.what};
      if (is_structured(value)) return look_inside(inside, true, begin, end, quote_);
      return text_value({KeyKind::maybe_text, key.what}, begin, end, false);
    }
    case KeyKind::token_ids: {
      const auto digits =
          static_cast<std::size_t>(std::count_if(value.begin(), value.end(), is_digit));
      if (digits >= 12 && value.find_first_not_of("0123456789, []()\n") == std::string_view::npos)
        return mask(begin, end, What::token_ids, value);
      break;
    }
    case KeyKind::pieces:
      if (key.what == What::token_ids && is_number_list(value))
        return mask(begin, end, What::token_ids, value);
      if (key.what == What::text && !is_masked(value) && !is_number(value))
        return mask(begin, end, What::text, value);
      break;
    case KeyKind::user:
      if (!find_email(text_, begin, end).empty()) break;
      if (value.size() <= 80 && !is_service_account(value) && !is_structured(value) &&
          !is_path(value) && !base::contains(value, "://"))
        return mask(begin, end, What::user, value);
      break;
    case KeyKind::host:
      if (is_private_host(value, true)) return host(begin, end, true);
      break;
    case KeyKind::name:
      if (value.size() <= 64 && !frame().secret) frame().named = allowed(env_.keys.classify(value));
      break;
    case KeyKind::value: {
      const KeyClass named = frame().named;
      if (named.kind != KeyKind::none && named.kind != KeyKind::value &&
          named.kind != KeyKind::name)
        return mask_value(named, begin, end);
      break;
    }
    case KeyKind::role:
      if (is_role(base::trim(value))) {
        frame().speech = true;
        frame().named = allowed({KeyKind::content, What::text});
      }
      break;
    case KeyKind::key:
      if (is_secret_value(key, value)) return mask(begin, end, What::token, value);
      if (value.size() <= 64) frame().named = allowed(env_.keys.classify(value));
      break;
    case KeyKind::none:
      break;
  }
  look_inside({}, false, begin, end, quote_);
}

void Scanner::text_value(KeyClass key, std::size_t begin, std::size_t end, bool sure) {
  const std::string_view raw = part(begin, end);
  const bool escaped = raw.find('\\') != std::string_view::npos;
  std::string decoded;
  if (escaped) decoded = decode(raw, Escapes::backslash).text;
  const std::string_view value = escaped ? std::string_view(decoded) : raw;
  if (is_masked(value) || is_reference(value) || is_number(value)) return;
  if (is_structured(value) && (key.kind == KeyKind::maybe_text || !sure || frame().every_value))
    return look_inside(frame().every_value ? key : KeyClass{}, frame().every_value, begin, end,
                       quote_);
  const Profile& profile = env_.profile;
  const bool prose = is_prose(value, 3);
  const bool certain = sure && profile.free_text;
  const bool report = !certain && reads_as_report(value, Doubt::content);
  if (!certain && !profile.strict && (!prose || report || is_technical(value)))
    return look_inside({}, false, begin, end, quote_);
  if (is_status_line(value)) return;
  if (sure && !prose && (is_path(value) || base::contains(value, "://")))
    return look_inside({}, false, begin, end, quote_);
  if (profile.strict && !certain && !prose) return look_inside({}, false, begin, end, quote_);
  mask(begin, end, key.what, value);
}

/// base64 of a secret. Whatever the value decodes to is remembered too: it may stand in clear
/// elsewhere.
bool Scanner::encoded_value(KeyClass key, std::size_t begin, std::size_t end) {
  const std::string_view value = part(begin, end);
  if (is_masked(value) || is_reference(value) || value.size() < 4) return false;
  const auto decoded = decode_base64(value);
  if (!decoded) return false;
  // Kubernetes pads what it encodes: `8192`, `true` and names in another object are no base64.
  static constexpr ByteSet k_not_standard("-_");
  const bool text = value.size() >= 8 && is_printable(*decoded);
  if (value.size() % 4 != 0 || k_not_standard.any_in(value) ||
      (value.back() != '=' && !text && !looks_random(value)))
    return false;
  if (key.what == What::private_key && base::contains(*decoded, "CERTIFICATE-----") &&
      !env_.profile.strict)
    return false;
  if (env_.known != nullptr && decoded->size() <= KnownValues::k_longest)
    env_.known->add(*decoded, What::secret);
  mask(begin, end, key.what == What::private_key ? What::private_key : What::secret, value);
  return true;
}

std::size_t Scanner::bare_end(std::size_t at, std::size_t end, char separator) const {
  std::size_t stop = at;
  int inner = 0;
  const char around = state_.frames.empty() ? '\0' : state_.frames.back().open;
  while (stop < end) {
    const char c = text_[stop];
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' ||
        c == '\r')
      break;
    if (c == '\\' && stop + 1 < end && (text_[stop + 1] == '"' || text_[stop + 1] == '\'')) break;
    if (c == ';' && separator != ':') break;
    if (c == ';' && stop + 1 < end && text_[stop + 1] == ' ') break;
    if (c == ',' && (around == '(' || around == '{' || around == '[' || stop + 1 >= end ||
                     text_[stop + 1] == ' '))
      break;
    if (c == ',' || c == '&' || c == '|') {
      // Only before another `key=`.
      std::size_t word = stop + 1;
      while (word < end && (is_alnum(text_[word]) || text_[word] == '_' || text_[word] == '-' ||
                            text_[word] == '.'))
        ++word;
      if (word > stop + 1 && word < end && (text_[word] == '=' || (c == ',' && text_[word] == ':')))
        break;
    }
    if (c == '(' || c == '{' || c == '[') ++inner;
    if (c == ')' || c == '}' || c == ']') {
      const char open = c == ')' ? '(' : c == '}' ? '{' : '[';
      if (inner > 0) {
        --inner;
      } else if (around == open || stop + 1 >= end || text_[stop + 1] == ' ' ||
                 text_[stop + 1] == ',') {
        break;
      }
    }
    ++stop;
  }
  while (stop > at + 1 &&
         (text_[stop - 1] == ',' || text_[stop - 1] == '.' || text_[stop - 1] == ':'))
    --stop;
  return stop;
}

std::size_t Scanner::bare_value(KeyClass key, char separator, std::size_t key_begin, std::size_t at,
                                std::size_t end) {
  switch (key.kind) {
    case KeyKind::secret:
    case KeyKind::token:
    case KeyKind::if_random:
      return bare_secret(key, separator, key_begin, at, end);
    case KeyKind::encoded: {
      const std::size_t stop = bare_end(at, end, separator);
      std::size_t padded = stop;
      while (padded < end && text_[padded] == '=') ++padded;
      if (frame().open != 0 && is_number(part(at, stop))) return at;  // a number of JSON
      return encoded_value(key, at, padded) ? padded : at;
    }
    case KeyKind::auth: {
      const std::size_t stop = credentials(at, end);
      return stop;
    }
    case KeyKind::cookie:
      return cookies(at, end);
    case KeyKind::pair: {
      const std::size_t stop = bare_end(at, end, separator);
      return pair(at, stop) ? stop : at;
    }
    case KeyKind::content:
    case KeyKind::maybe_text:
    case KeyKind::perhaps_text:
    case KeyKind::arguments:
      return bare_content(key, separator, key_begin, at, end);
    case KeyKind::token_ids: {
      if (!is_digit(text_[at])) return at;
      // Without brackets a list needs some length to be one.
      std::size_t stop = at;
      std::size_t commas = 0;
      while (stop < end && (is_digit(text_[stop]) || text_[stop] == ',' || text_[stop] == ' ')) {
        if (text_[stop] == ',') ++commas;
        ++stop;
      }
      while (stop > at && !is_digit(text_[stop - 1])) --stop;
      if (commas < 5) return at;
      mask(at, stop, What::token_ids, part(at, stop));
      return stop;
    }
    case KeyKind::user:
      return bare_user(at, end, separator);
    case KeyKind::host: {
      const std::size_t stop = bare_end(at, end, separator);
      std::size_t name = at;
      while (name < stop && (is_alnum(text_[name]) || text_[name] == '.' || text_[name] == '-'))
        ++name;
      if (name > at && is_private_host(part(at, name), true)) {
        host(at, name, true);
        return name;
      }
      return at;
    }
    case KeyKind::name:
    case KeyKind::key: {
      const std::size_t stop = bare_end(at, end, separator);
      const std::string_view value = part(at, stop);
      if (key.kind == KeyKind::key && is_secret_value(key, value)) {
        mask(at, stop, What::token, value);
        return stop;
      }
      if (value.size() <= 64) frame().named = allowed(env_.keys.classify(value));
      return at;
    }
    case KeyKind::value: {
      const KeyClass named = frame().named;
      const bool usable = named.is_secret() || named.masks_text() || named.kind == KeyKind::user;
      return usable ? bare_value(named, separator, key_begin, at, end) : at;
    }
    case KeyKind::role: {
      const std::size_t stop = bare_end(at, end, separator);
      if (is_role(part(at, stop))) frame().speech = true;
      return stop;
    }
    case KeyKind::pieces: {
      // `tokens: 128000 9906 11 856 836 374`: some length makes a list of it.
      std::size_t stop = at;
      std::size_t numbers = 0;
      while (stop < end && (is_digit(text_[stop]) || text_[stop] == ' ')) {
        if (is_digit(text_[stop]) && (stop == at || text_[stop - 1] == ' ')) ++numbers;
        ++stop;
      }
      while (stop > at && text_[stop - 1] == ' ') --stop;
      if (numbers < 6 || (stop < end && text_[stop] != ' ')) return at;
      mask(at, stop, What::token_ids, part(at, stop));
      return stop;
    }
    case KeyKind::none:
      break;
  }
  return at;
}

std::size_t Scanner::bare_secret(KeyClass key, char separator, std::size_t key_begin,
                                 std::size_t at, std::size_t end) {
  std::size_t stop = bare_end(at, end, separator);
  if (stop <= at) return at;
  std::string_view value = part(at, stop);
  if (value == "|" || value == ">" || value == "|-" || value == ">-") return at;
  if (base::contains(value, "://")) return at;
  if (is_scheme(value)) {
    const std::size_t after = credentials(at, end);
    return after;
  }
  // base64 may end in signs that end other values.
  while (stop < end && text_[stop] == '=') ++stop;
  value = part(at, stop);
  if (separator == ':') {
    // `password: authentication failed`: prose goes on, a secret ends or looks like one.
    const std::size_t next = skip_blanks(stop, end);
    const bool goes_on = next < end && (is_lower(text_[next]) || text_[next] == '(');
    const bool in_structure = frame().open == '{' || frame().open == '(';
    const bool first_key = skip_blanks(0, end) == key_begin;
    if (goes_on && !in_structure && !first_key && all_lower_letters(value)) return at;
    if (goes_on && !in_structure && all_lower_letters(value) && is_prose(part(at, end), 4))
      return at;
    if (!in_structure && !first_key && value.size() < 6 && !has_letter_and_digit(value)) return at;
  }
  if (!is_secret_value(key, value)) return at;
  // `Credential=AKIA.../20260512/eu-central-1/s3/aws4_request`: only the first part is one.
  if (const auto slash = value.find('/');
      slash == 20 && value.ends_with("/aws4_request") && tokens_in(at, at + slash))
    return at + slash;
  const TokenMatch token = match_token(text_, at, line_end_ && end == text_.size());
  mask_bare(at, stop, key.what, value);
  if (stop == text_.size() && line_end_ && depth_ == 0) {
    const bool whole = token.end == stop && !token.cut;
    if (!whole && (token.cut || looks_random(value)))
      state_.wrap = {true, token.cut && token.end == stop, key.what};
  } else if (stop + 1 == text_.size() && text_[stop] == '\\' && line_end_ && depth_ == 0) {
    state_.wrap = {true, true, key.what};
  }
  return stop;
}

/// Masks a value that stood without quotes. Where a number stood in JSON or Python, a text does.
void Scanner::mask_bare(std::size_t begin, std::size_t end, What what, std::string_view value) {
  mask(begin, end, what, value);
  const char around = frame().open;
  if ((around == '{' || around == '[') && quote_ != '"' && is_number(value))
    out_.back().replacement = '"' + out_.back().replacement + '"';
}

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
    const std::size_t blank = std::min(text_.find(' ', at), end);
    if (blank < end && is_one_of(part(at, blank), k_field_schemes)) {
      std::size_t stop = end;
      if (quote_ == 0) stop = std::min(text_.find_first_of("'`", blank), end);
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
    const std::size_t stop = std::min(text_.find(';', at), end);
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

std::size_t Scanner::bare_user(std::size_t at, std::size_t end, char separator) {
  // `User: what should I ask the doctor` is no name.
  if (text_[at - 1] == ' ' && separator == ':' && is_prose(part(at, end), 4)) {
    if (const std::size_t stop = bare_content({KeyKind::content, What::prompt}, ':', at, at, end);
        stop > at)
      return stop;
  }
  const std::size_t stop = bare_end(at, end, '=');
  const std::string_view value = part(at, stop);
  if (!find_email(text_, at, stop).empty()) return at;
  if (value.size() > 80 || is_service_account(value) || is_path(value) ||
      value.find_first_of("(){}[]<>=/\\") != std::string_view::npos)
    return at;
  mask(at, stop, What::user, value);
  return stop;
}

/// Content without quotes: up to the next field or the end of the line.
std::size_t Scanner::bare_content(KeyClass key, char separator, std::size_t key_begin,
                                  std::size_t at, std::size_t end) {
  if (!env_.profile.free_text || !env_.spend(end - at)) return at;
  std::size_t stop = end;
  // Percent-encoded or joined by plus signs: one word.
  const std::size_t word_end = std::min(text_.find_first_of(" \t\"'<>&", at), end);
  const std::string_view word = part(at, word_end);
  if (word_end == end || separator == '=') {
    const Decoded decoded = decode(word, Escapes::percent);
    if (decoded.text.size() < word.size() || word.find('+') != std::string_view::npos) {
      if (is_prose(decoded.text, 3)) {
        mask(at, word_end, key.what, decoded.text);
        return word_end;
      }
    }
  }
  // A sentence may begin with one of the little words.
  static constexpr std::array<std::string_view, 22> k_little{
      "a",    "the", "for",   "from", "in",     "to",      "of",     "and", "or", "with", "does",
      "file", "key", "token", "set",  "secret", "default", "string", "no",  "on", "type", "plain"};
  const bool sentence = is_one_of(word, k_little) && is_prose(part(at, end), 4);
  if (is_status_word(word) && !sentence) return at;
  if (is_reference(word.substr(0, word.find_first_of(",)}]")))) return at;  // `null,"user":...`
  if (is_digit(word.empty() ? ' ' : word.front()) && is_number(word))
    return at;  // `Prompt: 120 tokens`
  if (is_progress(part(at, end)) || is_status_line(part(at, end))) return at;
  for (std::size_t i = at; i < end; ++i) {
    const char c = text_[i];
    if (c == '<' && placeholder_length(part(i, end)) > 0) {
      stop = i;
      break;
    }
    const char around = frame().open;
    if ((c == '}' && around == '{') || (c == ')' && around == '(') || (c == ']' && around == '[')) {
      stop = i;
      break;
    }
    if (c == ';' && part(i, std::min(end, i + 48)).find(": {") != std::string_view::npos) {
      stop = i;  // `; Failed response body: {...}`
      break;
    }
    if (c != ' ' && c != ',') continue;
    std::size_t next = i + 1;
    while (next < end && text_[next] == ' ') ++next;
    if (c == ' ' && text_[i] == ' ' && next < end && (text_[next] == '|' || text_[next] == '\t')) {
      stop = i;
      break;
    }
    if (next < end && text_[next] == '(' && next + 1 < end && is_digit(text_[next + 1])) {
      stop = i;  // ` (61 tokens)`
      break;
    }
    std::size_t name = next;
    bool joint = false;
    while (name < end && (is_alnum(text_[name]) || text_[name] == '_')) {
      joint = joint || text_[name] == '_';
      ++name;
    }
    if (name == next || name >= end) continue;
    const bool spaced = c == ',' && part(name, end).starts_with(" = ");  // C# prints records so
    const bool equals = spaced || (text_[name] == '=' && name + 1 < end && text_[name + 1] != ' ');
    const bool in_struct = around == '{' || around == '[';
    const bool colon = text_[name] == ':' && (c == ',' || in_struct) &&
                       (joint || in_struct || part(next, name) == "params");
    if (equals || colon) {
      stop = i;
      break;
    }
  }
  while (stop > at && (text_[stop - 1] == ' ' || text_[stop - 1] == ',')) --stop;
  const std::string_view text = part(at, stop);
  const bool sure = key.kind == KeyKind::content || frame().speech;
  if (!is_prose(text, sure ? 3 : 4) || is_technical(text)) return at;
  const bool label = separator != '=';
  if (reads_as_report(text, sure || !label ? Doubt::content : Doubt::report)) return at;
  if (!sure && !env_.profile.strict) {
    // A label before a sentence, behind what a logger wrote. YAML begins lines with such keys.
    const bool begins_text = skip_blanks(0, end) == key_begin || text_[key_begin - 1] == '"' ||
                             text_[key_begin - 1] == '\'';
    const bool structured =
        text.find_first_of("\"{}") != std::string_view::npos || base::contains(text, "://");
    const bool wanted = label || key.kind == KeyKind::perhaps_text;
    // Programs head remarks so: `Note: overrides do not apply here`.
    static constexpr std::array<std::string_view, 18> k_remarks{
        "note",     "notes", "reference", "source",   "target",   "label",
        "template", "agent", "plan",      "expected", "original", "page",
        "prefix",   "words", "memory",    "fact",     "task",     "title"};
    const std::string_view name = part(key_begin, at);
    const bool heading = part(0, key_begin).ends_with("# ");  // agents print `## Task: ...`
    if (label && !heading && is_one_of(name.substr(0, name.find(':')), k_remarks)) return at;
    if (wanted && (!is_prose(text, 5) || (label && (begins_text || structured)))) return at;
  }
  if (sure)
    mask(at, stop, key.what, text);
  else
    mask_guess(at, stop, key.what, text);
  return stop;
}

/// A text under a name that leaves it open: it must not be masked wherever it stands.
void Scanner::mask_guess(std::size_t begin, std::size_t end, What what, std::string_view value) {
  KnownValues* const known = std::exchange(env_.known, nullptr);
  mask(begin, end, what, value);
  env_.known = known;
}

/// `ocr: page 3: ...`, `chunk 12: ...`: a part of a document by its number.
KeyClass Scanner::numbered_text(std::size_t number) const {
  static constexpr std::array<std::string_view, 9> k_parts{
      "page", "chunk", "passage", "document", "doc", "segment", "utterance", "turn", "paragraph"};
  while (number > 0 && (is_digit(text_[number - 1]) || text_[number - 1] == '/')) --number;
  if (number > 1 && text_[number - 1] == '$')  // PostgreSQL: `parameters: $1 = '...'`
    return {KeyKind::perhaps_text, What::text};
  if (number < 4 || text_[number - 1] != ' ') return {};
  std::size_t first = number - 1;
  while (first > 0 && is_alpha(text_[first - 1])) --first;
  return is_one_of(part(first, number - 1), k_parts)
             ? KeyClass{KeyKind::perhaps_text, What::document}
             : KeyClass{};
}

/// The class of a name of several words in prose: `User prompt: `, `The request body was: `.
KeyClass Scanner::phrase_class(std::size_t begin, std::size_t end) const {
  std::size_t first = begin;
  std::size_t before = begin;
  while (before > 1 && is_alpha(text_[before - 2])) --before;
  const std::string_view last = text_.substr(begin, end - begin);
  const std::string_view previous =
      begin > 1 ? text_.substr(before - 1, begin - before) : std::string_view();
  // `the model replied: `, `sent to LLM: `.
  static constexpr std::array<std::string_view, 8> k_spoke{
      "replied", "responded", "answered", "says", "said", "asks", "asked", "wrote"};
  static constexpr std::array<std::string_view, 9> k_speakers{
      "user", "model", "assistant", "agent", "customer", "bot", "llm", "human", "client"};
  static constexpr std::array<std::string_view, 3> k_partners{"llm", "assistant", "agent"};
  static constexpr std::array<std::string_view, 2> k_ways{"to", "from"};
  if (is_one_of(last, k_spoke))
    return is_one_of(previous, k_speakers) ? KeyClass{KeyKind::content, What::text} : KeyClass{};
  if (is_one_of(last, k_partners))
    return is_one_of(previous, k_ways) ? KeyClass{KeyKind::content, What::text} : KeyClass{};
  // What retrieval found: `Got node text: `.
  static constexpr std::array<std::string_view, 5> k_found{"node", "chunk", "page", "document",
                                                           "passage"};
  if (iequals(last, "text") && is_one_of(previous, k_found))
    return {KeyKind::content, What::document};
  static constexpr std::array<std::string_view, 2> k_adverbs{"before", "after"};
  for (int words = 0; words < 3 && first > 1 && text_[first - 1] == ' '; ++words) {
    std::size_t start = first - 1;
    while (start > 0 && is_alpha(text_[start - 1])) --start;
    if (start == first - 1) break;
    first = start;
    const KeyClass key = env_.keys.classify(text_.substr(first, end - first));
    if (key.kind == KeyKind::content) return key;
    if (key.kind == KeyKind::arguments) return {KeyKind::content, key.what};
    if (key.kind == KeyKind::secret && key.what == What::password) return key;
    if (key.kind == KeyKind::secret || key.kind == KeyKind::token)
      return {KeyKind::if_random, What::token};
    const bool adverb = is_one_of(last, k_adverbs);
    if (key.kind == KeyKind::maybe_text && (text_[end - 1] == 's' || adverb)) return key;
  }
  return {};
}

}  // namespace triage::redact

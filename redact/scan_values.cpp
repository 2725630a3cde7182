// Values by the class of their key: which of them are secrets or content, and how far they reach.

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/chat_markers.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/sql.hpp"
#include "redact/token_formats.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

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

/// `up after $UPTIME seconds`: a text that a program fills in.
bool names_variable(std::string_view value) {
  for (auto at = value.find('$'); at != std::string_view::npos; at = value.find('$', at + 1))
    if (at + 3 < value.size() && is_alpha(value[at + 1]) && is_alpha(value[at + 2]) &&
        is_alpha(value[at + 3]))
      return true;
  return false;
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
  // `[12.5] NVRM: ...`, `[INFO] my aunt: ...`: a mark before words.
  if (const auto close = value.find(']'); first == '[' && close != std::string_view::npos &&
                                          close + 2 < value.size() && value[close + 1] == ' ' &&
                                          is_alpha(value[close + 2]))
    return false;
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
  // `Some(`, `SecretString(`: the value follows, perhaps on the next line.
  if (value.back() == '(' && std::all_of(value.begin(), value.end() - 1, [](char c) {
        return is_alnum(c) || c == '_' || c == ':' || c == '.';
      }))
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
      if (is_uuid(value)) return true;
      if (value.front() == '<' || is_object_name(value)) return false;
      if (value.find_first_not_of("0123456789:.,") == std::string_view::npos) return false;
      if (key.what == What::secret && is_snake_name(value)) return false;
      // `x86/PAT: Configuration [0-7]`: a word is no token.
      if (all_lower_letters(value.substr(is_upper(value.front()) ? 1 : 0)) && value.size() < 16)
        return false;
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
      if (sql_value(key, begin, end)) return;
      if (env_.profile.free_text && is_prose(value, 5) && !is_structured(value) &&
          !names_variable(value) && !is_technical(value) &&
          !reads_as_report(value, Doubt::report) && value.find("{%") == std::string_view::npos)
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
      // `"logName": "projects/acme/logs/kernel"` names no user.
      if (value.size() <= 80 && !is_service_account(value) && !is_structured(value) &&
          value.find('/') == std::string_view::npos)
        return mask(begin, end, What::user, value);
      break;
    case KeyKind::host:
      if (is_private_host(value, true)) return host(begin, end, true);
      break;
    case KeyKind::name:
      // `"user": {"name": "Ada Lovelace"}`; accounts of machines are written in one word.
      if (frame().person && value.size() <= 80 && !value.empty() && is_upper(value.front()) &&
          value.find(' ') != std::string_view::npos)
        return mask(begin, end, What::user, value);
      if (iequals(value, "auth") || iequals(value, "hello")) frame().login = true;
      if (value.size() <= 64 && !frame().secret) frame().named = allowed(env_.keys.classify(value));
      break;
    case KeyKind::value: {
      const KeyClass named = frame().named;
      if (named.kind != KeyKind::none && named.kind != KeyKind::value &&
          named.kind != KeyKind::name) {
        // `traceloop.entity.output` and JSON under it, whose own names say nothing.
        const bool structure = named.kind == KeyKind::maybe_text && is_structured(value) &&
                               (named.what == What::output || named.what == What::prompt);
        const bool speech = std::exchange(frame().speech, frame().speech || structure);
        mask_value(named, begin, end);
        frame().speech = speech;
        return;
      }
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
  if (!sure && key.what != What::output && sql_value(key, begin, end)) return;
  const Profile& profile = env_.profile;
  const bool prose = is_prose(value, 3);
  // `"role": "user"` beside it: somebody's words in evidence of any kind.
  const bool certain = sure && (profile.free_text || frame().named.masks_text());
  const bool report = !certain && reads_as_report(value, Doubt::content);
  if (!certain && !profile.strict &&
      (!prose || report || is_technical(value) || begins_as_log(value)))
    return look_inside({}, false, begin, end, quote_);
  if (is_status_line(value)) return;
  if (sure && !prose && (is_path(value) || base::contains(value, "://")))
    return look_inside({}, false, begin, end, quote_);
  if (profile.strict && !certain && !prose) return look_inside({}, false, begin, end, quote_);
  mask(begin, end, key.what, value);
}

/// A statement of SQL stays, as it tells what an application did; texts in it go.
bool Scanner::sql_value(KeyClass key, std::size_t begin, std::size_t end) {
  const std::string_view statement = part(begin, end);
  if (env_.profile.strict || !is_sql(statement)) return false;
  for (const SqlLiteral& text : texts_in_sql(statement))
    mask(begin + text.begin, begin + text.end, key.what,
         statement.substr(text.begin, text.end - text.begin));
  look_inside({}, false, begin, end, quote_);
  return true;
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

}  // namespace triage::redact

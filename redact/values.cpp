#include "redact/values.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/text.hpp"
#include "redact/chars.hpp"

namespace triage::redact {
namespace {

bool all_of(std::string_view text, bool (*test)(char)) {
  return std::all_of(text.begin(), text.end(), test);
}

struct Mix {
  std::size_t length = 0, lower = 0, upper = 0, digits = 0, changes = 0;
  bool hex = true;
};

/// Counts classes and the changes between them in one run of letters and digits.
Mix mix_of(std::string_view run) {
  Mix mix;
  mix.length = run.size();
  int last = -1;
  for (const char c : run) {
    const int kind = is_lower(c) ? 0 : is_upper(c) ? 1 : 2;
    (kind == 0 ? mix.lower : kind == 1 ? mix.upper : mix.digits)++;
    if (last >= 0 && kind != last) ++mix.changes;
    if (!is_hex(c)) mix.hex = false;
    last = kind;
  }
  return mix;
}

/// Generators change class at more than half of the places (0.62 for base 62, 0.50 for letters
/// alone, 0.40 for base 36), identifiers at less than a third (`EngineArgs`: 0.3).
bool is_random_run(const Mix& mix) {
  if (mix.length < 8) return false;
  if (mix.hex && mix.length >= 16) return mix.digits >= 3 && mix.lower + mix.upper >= 2;
  if (mix.digits == mix.length) return false;
  if (mix.digits == 0) return mix.changes * 5 >= mix.length * 2 && mix.changes >= 4;
  return mix.changes * 10 >= mix.length * 3 && mix.changes >= 3;
}

}  // namespace

std::size_t placeholder_length(std::string_view text) {
  if (text.size() < 4 || (text[0] != '<' && text[0] != '[') || !is_lower(text[1])) return 0;
  const char close = text[0] == '<' ? '>' : ']';
  const std::size_t end = text.substr(0, 48).find(close);
  if (end == std::string_view::npos) return 0;
  std::string_view body = text.substr(1, end - 1);
  static constexpr std::string_view k_fixed = "redacted:";
  const bool fixed = body.starts_with(k_fixed);
  if (fixed) body.remove_prefix(k_fixed.size());
  const auto colon = body.find(':');
  const std::string_view label = body.substr(0, colon);
  static constexpr std::array<std::string_view, 18> k_labels{
      "token",  "password", "secret", "private-key", "cookie", "prompt",
      "output", "document", "text",   "token-ids",   "email",  "user",
      "ip",     "host",     "mac",    "custom",      "home",   "domain"};
  const bool known =
      std::find(k_labels.begin(), k_labels.end(), label) != k_labels.end() ||
      (label.starts_with("x-") && all_of(label, [](char c) { return is_alpha(c) || c == '-'; }));
  if (!known) return 0;
  if (fixed) return colon == std::string_view::npos ? end + 1 : 0;
  if (colon == std::string_view::npos)
    return label == "private-key" || label == "text" ? end + 1 : 0;
  const std::string_view id = body.substr(colon + 1);
  return !id.empty() && id.size() <= 16 && all_of(id, is_hex) ? end + 1 : 0;
}

bool is_masked(std::string_view value) {
  value = base::trim(value);
  if (value.empty()) return true;
  if (placeholder_length(value) == value.size()) return true;
  const auto same = [&](char c) { return value.find_first_not_of(c) == std::string_view::npos; };
  if (value.size() >= 3 &&
      (same('*') || same('x') || same('X') || same('.') || same('-') || same('#')))
    return true;
  if (value.size() >= 3 && value.find_first_not_of("*.\xE2\x80\xA2\xA6") == std::string_view::npos)
    return true;
  std::string_view inner = value;
  while (!inner.empty() && std::strchr("[]<>(){}*_", inner.front()) != nullptr)
    inner.remove_prefix(1);
  while (!inner.empty() && std::strchr("[]<>(){}*_", inner.back()) != nullptr)
    inner.remove_suffix(1);
  static constexpr std::array<std::string_view, 9> k_words{"redacted",  "masked",   "hidden",
                                                           "removed",   "filtered", "secret",
                                                           "sensitive", "scrubbed", "omitted"};
  return inner.size() < value.size()
             ? is_one_of(inner, k_words)
             : is_one_of(inner, std::array<std::string_view, 2>{"redacted", "[filtered]"});
}

bool is_reference(std::string_view value) {
  value = base::trim(value);
  if (value.empty()) return true;
  static constexpr std::array<std::string_view, 22> k_nothing{
      "none",    "null",  "nil", "<nil>",  "<none>",    "true",   "false", "undefined",
      "<unset>", "unset", "n/a", "-",      "--",        "\"\"",   "''",    "{}",
      "[]",      "yes",   "no",  "(none)", "<not set>", "not-set"};
  if (is_one_of(value, k_nothing)) return true;
  if (value.size() >= 2 && value[0] == '$') {
    if (value[1] == '{' || value[1] == '(') return true;
    return value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", 1) ==
           std::string_view::npos;
  }
  if (value.starts_with("{{") || value.starts_with("<set to the key") || value.starts_with("%(") ||
      value.starts_with("<set>"))
    return true;
  if (value == "%s" || value == "%q" || value == "%v" || value == "%d" || value == "{}")
    return true;
  return value.starts_with("arn:aws") || value.starts_with("os.environ") ||
         value.starts_with("file:/") ||
         (value.starts_with("projects/") && base::contains(value, "/secrets/"));
}

bool is_path(std::string_view value) {
  value = base::trim(value);
  if (value.starts_with("file://")) value.remove_prefix(7);
  if (value.size() < 2) return false;
  if (value.find_first_of("=+ ,;!*^&\"'") != std::string_view::npos) return false;
  if (value.starts_with("./") || value.starts_with("../") || value.starts_with("~/")) return true;
  if (value.size() > 3 && is_alpha(value[0]) && value[1] == ':' && value[2] == '\\') return true;
  const bool rooted = value[0] == '/';
  static constexpr std::array<std::string_view, 31> k_roots{
      "var",   "etc",  "run",    "home",   "opt",  "mnt",   "secrets",   "secret",
      "usr",   "data", "models", "tmp",    "root", "srv",   "workspace", "app",
      "dev",   "proc", "sys",    "lib",    "bin",  "certs", "tls",       "config",
      "vault", "keys", "media",  "tokens", "cert", "model", "host"};
  if (rooted) {
    const auto second = value.find('/', 1);
    const std::string_view first =
        value.substr(1, second == std::string_view::npos ? second : second - 1);
    if (is_one_of(first, k_roots)) return true;
  } else if (const auto second = value.find('/');
             second != std::string_view::npos && is_one_of(value.substr(0, second), k_roots) &&
             all_of(value, [](char c) {
               return is_lower(c) || is_digit(c) || c == '/' || c == '-' || c == '_';
             })) {
    return !looks_random(value, 8);  // `secret/data/db` of a vault
  }
  // A file name with an extension, or a path whose parts are words.
  const auto slash = value.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? value : value.substr(slash + 1);
  static constexpr std::array<std::string_view, 18> k_extensions{
      "pem", "crt", "cer", "key", "txt", "json", "yaml", "yml", "conf",
      "cfg", "ini", "env", "p12", "jks", "pfx",  "toml", "py",  "sock"};
  const auto dot = last.rfind('.');
  if (dot != std::string_view::npos && dot > 0 && is_one_of(last.substr(dot + 1), k_extensions) &&
      !looks_random(last.substr(0, dot)))
    return true;
  if (!rooted || slash == 0) return false;
  for (const std::string_view part : base::split(value.substr(1), '/'))
    if (looks_random(part, 8)) return false;
  return true;
}

bool is_number(std::string_view value) {
  value = base::trim(value);
  if (!value.empty() && (value[0] == '+' || value[0] == '-')) value.remove_prefix(1);
  if (value.empty() || !is_digit(value[0])) return false;
  if (value.starts_with("0x")) return value.size() > 2 && all_of(value.substr(2), is_hex);
  const auto end = std::min(value.find_first_not_of("0123456789.,_"), value.size());
  std::string_view unit = value.substr(end);
  if (unit.size() > 1 && (unit[0] == 'e' || unit[0] == 'E') &&
      unit.find_first_not_of("+-0123456789", 1) == std::string_view::npos)
    return true;
  return unit.size() <= 4 &&
         all_of(unit, [](char c) { return is_alpha(c) || c == '/' || c == '%'; });
}

bool is_uuid(std::string_view value) {
  if (value.size() != 36) return false;
  for (std::size_t i = 0; i < 36; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? value[i] != '-' && value[i] != '_' : !is_hex(value[i])) return false;
  }
  return true;
}

bool is_joining_word(std::string_view value) {
  static constexpr std::array<std::string_view, 10> k_words{
      "via", "as", "by", "at", "when", "flag", "flags", "option", "options", "argument"};
  return value.size() <= 8 && is_one_of(value, k_words);
}

bool is_status_word(std::string_view value) {
  static constexpr std::array<std::string_view, 99> k_words{"enabled",
                                                            "disabled",
                                                            "required",
                                                            "optional",
                                                            "missing",
                                                            "invalid",
                                                            "valid",
                                                            "expired",
                                                            "unset",
                                                            "set",
                                                            "present",
                                                            "absent",
                                                            "provided",
                                                            "empty",
                                                            "ok",
                                                            "failed",
                                                            "failure",
                                                            "error",
                                                            "unknown",
                                                            "default",
                                                            "auto",
                                                            "none",
                                                            "basic",
                                                            "bearer",
                                                            "oauth",
                                                            "oauth2",
                                                            "oidc",
                                                            "jwt",
                                                            "static",
                                                            "dynamic",
                                                            "refreshed",
                                                            "revoked",
                                                            "rotated",
                                                            "loaded",
                                                            "accepted",
                                                            "rejected",
                                                            "found",
                                                            "not",
                                                            "must",
                                                            "is",
                                                            "was",
                                                            "has",
                                                            "cannot",
                                                            "could",
                                                            "too",
                                                            "incorrect",
                                                            "wrong",
                                                            "mismatch",
                                                            "denied",
                                                            "forbidden",
                                                            "unauthorized",
                                                            "authentication",
                                                            "authenticated",
                                                            "verification",
                                                            "verified",
                                                            "updated",
                                                            "changed",
                                                            "reset",
                                                            "created",
                                                            "deleted",
                                                            "string",
                                                            "str",
                                                            "type",
                                                            "object",
                                                            "bytes",
                                                            "true",
                                                            "false",
                                                            "yes",
                                                            "no",
                                                            "on",
                                                            "off",
                                                            "hidden",
                                                            "masked",
                                                            "redacted",
                                                            "plain",
                                                            "plaintext",
                                                            "encrypted",
                                                            "refresh",
                                                            "validation",
                                                            "file",
                                                            "env",
                                                            "environment",
                                                            "token",
                                                            "password",
                                                            "secret",
                                                            "key",
                                                            "login",
                                                            "for",
                                                            "from",
                                                            "in",
                                                            "to",
                                                            "of",
                                                            "and",
                                                            "or",
                                                            "with",
                                                            "successful",
                                                            "the",
                                                            "a",
                                                            "does"};
  while (!value.empty() && std::strchr(".,;:!)", value.back()) != nullptr) value.remove_suffix(1);
  return is_one_of(value, k_words) || is_joining_word(value);
}

bool is_object_name(std::string_view value) {
  if (value.empty() || !is_lower(value.front())) return false;
  if (value.find_first_of("-.") == std::string_view::npos) return false;
  if (!all_of(value, [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '.'; }))
    return false;
  return !looks_random(value, 8);
}

bool looks_random(std::string_view value, std::size_t minimum) {
  if (value.size() < minimum) return false;
  std::size_t random = 0;
  std::size_t letters = 0;
  for (std::size_t at = 0; at < value.size();) {
    if (!is_alpha(value[at]) && !is_digit(value[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < value.size() && (is_alpha(value[end]) || is_digit(value[end]))) ++end;
    const Mix mix = mix_of(value.substr(at, end - at));
    letters += mix.length;
    if (is_random_run(mix)) random += mix.length;
    at = end;
  }
  return random >= 8 && random * 2 >= letters;
}

bool is_distinctive(std::string_view value) {
  if (value.size() < 8 || is_number(value) || is_path(value) || is_masked(value)) return false;
  // `CUDA_VISIBLE_DEVICES` is the name of a variable.
  if (value.find('_') != std::string_view::npos &&
      std::all_of(value.begin(), value.end(), [](char c) { return is_upper(c) || c == '_'; }))
    return false;
  if (value.size() >= 20 && value.find(' ') == std::string_view::npos)
    return !is_object_name(value);
  const bool digit = std::any_of(value.begin(), value.end(), is_digit);
  const bool upper = std::any_of(value.begin(), value.end(), is_upper);
  const bool lower = std::any_of(value.begin(), value.end(), is_lower);
  const bool mark = std::any_of(value.begin(), value.end(), [](char c) {
    return !is_alpha(c) && !is_digit(c) && !is_high(c) && std::strchr(" -_./:", c) == nullptr;
  });
  if (is_object_name(value)) return false;
  return digit + upper + lower + mark >= 3 || (mark && digit) || looks_random(value, 8);
}

bool is_prose(std::string_view value, std::size_t words) {
  static constexpr ByteSet k_of_code(std::string_view("=_/\\{}[]<>|@#$0123456789\0", 25));
  std::size_t count = 0;
  std::size_t high = 0;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t start = at;
    bool word = true;
    std::size_t letters = 0;
    while (at < value.size() && value[at] != ' ' && value[at] != '\n' && value[at] != '\t') {
      const char c = value[at];
      if (is_high(c)) ++high;
      if (is_alpha(c) || is_high(c)) {
        ++letters;
      } else if (k_of_code.has(c)) {
        word = false;
      }
      ++at;
    }
    if (word && letters > 0 && at > start) ++count;
    if (count >= words) return true;
    ++at;
  }
  return high >= 24 || (words <= 3 && high >= 12);
}

bool is_technical(std::string_view value) {
  value = value.substr(0, 2048);
  static constexpr std::array<std::string_view, 71> k_marks{"CUDA",
                                                            "NCCL",
                                                            "NVRM",
                                                            "Xid",
                                                            "Traceback",
                                                            "Exception:",
                                                            "Error:",
                                                            "errno",
                                                            "HTTP/1",
                                                            "HTTP 4",
                                                            "HTTP 5",
                                                            "exit code",
                                                            "Exit code",
                                                            "GPU-",
                                                            "rank ",
                                                            "OOMKilled",
                                                            "stack trace",
                                                            "status code",
                                                            "statuscode",
                                                            "connection refused",
                                                            "Connection refused",
                                                            "Connection reset",
                                                            "timed out after",
                                                            "context deadline",
                                                            "Back-off",
                                                            "No such file",
                                                            "no such file",
                                                            "Permission denied",
                                                            "permission denied",
                                                            "cudaError",
                                                            "torch.",
                                                            "::",
                                                            "site-packages",
                                                            ".py:",
                                                            ".cpp:",
                                                            ".go:",
                                                            "MiB",
                                                            "GiB",
                                                            "tensor parallel",
                                                            "KV cache",
                                                            "max_model_len",
                                                            "max_tokens",
                                                            "context length",
                                                            "Engine core",
                                                            "EngineCore",
                                                            "ImagePull",
                                                            "probe failed",
                                                            "401 Unauthorized",
                                                            "403 Forbidden",
                                                            "rate limit",
                                                            "Rate limit",
                                                            "status is now",
                                                            "NVIDIA",
                                                            "nvidia-smi",
                                                            "kubelet",
                                                            "containerd",
                                                            "upstream connect",
                                                            "no healthy upstream",
                                                            "core dumped",
                                                            "segfault",
                                                            "SIGKILL",
                                                            "SIGTERM",
                                                            "NVLink",
                                                            "safetensors",
                                                            "node(s)",
                                                            "Insufficient ",
                                                            "localhost",
                                                            "TLS handshake",
                                                            "unexpected EOF",
                                                            "Mozilla/5.0",
                                                            "Service Unavailable"};
  return std::any_of(k_marks.begin(), k_marks.end(), [&](std::string_view mark) {
    const auto found = value.find(mark);
    // `rank 3`, but neither `Frank ` nor `krank `.
    return found != std::string_view::npos &&
           (found == 0 || mark != "rank " || !is_alpha(value[found - 1]));
  });
}

bool all_lower_letters(std::string_view value) {
  return std::all_of(value.begin(), value.end(), is_lower);
}

bool has_letter_and_digit(std::string_view value) {
  return std::any_of(value.begin(), value.end(), is_digit) &&
         std::any_of(value.begin(), value.end(), is_alpha);
}

bool is_long_base64(std::string_view value) {
  return value.size() >= 64 && looks_random(value.substr(0, 256)) &&
         !std::all_of(value.begin(), value.end(), is_hex) &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_';
         });
}

bool is_scheme(std::string_view word) {
  static constexpr std::array<std::string_view, 14> k_schemes{
      "Bearer", "Basic",  "Token",    "ApiKey", "Api-Key", "Key", "Negotiate",
      "NTLM",   "Splunk", "GenieKey", "SSWS",   "JWT",     "Bot", "GoogleLogin"};
  return is_one_of(word, k_schemes);
}

bool is_string_prefix(std::string_view word) {
  return !word.empty() && word.size() <= 2 &&
         word.find_first_not_of("bBrRfFuUL") == std::string_view::npos;
}

}  // namespace triage::redact

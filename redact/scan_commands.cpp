// Command lines and words that a secret follows without a sign between.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/commands.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"
#include "redact/word_set.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

/// No generated argument is shorter.
constexpr std::size_t k_shortest_argument = 16;
constexpr std::size_t k_look_back = 512;

/// Words that a secret may follow, besides the last words of commands.
constexpr auto k_announcing =
    words("bearer", "basic", "apikey", "token", "password", "passwd", "passphrase", "passcode",
          "printf", "echo", "requirepass", "masterauth", "auth-pass", "secret", "credential",
          "api-key", "api_key", "identified", "key", "for", "user", "login", "auth", "logged",
          "auth2", "setuser", "rocommunity", "rwcommunity", "trapcommunity", "rocommunity6",
          "rwcommunity6", "snmp-server", "psk", "eap", "xauth", "ntlm", "key-string", "llm",
          "aichat", "sgpt", "gptme", "tgpt", "chatblade");

/// Programs that take what a model is asked between quotes.
constexpr auto k_chat_programs = words("llm", "aichat", "sgpt", "gptme", "tgpt", "chatblade");

constexpr Beginnings make_beginnings() {
  Beginnings beginnings;
  for (const std::string_view word : k_announcing.all()) beginnings.add(word);
  for (const ArgumentRow& row : k_argument_rows) {
    const auto blank = row.command.rfind(' ');
    beginnings.add(row.command.substr(blank == std::string_view::npos ? 0 : blank + 1));
  }
  return beginnings;
}

constexpr Beginnings k_beginnings = make_beginnings();

/// The last words of the commands: few words of a log are one.
constexpr auto make_last_words() {
  std::array<std::string_view, k_argument_rows.size()> last{};
  for (std::size_t i = 0; i < last.size(); ++i) {
    const std::string_view command = k_argument_rows[i].command;
    const auto blank = command.rfind(' ');
    last[i] = command.substr(blank == std::string_view::npos ? 0 : blank + 1);
  }
  return WordSet<last.size()>(last);
}
constexpr auto k_last_words = make_last_words();

/// `--add-to-git-credential`, `--show-secrets`: what such a flag switches has no value.
bool is_switch(std::string_view name) {
  static constexpr std::array<std::string_view, 14> k_verbs{
      "add",   "allow",   "disable", "enable", "ignore", "list", "no",
      "print", "require", "show",    "skip",   "use",    "with", "without"};
  const std::string_view verb = name.substr(0, name.find_first_of("-_"));
  return verb.size() < name.size() &&
         std::find(k_verbs.begin(), k_verbs.end(), verb) != k_verbs.end();
}

/// `OQDGdvCJfesO`; a word has at most its first letter in upper case.
bool mixes_cases(std::string_view value) {
  return std::any_of(value.begin(), value.end(), is_lower) &&
         std::any_of(value.begin() + 1, value.end(), is_upper);
}

/// A password behind the flag of a program that no table knows: generated, no place, no number.
bool looks_like_password(std::string_view value) {
  if (value.size() < 10 || value.find_first_of("/:=,.{}()") != std::string_view::npos) return false;
  const bool digit = std::any_of(value.begin(), value.end(), is_digit);
  const bool upper = std::any_of(value.begin(), value.end(), is_upper);
  const bool lower = std::any_of(value.begin(), value.end(), is_lower);
  return digit && upper && lower && looks_random(value, 10);
}

}  // namespace

std::size_t Scanner::on_flag(std::size_t begin, std::size_t word_end, std::size_t end) {
  const std::string_view word = part(begin, word_end);
  if (word.starts_with("-----BEGIN")) return on_pem(begin, end);
  std::string_view name = word;
  while (!name.empty() && name.front() == '-') name.remove_prefix(1);
  if (name.empty()) return word_end;
  const std::size_t at = skip_blanks(word_end, end);
  const bool has_value = at < end && at > word_end;
  const std::string_view before =
      text_.substr(begin > k_look_back ? begin - k_look_back : 0, std::min(begin, k_look_back));
  if (k_last_words.has(word))
    if (const std::size_t after = on_command_argument(word_end, end); after > 0) return after;
  KeyClass key;
  if (word.size() == 2 && has_value) {
    key = allowed(class_of_flag(word[1], before));
    if (key.kind == KeyKind::none &&
        std::string_view("pPwWk").find(word[1]) != std::string_view::npos &&
        looks_like_password(part(at, bare_end(at, end, ' '))))
      key = {KeyKind::secret, What::password};
  } else if (word.size() == 2 && at < end && (text_[at] == '\'' || text_[at] == '"') &&
             takes_joined(word[1], before)) {
    return on_quote(at, end, class_of_flag(word[1], before), true);  // `mysql -p'x'`
  } else if (word.size() > 4 && word[1] != '-' && takes_joined(word[1], before) &&
             class_of_flag(word[1], before).kind == KeyKind::secret) {
    const KeyClass password = class_of_flag(word[1], before);
    const std::size_t stop = bare_end(begin + 2, end, '=');
    if (is_secret_value(password, part(begin + 2, stop)))
      mask(begin + 2, stop, What::password, part(begin + 2, stop));
    return stop;
  } else if (word.size() > 2) {
    key = allowed(env_.keys.classify(bare_key(word)));
    if (key.is_secret() && key.kind != KeyKind::encoded && is_switch(name))
      key = {KeyKind::if_random, key.what};
  }
  const bool usable = key.is_secret() || key.masks_text() || key.kind == KeyKind::user;
  if (usable && word_end < end && text_[word_end] == ',' && frame().open == '[')
    frame().flagged = key;  // YAML: `[--api-key, x]`
  if (!usable) {
    on_plain_word(begin, word_end, k_is_lower | k_is_digit | k_is_upper);
    return word_end;
  }
  const bool backslash = has_value && text_[at] == '\\' && at + 1 == end;
  if (!has_value || backslash) {
    // The value of a flag that does not stand alone goes on only where the line says so; else a
    // terminal may have cut it, and what follows must look generated.
    const bool alone =
        text_.substr(0, begin).find_first_not_of(" \t-\"'") == std::string_view::npos;
    if ((at >= end || backslash) && line_end_ && depth_ == 0) {
      state_.pending = key;
      if (!alone && !backslash && key.is_secret()) state_.pending.kind = KeyKind::if_random;
    }
    return backslash ? end : word_end;
  }
  if (placeholder_length(part(at, end)) > 0) return at;
  if (text_[at] == '-' && !looks_random(part(at, bare_end(at, end, ' ')))) return word_end;
  if (key.kind == KeyKind::user && (text_[at] == '"' || text_[at] == '\'')) {
    const std::size_t close = closing_quote(at, end, false);  // `--user 'name:password'`
    if (close != std::string_view::npos && pair(at + 1, close)) return close + 1;
  }
  if ((class_of(text_[at]) & k_is_quote) != 0) return on_quote(at, end, key, true);
  if (key.kind == KeyKind::user) {
    const std::size_t stop = bare_end(at, end, ' ');
    if (pair(at, stop)) return stop;
  }
  if (key.masks_text()) return text_argument(key, at, end);
  std::size_t stop = bare_value(key, ' ', begin, at, end);
  // Some take several: `--api-key a b`.
  while (stop > at && key.is_secret() && stop < end && text_[stop] == ' ') {
    const std::size_t next = skip_blanks(stop, end);
    const std::size_t next_end = bare_end(next, end, ' ');
    const std::string_view another = part(next, next_end);
    if (another.size() < k_shortest_argument || another.front() == '-' ||
        !looks_like_password(another))
      break;
    mask(next, next_end, key.what, another);
    stop = next_end;
  }
  return stop;
}

/// A text on a command line that lost its quotes, as in a list of processes: up to the next flag.
std::size_t Scanner::text_argument(KeyClass key, std::size_t at, std::size_t end) {
  std::size_t stop = at;
  while (stop < end) {
    const bool flag = text_[stop] == ' ' && stop + 2 < end && text_[stop + 1] == '-' &&
                      (is_alpha(text_[stop + 2]) || text_[stop + 2] == '-');
    if (flag || text_[stop] == '"' || text_[stop] == '<' || text_[stop] == '|') break;
    ++stop;
  }
  while (stop > at && text_[stop - 1] == ' ') --stop;
  const std::string_view text = part(at, stop);
  const std::string_view first = text.substr(0, text.find(' '));
  if (!is_prose(text, 3) || is_metavariable(first) || is_technical(text) ||
      reads_as_report(text, Doubt::content))
    return at;
  mask(at, stop, key.what, text);
  return stop;
}

/// Secrets by their place behind a command: `rabbitmqctl add_user name x`. 0 when there is none.
std::size_t Scanner::on_command_argument(std::size_t word_end, std::size_t end) {
  const std::string_view before = text_.substr(0, word_end);
  for (const ArgumentRow& row : k_argument_rows) {
    if (!before.ends_with(row.command)) continue;
    const std::size_t start = word_end - row.command.size();
    if (start > 0 && is_alnum(text_[start - 1])) continue;
    const KeyClass key = allowed(row.key);
    int skip = row.skip;
    int take = row.take;
    int again = row.skip_again;
    std::size_t last = 0;
    for (std::size_t at = word_end; take > 0;) {
      at = skip_blanks(at, end);
      if (at >= end || std::string_view(";|&#<>").find(text_[at]) != std::string_view::npos) break;
      const bool quoted = text_[at] == '"' || text_[at] == '\'';
      std::size_t first = at;
      std::size_t stop = 0;
      if (quoted) {
        stop = closing_quote(at, end, key.masks_text());
        if (stop == std::string_view::npos) break;
        ++first;
      } else {
        stop = std::min(text_.find_first_of(" \t\"'`", at), end);
      }
      const std::string_view value = part(first, stop);
      at = stop + (quoted ? 1 : 0);
      if (value.empty() || (!quoted && value.front() == '-')) {
        if (stop >= end || value.empty()) break;
        continue;
      }
      if (skip > 0) {
        --skip;
        continue;
      }
      // How a switch wrote it: `md5 7 0822455D0A16`.
      if (!quoted && value.size() == 1 && is_digit(value.front())) continue;
      --take;
      if (take == 0 && again >= 0) {
        skip = again;
        take = 1;
        again = -1;
      }
      if (names_none(value, first, end)) continue;
      if (key.masks_text()) {
        if (quoted && is_prose(value, 3)) {
          mask(first, stop, key.what, value);
          last = at;
        } else if (!quoted) {
          const std::size_t after = text_argument(key, first, end);
          if (after > first) last = after;
        }
      } else if (key.kind == KeyKind::pair) {
        if (pair(first, stop)) last = at;
      } else if (is_secret_value(key, value) &&
                 (quoted || is_distinctive(value) || looks_random(value, 8) ||
                  (value.size() >= 8 && (has_letter_and_digit(value) || mixes_cases(value))))) {
        mask(first, stop, key.what, value);
        last = at;
      }
    }
    return last;
  }
  return 0;
}

/// `aws configure set aws_secret_access_key x`: a name of several words, and what a generator made.
std::size_t Scanner::on_named_argument(std::size_t begin, std::size_t word_end, std::size_t end) {
  std::size_t value = word_end + 1;
  if (value + k_shortest_argument > end || word_end - begin > 40) return 0;
  const bool quoted = text_[value] == '"' || text_[value] == '\'';
  std::size_t stop = 0;
  if (quoted) {  // `proxy_set_header X-Api-Key "x";`
    stop = closing_quote(value++, end, false);
    if (stop == std::string_view::npos) return 0;
  } else {
    stop = bare_end(value, end, ' ');
  }
  const std::string_view argument = part(value, stop);
  if (argument.size() < k_shortest_argument || !looks_random(argument)) return 0;
  const KeyClass key = env_.keys.classify(part(begin, word_end));
  std::size_t word_before = begin > 0 ? begin - 1 : 0;
  while (word_before > 0 && text_[word_before - 1] != ' ' && text_[word_before - 1] != '\t')
    --word_before;
  const bool header = begin > 0 && sets_header(part(word_before, begin - 1));
  if ((key.kind != KeyKind::secret && key.kind != KeyKind::token &&
       !(header && key.kind == KeyKind::if_random)) ||
      !is_secret_value(key, argument))
    return 0;
  mask(value, stop, key.what, argument);
  return stop + (quoted ? 1 : 0);
}

/// Secrets after their name without a sign between: `Bearer x`, `token hf_x`, `password is "x"`.
std::size_t Scanner::on_spoken_secret(std::size_t begin, std::size_t word_end, std::size_t end) {
  if (!k_beginnings.may_be(text_[begin], text_[begin + 1], word_end - begin)) return 0;
  const std::string_view word = part(begin, word_end);
  if (k_last_words.has(word))
    if (const std::size_t after = on_command_argument(word_end, end); after > 0) return after;
  if (word == "for" || word == "user") return on_login(begin, word_end, end);
  if (word == "SETUSER" || word == "setuser") return on_acl(word_end, end);
  if (word == "AUTH" || word == "AUTH2")
    if (const std::size_t after = on_auth_command(word_end, end); after > 0) return after;
  if (word == "logged" || word == "Logged") return on_logged_in(word_end, end);
  if (word == "echo" || word == "printf") return on_piped_secret(begin, word_end, end);
  if (word == "snmp-server") return on_community(word_end, end);
  if (k_chat_programs.has(word)) return on_chat_command(begin, word_end, end);
  const bool scheme = is_one_of(word, {"bearer", "basic", "apikey"});
  const bool password =
      is_one_of(word, {"password", "passwd", "passphrase", "passcode", "identified"});
  const bool token = is_one_of(word, {"token", "secret", "api-key", "api_key", "credential"});
  // `secret key x`, `signed with key x`, `AUTH x`: only what a generator made, of mixed letters.
  const bool wandb = word == "login" && part(0, begin).ends_with("wandb ");
  const bool loose = word == "key" || word == "Key" || word == "AUTH" || wandb;
  // redis.conf: `requirepass x`; snmpd.conf: `rocommunity x`; of switches: `key-string x`.
  const std::string_view ahead = part(begin > 96 ? begin - 96 : 0, begin);
  const bool of_switch =
      (word == "key" && (base::contains(ahead, "tacacs") || base::contains(ahead, "radius")));
  const bool setting = of_switch || (word.size() > 9 && base::contains(word, "community")) ||
                       is_one_of(word, {"requirepass", "masterauth", "auth-pass", "key-string"});
  // ipsec.secrets: `203.0.113.9 : PSK "x"`.
  if (word == "PSK" || word == "EAP" || word == "XAUTH" || word == "NTLM") {
    const std::size_t quote = skip_blanks(word_end, end);
    if (quote >= end || text_[quote] != '"' || !base::trim(ahead).ends_with(':')) return 0;
    return on_quote(quote, end, {KeyKind::secret, What::password}, true);
  }
  if (!scheme && !password && !token && !setting && !loose) return 0;
  std::size_t at = skip_blanks(word_end, end);
  const bool column = at > word_end + 1;  // of a table
  if (password && (part(at, end).starts_with("for ") || part(at, end).starts_with("("))) {
    // `Password for 'svc': x`.
    const auto colon = part(at, std::min(end, at + 96)).find(": ");
    if (colon == std::string_view::npos) return 0;
    const std::size_t value = skip_blanks(at + colon + 2, end);
    const std::size_t stop = bare_end(value, end, ' ');
    const std::string_view word_there = part(value, stop);
    if (!is_distinctive(word_there) || is_masked(word_there)) return 0;
    mask(value, stop, What::password, word_there);
    return stop;
  }
  for (const std::string_view verb : {"is ", "was ", "of ", "= ", "BY "})
    if (part(at, end).starts_with(verb)) at = skip_blanks(at + verb.size(), end);
  // Switches say before it how it is written: `password 7 0822455D0A16`.
  if ((password || setting || word == "secret") && at + 2 < end && is_digit(text_[at]) &&
      text_[at + 1] == ' ')
    at = skip_blanks(at + 2, end);
  if (at >= end || placeholder_length(part(at, end)) > 0) return 0;
  std::size_t stop = 0;
  const bool quoted = (class_of(text_[at]) & k_is_quote) != 0;
  if (quoted) {
    stop = closing_quote(at, end, false);
    if (stop == std::string_view::npos) return 0;
    ++at;
  } else {
    stop = bare_end(at, end, ' ');
    // `{api.example.net|Bearer x|curl/8.5}`: headers that haproxy captured.
    const auto bar = scheme ? part(at, stop).find('|') : std::string_view::npos;
    if (bar != std::string_view::npos && bar >= k_shortest_argument) stop = at + bar;
  }
  const std::string_view value = part(at, stop);
  if (is_masked(value) || is_reference(value) || is_status_word(value) || is_path(value) ||
      is_number(value))
    return 0;
  const bool digit = std::any_of(value.begin(), value.end(), is_digit);
  const bool upper = std::any_of(value.begin(), value.end(), is_upper);
  bool secret = false;
  if (scheme) {
    secret = value.size() >= 8 && value.find(' ') == std::string_view::npos &&
             (digit || upper || value.size() >= 20) && value.find(':') == std::string_view::npos;
  } else {
    const std::string_view before = part(begin > 256 ? begin - 256 : 0, begin);
    const bool netrc = password && base::contains(before, "login ");
    // SQL: `WITH PASSWORD 'x'`.
    const bool sql = password && quoted && (word == "PASSWORD" || word == "IDENTIFIED");
    const bool public_name = value == "public" || value == "private" || value.size() < 4;
    secret = (setting && !public_name && (word != "key" || is_distinctive(value))) || netrc ||
             sql || (looks_random(value, 10) && !is_uuid(value)) ||
             (password && (digit || column) && is_distinctive(value));
    if (value.find(' ') != std::string_view::npos) secret = false;
    if (loose && !of_switch) {
      const bool lower = std::any_of(value.begin(), value.end(), is_lower);
      secret = value.size() >= 16 && digit && (upper || wandb) && lower && looks_random(value) &&
               value.find(':') == std::string_view::npos;
    }
  }
  if (!secret) return 0;
  if (scheme || token) {
    if (tokens_in(at, stop)) return stop + (quoted ? 1 : 0);
  }
  mask(at, stop, password ? What::password : What::token, value);
  return stop + (quoted ? 1 : 0);
}

/// `snmp-server community x RO` of a switch.
std::size_t Scanner::on_community(std::size_t word_end, std::size_t end) {
  static constexpr std::string_view k_community = " community ";
  if (!part(word_end, end).starts_with(k_community)) return 0;
  const std::size_t at = skip_blanks(word_end + k_community.size(), end);
  const std::size_t stop = bare_end(at, end, ' ');
  const std::string_view value = part(at, stop);
  if (value.size() < 4 || value == "public" || value == "private" || names_none(value, at, end))
    return 0;
  mask(at, stop, What::password, value);
  return stop;
}

/// `llm -m qwen3 'why did Ada ...'` where a command stands: a text between quotes.
std::size_t Scanner::on_chat_command(std::size_t begin, std::size_t word_end, std::size_t end) {
  if (!env_.profile.content || !env_.profile.free_text) return 0;
  const std::string_view before = base::trim(part(begin > 24 ? begin - 24 : 0, begin));
  const bool command = before.empty() || is_digit(before.back()) ||
                       std::string_view("$#|;&>").find(before.back()) != std::string_view::npos;
  if (!command) return 0;
  for (std::size_t at = word_end; at < std::min(end, word_end + 256); ++at) {
    const char c = text_[at];
    if (c == '|' || c == ';' || c == '&' || c == '\\' || c == '<') return 0;
    if (c != '"' && c != '\'') continue;
    const std::size_t close = closing_quote(at, end, true);
    if (close == std::string_view::npos || !is_prose(part(at + 1, close), 4)) return 0;
    mask(at + 1, close, What::prompt, part(at + 1, close));
    return close + 1;
  }
  return 0;
}

/// `netroot=iscsi:user:password@10.0.0.1::3260::iqn...` of a kernel's command line.
std::size_t Scanner::on_boot_login(std::size_t colon, std::size_t end) {
  std::size_t scheme = colon;
  while (scheme > 0 && is_alpha(text_[scheme - 1])) --scheme;
  if (!is_one_of(part(scheme, colon), {"iscsi", "nbd", "nfs", "smb", "cifs", "ftp", "http"}))
    return colon;
  const std::size_t stop = next_of(" \t/<\"'", colon, std::min(end, colon + k_look_back));
  const auto sign = part(colon, stop).rfind('@');
  if (sign == std::string_view::npos) return colon;
  // User and password, and for iSCSI those of the other direction.
  const std::size_t last = colon + sign;
  std::size_t at = colon + 1;
  for (int field = 0; at < last; ++field) {
    const std::size_t next = next_of(":", at, last);
    if (field % 2 == 1 && next > at) mask(at, next, What::password, part(at, next));
    at = next + 1;
  }
  return last;
}

/// `Accepted publickey for ada from 10.0.0.1`, `session opened for user ada(uid=1000)`.
std::size_t Scanner::on_login(std::size_t begin, std::size_t word_end, std::size_t end) {
  static constexpr std::array<std::string_view, 6> k_before_for{
      "Accepted publickey ", "Accepted password ",   "Failed password ",
      "Failed publickey ",   "Postponed publickey ", "maximum authentication attempts exceeded "};
  static constexpr std::array<std::string_view, 5> k_before_user{
      "opened for ", "closed for ", "Invalid ", "invalid ", "authenticating "};
  const std::string_view before = part(begin > 48 ? begin - 48 : 0, begin);
  const auto ends = [&](std::string_view words) { return before.ends_with(words); };
  const bool login = text_[begin] == 'f'
                         ? std::any_of(k_before_for.begin(), k_before_for.end(), ends)
                         : std::any_of(k_before_user.begin(), k_before_user.end(), ends);
  if (!login) return 0;
  const std::size_t at = skip_blanks(word_end, end);
  std::size_t stop = at;
  while (stop < end && (is_alnum(text_[stop]) || is_high(text_[stop]) || text_[stop] == '.' ||
                        text_[stop] == '_' || text_[stop] == '-'))
    ++stop;
  const std::string_view name = part(at, stop);
  if (is_service_account(name) || name == "invalid" || is_one_of(name, {"user", "from"})) return 0;
  mask(at, stop, What::user, name);
  return stop;
}

}  // namespace triage::redact

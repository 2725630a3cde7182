// Words by their own form: tokens, URLs, addresses, encoded texts, private keys.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/token_formats.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

constexpr std::size_t k_shortest_token = 16;

/// Client secrets of Azure AD: three characters, a digit, `Q~`, and 31 to 34 more.
bool is_azure_secret(std::string_view word) {
  return word.size() >= 37 && word.size() <= 40 && is_digit(word[3]) && word.substr(4, 2) == "Q~";
}

bool has_percent_escape(std::string_view word) {
  for (std::size_t at = word.find('%'); at != std::string_view::npos; at = word.find('%', at + 1))
    if (at + 2 < word.size() && is_hex(word[at + 1]) && is_hex(word[at + 2])) return true;
  return false;
}

}  // namespace

void Scanner::on_plain_word(std::size_t begin, std::size_t end, unsigned classes) {
  const std::size_t length = end - begin;
  if (length < 7) return;
  // The body of a token has digits or capitals, unless it is long or cut by the line's end.
  const bool plain = (classes & (k_is_digit | k_is_upper)) == 0 && length < 24 &&
                     end < text_.size() && text_[end] != '=';
  if (length >= k_shortest_token && !plain && tokens_in(begin, end)) return;
  const std::string_view word = part(begin, end);
  if ((classes & k_is_at) != 0) {
    if (emails(begin, end)) return;
    user_at_host(begin, end);
  }
  if ((classes & k_is_percent) != 0 && has_percent_escape(word)) return percent_encoded(begin, end);
  if ((classes & k_is_slash) != 0) {
    if (const Span user = find_home_user(text_, begin, end); !user.empty())
      mask(user.begin, user.end, What::user, part(user.begin, user.end));
  }
  if ((classes & k_is_dot) != 0 && env_.profile.addresses) {
    // Addresses may stand in a path or after a sign: `//10.0.0.1/x`, `user@10.0.0.1`.
    const bool quads =
        (classes & k_is_digit) != 0 && std::count(word.begin(), word.end(), '.') >= 3;
    for (std::size_t at = begin; quads && at + 6 < end; ++at) {
      const bool starts = at == begin || (!is_alnum(text_[at - 1]) && text_[at - 1] != '.');
      if (!starts || !is_digit(text_[at])) continue;
      const Span ip = find_ip4(text_, at, end);
      if (ip.empty()) continue;
      add_edit({ip.begin, ip.end, What::ip, shown(env_.namer.name_of_ip(part(ip.begin, ip.end)))});
      at = ip.end;
    }
    if ((classes & (k_is_lower | k_is_upper)) != 0) {
      hosts(begin, end);
    }
  }
  if (length >= 24 && (classes & k_is_upper) != 0 && (classes & k_is_lower) != 0 &&
      (classes & (k_is_dot | k_is_at | k_is_percent | k_is_high)) == 0)
    encoded_word(begin, end);
}

bool Scanner::emails(std::size_t begin, std::size_t end) {
  bool found = false;
  while (begin < end) {
    const Span email = find_email(text_, begin, end);
    if (email.empty()) {
      const auto sign = text_.substr(0, end).find('@', begin);
      if (sign == std::string_view::npos) break;
      begin = sign + 1;
      continue;
    }
    mask(email.begin, email.end, What::email, part(email.begin, email.end));
    begin = email.end;
    found = true;
  }
  return found;
}

/// Credentials by their format anywhere in a word. True when one was masked.
bool Scanner::tokens_in(std::size_t begin, std::size_t end) {
  const std::string_view word = part(begin, end);
  // HashiCorp's tokens have their mark in the middle.
  if (word.size() > 60 && base::contains(word, ".atlasv1.")) {
    mask(begin, end, What::token, word);
    return true;
  }
  bool found = false;
  const bool line_end = line_end_ && end == text_.size();
  for (std::size_t at = begin; at + 8 < end; ++at) {
    if (at > begin && (is_alnum(text_[at - 1]) || is_high(text_[at - 1]))) continue;
    if (!may_start_token(text_[at], text_[at + 1])) continue;
    // Formats reach over signs that end words here, such as the colon of a bot's token.
    const TokenMatch match = match_token(line_end ? text_.substr(0, end) : text_, at, line_end);
    if (match.end == 0) continue;
    std::size_t stop = match.end;
    while (stop < text_.size() && text_[stop] == '=' && (text_[match.end - 1] != '=')) ++stop;
    if (stop - match.end > 2) stop = match.end;
    mask(match.begin, stop, match.what, part(match.begin, stop));
    found = true;
    stop = on_secret_behind_id(match.begin, stop);
    const bool backslash = stop + 1 == text_.size() && text_[stop] == '\\';
    if (depth_ == 0 && line_end_ && ((match.cut && stop == text_.size()) || backslash))
      state_.wrap = {true, true, match.what};
    at = stop - 1;
  }
  if (!found && is_azure_secret(word)) {
    mask(begin, end, What::token, word);
    return true;
  }
  return found;
}

/// `AKIA.../wJalr...`: the secret of an access key behind its id. Where it ended, or `stop`.
std::size_t Scanner::on_secret_behind_id(std::size_t begin, std::size_t stop) {
  constexpr std::size_t k_id = 20;
  constexpr std::size_t k_secret = 40;
  const std::string_view id = part(begin, stop);
  if (id.size() != k_id || (!id.starts_with("AKIA") && !id.starts_with("ASIA")) ||
      stop + k_secret >= text_.size() || (text_[stop] != '/' && text_[stop] != ':'))
    return stop;
  const std::size_t first = stop + 1;
  std::size_t last = first;
  while (last < text_.size() && (is_alnum(text_[last]) || text_[last] == '/' || text_[last] == '+'))
    ++last;
  if (last - first != k_secret || !looks_random(part(first, last))) return stop;
  mask(first, last, What::token, part(first, last));
  return last;
}

/// Host names among the parts of a word: `node/gpu-1.dc.example.net`, `svc@pg.example.net`.
void Scanner::hosts(std::size_t begin, std::size_t end) {
  const std::string_view word = part(begin, end);
  const bool one_slash = std::count(word.begin(), word.end(), '/') == 1;
  for (std::size_t at = begin; at < end;) {
    std::size_t stop = at;
    bool dot = false;
    bool word_last = false;  // nothing but letters behind the last dot
    for (; stop < end; ++stop) {
      const unsigned kind = class_of(text_[stop]);
      if ((kind & (k_is_upper | k_is_lower)) != 0) continue;
      if ((kind & k_is_dot) != 0) {
        dot = word_last = true;
      } else if ((kind & k_is_digit) != 0 || text_[stop] == '-') {
        word_last = false;
      } else {
        break;
      }
    }
    // `nvidia.com/gpu` and the like name a resource; images have a tag or more parts.
    const bool api_group = one_slash && at == begin && stop < end && text_[stop] == '/' &&
                           (end >= text_.size() || text_[end] != ':');
    const bool possible = word_last || (dot && (text_[stop - 1] == '.' || text_[at] == 'i'));
    if (possible && stop > at + 3 && !api_group) host(at, stop, false);
    at = stop + 1;
  }
}

void Scanner::host(std::size_t begin, std::size_t end, bool sure) {
  if (!env_.profile.addresses) return;
  while (end > begin && text_[end - 1] == '.') --end;
  const std::string_view name = part(begin, end);
  if (is_private_host(name, sure)) {
    std::string shown_name =
        env_.profile.strict ? env_.namer.name_of_whole_host(name) : env_.namer.name_of_host(name);
    add_edit({begin, end, What::host, shown(std::move(shown_name))});
    // Only its place showed this one to be a host: elsewhere it must not stay.
    if (env_.known != nullptr && sure && !is_private_host(name, false))
      env_.known->add(name, What::host);
    return;
  }
  // Names of cloud instances hold their address: `ip-10-42-3-17.ec2.internal`.
  if (!name.starts_with("ip-")) return;
  std::size_t stop = begin + 3;
  while (stop < end && (is_digit(text_[stop]) || text_[stop] == '-')) ++stop;
  std::string address(part(begin + 3, stop));
  std::replace(address.begin(), address.end(), '-', '.');
  const auto ip = parse_ip4(address);
  if (!ip || (*ip >> 28U) == 15U) return;
  std::string pseudonym = env_.namer.name_of_ip(address);
  std::replace(pseudonym.begin(), pseudonym.end(), '.', '-');
  add_edit({begin + 3, stop, What::ip, shown(std::move(pseudonym))});
}

/// MAC and IPv6 addresses; `begin` when there is none.
std::size_t Scanner::on_numbers_with_colons(std::size_t begin, std::size_t end) {
  if (!env_.profile.addresses || end - begin < 4) return begin;
  if (const Span mac = find_mac(text_.substr(0, end), begin); !mac.empty()) {
    add_edit(
        {mac.begin, mac.end, What::mac, shown(env_.namer.name_of_mac(part(mac.begin, mac.end)))});
    return mac.end;
  }
  if (const Span ip = find_ip6(text_.substr(0, end), begin); !ip.empty()) {
    add_edit({ip.begin, ip.end, What::ip, shown(env_.namer.name_of_ip(part(ip.begin, ip.end)))});
    return ip.end;
  }
  return begin;
}

/// A base64 word that holds text with something to mask in it.
bool Scanner::encoded_word(std::size_t begin, std::size_t end) {
  if (depth_ >= k_deepest) return false;
  std::size_t stop = end;
  while (stop < text_.size() && text_[stop] == '=' && stop - end < 2) ++stop;
  const auto decoded = decode_base64_text(part(begin, stop));
  if (!decoded || decoded->size() < 12) return false;
  Edits edits;
  scan_text(env_, *decoded, depth_ + 2, edits);
  What what = What::token;
  bool found = false;
  for (const Edit& edit : edits) {
    if (is_address(edit.what)) continue;
    if (!found || edit.what == What::private_key) what = edit.what;
    found = true;
  }
  if (!found && env_.profile.content && is_prose(*decoded, 4) && !is_technical(*decoded)) {
    found = true;
    what = What::text;
  }
  if (!found) {
    // `user:password` of a Basic credential.
    const auto colon = decoded->find(':');
    const bool basic = colon != std::string::npos && colon > 0 &&
                       decoded->find_first_of(" \n{\"") == std::string::npos &&
                       is_distinctive(decoded->substr(colon + 1));
    if (!basic) return false;
    what = What::password;
  }
  mask(begin, stop, what, part(begin, stop));
  return true;
}

void Scanner::percent_encoded(std::size_t begin, std::size_t end) {
  if (depth_ >= k_deepest) return;
  const Decoded decoded = decode(part(begin, end), Escapes::percent);
  Edits edits;
  ScanState state;
  state.frames.emplace_back();
  Scanner inner(env_, state, decoded.text, edits, depth_ + 1, false);
  inner.scan(0, decoded.text.size());
  map_to_source(decoded, begin, edits, out_);
}

std::size_t Scanner::on_url(std::size_t begin, std::size_t colon, std::size_t end) {
  const std::size_t authority = colon + 3;
  // Triton: `s3://https://minio.example.net:9000/models`.
  for (const std::string_view inner : {std::string_view("http://"), std::string_view("https://")})
    if (part(authority, end).starts_with(inner) &&
        !part(authority + inner.size(), end).starts_with("http"))
      return on_url(authority, authority + inner.size() - 3, end);
  std::size_t stop = authority;
  bool query = false;
  while (stop < end &&
         std::string_view(" \t\"'<>`\\{}|\r\n").find(text_[stop]) == std::string_view::npos) {
    if (text_[stop] == '?') query = true;
    if (text_[stop] == ';' && !query) {
      // `Endpoint=sb://h/;SharedAccessKey=x`, `jdbc:sqlserver://h:1433;user=a;password=b`.
      std::size_t word = stop + 1;
      while (word < end && is_alpha(text_[word])) ++word;
      if (word > stop + 2 && word < end && text_[word] == '=') break;
    }
    ++stop;
  }
  // `https://ada:<password:1f...>@h`: what was masked before.
  if (stop < end && stop > authority && text_[stop] == '<' && text_[stop - 1] == ':') {
    const std::size_t masked = stop + placeholder_length(part(stop, end));
    if (masked > stop && masked < end && text_[masked] == '@') return masked;
  }
  while (stop > authority &&
         std::string_view(".,;)]!").find(text_[stop - 1]) != std::string_view::npos)
    --stop;
  // `scheme` may carry what stood before it: `jdbc:postgresql`, `s=http`.
  std::size_t scheme_begin = colon;
  while (scheme_begin > begin && is_alpha(text_[scheme_begin - 1])) --scheme_begin;
  const std::string_view scheme = part(scheme_begin, colon);
  const bool storage = scheme == "s3" || scheme == "gs" || scheme == "hf" ||
                       scheme == "containerd" || scheme == "docker" || scheme == "file" ||
                       scheme == "unix" || scheme == "ipc" || scheme == "gcs" || scheme == "s3a";
  std::size_t at = authority;
  std::size_t authority_end = next_of("/?#", authority, stop);
  std::size_t sign = part(authority, authority_end).rfind('@');
  if (sign == std::string_view::npos) {
    // A password with a slash: the "port" is no number, and the sign comes later.
    const auto mark = part(authority, authority_end).find(':');
    const bool port =
        mark == std::string_view::npos ||
        std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(authority + mark + 1),
                    text_.begin() + static_cast<std::ptrdiff_t>(authority_end), is_digit);
    const auto later = part(authority, stop).rfind('@');
    if (!port && later != std::string_view::npos) {
      sign = later;
      authority_end = next_of("/?#", authority + later, stop);
    } else if (!port) {
      // The rest of the password stands on the next line, or the text was cut.
      const std::size_t value = authority + mark + 1;
      if (!tokens_in(value, stop) && stop == text_.size() && line_end_ &&
          looks_random(part(value, stop), 8)) {
        mask(value, stop, What::password, part(value, stop));
        if (depth_ == 0) state_.wrap = {true, false, What::password};
      }
      return stop;
    }
  }
  if (sign != std::string_view::npos) {
    const std::size_t user_end = authority + sign;
    const auto mark = part(authority, user_end).find(':');
    if (mark == std::string_view::npos) {
      const std::string_view user = part(authority, user_end);
      if (!tokens_in(authority, user_end) && looks_random(user, 16))
        mask(authority, user_end, What::token, user);
    } else {
      const std::size_t value = authority + mark + 1;
      const std::string_view password = part(value, user_end);
      const std::string_view user = part(authority, value - 1);
      if (!tokens_in(authority, value - 1) && looks_random(user, 20))
        mask(authority, value - 1, What::token, user);
      else if (is_dotted_user(user))
        mask(authority, value - 1, What::user, user);
      if (!password.empty() && !is_masked(password) && !is_reference(password)) {
        mask(value, user_end, What::password, password);
        if (env_.known != nullptr && password.find('%') != std::string_view::npos)
          env_.known->add(decode(password, Escapes::percent).text, What::password);
      }
    }
    at = user_end + 1;
  }
  // Host and port; several hosts in the URLs of databases.
  while (at < authority_end) {
    std::size_t name = at;
    while (name < authority_end && text_[name] != ',' && text_[name] != ':' && text_[name] != '[')
      ++name;
    if (text_[at] == '[') {
      const Span ip = find_ip6(text_.substr(0, authority_end), at + 1);
      if (!ip.empty())
        add_edit(
            {ip.begin, ip.end, What::ip, shown(env_.namer.name_of_ip(part(ip.begin, ip.end)))});
      name = ip.empty() ? at + 1 : ip.end + 1;
    } else if (name > at) {
      const Span ip = env_.profile.addresses ? find_ip4(text_, at, name) : Span{};
      if (!ip.empty()) {
        add_edit(
            {ip.begin, ip.end, What::ip, shown(env_.namer.name_of_ip(part(ip.begin, ip.end)))});
      } else if (!storage) {
        host(at, name, true);
      }
    }
    at = next_of(",", name, authority_end);
    if (at < authority_end) ++at;
  }
  // Path: tokens, and whatever stands behind a hook or after a word that announces a secret.
  const std::size_t path_end = next_of("?#", authority_end, stop);
  const std::string_view authority_text = part(authority, authority_end);
  bool behind_hook =
      base::contains(authority_text, "hooks.") || base::contains(authority_text, "webhook");
  for (std::size_t segment = authority_end; segment < path_end;) {
    const std::size_t first = segment + (text_[segment] == '/' ? 1 : 0);
    const std::size_t last = next_of("/", first, path_end);
    const std::string_view word = part(first, last);
    segment = last;
    if (word.empty()) {
      if (last >= path_end) break;
      continue;
    }
    if (word.starts_with("bot") && word.size() > 30 && tokens_in(first + 3, last)) continue;
    if (word.size() >= k_shortest_token && tokens_in(first, last)) continue;
    const bool digit = std::any_of(word.begin(), word.end(), is_digit);
    if (word == "t" && last + 1 < path_end) {  // conda: `/t/TOKEN/channel`
      const std::size_t token_end = next_of("/", last + 1, path_end);
      if (token_end - last > 20 && looks_random(part(last + 1, token_end), 20)) behind_hook = true;
    }
    if (behind_hook && word.size() >= 8 && (digit || word.size() >= 16) &&
        (looks_random(word, 8) || is_uuid(word.substr(0, 36)) ||
         std::all_of(word.begin(), word.end(),
                     [](char c) { return is_upper(c) || is_digit(c); }))) {
      mask(first, last, What::secret, word);
      continue;
    }
    if (has_percent_escape(word)) percent_encoded(first, last);
    (void)emails(first, last);
    const std::string lower = base::to_lower(word);
    behind_hook = behind_hook || base::contains(lower, "webhook") || lower == "hooks" ||
                  lower == "token" || lower == "tokens" || lower == "secret" ||
                  lower == "incoming-webhooks";
  }
  at = path_end;
  while (at < stop) at = on_query(at + 1, stop);
  return stop;
}

/// `a=b&c=d` of a URL, from the byte after `?` or `#`; ends where no more pairs follow.
std::size_t Scanner::on_query(std::size_t at, std::size_t end) {
  std::size_t stop = at;
  while (stop < end &&
         std::string_view(" \t\"'<>`\\{}|#\r\n").find(text_[stop]) == std::string_view::npos)
    ++stop;
  while (at < stop) {
    std::size_t next = next_of("&;", at, stop);
    const auto sign = part(at, next).find('=');
    if (sign == std::string_view::npos) {
      if (next - at >= k_shortest_token) tokens_in(at, next);
      at = next + 1;
      continue;
    }
    std::string_view name = part(at, at + sign);
    if (name.starts_with("amp;")) name.remove_prefix(4);
    const std::size_t value = at + sign + 1;
    std::size_t value_end = next;
    while (value_end > value &&
           std::string_view(",)]").find(text_[value_end - 1]) != std::string_view::npos)
      --value_end;
    at = next + 1;
    if (value >= value_end) {
      // The value may be a placeholder already.
      if (value < end && placeholder_length(part(value, end)) > 0)
        return value + placeholder_length(part(value, end));
      continue;
    }
    const Decoded decoded = decode(part(value, value_end), Escapes::percent);
    const std::string_view text = decoded.text;
    KeyClass key = env_.keys.classify(decode(name, Escapes::percent).text);
    if (key.kind == KeyKind::key || name == "code" || name == "ticket" || name == "assertion" ||
        name == "hash")
      key = {KeyKind::if_random, What::token};
    if (key.kind == KeyKind::secret || key.kind == KeyKind::token || key.kind == KeyKind::auth ||
        key.kind == KeyKind::if_random) {
      if (is_secret_value(key, text)) {
        mask(value, value_end, key.what, text);
        continue;
      }
    } else if (key.masks_text() && env_.profile.content) {
      const bool words = text.find(' ') != std::string_view::npos;
      const bool high = std::any_of(text.begin(), text.end(), is_high);
      if ((words || high) && !is_masked(text)) {
        mask(value, value_end, key.what, text);
        continue;
      }
    } else if (key.kind == KeyKind::user && text.size() <= 80 && !is_service_account(text)) {
      const bool email = text.find('@') != std::string_view::npos;
      mask(value, value_end, email ? What::email : What::user, text);
      continue;
    }
    if (value_end - value >= k_shortest_token && tokens_in(value, value_end)) continue;
    // A generated value under an unknown name, unless the name says that it identifies.
    static constexpr std::array<std::string_view, 17> k_identifying{
        "id",  "trace",  "request", "span",   "digest", "sha",      "version", "v",      "rev",
        "ref", "commit", "etag",    "cursor", "page",   "checksum", "model",   "expires"};
    const auto words = key_words(name);
    const bool identifies = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(k_identifying.begin(), k_identifying.end(), word) != k_identifying.end();
    });
    const bool mixed = std::any_of(text.begin(), text.end(), is_upper) &&
                       std::any_of(text.begin(), text.end(), is_lower);
    if (!identifies && mixed && text.find('-') == std::string_view::npos &&
        looks_random(text, 20)) {
      mask(value, value_end, What::token, text);
      continue;
    }
    if (depth_ < k_deepest) {
      Edits edits;
      ScanState state;
      state.frames.emplace_back();
      Scanner inner(env_, state, decoded.text, edits, depth_ + 1, false);
      inner.scan(0, decoded.text.size());
      map_to_source(decoded, value, edits, out_);
    }
  }
  return stop;
}

/// `-----BEGIN ... PRIVATE KEY-----`: the body up to the end mark, or to the end of the line and
/// on.
std::size_t Scanner::on_pem(std::size_t begin, std::size_t end) {
  const std::string_view rest = part(begin, end);
  const auto close = rest.find("-----", 11);
  if (close == std::string_view::npos) return begin + 10;
  const std::string_view label = rest.substr(11, close - 11);
  const std::size_t body = begin + close + 5;
  // `OpenVPN Static key V1`, `OPENSSH PRIVATE KEY`.
  static constexpr std::array<std::string_view, 5> k_open{"PUBLIC", "CERTIFICATE", "REQUEST",
                                                          "SIGNATURE", "MESSAGE"};
  const bool open = std::any_of(k_open.begin(), k_open.end(), [&](std::string_view word) {
    return base::icontains(label, word);
  });
  if ((open || !base::icontains(label, "key")) && !(env_.profile.strict && label == "CERTIFICATE"))
    return body;
  const auto last = rest.find("-----END", close + 5);
  const std::size_t stop = last == std::string_view::npos ? end : begin + last;
  const std::string_view text = part(body, stop);
  if (!base::trim(text).empty() && placeholder_length(base::trim(text)) == 0) {
    // Escaped line ends before the end mark stay, so that nested texts decode as before.
    std::size_t first = body;
    std::size_t final = stop;
    while (first < final && (text_[first] == ' ' || text_[first] == '\t')) ++first;
    while (final > first &&
           (text_[final - 1] == ' ' || text_[final - 1] == '\t' || text_[final - 1] == '\r'))
      --final;
    add_edit({first, final, What::private_key, shown(env_.namer.name_of_part(What::private_key))});
  }
  if (last != std::string_view::npos) {
    const auto after = rest.find("-----", last + 8);
    return after == std::string_view::npos ? end : begin + after + 5;
  }
  state_.pem = true;
  return end;
}

}  // namespace triage::redact

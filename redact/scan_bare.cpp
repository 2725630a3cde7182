// Values without quotes: how far they reach.

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/chat_markers.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/token_formats.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

/// `Input: `, `Output: `: what went into a model and what came out.
bool names_side(std::string_view label) {
  label = base::trim(label);
  if (label.ends_with(':')) label.remove_suffix(1);
  return is_one_of(label, {"input", "inputs", "output", "query", "request", "response", "text"});
}

}  // namespace

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
  // `SAS_TOKEN=sv=2024-11-04&ss=b&sig=x`: a query, whose parts have names.
  if (stop < end && text_[stop] == '&' && value.find('=') < 16) {
    if (value.find_first_of("/:@") == std::string_view::npos) return on_query(at, end);
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
  // `connect(url, api_token=api_token)`: code.
  if (separator == '=' && frame().open == '(' && part(0, at - 1).ends_with(value) &&
      key_begin + value.size() + 1 == at)
    return stop;
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

std::size_t Scanner::bare_user(std::size_t at, std::size_t end, char separator) {
  // `User: what should I ask the doctor` is no name.
  if (text_[at - 1] == ' ' && separator == ':' && is_prose(part(at, end), 4)) {
    if (const std::size_t stop = bare_content({KeyKind::content, What::prompt}, ':', at, at, end);
        stop > at)
      return stop;
  }
  std::size_t stop = bare_end(at, end, '=');
  // Slurm: `UserId=ada(21044)`.
  if (const std::size_t id = text_.substr(0, stop).find('(', at);
      id != std::string_view::npos && id > at + 1 && stop > id + 2 && text_[stop - 1] == ')' &&
      std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(id + 1),
                  text_.begin() + static_cast<std::ptrdiff_t>(stop - 1), is_digit))
    stop = id;
  const std::string_view value = part(at, stop);
  if (!find_email(text_, at, stop).empty()) return at;
  if (value.size() > 80 || is_service_account(value) || is_path(value) ||
      value.find_first_of("(){}[]<>=/\\") != std::string_view::npos)
    return at;
  // `ps -o user:20,pid,args`: how wide a column is.
  if (is_digit(value.front()) && value.find(',') != std::string_view::npos) return at;
  mask(at, stop, What::user, value);
  return stop;
}

/// Content without quotes: up to the next field or the end of the line.
std::size_t Scanner::bare_content(KeyClass key, char separator, std::size_t key_begin,
                                  std::size_t at, std::size_t end) {
  if (!env_.profile.free_text || !env_.spend(end - at)) return at;
  // `body=ChatRequest { model: ..., messages: [...] }`: what is inside says itself what it is.
  std::size_t type = at;
  while (type < end && is_alnum(text_[type])) ++type;
  if (type > at + 2 && is_upper(text_[at]) && part(type, end).starts_with(" {")) return at;
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
  if (is_status_word(word) && !is_joining_word(word) && !sentence) return at;
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
  if (separator == ':' && begins_as_report(text)) return at;
  if (key.what == What::output && iequals(base::trim(part(key_begin, at)), "output:") &&
      is_command_output(part(0, key_begin), text))
    return at;
  const bool sure = key.kind == KeyKind::content || frame().speech;
  if (!is_prose(text, sure ? 3 : 4) || is_technical(text)) return at;
  const bool label = separator != '=';
  if (reads_as_report(text, sure || !label ? Doubt::content : Doubt::report)) return at;
  if (!sure && !env_.profile.strict) {
    // `serving_chat: rendered prompt for 8b7e...: <|im_start|>user ...`: from the marker on.
    for (auto mark = text.find('<'); mark != std::string_view::npos;
         mark = text.find('<', mark + 1))
      if (mark > 2 && text[mark - 1] == ' ' && text[mark - 2] == ':' &&
          begins_turn(text.substr(mark)))
        return at;
    // A label before a sentence, behind what a logger wrote. YAML begins lines with such keys.
    bool begins_text = skip_blanks(0, end) == key_begin || text_[key_begin - 1] == '"' ||
                       text_[key_begin - 1] == '\'';
    // An engine that writes its log as JSON: `"message": "Input: Compose a letter ..."`.
    const bool quoted = depth_ > 0 || skip_blanks(0, end) != key_begin;
    if (begins_text && quoted && names_side(part(key_begin, at))) begins_text = false;
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

}  // namespace triage::redact

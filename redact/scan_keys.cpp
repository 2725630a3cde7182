// Names before values: what a name says of its value, and the lists and objects it opens.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/chat_markers.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

/// Names under which a request or a response travels whole: what is inside says itself what it is.
bool is_envelope(std::string_view key) {
  return is_one_of(key,
                   {"body", "payload", "request", "response", "query", "context", "input", "search",
                    "request_body", "response_body", "data", "output", "json_data", "requestBody",
                    "responseBody", "jsonPayload", "textPayload", "protoPayload"});
}

/// Whether the words before `key:` say that it is a digest or a name: `kernel key: 9b1e...`,
/// `Cache restored from key: linux-pip-9f31...`.
bool names_key(std::string_view before) {
  static constexpr std::array<std::string_view, 9> k_words{
      "kernel ",      "restored from ", "saved with ", "cache ", "Cache ",
      "for restore ", "input ",         "primary ",    "lookup "};
  return std::any_of(k_words.begin(), k_words.end(),
                     [&](std::string_view word) { return before.ends_with(word); });
}

/// Lists of what a search found or an answer cites: sentences in them are of documents.
bool holds_passages(std::string_view key) {
  return key.size() >= 9 && key.size() <= 16 &&
         is_one_of(key, {"citations", "source_nodes", "sourceNodes", "retrieved_nodes",
                         "retrievedNodes", "groundingChunks", "grounding_chunks"});
}

/// Objects that hold a picture or a recording in base64.
bool is_media(std::string_view key) {
  return key.size() >= 4 && key.size() <= 12 &&
         is_one_of(key, {"input_audio", "audio", "image", "image_url", "inline_data", "inlineData",
                         "source", "video", "file", "blob", "media", "images", "b64_json",
                         "image_base64", "audio_base64", "base64"});
}

}  // namespace

std::size_t Scanner::on_key(std::string_view key, std::size_t key_begin, std::size_t value,
                            char separator, std::size_t end) {
  KeyClass found = class_of_key(key, key_begin, separator);
  const bool names = found.kind == KeyKind::name || found.kind == KeyKind::value;
  const bool cookie = frame().inherited.kind == KeyKind::cookie && found.kind == KeyKind::if_random;
  if (frame().every_value && (found.kind == KeyKind::none || names || cookie))
    found = frame().inherited;
  const std::size_t at = skip_blanks(value, end);
  if (at >= end) {
    // `Signature:`, `Using certificate key:`: what a generator made may stand on the next line.
    const bool secret = found.kind == KeyKind::secret || found.kind == KeyKind::token ||
                        found.kind == KeyKind::if_random || found.kind == KeyKind::key;
    if (secret && separator == ':' && depth_ == 0 && line_end_ && end == text_.size())
      state_.pending = {KeyKind::if_random, found.what};
    return end;
  }
  const char c = text_[at];
  if (const std::size_t length = placeholder_length(part(at, end)); length > 0) return at + length;
  if (c == '[' && at + 1 < end && (text_[at + 1] == '|' || text_[at + 1] == 'S') &&
      begins_turn(part(at, end)))
    return on_template(at, end);
  if ((class_of(c) & k_is_quote) != 0) return on_quoted_value(key, found, at, end);
  if (key == "from-literal" && separator == '=') {
    if (const std::size_t after = on_literal(key_begin, at, end); after > at) return after;
  }
  if ((class_of(c) & k_is_open) != 0) return on_open_value(key, found, at, end);
  if (separator == '=' && is_hex(c) && at + 16 <= end && is_hex(text_[at + 7]) &&
      is_hex(text_[at + 15])) {
    if (const std::size_t after = on_hex_text(key, at, end); after > at) return after;
  }
  if (found.kind == KeyKind::none) return at;
  // gdb prints `std::vector of length 16, capacity 16 = {101, ...}`.
  if (found.kind == KeyKind::token_ids && part(at, end).starts_with("std::")) {
    const std::size_t brace = text_.substr(0, std::min(end, at + 96)).find('{', at);
    if (brace != std::string_view::npos) {
      push('{', found);
      return id_list(brace + 1, end);
    }
  }
  // `Some("x")`, `SecretStr('x')`, `b'x'`, `&"x"`: the value stands inside.
  std::size_t word = at;
  while (word < end && (text_[word] == '&' || text_[word] == '*')) ++word;
  const std::size_t word_begin = word;
  while (word < end && (is_alnum(text_[word]) || text_[word] == '_' || text_[word] == '.')) ++word;
  if (word + 1 < end && text_[word] == '(' && found.kind == KeyKind::user &&
      is_digit(text_[word + 1]))  // Slurm: `ada(21044)`
    return bare_value(found, separator, key_begin, at, end);
  if (word < end && text_[word] == '(' && word > word_begin) {
    // `output = self.runner.execute(batch,`: a line of code quotes no output.
    const bool code =
        found.masks_text() && part(word_begin, word).find('.') != std::string_view::npos;
    if (code) found = {};
    push('(', found);
    if (found.masks_text() && !is_envelope(key)) frame().speech = true;
    if (found.kind == KeyKind::token_ids) return id_list(word + 1, end);
    return word + 1;
  }
  if (word < end && (class_of(text_[word]) & k_is_quote) != 0 &&
      (word == word_begin || is_string_prefix(part(word_begin, word))))
    return on_quote(word, end, found, true);
  return bare_value(found, separator, key_begin, at, end);
}

/// What a name says of its value, alone and with the words before it.
KeyClass Scanner::class_of_key(std::string_view key, std::size_t key_begin, char separator) {
  KeyClass found = key.empty() ? KeyClass{} : env_.keys.classify(key);
  if (separator == ':' && env_.profile.free_text && depth_ <= 2 &&
      (found.kind == KeyKind::none || found.kind == KeyKind::maybe_text ||
       found.kind == KeyKind::key) &&
      found.ends_phrase && key_begin > 0 && text_[key_begin - 1] == ' ') {
    const KeyClass phrase = phrase_class(key_begin, key_begin + key.size());
    if (phrase.kind != KeyKind::none) found = phrase;
  }
  if (key.empty() && env_.profile.free_text) found = numbered_text(key_begin);
  // `SNMP Community String : x` of a board controller.
  if (key == "String" && separator == ':' && part(0, key_begin).ends_with("Community "))
    return {KeyKind::token, What::password};
  // `arn:aws:secretsmanager:...:secret:name`; `autogenerated kernel key: 9b1e...` is a digest.
  if (found.kind == KeyKind::token && key == "secret" && key_begin > 16 &&
      base::contains(part(key_begin > 96 ? key_begin - 96 : 0, key_begin), "arn:aws"))
    found = {};
  if (found.kind == KeyKind::key && names_key(part(0, key_begin))) found = {};
  return allowed(found);
}

/// Whether `body`, `text` or `original` holds the line of a log: what stands beside it says so
/// (OpenTelemetry, loguru, ECS). Then it is read as a line is.
bool Scanner::is_log_record(std::string_view key, std::size_t at, std::size_t end) {
  if (key != "body" && key != "text" && key != "original") return false;
  const std::size_t close = closing_quote(at, end, false);
  if (close == std::string_view::npos) return false;
  constexpr std::size_t k_near = 400;
  const std::string_view before = part(at > k_near ? at - k_near : 0, at);
  const std::string_view behind = part(close, std::min(end, close + k_near));
  const auto beside = [&](std::string_view word) {
    return base::contains(before, word) || base::contains(behind, word);
  };
  // loguru, and the observations of this program's own reports.
  if (key == "text")
    return base::contains(behind, "\"record\"") ||
           (base::contains(before, "\"rule\"") && base::contains(before, "\"severity\""));
  if (key == "original") return base::contains(before, "\"event\"");
  return beside("\"severity") || beside("imeUnixNano\"") || beside("\"observedTimestamp\"");
}

/// A value that begins with a quote.
std::size_t Scanner::on_quoted_value(std::string_view key, KeyClass found, std::size_t at,
                                     std::size_t end) {
  if (found.kind == KeyKind::value && frame().named.kind == KeyKind::none)
    frame().named = name_after(at, end);
  if (end - at > 64 && env_.profile.content && is_media(key)) {
    const std::size_t close = closing_quote(at, end, false);
    if (close != std::string_view::npos && is_long_base64(part(at + 1, close))) {
      mask(at + 1, close, What::text, part(at + 1, close));
      return close + 1;
    }
  }
  // A transcript's words: `{"word": "Ada", "start": 0.1, "end": 0.7}`.
  if (key == "word" && env_.profile.content &&
      base::contains(part(at, std::min(end, at + 64)), "\"start\""))
    found = {KeyKind::content, What::text};
  if (key.size() >= 2 && key[0] == 'a' && is_digit(key[1]) && found.kind == KeyKind::none)
    found = class_of_argument(key, at, end);
  if (key == "type") {
    const std::string_view type = part(at + 1, end);
    frame().generated = type.starts_with("random_password\"") ||
                        type.starts_with("random_string\"") || type.starts_with("random_bytes\"");
  }
  if (frame().generated && is_one_of(key, {"result", "base64", "hex"}))
    found = {KeyKind::secret, What::password};
  if (found.masks_text() && is_log_record(key, at, end)) found = {};
  if (found.masks_text() && iequals(key, "output") && frame().open == 0 &&
      is_command_output(part(0, at), part(at + 1, end)))
    found = {};
  if (depth_ == 0 && key == "apiVersion") state_.other_object = false;
  if (depth_ == 0 && key == "kind")
    state_.other_object = !part(at + 1, end).starts_with("Secret\"");
  return on_quote(at, end, found, true);
}

/// `kubectl create secret ... --from-literal=name=x`: a secret whatever its name. Where it ended,
/// or `at`.
std::size_t Scanner::on_literal(std::size_t key_begin, std::size_t at, std::size_t end) {
  if (!base::contains(part(key_begin > 256 ? key_begin - 256 : 0, key_begin), "secret")) return at;
  const std::size_t stop = bare_end(at, end, '=');
  const auto sign = part(at, stop).find('=');
  const std::size_t first = at + (sign == std::string_view::npos ? 0 : sign + 1);
  if (first > at && first < stop && !is_masked(part(first, stop)) &&
      !is_reference(part(first, stop)) && placeholder_length(part(first, end)) == 0) {
    mask(first, stop, What::secret, part(first, stop));
    return stop;
  }
  return at;
}

/// A list, an object or a call under a name: what is inside inherits what the name says.
std::size_t Scanner::on_open_value(std::string_view key, KeyClass found, std::size_t at,
                                   std::size_t end) {
  const char c = text_[at];
  if (c != '(' && at > 12 && text_[at - 1] == ' ' && text_[at - 2] == ':' &&
      is_alpha(text_[at - 3]) && env_.profile.free_text && env_.profile.content) {
    if (const std::size_t after = on_unreadable_output(at, end); after > at) return after;
  }
  if (c == '{' && found.kind == KeyKind::value && key == "data" && is_secret_object(at)) {
    push(c, {KeyKind::encoded, What::secret});
    frame().every_value = true;
    return at + 1;
  }
  if (c == '{' && key == "stringData") {
    push(c, {KeyKind::secret, What::secret});
    frame().every_value = true;
    return at + 1;
  }
  if (c == '[' && key == "bytes") {
    if (const std::size_t after = bytes_of_piece(at, end); after > at) return after;
  }
  if (c == '[' && key.ends_with("logprobs") && env_.profile.content && at + 1 < end &&
      (text_[at + 1] == '(' || text_[at + 1] == '[')) {
    if (const std::size_t after = logprob_list(at, end); after > at) return after;
  }
  if (c == '[' && found.is_secret() && part(at, end).starts_with("[]string{")) {
    push('{', found);  // Go prints `"X-Api-Key":[]string{"x"}`
    frame().every_value = true;
    return at + 9;
  }
  const bool login = frame().login && c == '[' && is_one_of(key, {"args", "arguments"});
  push(c, found);
  Frame& inner = frame();
  if (login) {  // ioredis: `command: { name: 'auth', args: [ 'default', 'x' ] }`
    constexpr std::size_t k_arguments = 256;
    const std::size_t close = next_of("]", at, std::min(end, at + k_arguments));
    const bool two = part(at, close).find(',') != std::string_view::npos;
    if (two) {
      as_pair(inner);
    } else {
      inner.inherited = {KeyKind::secret, What::password};
    }
    return at + 1;
  }
  if (is_media(key)) inner.media = true;
  if (c == '{' && found.kind == KeyKind::user) inner.person = true;
  if (found.kind == KeyKind::value && state_.frames.size() > 1) {
    inner.named = state_.frames[state_.frames.size() - 2].named;
    if (c == '[') inner.inherited = inner.named;
  }
  if ((found.masks_text() && !is_envelope(key)) || (env_.profile.content && holds_passages(key)))
    inner.speech = true;
  if (c == '{' && (found.kind == KeyKind::secret || found.kind == KeyKind::token)) {
    inner.secret = true;
    inner.named = found;       // `hmac: {inline_string: x}`
    if (key.ends_with('s')) {  // `api_tokens = { datadog = "x" }`
      inner.inherited = {KeyKind::if_random, found.what};
      inner.every_value = true;
    }
  }
  if (c == '{' && found.kind == KeyKind::cookie) inner.every_value = true;  // names are its own
  if (c != '{' && (found.kind == KeyKind::pair || iequals(key, "auth"))) as_pair(inner);
  if (found.kind == KeyKind::arguments) {
    inner.inherited = c == '{' ? KeyClass{KeyKind::content, found.what} : KeyClass{};
    inner.every_value = c == '{';
  }
  // `"prompts": {"summarise": "...", "version": 3}`: texts under names of their own.
  if (c == '{' && found.kind == KeyKind::content && found.what == What::prompt &&
      (key.ends_with('s') || key.ends_with("library"))) {
    inner.inherited = {KeyKind::perhaps_text, What::prompt};
    inner.every_value = true;
  }
  // `"prompt": [101, 2023]`: a prompt may be given by its ids.
  std::size_t element = at + 1;
  while (element < end && (text_[element] == ' ' || text_[element] == '[')) ++element;
  if (c == '[' && found.kind == KeyKind::content && element < end && is_digit(text_[element]))
    inner.inherited = {KeyKind::token_ids, What::token_ids};
  const bool number = at + 1 < end && (is_digit(text_[at + 1]) || text_[at + 1] == '-');
  if (c == '[' && found.kind == KeyKind::none && number && env_.profile.content &&
      looks_like_ids(at + 1, end))
    inner.inherited = {KeyKind::token_ids, What::token_ids};
  if (c != '{' && (inner.inherited.kind == KeyKind::token_ids || found.kind == KeyKind::pieces))
    return id_list(at + 1, end);
  return at + 1;
}

KeyClass Scanner::allowed(KeyClass key) const {
  const Profile& profile = env_.profile;
  if (!profile.content && (key.masks_text() || key.kind == KeyKind::pieces ||
                           key.kind == KeyKind::token_ids || key.kind == KeyKind::arguments))
    return {};
  if (!profile.free_text &&
      (key.kind == KeyKind::maybe_text || key.kind == KeyKind::perhaps_text) &&
      !state_.frames.back().speech)
    return {};
  return key;
}

/// The name of a value that stands before it: `"value": "x", "name": "API_KEY"`.
KeyClass Scanner::name_after(std::size_t value, std::size_t end) {
  const std::size_t close = closing_quote(value, end, false);
  if (close == std::string_view::npos) return {};
  std::size_t at = skip_blanks(close + 1, end);
  if (at >= end || text_[at] != ',') return {};
  at = skip_blanks(at + 1, end);
  if (at >= end || (class_of(text_[at]) & k_is_quote) == 0) return {};
  const std::size_t key_close = closing_quote(at, end, false);
  if (key_close == std::string_view::npos) return {};
  const KeyKind kind = env_.keys.classify(part(at + 1, key_close)).kind;
  if (kind != KeyKind::name && kind != KeyKind::key) return {};
  at = skip_blanks(key_close + 1, end);
  if (at >= end || text_[at] != ':') return {};
  at = skip_blanks(at + 1, end);
  if (at >= end || (class_of(text_[at]) & k_is_quote) == 0) return {};
  const std::size_t name_close = closing_quote(at, end, false);
  if (name_close == std::string_view::npos) return {};
  return allowed(env_.keys.classify(part(at + 1, name_close)));
}

std::size_t Scanner::on_index(std::size_t begin, std::size_t bracket, std::size_t end) {
  std::size_t close = bracket + 1;
  while (close < end && close - bracket < 64 && text_[close] != ']' && text_[close] != '[') ++close;
  if (close >= end || text_[close] != ']') return begin;
  const std::size_t sign = skip_blanks(close + 1, std::min(end, close + 4));
  if (sign >= end || (text_[sign] != ':' && text_[sign] != '=')) return begin;
  if (sign + 1 < end && (text_[sign + 1] == ':' || text_[sign + 1] == '=')) return begin;
  std::size_t first = bracket + 1;
  std::size_t last = close;
  if (last > first + 1 && (class_of(text_[first]) & k_is_quote) != 0) ++first, --last;
  const std::string_view inside = part(first, last);
  const bool number = std::all_of(inside.begin(), inside.end(), is_digit);
  const std::string_view key = number ? bare_key(part(begin, bracket)) : inside;
  if (key.empty() || key.find(' ') != std::string_view::npos) return begin;
  return on_key(key, number ? bracket - key.size() : first, sign + 1, text_[sign], end);
}

/// `ocr: page 3: ...`, `chunk 12: ...`: a part of a document by its number.
KeyClass Scanner::numbered_text(std::size_t number) const {
  static constexpr std::array<std::string_view, 9> k_parts{
      "page", "chunk", "passage", "document", "doc", "segment", "utterance", "turn", "paragraph"};
  while (number > 0 && (is_digit(text_[number - 1]) || text_[number - 1] == '/')) --number;
  const std::string_view before = part(0, number);
  if (before.ends_with("Unseal Key ") || before.ends_with("Recovery Key "))  // of Vault
    return {KeyKind::secret, What::token};
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

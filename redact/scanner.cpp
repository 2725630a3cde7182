#include "redact/scanner.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/identifiers.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

constexpr std::size_t k_longest_key = 96;
/// No format of tokens is shorter.
constexpr std::size_t k_shortest_token = 16;
/// Nor does a shorter word show by itself what it is.
constexpr std::size_t k_shortest_word = 7;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return iequals(w, word); });
}

/// The name in a key as written: `--api-key`, `$env.token`, `owner.example/email`.
std::string_view bare_key(std::string_view word) {
  const auto slash = word.rfind('/');
  if (slash != std::string_view::npos && slash + 1 < word.size()) word.remove_prefix(slash + 1);
  while (!word.empty() && !is_alnum(word.front()) && !is_high(word.front())) word.remove_prefix(1);
  static constexpr ByteSet k_not_in_keys("@%");
  return k_not_in_keys.any_in(word) ? std::string_view() : word;
}

bool is_string_prefix(std::string_view word) {
  return !word.empty() && word.size() <= 2 &&
         word.find_first_not_of("bBrRfFuUL") == std::string_view::npos;
}

/// Names under which a request or a response travels whole: what is inside says itself what it is.
bool is_envelope(std::string_view key) {
  return is_one_of(key, {"body", "payload", "request", "response", "query", "context", "input",
                         "search", "request_body", "response_body", "data", "output", "json_data",
                         "requestBody", "responseBody"});
}

/// Objects that hold a picture or a recording in base64.
bool is_media(std::string_view key) {
  return key.size() >= 4 && key.size() <= 12 &&
         is_one_of(key, {"input_audio", "audio", "image", "image_url", "inline_data", "inlineData",
                         "source", "video", "file", "blob", "media", "images", "b64_json",
                         "image_base64", "audio_base64", "base64"});
}

/// base64 of some length and nothing else; no path and no digest.
bool is_long_base64(std::string_view text) {
  return text.size() >= 64 && looks_random(text.substr(0, 256)) &&
         !std::all_of(text.begin(), text.end(), is_hex) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_';
         });
}

/// Whether a text ends inside a turn of a conversation: after its last marker stands at most a
/// role.
bool opens_template(std::string_view text) {
  static constexpr std::array<std::string_view, 9> k_starts{
      "<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "[INST]", "<think>",
      "<|user|>",     "<|assistant|>",       "<|system|>",      "<<SYS>>"};
  std::size_t last = std::string_view::npos;
  for (const std::string_view mark : k_starts) {
    const auto found = text.rfind(mark);
    if (found != std::string_view::npos &&
        (last == std::string_view::npos || found + mark.size() > last))
      last = found + mark.size();
  }
  if (last == std::string_view::npos) return false;
  std::string_view rest = text.substr(last);
  if (const auto header = rest.find("<|end_header_id|>"); header != std::string_view::npos)
    rest.remove_prefix(header + 17);
  rest = base::trim(rest);
  const bool role = is_one_of(rest, {"user", "system", "assistant", "model", "tool", "developer"});
  return rest.empty() || role || is_prose(rest, 3);
}

}  // namespace

/// `("user", "password")`: the second element is the secret.
void Scanner::as_pair(Frame& list) {
  list.inherited = {};
  list.flagged = {KeyKind::secret, What::password};
  list.flag_after = 1;
}

void Scanner::push(char open, KeyClass inherited) {
  Frame next;
  next.open = open;
  next.inherited = inherited;
  const Frame& outer = frame();
  next.speech = outer.speech;
  next.media = outer.media;
  if (outer.every_value) {
    next.every_value = true;
    if (inherited.kind == KeyKind::none) next.inherited = outer.inherited;
  } else if (inherited.kind == KeyKind::none && open != '{' && outer.open != '{' &&
             outer.open != '"' && outer.open != 0) {
    next.inherited = outer.inherited;  // a list in a list
  }
  if (state_.frames.size() < k_most_frames) state_.frames.push_back(next);
}

std::string Scanner::shown(std::string placeholder) const {
  if (!env_.profile.xml) return placeholder;
  for (char& c : placeholder) {
    if (c == '<') c = '[';
    if (c == '>') c = ']';
  }
  return placeholder;
}

void Scanner::mask(std::size_t begin, std::size_t end, What what, std::string_view value) {
  if (begin >= end) return;
  out_.push_back({begin, end, what, shown(env_.namer.name(what, value))});
  if (env_.known != nullptr && !is_address(what) && what != What::token_ids)
    env_.known->add(value, what);
}

void Scanner::scan(std::size_t begin, std::size_t end) {
  const std::size_t outer_base = base_;
  if (base_ == 0) base_ = 1;
  std::size_t at = begin;
  while (at < end) {
    if (env_.work == 0) {
      mask(at, end, What::text, part(at, std::min(end, at + 64)));
      break;
    }
    const char c = text_[at];
    const unsigned kind = class_of(c);
    if (kind == 0) {  // NOLINT(bugprone-branch-clone): the commonest case comes first
      ++at;
    } else if ((kind & k_is_word) != 0) {
      at = on_word(at, end);
    } else if ((kind & k_is_quote) != 0) {
      const bool inside_word = at > begin && (is_alnum(text_[at - 1]) || is_high(text_[at - 1]));
      at = inside_word ? at + 1 : on_quote(at, end, {}, false);
    } else if ((kind & k_is_open) != 0) {
      at = on_open(at, end);
    } else if ((kind & k_is_close) != 0) {
      at = on_close(at);
    } else if (c == '<') {
      at = on_less(at, end);
    } else if (c == '?' && at > begin && at + 2 < end &&
               (class_of(text_[at - 1]) & k_is_word) != 0) {
      at = on_query(at + 1, end);
    } else if (c == ':' && at + 2 < end && text_[at + 1] == ':') {
      const std::size_t after = on_numbers_with_colons(at, end);
      at = after > at ? after : at + 1;
    } else {
      ++at;
    }
  }
  base_ = outer_base;
}

std::size_t Scanner::on_open(std::size_t at, std::size_t end) {
  if (text_[at] == '[') {
    if (const std::size_t length = placeholder_length(part(at, end)); length > 0)
      return at + length;
    if (part(at, end).starts_with("[INST]")) return on_template(at, end);
  }
  push(text_[at], {});
  if (text_[at] == '{' && at > 6 && text_[at - 1] == ' ' && passes_to_tool(at)) {
    frame().inherited = {KeyKind::content, What::output};
    frame().every_value = true;
  }
  if (text_[at] != '{' && frame().inherited.kind == KeyKind::token_ids) return id_list(at + 1, end);
  return at + 1;
}

std::size_t Scanner::on_close(std::size_t at) {
  const char close = text_[at];
  const char open = close == ')' ? '(' : close == ']' ? '[' : '{';
  std::vector<Frame>& frames = state_.frames;
  // A stray bracket in prose must not close what is open around it.
  for (std::size_t up = 0; up < 3 && frames.size() > base_ + up; ++up) {
    if (frames[frames.size() - 1 - up].open != open) continue;
    frames.resize(frames.size() - 1 - up);
    break;
  }
  return at + 1;
}

/// `<`: a placeholder, a chat template, or an XML element (whose name is read as a word).
std::size_t Scanner::on_less(std::size_t at, std::size_t end) {
  if (const std::size_t length = placeholder_length(part(at, end)); length > 0) return at + length;
  const std::string_view rest = part(at, end);
  if (rest.starts_with("<|") || rest.starts_with("<start_of_turn>") ||
      rest.starts_with("<s>[INST]") || rest.starts_with("<<SYS>>"))
    return on_template(at, end);
  if (rest.starts_with("<think>")) return on_template(at, end);
  if (rest.starts_with("<<<")) return on_here_string(at, end);
  if (rest.starts_with("<<")) return on_here_document(at, end);
  return at + 1;
}

/// A conversation as the model sees it: `<|im_start|>user ...`, `[INST] ...`.
std::size_t Scanner::on_template(std::size_t at, std::size_t end) {
  if (!env_.profile.content || !env_.spend(end - at)) return at + 1;
  const std::string_view text = part(at, end);
  std::string_view words = text;
  // The last marker of the text may be followed by fields of the log line: `<|im_end|>', params: `.
  std::size_t stop = end;
  static constexpr std::array<std::string_view, 8> k_ends{
      "<|im_end|>", "<|eot_id|>",    "<|end|>",  "<end_of_turn>",
      "[/INST]",    "<|endoftext|>", "</think>", "<|return|>"};
  std::size_t last = 0;
  for (const std::string_view mark : k_ends) {
    const auto found = text.rfind(mark);
    if (found != std::string_view::npos) last = std::max(last, found + mark.size());
  }
  const bool open_ended = depth_ == 0 && line_end_ && end == text_.size();
  if (open_ended && opens_template(text.substr(last))) {
    state_.open = {true, k_template, What::prompt, k_most_open_lines};
  } else if (last > 0 && !is_prose(text.substr(last), 4)) {
    stop = at + last;
    words = text.substr(0, last);
  }
  if (!is_prose(words, 3)) {
    // A marker alone, as in a list of stop words.
    const auto close = text.find('>');
    return close == std::string_view::npos ? at + 1 : at + close + 1;
  }
  mask(at, stop, What::prompt, words);
  return stop;
}

std::size_t Scanner::closing_quote(std::size_t at, std::size_t end, bool content) {
  const std::size_t close = find_closing_quote(at, end, content);
  (void)env_.spend(std::min(close, end) - at);
  return close;
}

std::size_t Scanner::find_closing_quote(std::size_t at, std::size_t end, bool content) const {
  const char quote = text_[at];
  std::size_t candidate = std::string_view::npos;
  for (std::size_t i = at + 1; i < end; ++i) {
    if (text_[i] == '\\') {
      ++i;
      continue;
    }
    if (text_[i] != quote) continue;
    if (!content) {
      // An apostrophe inside a word does not end a text.
      const bool apostrophe = quote == '\'' && i + 1 < end && is_alpha(text_[i + 1]) &&
                              i > at + 1 && is_alpha(text_[i - 1]);
      if (apostrophe) {
        if (candidate == std::string_view::npos) candidate = i;
        continue;
      }
      return i;
    }
    // Prompts that were put between quotes without escaping: the quote that ends them stands
    // before a delimiter or the next field.
    candidate = i;
    std::size_t next = i + 1;
    if (next >= end) return i;
    if (std::string_view(",)}];|>:\\").find(text_[next]) != std::string_view::npos) return i;
    if (text_[next] != ' ' && text_[next] != '\t') continue;
    next = skip_blanks(next, end);
    if (next >= end || (!is_alnum(text_[next]) && !is_high(text_[next]))) return i;
    std::size_t word = next;
    while (word < end && (is_alnum(text_[word]) || text_[word] == '_' || text_[word] == '.' ||
                          text_[word] == '-'))
      ++word;
    if (word < end && (text_[word] == '=' || text_[word] == ':')) return i;
  }
  return candidate;
}

std::size_t Scanner::on_quote(std::size_t begin, std::size_t end, KeyClass key, bool keyed) {
  const char quote = text_[begin];
  // `prompt='''...`: a text of several lines.
  if (key.masks_text() && begin + 3 <= end && text_[begin + 1] == quote &&
      text_[begin + 2] == quote)
    begin += 2;
  const std::size_t close = closing_quote(begin, end, key.masks_text());
  if (close == std::string_view::npos) {
    const bool open_ended = depth_ == 0 && line_end_ && end == text_.size() && quote != '`';
    const std::string_view rest = part(begin + 1, end);
    if (key.masks_text() && open_ended &&
        (key.kind == KeyKind::content || frame().speech || is_prose(rest, 3) || is_masked(rest))) {
      if (!is_masked(rest)) mask(begin + 1, end, key.what, rest);
      state_.open = {true, quote, key.what, k_most_open_lines};
      return end;
    }
    if (key.is_secret() && open_ended && is_secret_value(key, rest)) {
      mask(begin + 1, end, key.what, rest);
      state_.wrap = {true, false, key.what};
      return end;
    }
    return begin + 1;
  }
  const std::size_t first = begin + 1;
  const std::size_t next = skip_blanks(close + 1, end);
  const bool colon =
      next < end && text_[next] == ':' && !(next + 1 < end && text_[next + 1] == ':');
  const bool equals =
      next < end && text_[next] == '=' && !(next + 1 < end && text_[next + 1] == '=');
  if (!keyed && (colon || equals) && close - first <= k_longest_key) {
    const std::string_view name = part(first, close);
    std::size_t value = next + 1;
    if (equals && value < end && text_[value] == '>') ++value;
    // A sentence before a colon is no name.
    const bool sentence = std::count(name.begin(), name.end(), ' ') > 2;
    static constexpr ByteSet k_of_addresses("./:@");
    if (sentence || name.size() >= 16 || k_of_addresses.any_in(name))
      look_inside({}, false, first, close, quote);
    return on_key(sentence ? std::string_view() : name, first, value, ':', end);
  }
  if (!keyed) {
    Frame& around = frame();
    const std::string_view value = part(first, close);
    if (around.flag_after > 0) {
      --around.flag_after;
    } else if (around.flagged.kind != KeyKind::none) {
      const bool another_flag = value.starts_with('-') && !looks_random(value);
      const bool another_name = env_.keys.classify(value).kind != KeyKind::none;
      if (!another_flag && !another_name) key = around.flagged;
      // Redis: `"AUTH" "name" "password"`.
      const bool more = around.open == 0 && next < end && text_[next] == quote;
      if (!more) around.flagged = {};
    } else if (around.open != '{' || around.every_value) {
      key = around.inherited;
    }
    if (key.kind == KeyKind::none) {
      const bool flag =
          value.size() > 2 && value[0] == '-' && value.find(' ') == std::string_view::npos;
      const bool before_comma = next < end && text_[next] == ',';
      const bool pair_like = around.open == '(' || around.open == '[' || around.open == 0;
      static constexpr ByteSet k_not_in_names(" <");
      if ((flag ||
           (before_comma && pair_like && value.size() <= 40 && !k_not_in_names.any_in(value))) &&
          value.find('=') == std::string_view::npos) {
        const KeyClass named = env_.keys.classify(bare_key(value));
        const bool usable = flag
                                ? named.is_secret() || named.masks_text()
                                : named.kind == KeyKind::auth || named.kind == KeyKind::cookie ||
                                      named.kind == KeyKind::secret || named.kind == KeyKind::token;
        if (usable) around.flagged = named;
      }
      const bool command = value == "AUTH" || value == "auth" || value == "requirepass";
      if (command && next < end && text_[next] == quote)
        around.flagged = {KeyKind::secret, What::password};
    }
  }
  KnownValues* const known = env_.known;
  if (key.kind == KeyKind::none && env_.profile.content && env_.profile.free_text &&
      close - first >= 16 && (!keyed || frame().speech)) {
    // Sentences among messages and documents, or quoted where the line speaks of them.
    const std::string_view value = part(first, close);
    if (is_prose(value, keyed ? 4 : 5) && (keyed || speaks_of_content(begin)) &&
        !is_technical(value)) {
      key = {KeyKind::content, What::text};
      // A note may quote an error: what is only guessed here must not be masked elsewhere.
      if (!keyed) env_.known = nullptr;
    }
  }
  quoted_value(key, first, close, quote);
  env_.known = known;
  return close + 1;
}

/// Whether the words before a quoted text say that it is somebody's: `rejected input "..."`,
/// `cache hit for prompt "..."`. Source lines of stack traces quote the program itself.
bool Scanner::speaks_of_content(std::size_t quote) {
  if (depth_ > 1 || frame().open == '{') return false;
  std::size_t begin = quote > 80 ? quote - 80 : 0;
  const std::string_view written = part(begin, quote);
  const std::string before = base::to_lower(written);
  static constexpr std::array<std::string_view, 22> k_words{
      "prompt",     "query",   "quer",    "question", "input",   "request", "user",   "chat",
      "completion", "generat", "retriev", "document", "passage", "chunk",   "answer", "reply",
      "replied",    "output",  "embed",   "search",   "tokeniz", "flagged"};
  static constexpr std::array<std::string_view, 8> k_code{
      "raise ", "assert", "error(", "exception(", "print(", "log.", "logger.", "return "};
  // Messages of exceptions quote what went wrong; only these words say that it was a user's text.
  static constexpr std::array<std::string_view, 5> k_sure{"prompt", "question", "utterance",
                                                          "user input", "user message"};
  const auto holds = [&](std::string_view word) { return base::contains(before, word); };
  if (std::any_of(k_code.begin(), k_code.end(), holds)) return false;
  if (base::contains(written, "Error") || base::contains(written, "Exception"))
    return std::any_of(k_sure.begin(), k_sure.end(), holds);
  return std::any_of(k_words.begin(), k_words.end(), holds);
}

void Scanner::quoted_value(KeyClass key, std::size_t begin, std::size_t end, char quote) {
  if (begin >= end || placeholder_length(part(begin, end)) == end - begin) return;
  const char outer_quote = quote_;
  quote_ = quote;
  if (key.kind == KeyKind::none) {
    // `"DB_PASSWORD=two words"` in the environment of a container.
    std::size_t sign = begin;
    while (sign < end && (is_upper(text_[sign]) || is_digit(text_[sign]) || text_[sign] == '_'))
      ++sign;
    if (sign > begin + 2 && sign + 1 < end && text_[sign] == '=' &&
        text_.substr(0, end).find('=', sign + 1) == std::string_view::npos) {
      const KeyClass named = allowed(env_.keys.classify(part(begin, sign)));
      if (named.is_secret() || named.masks_text()) {
        key = named;
        begin = sign + 1;
      }
    }
  }
  const bool recording = frame().media && env_.profile.content &&
                         is_long_base64(part(begin, end)) &&
                         (key.kind == KeyKind::none || key.kind == KeyKind::value);
  if (recording)
    mask(begin, end, What::text, part(begin, end));
  else
    mask_value(key, begin, end);
  quote_ = outer_quote;
}

void Scanner::look_inside(KeyClass inherited, bool every_value, std::size_t begin, std::size_t end,
                          char quote) {
  if (begin >= end || !env_.spend(end - begin)) return;
  const std::string_view raw = part(begin, end);
  // `"True"`, `"gpu-0"`: too short for anything but a name, which would be the key's matter.
  constexpr unsigned k_plain = k_is_upper | k_is_lower | k_is_digit | k_is_joint;
  if (raw.size() < k_shortest_word && inherited.kind == KeyKind::none && !every_value &&
      !frame().every_value &&
      std::all_of(raw.begin(), raw.end(), [](char c) { return (class_of(c) & k_plain) != 0; }))
    return;
  if (raw.find('\\') != std::string_view::npos && depth_ < k_deepest) {
    const Decoded decoded = decode(raw, Escapes::backslash);
    if (decoded.text.size() != raw.size()) {
      Edits edits;
      if (decoded.text.find('\n') != std::string::npos) {
        scan_text(env_, decoded.text, depth_ + 1, edits);
      } else {
        ScanState state;
        state.frames.emplace_back();
        Frame& around = state.frames.back();
        around.inherited = inherited;
        around.speech = frame().speech;
        around.every_value = every_value;
        Scanner inner(env_, state, decoded.text, edits, depth_ + 1, false);
        inner.scan(0, decoded.text.size());
      }
      map_to_source(decoded, Escapes::backslash, begin, edits, out_);
      return;
    }
  }
  const std::size_t frames = state_.frames.size();
  const std::size_t outer_base = base_;
  const char outer_quote = quote_;
  push('"', inherited);
  frame().every_value = frame().every_value || every_value;
  base_ = state_.frames.size();
  quote_ = quote;
  scan(begin, end);
  quote_ = outer_quote;
  base_ = outer_base;
  state_.frames.resize(std::min(frames, state_.frames.size()));
}

std::size_t Scanner::on_key(std::string_view key, std::size_t key_begin, std::size_t value,
                            char separator, std::size_t end) {
  KeyClass found = key.empty() ? KeyClass{} : env_.keys.classify(key);
  if (separator == ':' && env_.profile.free_text && depth_ <= 2 &&
      (found.kind == KeyKind::none || found.kind == KeyKind::maybe_text ||
       found.kind == KeyKind::key) &&
      found.ends_phrase && key_begin > 0 && text_[key_begin - 1] == ' ') {
    const KeyClass phrase = phrase_class(key_begin, key_begin + key.size());
    if (phrase.kind != KeyKind::none) found = phrase;
  }
  found = allowed(found);
  const bool names = found.kind == KeyKind::name || found.kind == KeyKind::value;
  if (frame().every_value && (found.kind == KeyKind::none || names)) found = frame().inherited;
  const std::size_t at = skip_blanks(value, end);
  if (at >= end) return end;
  const char c = text_[at];
  if (const std::size_t length = placeholder_length(part(at, end)); length > 0) return at + length;
  if ((class_of(c) & k_is_quote) != 0) {
    if (found.kind == KeyKind::value && frame().named.kind == KeyKind::none)
      frame().named = name_after(at, end);
    if (end - at > 64 && env_.profile.content && is_media(key)) {
      const std::size_t close = closing_quote(at, end, false);
      if (close != std::string_view::npos && is_long_base64(part(at + 1, close))) {
        mask(at + 1, close, What::text, part(at + 1, close));
        return close + 1;
      }
    }
    if (depth_ == 0 && key == "apiVersion") state_.other_object = false;
    if (depth_ == 0 && key == "kind")
      state_.other_object = !part(at + 1, end).starts_with("Secret\"");
    return on_quote(at, end, found, true);
  }
  if (key == "from-literal" && separator == '=' &&
      base::contains(part(key_begin > 256 ? key_begin - 256 : 0, key_begin), "secret")) {
    // `kubectl create secret ... --from-literal=name=x`: whatever the name.
    const std::size_t stop = bare_end(at, end, '=');
    const auto sign = part(at, stop).find('=');
    const std::size_t first = at + (sign == std::string_view::npos ? 0 : sign + 1);
    if (first > at && first < stop && !is_masked(part(first, stop)) &&
        !is_reference(part(first, stop)) && placeholder_length(part(first, end)) == 0) {
      mask(first, stop, What::secret, part(first, stop));
      return stop;
    }
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
  if (c == '[' && found.is_secret() && part(at, end).starts_with("[]string{")) {
    push('{', found);  // Go prints `"X-Api-Key":[]string{"x"}`
    frame().every_value = true;
    return at + 9;
  }
  if ((class_of(c) & k_is_open) != 0) {
    push(c, found);
    Frame& inner = frame();
    if (is_media(key)) inner.media = true;
    if (found.kind == KeyKind::value && state_.frames.size() > 1) {
      inner.named = state_.frames[state_.frames.size() - 2].named;
      if (c == '[') inner.inherited = inner.named;
    }
    if (found.masks_text() && !is_envelope(key)) inner.speech = true;
    if (c != '{' && (found.kind == KeyKind::pair || iequals(key, "auth"))) as_pair(inner);
    if (found.kind == KeyKind::arguments) {
      inner.inherited = c == '{' ? KeyClass{KeyKind::content, found.what} : KeyClass{};
      inner.every_value = c == '{';
    }
    // `"prompt": [101, 2023]`: a prompt may be given by its ids.
    std::size_t element = at + 1;
    while (element < end && (text_[element] == ' ' || text_[element] == '[')) ++element;
    if (c == '[' && found.kind == KeyKind::content && element < end && is_digit(text_[element]))
      inner.inherited = {KeyKind::token_ids, What::token_ids};
    if (c != '{' && (inner.inherited.kind == KeyKind::token_ids || found.kind == KeyKind::pieces))
      return id_list(at + 1, end);
    return at + 1;
  }
  if (found.kind == KeyKind::none) return at;
  // `Some("x")`, `SecretStr('x')`, `b'x'`, `&"x"`: the value stands inside.
  std::size_t word = at;
  while (word < end && (text_[word] == '&' || text_[word] == '*')) ++word;
  const std::size_t word_begin = word;
  while (word < end && (is_alnum(text_[word]) || text_[word] == '_' || text_[word] == '.')) ++word;
  if (word < end && text_[word] == '(' && word > word_begin) {
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

KeyClass Scanner::allowed(KeyClass key) const {
  const Profile& profile = env_.profile;
  if (!profile.content && (key.masks_text() || key.kind == KeyKind::pieces ||
                           key.kind == KeyKind::token_ids || key.kind == KeyKind::arguments))
    return {};
  if (!profile.free_text && key.kind == KeyKind::maybe_text) return {};
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

std::size_t Scanner::on_word(std::size_t begin, std::size_t end) {
  std::size_t at = begin;
  unsigned classes = 0;
  // Four bytes at a time: this loop sees most of every log.
  for (const char* four = text_.data() + at; at + 4 <= end; at += 4, four += 4) {
    const unsigned a = class_of(four[0]);
    const unsigned b = class_of(four[1]);
    const unsigned c = class_of(four[2]);
    const unsigned d = class_of(four[3]);
    if ((a & b & c & d & k_is_word) == 0) break;
    classes |= a | b | c | d;
  }
  while (at < end) {
    const unsigned kind = class_of(text_[at]);
    if ((kind & k_is_word) == 0) break;
    classes |= kind;
    ++at;
  }
  if (is_digit(text_[begin])) {
    const Frame& around = frame();
    if (around.inherited.kind == KeyKind::token_ids && around.open != '{' && around.open != '"')
      return id_list(begin, end);
    if (const std::size_t after = on_personal_number(begin, at, end); after > at) return after;
    // llama.cpp lists the tokens of a prompt with their text: `8893 -> ' Building'`.
    if (env_.profile.content && part(at, end).starts_with(" -> '"))
      return on_quote(at + 4, end, {KeyKind::content, What::text}, true);
  }
  if (text_[begin] == '+' && begin + 1 < end && is_digit(text_[begin + 1])) {
    if (const std::size_t after = on_phone(begin, end); after > at) return after;
  }
  const char next = at < end ? text_[at] : '\0';
  const char after_next = at + 1 < end ? text_[at + 1] : '\0';
  // Most words: short, without signs inside, and nothing but a blank behind them.
  constexpr unsigned k_plain = k_is_word | k_is_lower | k_is_upper | k_is_digit | k_is_joint;
  if ((next == ' ' || next == '\0') && at - begin < k_shortest_token && (classes & ~k_plain) == 0 &&
      (class_of(after_next) & (k_is_word | k_is_open | k_is_quote)) != 0 && text_[begin] != '-' &&
      frame().open != '[') {
    if (at - begin >= 3 && at - begin <= 11) {
      const std::size_t after = on_spoken_secret(begin, at, end);
      if (after > at) return after;
    }
    if ((classes & k_is_joint) != 0 && at - begin >= 7) {
      const std::size_t after = on_named_argument(begin, at, end);
      if (after > at) return after;
    }
    return at;
  }
  if ((class_of(next) & k_is_quote) != 0 && is_string_prefix(part(begin, at)))
    return on_quote(at, end, {}, false);
  if (next == ':') {
    if (after_next == '/' && at + 2 < end && text_[at + 2] == '/') return on_url(begin, at, end);
    if (at - begin <= 4) {
      const std::size_t after = on_numbers_with_colons(begin, end);
      if (after > begin) return after;
    }
    if (after_next == ':') {
      on_plain_word(begin, at, classes);
      return at + 2;
    }
    // Bots' tokens hold a colon.
    if (at - begin >= 8 && at - begin <= 10 && (classes & ~(k_is_word | k_is_digit)) == 0 &&
        tokens_in(begin, std::min(end, at + 40))) {
      return out_.back().end;
    }
    if (part(begin, end).starts_with("data:")) {
      if (const std::size_t after = on_data_url(begin, end); after > begin) return after;
    }
  }
  // `docs[0]: "..."`, `environ["API_KEY"] = "..."`: the name is the word or what stands inside.
  if (next == '[' && at + 2 < end) {
    if (const std::size_t after = on_index(begin, at, end); after > at) return after;
  }
  std::size_t mark = at;
  if (next == ' ' || next == '\t') mark = skip_blanks(at, std::min(end, at + 80));
  if (mark < end) {
    const char m = text_[mark];
    const char follow = mark + 1 < end ? text_[mark + 1] : '\0';
    std::size_t value = 0;
    if (m == '=' && follow != '=' && follow != '~') value = follow == '>' ? mark + 2 : mark + 1;
    if (m == ':' && follow != ':' &&
        (mark == at || follow == ' ' || follow == '\0' || follow == '='))
      value = follow == '=' ? mark + 2 : mark + 1;
    if (value != 0) {
      std::string_view key;
      if ((classes & (k_is_lower | k_is_upper | k_is_high)) != 0) {
        const bool plain =
            is_alpha(text_[begin]) && (classes & (k_is_slash | k_is_at | k_is_percent)) == 0;
        key = plain ? part(begin, at) : bare_key(part(begin, at));
      }
      const std::size_t key_begin = at - key.size();
      if (at - begin >= 7) on_plain_word(begin, at, classes);
      return on_key(key, key_begin, value, m == '=' ? '=' : ':', end);
    }
  }
  if (next == '>' && begin > 0 && text_[begin - 1] == '<' && at + 1 < end) {
    const std::size_t close = std::min(text_.find('<', at + 1), end);
    const KeyClass key = allowed(env_.keys.classify(bare_key(part(begin, at))));
    if (close > at + 1 && key.kind != KeyKind::none && placeholder_length(part(at + 1, end)) == 0) {
      mask_value(key, at + 1, close);
      return close;
    }
    return at + 1;
  }
  if (next == '(' && (classes & k_is_lower) != 0 && at - begin <= 24) {
    const std::string_view called = part(begin, at);
    if (iequals(called, "httpbasicauth") || iequals(called, "basicauth") ||
        iequals(called, "basic_auth")) {
      push('(', {});
      as_pair(frame());
      return at + 1;
    }
  }
  if (text_[begin] == '-') return on_flag(begin, at, end);
  // Elements without quotes of a list that is secret or content: Go prints `X-Api-Key:[x]`.
  if (const Frame& around = frame();
      around.open == '[' && (around.inherited.is_secret() || around.inherited.masks_text())) {
    const std::size_t after = bare_value(around.inherited, '=', begin, begin, end);
    if (after > begin) return after;
  }
  if (next == ' ' && at - begin >= 3 && at - begin <= 11) {
    const std::size_t after = on_spoken_secret(begin, at, end);
    if (after > at) return after;
  }
  if (next == ' ' && (classes & k_is_joint) != 0 && (classes & k_is_slash) == 0) {
    const std::size_t after = on_named_argument(begin, at, end);
    if (after > at) return after;
  }
  on_plain_word(begin, at, classes);
  return at;
}

/// `aws configure set aws_secret_access_key x`: a name of several words, and what a generator made.
std::size_t Scanner::on_named_argument(std::size_t begin, std::size_t word_end, std::size_t end) {
  const std::size_t value = word_end + 1;
  if (value + k_shortest_token > end || word_end - begin > 40) return 0;
  const std::size_t stop = bare_end(value, end, ' ');
  const std::string_view argument = part(value, stop);
  if (argument.size() < k_shortest_token || !looks_random(argument)) return 0;
  const KeyClass key = env_.keys.classify(part(begin, word_end));
  if ((key.kind != KeyKind::secret && key.kind != KeyKind::token) ||
      !is_secret_value(key, argument))
    return 0;
  mask(value, stop, key.what, argument);
  return stop;
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

/// US social security numbers and card numbers written in groups (bare digits are ids and counts).
std::size_t Scanner::on_personal_number(std::size_t begin, std::size_t word_end, std::size_t end) {
  if (!env_.profile.content) return 0;
  const auto groups = [&](std::size_t at, std::initializer_list<std::size_t> sizes,
                          char mark) -> std::size_t {
    bool first = true;
    for (const std::size_t size : sizes) {
      if (!first && (at >= end || text_[at++] != mark)) return 0;
      first = false;
      for (std::size_t i = 0; i < size; ++i)
        if (at >= end || !is_digit(text_[at++])) return 0;
    }
    const bool goes_on = at < end && (is_alnum(text_[at]) || text_[at] == '-' || text_[at] == '_');
    return goes_on ? 0 : at;
  };
  if (word_end - begin == 11) {
    const std::size_t stop = groups(begin, {3, 2, 4}, '-');
    if (stop != 0) {
      mask(begin, stop, What::user, part(begin, stop));
      return stop;
    }
  }
  const bool blanks = word_end - begin == 4;
  if (!blanks && word_end - begin != 19) return 0;
  const std::size_t stop = groups(begin, {4, 4, 4, 4}, blanks ? ' ' : '-');
  if (stop == 0) return 0;
  int sum = 0;
  int position = 0;
  for (std::size_t i = stop; i-- > begin;) {
    if (!is_digit(text_[i])) continue;
    int digit = text_[i] - '0';
    if (position++ % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  if (sum % 10 != 0) return 0;
  mask(begin, stop, What::user, part(begin, stop));
  return stop;
}

/// `data:image/png;base64,...`: a picture or a recording that somebody sent.
std::size_t Scanner::on_data_url(std::size_t begin, std::size_t end) {
  const std::string_view rest = part(begin, std::min(end, begin + 96));
  const auto comma = rest.find(";base64,");
  if (comma == std::string_view::npos || rest.substr(0, comma).find(' ') != std::string_view::npos)
    return begin;
  const std::size_t first = begin + comma + 8;
  std::size_t stop = first;
  while (stop < end && (is_alnum(text_[stop]) || text_[stop] == '+' || text_[stop] == '/' ||
                        text_[stop] == '=' || text_[stop] == '-' || text_[stop] == '_'))
    ++stop;
  if (stop - first >= 16) mask(first, stop, What::text, part(first, stop));
  return stop;
}

std::size_t Scanner::on_flag(std::size_t begin, std::size_t word_end, std::size_t end) {
  const std::string_view word = part(begin, word_end);
  if (word.starts_with("-----BEGIN")) return on_pem(begin, end);
  std::string_view name = word;
  while (!name.empty() && name.front() == '-') name.remove_prefix(1);
  if (name.empty()) return word_end;
  const std::size_t at = skip_blanks(word_end, end);
  const bool has_value = at < end && at > word_end;
  const auto said_before = [&](std::initializer_list<std::string_view> programs) {
    const std::string_view before =
        text_.substr(begin > 512 ? begin - 512 : 0, std::min<std::size_t>(begin, 512));
    return std::any_of(programs.begin(), programs.end(),
                       [&](std::string_view p) { return base::contains(before, p); });
  };
  KeyClass key;
  if (word.size() == 2 && has_value) {
    switch (word[1]) {
      case 'u':
      case 'U':
        if (said_before({"curl", "wget", "http ", "https "})) key = {KeyKind::pair, What::password};
        break;
      case 'p':
        if (said_before({"sshpass", "login", "mysql", "mariadb", "mongo", "redis", "skopeo"}))
          key = {KeyKind::secret, What::password};
        break;
      case 'P':
        if (said_before({"sqlcmd", "bcp ", "ipmitool"})) key = {KeyKind::secret, What::password};
        break;
      case 'a':
        if (said_before({"redis-cli"})) key = {KeyKind::secret, What::password};
        break;
      case 'w':
        if (said_before({"ldap"})) key = {KeyKind::secret, What::password};
        break;
      case 'b':
        if (said_before({"curl"})) key = {KeyKind::cookie, What::cookie};
        break;
      default:
        break;
    }
  } else if (word.size() > 4 && word[1] == 'p' && said_before({"mysql", "mariadb"}) &&
             word[0] == '-' && word[1] != '-') {
    const KeyClass password{KeyKind::secret, What::password};
    const std::size_t stop = bare_end(begin + 2, end, '=');
    if (is_secret_value(password, part(begin + 2, stop)))
      mask(begin + 2, stop, What::password, part(begin + 2, stop));
    return stop;
  } else if (word.size() > 2) {
    key = allowed(env_.keys.classify(bare_key(word)));
  }
  const bool usable = key.is_secret() || key.masks_text() || key.kind == KeyKind::user;
  if (!usable) {
    on_plain_word(begin, word_end, k_is_lower | k_is_digit | k_is_upper);
    return word_end;
  }
  if (!has_value) {
    if (at >= end && line_end_ && depth_ == 0) state_.pending = key;
    return word_end;
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
  if (key.masks_text()) return at;
  return bare_value(key, ' ', begin, at, end);
}

/// Secrets after their name without a sign between: `Bearer x`, `token hf_x`, `password is "x"`.
std::size_t Scanner::on_spoken_secret(std::size_t begin, std::size_t word_end, std::size_t end) {
  // The first two letters of the words below rule nearly all words out.
  const char first = static_cast<char>(text_[begin] | 0x20);
  const char second = static_cast<char>(text_[begin + 1] | 0x20);
  bool possible = false;
  switch (first) {
    case 'b':
      possible = second == 'e' || second == 'a';
      break;
    case 't':
      possible = second == 'o';
      break;
    case 'p':
      possible = second == 'a' || second == 'r';
      break;
    case 'e':
      possible = second == 'c';
      break;
    case 'm':
      possible = second == 'a';
      break;
    case 's':
    case 'r':
      possible = second == 'e';
      break;
    case 'a':
      possible = second == 'p' || second == 'u';
      break;
    case 'c':
      possible = second == 'r';
      break;
    case 'k':
      possible = second == 'e';
      break;
    case 'f':
    case 'l':
      possible = second == 'o';
      break;
    case 'u':
      possible = second == 's';
      break;
    case 'i':
      possible = second == 'd';
      break;
    default:
      break;
  }
  if (!possible) return 0;
  const std::string_view word = part(begin, word_end);
  if (word == "for" || word == "user") return on_login(begin, word_end, end);
  if (word == "echo" || word == "printf") return on_piped_secret(begin, word_end, end);
  const bool scheme = is_one_of(word, {"bearer", "basic", "apikey"});
  const bool password =
      is_one_of(word, {"password", "passwd", "passphrase", "passcode", "identified"});
  const bool token = is_one_of(word, {"token", "secret", "api-key", "api_key", "credential"});
  // `secret key x`, `signed with key x`, `AUTH x`: only what a generator made, of mixed letters.
  const bool wandb = word == "login" && part(0, begin).ends_with("wandb ");
  const bool loose = word == "key" || word == "Key" || word == "AUTH" || wandb;
  // redis.conf: `requirepass x`.
  const bool setting = is_one_of(word, {"requirepass", "masterauth", "auth-pass"});
  if (!scheme && !password && !token && !setting && !loose) return 0;
  std::size_t at = skip_blanks(word_end, end);
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
  if (at >= end || placeholder_length(part(at, end)) > 0) return 0;
  std::size_t stop = 0;
  const bool quoted = (class_of(text_[at]) & k_is_quote) != 0;
  if (quoted) {
    stop = closing_quote(at, end, false);
    if (stop == std::string_view::npos) return 0;
    ++at;
  } else {
    stop = bare_end(at, end, ' ');
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
    secret = setting || netrc || sql || (looks_random(value, 10) && !is_uuid(value)) ||
             (password && digit && is_distinctive(value));
    if (value.find(' ') != std::string_view::npos) secret = false;
    if (loose) {
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

/// `+49 170 5550123`, `+1 (555) 010-1234`: ten to fifteen digits in groups.
std::size_t Scanner::on_phone(std::size_t begin, std::size_t end) {
  if (!env_.profile.content || (begin > 0 && is_alnum(text_[begin - 1]))) return 0;
  std::size_t at = begin + 1;
  std::size_t digits = 0;
  std::size_t groups = 0;
  std::size_t stop = at;
  while (at < end && digits <= 15) {
    std::size_t last = at;
    while (last < end && is_digit(text_[last])) ++last;
    if (last == at) break;
    digits += last - at;
    ++groups;
    stop = last;
    at = last;
    std::size_t signs = 0;
    while (at < end && signs < 2 &&
           std::string_view(" -()/").find(text_[at]) != std::string_view::npos)
      ++at, ++signs;
  }
  const bool goes_on =
      stop < end && (is_alnum(text_[stop]) || text_[stop] == '.' || text_[stop] == ':');
  if (groups < 3 || digits < 10 || digits > 15 || text_[begin + 1] == '0' || goes_on) return 0;
  mask(begin, stop, What::user, part(begin, stop));
  return stop;
}

}  // namespace triage::redact

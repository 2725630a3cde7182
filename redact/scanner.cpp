#include "redact/scanner.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/chat_markers.hpp"
#include "redact/identifiers.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

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

bool is_string_prefix(std::string_view word) {
  return !word.empty() && word.size() <= 2 &&
         word.find_first_not_of("bBrRfFuUL") == std::string_view::npos;
}

/// Names under which a request or a response travels whole: what is inside says itself what it is.
bool is_envelope(std::string_view key) {
  return is_one_of(key,
                   {"body", "payload", "request", "response", "query", "context", "input", "search",
                    "request_body", "response_body", "data", "output", "json_data", "requestBody",
                    "responseBody", "jsonPayload", "textPayload", "protoPayload"});
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
      at = on_close(at, end);
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
    const char next = at + 1 < end ? text_[at + 1] : '\0';
    if ((next == 'I' || next == 'S' || next == '|') && begins_turn(part(at, end)))
      return on_template(at, end);
  }
  push(text_[at], {});
  if (text_[at] == '{' && at > 6 && text_[at - 1] == ' ' && passes_to_tool(at)) {
    frame().inherited = {KeyKind::content, What::output};
    frame().every_value = true;
  }
  const KeyKind inherited = frame().inherited.kind;
  if (text_[at] != '{' && (inherited == KeyKind::token_ids || inherited == KeyKind::pieces))
    return id_list(at + 1, end);
  const bool number = at + 1 < end && (is_digit(text_[at + 1]) || text_[at + 1] == '-');
  if (text_[at] == '[' && number && env_.profile.content && looks_like_ids(at + 1, end)) {
    frame().inherited = {KeyKind::token_ids, What::token_ids};
    return id_list(at + 1, end);
  }
  return at + 1;
}

std::size_t Scanner::on_close(std::size_t at, std::size_t end) {
  const char close = text_[at];
  if (close == ')' && at + 3 < end && text_[at + 1] == ':' && text_[at + 2] == ' ' &&
      env_.profile.free_text) {
    // `final transcript (lang=en): ...`: what stands in parentheses is no part of the name.
    const std::size_t open = text_.substr(0, at).rfind('(');
    std::size_t last = open == std::string_view::npos || at - open > 80 ? 0 : open;
    while (last > 0 && text_[last - 1] == ' ') --last;
    std::size_t first = last;
    while (first > 0 &&
           (is_alnum(text_[first - 1]) || text_[first - 1] == '_' || text_[first - 1] == '/'))
      --first;
    if (last > first) {
      pop_to('(');
      const bool number = is_digit(text_[first]);  // `chunk 17/88 (512 tokens): ...`
      return on_key(number ? std::string_view() : part(first, last), first, at + 2, ':', end);
    }
  }
  pop_to(close == ')' ? '(' : close == ']' ? '[' : '{');
  return at + 1;
}

/// Leaves what the bracket `open` began.
void Scanner::pop_to(char open) {
  std::vector<Frame>& frames = state_.frames;
  // A stray bracket in prose must not close what is open around it.
  for (std::size_t up = 0; up < 3 && frames.size() > base_ + up; ++up) {
    if (frames[frames.size() - 1 - up].open != open) continue;
    frames.resize(frames.size() - 1 - up);
    break;
  }
}

/// `<`: a placeholder, a chat template, or an XML element (whose name is read as a word).
std::size_t Scanner::on_less(std::size_t at, std::size_t end) {
  if (const std::size_t length = placeholder_length(part(at, end)); length > 0) return at + length;
  const std::string_view rest = part(at, end);
  if (begins_turn(rest) || rest.starts_with("<s>[INST]")) return on_template(at, end);
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
  const std::size_t last = behind_last_turn(text);
  const bool open_ended = line_end_ && end == text_.size();
  if (open_ended && leaves_turn_open(text.substr(last))) {
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
  if ((key.masks_text() || key.kind == KeyKind::secret) && begin + 3 <= end &&
      text_[begin + 1] == quote && text_[begin + 2] == quote)
    begin += 2;
  std::size_t close = closing_quote(begin, end, key.masks_text());
  // YAML writes a quote inside a quoted secret twice.
  while (quote == '\'' && key.is_secret() && close < end && close + 2 < end &&
         text_[close + 1] == quote && close > begin + 1) {
    const std::size_t next = closing_quote(close + 1, end, false);
    if (next == std::string_view::npos) break;
    close = next;
  }
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
  // `prompt tokens: [ ' List':37162, ' journalist':39473 ]`: pieces of a prompt and their ids.
  if (!keyed && colon && frame().open == '[' && env_.profile.content && quote == '\'' &&
      next == close + 1 && next + 1 < end && is_digit(text_[next + 1]) && close - first <= 32 &&
      base::contains(part(first > 512 ? first - 512 : 0, first), "token")) {
    if (close > first && !is_masked(part(first, close)))
      mask(first, close, What::text, part(first, close));
    return close + 1;
  }
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
      if (key.kind == KeyKind::perhaps_text && !is_prose(value, 5)) key = {};
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
  // `infer_request.cc:905] "..."`: the message itself, quoted.
  if (written.ends_with("] ") && written.size() > 3 && is_digit(written[written.size() - 3]))
    return false;
  const std::string before = base::to_lower(written);
  static constexpr std::array<std::string_view, 23> k_words{
      "prompt",     "query",   "quer",    "question", "input",   "request", "user",        "chat",
      "completion", "generat", "retriev", "document", "passage", "chunk",   "answer",      "reply",
      "replied",    "output",  "embed",   "search",   "tokeniz", "flagged", "succeeded in"};
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
  const bool unnamed = key.kind == KeyKind::none || key.kind == KeyKind::value;
  const bool recording =
      env_.profile.content && unnamed && end - begin >= 64 &&
      ((frame().media && is_long_base64(part(begin, end))) || is_media_base64(part(begin, end)));
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
  if (key.empty() && env_.profile.free_text) found = numbered_text(key_begin);
  // `arn:aws:secretsmanager:...:secret:name`; `autogenerated kernel key: 9b1e...` is a digest.
  if (found.kind == KeyKind::token && key == "secret" && key_begin > 16 &&
      base::contains(part(key_begin > 96 ? key_begin - 96 : 0, key_begin), "arn:aws"))
    found = {};
  if (found.kind == KeyKind::key && part(0, key_begin).ends_with("kernel ")) found = {};
  found = allowed(found);
  const bool names = found.kind == KeyKind::name || found.kind == KeyKind::value;
  if (frame().every_value && (found.kind == KeyKind::none || names)) found = frame().inherited;
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
    // A transcript's words: `{"word": "Ada", "start": 0.1, "end": 0.7}`.
    if (key == "word" && env_.profile.content &&
        base::contains(part(at, std::min(end, at + 64)), "\"start\""))
      found = {KeyKind::content, What::text};
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
  if (c == '[' && key.ends_with("logprobs") && env_.profile.content && at + 1 < end &&
      (text_[at + 1] == '(' || text_[at + 1] == '[')) {
    if (const std::size_t after = logprob_list(at, end); after > at) return after;
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
    if (c == '{' && (found.kind == KeyKind::secret || found.kind == KeyKind::token)) {
      inner.secret = true;
      inner.named = found;      // `hmac: {inline_string: x}`
      if (key.back() == 's') {  // `api_tokens = { datadog = "x" }`
        inner.inherited = {KeyKind::if_random, found.what};
        inner.every_value = true;
      }
    }
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
    const bool number = at + 1 < end && (is_digit(text_[at + 1]) || text_[at + 1] == '-');
    if (c == '[' && found.kind == KeyKind::none && number && env_.profile.content &&
        looks_like_ids(at + 1, end))
      inner.inherited = {KeyKind::token_ids, What::token_ids};
    if (c != '{' && (inner.inherited.kind == KeyKind::token_ids || found.kind == KeyKind::pieces))
      return id_list(at + 1, end);
    return at + 1;
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
    // `next token: 12272 ' understand'`.
    if (env_.profile.content && part(at, end).starts_with(" '") &&
        part(0, begin).ends_with("token: "))
      return on_quote(at + 1, end, {KeyKind::content, What::text}, true);
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
    if (at - begin >= 3) {
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
    if ((classes & k_is_slash) != 0 && (classes & k_is_digit) != 0) {
      const auto bot = part(begin, at).rfind("/bot");  // `POST /bot123456789:x/sendMessage`
      if (bot != std::string_view::npos && at - begin - bot >= 12 &&
          tokens_in(begin + bot + 4, std::min(end, at + 40)))
        return out_.back().end;
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
  if (next == ' ' && at - begin >= 3 && at - begin <= 21) {
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

}  // namespace triage::redact

// Quoted texts: where they end, and what is looked for inside.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

constexpr std::size_t k_longest_key = 96;
/// `x vllm serve /m --port 8000` behind `HF_TOKEN=`: the shell ends the value at the blank.
bool runs_command(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos || !is_distinctive(text.substr(0, blank))) return false;
  const std::string_view rest = text.substr(blank);
  return base::contains(rest, " -") || base::contains(rest, " /") || base::contains(rest, "&& ") ||
         base::contains(rest, "; ");
}

/// No shorter word shows by itself what it is.
constexpr std::size_t k_shortest_word = 7;

}  // namespace

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
      // A list of names: `["credential-socket", "workload-certs"]`.
      const bool listed = around.flag_named && around.open == '[' && is_object_name(value) &&
                          std::none_of(value.begin(), value.end(), is_digit);
      if (!another_flag && !another_name && !listed) key = around.flagged;
      // Redis: `"AUTH" "name" "password"`.
      const bool more = around.open == 0 && next < end && text_[next] == quote;
      if (!more) around.flagged = {};
    } else if (around.open != '{' || around.every_value) {
      key = around.inherited;
      if (key.kind == KeyKind::perhaps_text && !is_prose(value, 5)) {
        key = {};
        // `"Args": ["-c", "serve /m --port 8000"]`: a command, not what a tool was called with.
        const bool flag = value.size() > 1 && value[0] == '-' && !is_digit(value[1]);
        if (flag && value.find(' ') == std::string_view::npos) around.inherited = {};
      }
    }
    // Redis: `"ACL" "SETUSER" "app" "on" ">x"`.
    if (value == "SETUSER" || value == "setuser") around.login = true;
    if (around.login && value.size() > 3 && value.front() == '>' && !is_masked(value.substr(1))) {
      mask(first + 1, close, What::password, value.substr(1));
      return close + 1;
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
        if (usable) {
          around.flagged = named;
          around.flag_named = !flag;
        }
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
        !is_technical(value) && !(keyed && reads_as_report(value, Doubt::content))) {
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
      if ((named.is_secret() && !runs_command(part(sign + 1, end))) || named.masks_text() ||
          named.kind == KeyKind::perhaps_text) {
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
      map_to_source(decoded, begin, edits, out_);
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

}  // namespace triage::redact

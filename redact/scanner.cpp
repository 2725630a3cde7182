#include "redact/scanner.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/chat_markers.hpp"
#include "redact/identifiers.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

/// No format of tokens is shorter.
constexpr std::size_t k_shortest_token = 16;

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
  next.generated = outer.generated;
  // OpenTelemetry: `"value": {"arrayValue": {"values": [{"stringValue": "x"}]}}`.
  if (open == '{' && outer.open == '[') next.named = outer.named;
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
  add_edit({begin, end, what, shown(env_.namer.name(what, value))});
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
    constexpr std::size_t k_longest_remark = 80;
    const std::size_t from = at > k_longest_remark ? at - k_longest_remark : 0;
    const std::size_t open = part(from, at).rfind('(');
    std::size_t last = open == std::string_view::npos ? 0 : from + open;
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
  if (close == ']' && at + 8 < end && text_[at + 1] == ' ' && at > 4 && is_digit(text_[at - 1]) &&
      env_.profile.free_text && env_.profile.content) {
    // Scores are written with a point.
    std::size_t digits = at - 1;
    while (digits > 0 && is_digit(text_[digits - 1])) --digits;
    if (digits > 1 && text_[digits - 1] == '.' && is_digit(text_[digits - 2]))
      return on_scored_text(at, end);
  }
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
  if (at > 0 && (text_[at - 1] == '\'' || text_[at - 1] == '"'))
    state_.template_quote = text_[at - 1];
  std::string_view words = text;
  // The last marker of the text may be followed by fields of the log line: `<|im_end|>', params: `.
  std::size_t stop = end;
  const std::size_t last = behind_last_turn(text);
  const bool open_ended = line_end_ && end == text_.size();
  if (open_ended && leaves_turn_open(text.substr(last))) {
    const std::string_view turn = text.substr(last);
    const bool reply =
        !is_prose(turn, 3) && (base::icontains(turn, "assistant") || base::contains(turn, "model"));
    state_.open = {true, k_template, What::prompt, k_most_open_lines, reply};
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
    if (at - begin >= 3 && at - begin <= 5 && after_next != ' ' && begin > 0 &&
        text_[begin - 1] == '=') {
      if (const std::size_t after = on_boot_login(at, end); after > at) return after;
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
    // nginx: `if ($http_x_api_key != "x")`.
    if (value == 0 && text_[begin] == '$' && (m == '!' || m == '=' || m == '~')) {
      value = mark + 1;
      while (value < end && std::string_view("=~* ").find(text_[value]) != std::string_view::npos)
        ++value;
      if (value >= end || (class_of(text_[value]) & k_is_quote) == 0) value = 0;
    }
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
  // YAML: `[--api-key, x, --port, 8000]`.
  if (Frame& around = frame();
      around.open == '[' && around.flagged.kind != KeyKind::none && (next == ',' || next == ']')) {
    const KeyClass flagged = std::exchange(around.flagged, {});
    const std::size_t after = bare_value(flagged, '=', begin, begin, end);
    if (after > begin) return after;
  }
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

}  // namespace triage::redact

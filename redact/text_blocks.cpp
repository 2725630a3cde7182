// Texts that stand on lines of their own: announced ones, YAML blocks, turns of conversations, cues
// of transcripts.

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/chat_markers.hpp"
#include "redact/line_machine.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

constexpr int k_most_announced_lines = 60;
constexpr int k_most_cue_lines = 3;

std::size_t first_not_blank(std::string_view line, std::size_t at) {
  at = behind_spaces(line, at);
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  return at;
}

/// `[1] `, `[12] `: an item of a list of documents.
bool is_item_mark(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.front() == '[' && at > 1 && at < 4 && text.substr(at).starts_with("] ");
}

/// `00:00:04.120`, `00:09,800`, `4.1s`; addresses on the PCI bus have one digit at their end.
bool is_cue_time(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return false;
  const bool unit = text.back() == 's';
  if (unit) text.remove_suffix(1);
  const auto point = text.find_first_of(".,");
  if (point == std::string_view::npos ||
      text.find_first_not_of("0123456789:.,") != std::string_view::npos)
    return false;
  return unit || (text.size() - point == 4 && text.find(':') < point);
}

/// A line of base64 as Kubernetes encodes: whole groups, and no short word.
bool is_padded_base64(std::string_view text) {
  return text.size() >= 16 && text.size() % 4 == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '+' || c == '/' || c == '='; });
}

/// The first line of a script, a configuration or a manifest: `#!/bin/sh`, `[Service]`,
/// `net.core.somaxconn=1024`.
bool begins_file(std::string_view text) {
  if (text.starts_with("#!") || text.starts_with("apiVersion: ") || text.starts_with("<?xml") ||
      text == "---" || text == "{")
    return true;
  if (text.size() > 2 && text.front() == '[' && text.back() == ']')
    return text.find_first_of(" \"'/") == std::string_view::npos && text != "[INST]" &&
           text != "[SYS]";
  const auto sign = text.find('=');
  if (sign == std::string_view::npos || sign < 2) return false;
  const std::string_view name = base::trim(text.substr(0, sign));
  if (base::trim(text.substr(sign + 1)).find(' ') != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; });
}

/// Behind the signs and blanks of `--- end ---`.
std::size_t first_not_sign(std::string_view line, std::size_t at, char sign) {
  while (at < line.size() && (line[at] == sign || line[at] == ' ')) ++at;
  return at;
}

/// `--- end prompt ---`, `=========`: a line that divides texts.
bool is_divider(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  if (text.size() < 4) return false;
  const char sign = text.front();
  return std::string_view("-=*#+").find(sign) != std::string_view::npos && text[1] == sign &&
         text[2] == sign && text.back() == sign && text[text.size() - 2] == sign;
}

/// What follows `Client: `, the label of a line in a text; the line itself when there is none.
std::string_view behind_label(std::string_view text) {
  const auto colon = text.find(": ");
  return colon < 16 ? text.substr(colon + 2) : text;
}

/// What stands around a text: `>>>`, ``` , `"""`.
bool is_fence(std::string_view text) {
  return text.size() >= 3 && text.size() <= 10 &&
         std::string_view(">`\"'<").find(text[0]) != std::string_view::npos && text[1] == text[0] &&
         text[2] == text[0];
}

}  // namespace

/// `Prompt after formatting:`, `Retrieved context:`: the text follows on lines of its own.
void LineMachine::announces_text(std::string_view line, std::size_t begin) {
  std::size_t end = line.size();
  while (end > begin && line[end - 1] == ' ') --end;
  if (end < begin + 4) return;
  // `=== Retrieved documents ===`, `system_prompt: |`, `[[ ## question ## ]]`.
  const char last = line[end - 1];
  static constexpr ByteSet k_lasts(":|=-#*]");
  if (!k_lasts.has(last)) return;
  const std::size_t mark = first_not_blank(line, begin);
  if (last == '|') {
    if (!line.substr(0, end).ends_with(": |")) return;
    end -= 2;
  }
  if (line[end - 1] == ':') {
    --end;
    if (line[end - 1] == ')') {
      // `prompt (multi-line):`; `user_proxy (to assistant):` says whose words follow.
      const std::size_t open = line.substr(0, end).rfind('(');
      if (open == std::string_view::npos || open < begin + 2) return;
      if (line.substr(open, 4) == "(to " && !is_technical(line)) return announce(What::text);
      end = open;
      while (end > begin && line[end - 1] == ' ') --end;
    }
  } else if (last == ']') {
    if (!line.substr(mark).starts_with("[[ ##") || !line.ends_with("## ]]")) return;
    end -= 5;
    while (end > mark && line[end - 1] == ' ') --end;
  } else {
    if (end < begin + 8 || line[mark] != last || line[mark + 1] != last || line[end - 2] != last)
      return;
    while (end > mark && (line[end - 1] == last || line[end - 1] == ' ')) --end;
  }
  // `--- end of prompt ---` closes what another such line opened.
  if (iequals(line.substr(first_not_sign(line, mark, last), 3), "end")) return;
  const bool header = line.substr(mark).starts_with("##") || last == ']';
  std::size_t first = end;
  int words = 0;
  while (first > begin && words < 3) {
    std::size_t start = first;
    while (start > begin && (is_alpha(line[start - 1]) || line[start - 1] == '_')) --start;
    if (start == first) break;
    first = start;
    ++words;
    const KeyClass key = env_.keys.classify(line.substr(first, end - first));
    // Alone, names that programs use too are none, unless they head a section.
    const bool several = (words > 1 || header) && key.kind == KeyKind::maybe_text;
    const bool section = header && key.kind == KeyKind::perhaps_text;
    if (key.kind == KeyKind::content || several || section) return announce(key.what);
    if (first == begin || line[first - 1] != ' ') break;
    --first;
  }
}

/// The lines to come hold a text until a record begins.
void LineMachine::announce(What what) {
  block_ = {true, 0, false, k_most_announced_lines, what};
  block_.announced = true;
}

/// A cue of a transcript: `[00:00:04.120 --> 00:00:09.800]  ...`, `[0.0s -> 4.1s] ...`; in
/// subtitles the text follows on the next lines.
bool LineMachine::cue_line(std::string_view line, std::size_t begin, Edits& out) {
  const bool bracket = line[begin] == '[';
  const std::size_t blank = line.substr(0, begin + 18).find(' ', begin);
  if (blank == std::string_view::npos || blank < begin + 4) return false;
  const std::string_view rest = line.substr(blank + 1);
  const bool arrow = rest.starts_with("--> ") || (bracket && rest.starts_with("-> "));
  const std::size_t first = begin + (bracket ? 1 : 0);
  if (!arrow || !is_cue_time(line.substr(first, blank - first))) return false;
  if (!bracket) {
    announce(What::text);
    block_.lines_left = k_most_cue_lines;
    block_.ends_at_blank = true;
    return true;
  }
  const std::size_t close = line.substr(0, blank + 40).find(']', blank);
  if (close == std::string_view::npos) return false;
  std::size_t text = first_not_blank(line, close + 1);
  const std::size_t colon = line.substr(0, text + 16).find(": ", text);
  if (colon != std::string_view::npos && line.substr(text).starts_with("SPEAKER")) text = colon + 2;
  mask_rest(line, text, line.size(), What::text, out);
  return true;
}

/// A line of a block that is masked as a whole. False when the block ended before it.
bool LineMachine::block_line(std::string_view line, std::size_t begin, Edits& out) {
  const std::size_t text = first_not_blank(line, begin);
  if (block_.announced) {
    // Prose is masked, until a record or something that is no prose any more.
    if (text >= line.size()) return true;
    const std::string_view rest = line.substr(text);
    if (is_fence(rest)) {
      if (block_.masked_one) block_.active = block_.announced = false;
      return true;
    }
    if (is_divider(rest)) {
      if (block_.masked_one) block_.active = block_.announced = false;
      return false;  // it may announce the next text
    }
    const bool record = is_record_start(line.substr(begin)) && !is_item_mark(rest);
    const bool ends = record || block_.lines_left-- <= 0 || rest.starts_with("-- ") ||
                      (std::string_view(">[]{}<").find(rest.front()) != std::string_view::npos &&
                       !is_item_mark(rest));
    if (block_.here_document &&
        std::all_of(rest.begin(), rest.end(), [](char c) { return is_alpha(c) || c == '_'; })) {
      block_.active = block_.announced = false;
      return true;
    }
    // `Client: she must not learn of it`: a label inside the text, which stays.
    const std::string_view words = behind_label(rest);
    const bool speaker = words.size() < rest.size();
    if (ends || is_technical(rest) || reads_as_report(rest, Doubt::content) ||
        (!is_prose(rest, 3) && !block_.masked_one)) {
      block_.active = block_.announced = false;
      return false;
    }
    const bool said = speaker && is_prose(words, block_.masked_one ? 3 : 5) &&
                      !reads_as_report(words, Doubt::report);
    if (said) {
      block_.masked_one = true;
      mask_rest(line, line.size() - words.size(), line.size(), block_.what, out);
      return true;
    }
    if (speaker || !is_prose(rest, 2)) return false;
    block_.masked_one = true;
    mask_rest(line, text, line.size(), block_.what, out);
    return true;
  }
  if (text >= line.size()) return true;
  const std::size_t indent = text - begin;
  bool inside = indent > block_.indent && block_.lines_left-- > 0;
  if (inside && block_.keys_end_it) {
    const auto colon = line.find(": ", text);
    const bool key = colon != std::string_view::npos &&
                     line.substr(text, colon - text).find(' ') == std::string_view::npos;
    inside = !key && line[text] != '-' && line.back() != ':';
  }
  if (block_.only_base64 || block_.unless_file) {
    const std::string_view first = base::trim(line.substr(text));
    if ((block_.only_base64 && !is_padded_base64(first)) ||
        (block_.unless_file && begins_file(first)))
      inside = false;
    block_.only_base64 = block_.unless_file = false;
  }
  if (!inside) {
    block_.active = false;
    return false;
  }
  mask_rest(line, text, line.size(), block_.what, out);
  return true;
}

/// A line inside a turn of a conversation that the engine logged as the model sees it.
std::size_t LineMachine::template_line(std::string_view line, std::size_t text, Edits& out) {
  // llama.cpp shows its template between quotes, the model's turn empty: the quote ends it.
  const std::string_view rest = base::trim(line.substr(text));
  const bool quote = state_.template_quote != 0 && !rest.empty() &&
                     rest.front() == state_.template_quote &&
                     (rest.size() == 1 || std::strchr(" ,)}];", rest[1]) != nullptr);
  // Nor does a model begin its turn as engines report.
  const bool report = state_.open.reply && !rest.empty() &&
                      (is_technical(rest) || reads_as_report(rest, Doubt::report));
  if (quote || report) {
    state_.open.active = false;
    state_.template_quote = 0;
    return quote ? text + 1 : text;
  }
  if (!rest.empty()) state_.open.reply = false;
  const std::size_t close = end_of_turn(line, text);
  mask_rest(line, text, close, state_.open.what, out);
  if (close < line.size()) state_.open.active = false;
  return close;
}

}  // namespace triage::redact

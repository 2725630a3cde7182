#include "redact/line_machine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/colours.hpp"
#include "redact/identifiers.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

constexpr int k_most_pem_lines = 400;
constexpr int k_most_block_lines = 2000;
constexpr std::size_t k_deepest_level = 64;

std::size_t first_not_blank(std::string_view line, std::size_t at) {
  at = behind_spaces(line, at);
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  return at;
}

/// `2026-05-12T10:02:11.000000001Z`, also with a blank and with an offset; 0 when there is none.
std::size_t stamp_length(std::string_view text) {
  static constexpr std::string_view k_shape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < k_shape.size()) return 0;
  for (std::size_t i = 0; i < k_shape.size(); ++i) {
    const char want = k_shape[i];
    const char c = text[i];
    if (want == 'd' ? !is_digit(c) : want == 'T' ? c != 'T' && c != ' ' : c != want) return 0;
  }
  std::size_t at = k_shape.size();
  while (at < text.size() && (is_digit(text[at]) || text[at] == '.' || text[at] == ',')) ++at;
  if (at < text.size() && text[at] == 'Z') return at + 1;
  if (at + 6 <= text.size() && (text[at] == '+' || text[at] == '-') && is_digit(text[at + 1]))
    return at + 6;
  return at;
}

bool is_base64_body(std::string_view text) {
  if (text.empty() || text.size() > 4096) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '\\' || c == '-' || c == '_';
  });
}

/// `openai-upstream-key`, `OPENAI_API_KEY`, `tls.crt`: what fields of a Secret are called.
bool names_field(std::string_view value) {
  if (is_object_name(value)) return true;
  return !looks_random(value, 8) && std::none_of(value.begin(), value.end(), is_digit) &&
         (value.find('_') != std::string_view::npos || all_lower_letters(value)) &&
         std::all_of(value.begin(), value.end(), [](char c) { return is_alpha(c) || c == '_'; });
}

bool is_log_format(std::string_view word) {
  if (word.size() < 4 || word.size() > 8) return false;
  static constexpr std::array<std::string_view, 22> k_levels{
      "INFO",   "WARN",  "WARNING",  "ERROR", "DEBUG",  "TRACE",   "FATAL", "CRITICAL",
      "NOTICE", "ALERT", "EMERG",    "info",  "warn",   "warning", "error", "debug",
      "trace",  "fatal", "critical", "INFO:", "ERROR:", "WARNING:"};
  return std::find(k_levels.begin(), k_levels.end(), word) != k_levels.end();
}

}  // namespace

Payload payload_of(std::string_view line) {
  Payload payload;
  std::size_t at = 0;
  // kubectl logs --prefix.
  if (line.starts_with("[pod/")) {
    const auto close = line.find("] ");
    if (close != std::string_view::npos) at = close + 2, payload.framed = true;
  }
  // docker compose: `name-1  | `.
  const auto sign = line.substr(0, 64).find('|');
  const bool apart = sign != std::string_view::npos && sign > 1 && line[sign - 1] == ' ' &&
                     sign + 1 < line.size() && line[sign + 1] == ' ';
  const auto bar = apart ? sign - 1 : std::string_view::npos;
  if (at == 0 && apart && line.substr(0, bar).find_first_of("\"'={:") == std::string_view::npos) {
    const std::string_view name = base::trim(line.substr(0, bar));
    if (!name.empty() && name.find(' ') == std::string_view::npos)
      at = bar + 3, payload.framed = true;
  }
  const std::size_t stamp = stamp_length(line.substr(at));
  if (stamp > 0 && at + stamp < line.size() && line[at + stamp] == ' ') {
    const std::string_view rest = line.substr(at + stamp + 1);
    for (const std::string_view stream :
         {std::string_view("stdout "), std::string_view("stderr ")}) {
      if (!rest.starts_with(stream) || rest.size() < stream.size() + 2) continue;
      const char tag = rest[stream.size()];
      if ((tag != 'F' && tag != 'P') || rest[stream.size() + 1] != ' ') continue;
      payload.begin = at + stamp + 1 + stream.size() + 2;
      payload.framed = true;
      payload.partial = tag == 'P';
      return payload;
    }
    // kubectl logs --timestamps: the message follows; a logger's own stamp has a level after it.
    if (line[at + stamp - 1] == 'Z' && line[at + 10] == 'T' && stamp >= 28) {
      payload.begin = at + stamp + 1;
      payload.framed = true;
      return payload;
    }
  }
  payload.begin = at;
  return payload;
}

bool is_record_start(std::string_view message) {
  if (message.size() < 4) return false;
  if (stamp_length(message) > 0) return true;
  const char c = message[0];
  if (c == '[') {
    // `[2026-05-12 10:21:10 TP0]`, `[ 12.402211]`, `[rank3]:`, `[INFO]`.
    return message.size() > 8 &&
           (is_digit(message[1]) ||
            (message[1] == ' ' && message.find_first_of("0123456789") < 8) ||
            message.substr(1).starts_with("rank") ||
            is_log_format(message.substr(1, message.find_first_of("] :") - 1)));
  }
  if (c == '(' && base::contains(message.substr(0, 40), "pid=")) return true;
  if (c == '{') return message.substr(0, 3).find('"') != std::string_view::npos;
  if (is_digit(c))
    return (message.size() > 8 && message[2] == ':' && message[5] == ':') ||
           (message[2] == '/' && message[5] == '/');
  if ((c == 'I' || c == 'W' || c == 'E' || c == 'F') && message.size() > 6 &&
      is_digit(message[1]) && is_digit(message[2]) && is_digit(message[3]) &&
      is_digit(message[4]) && message[5] == ' ')
    return true;
  static constexpr std::array<std::string_view, 12> k_months{"Jan ", "Feb ", "Mar ", "Apr ",
                                                             "May ", "Jun ", "Jul ", "Aug ",
                                                             "Sep ", "Oct ", "Nov ", "Dec "};
  if (message.size() > 15 && message[3] == ' ' && message[9] == ':')
    for (const std::string_view month : k_months)
      if (message.starts_with(month)) return true;
  if (!is_alpha(c)) return false;
  // No level is longer than eight letters.
  const std::string_view word = message.substr(0, message.substr(0, 10).find(' '));
  if (is_log_format(word) ||
      (word.size() > 1 && word.back() == ':' && is_log_format(word.substr(0, word.size() - 1))))
    return true;
  return message.starts_with("ts=") || message.starts_with("time=") ||
         message.starts_with("level=") || message.starts_with("Traceback (most recent");
}

void LineMachine::mask_rest(std::string_view line, std::size_t begin, std::size_t end, What what,
                            Edits& out) {
  while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\t' || line[end - 1] == '\r'))
    --end;
  if (begin >= end || is_masked(line.substr(begin, end - begin))) return;
  Scanner(env_, state_, line, out, depth_, true)
      .mask(begin, end, what, line.substr(begin, end - begin));
}

void LineMachine::line(std::string_view line, Edits& out) {
  if (line.empty()) {
    named_ = {};
    if (block_.ends_at_blank) block_ = {};
    value_table_ = ssh_host_ = false;
    user_column_ = 0;
    return;
  }
  if (is_coloured(line)) {
    const Uncoloured plain(line);
    Edits edits;
    this->line(plain.text(), edits);
    return plain.map_to_line(edits, out);
  }
  if (depth_ == 0) env_.begin_line(line.size());
  if (depth_ == 0 && line.front() == '{' && container_json(line, out)) return;
  const Payload payload = payload_of(line);
  if (state_.pem && pem_line(line, payload, out)) return;
  if (line.starts_with("Private-Lines: ")) state_.pem = true;  // PuTTY's form
  if (line.starts_with("Mounting ")) mounting_ = true;
  std::size_t begin = payload.begin;
  const bool record = is_record_start(line.substr(begin));
  if (!payload.framed && record && state_.frames.size() > 1 && line.front() != '{')
    state_.frames.clear();
  if (env_.profile.free_text && begin + 12 < line.size() && line[begin] == ' ' &&
      traced_value(line, begin, out))
    return;
  if (env_.profile.free_text && begin + 12 < line.size() &&
      (line[begin] == '[' || is_digit(line[begin])) && cue_line(line, begin, out))
    return;
  if (block_.active && block_line(line, begin, out)) return;
  begin = continued(line, payload, record, out);
  after_partial_ = payload.partial;
  if (begin >= line.size()) return;
  if (!state_.frames.empty()) {
    Frame& root = state_.frames.front();
    root.named = {};
    if (root.every_value) root = Frame{};
    if (state_.frames.size() == 1) root.flagged = {};
  }
  if (begin == payload.begin && !record) begin = structure(line, begin, out);
  if (begin >= line.size()) return;
  if (begin == payload.begin) access_log_user(line, begin, out);
  Scanner scanner(env_, state_, line, out, depth_, true);
  scanner.scan(begin, line.size());
  if (env_.profile.free_text) announces_text(line, begin);
  if (state_.here) {
    state_.here = false;
    if (env_.profile.free_text && env_.profile.content) here_document(line);
  }
  if (state_.frames.size() > 1 && record && line.back() != '{' && line.back() != '[' &&
      line.back() != '(' && line.back() != ',')
    state_.frames.resize(1);
}

void LineMachine::remember() {
  // Most lines stand inside nothing: no call for what is empty.
  static_cast<LineMarks&>(before_) = *this;
  static_cast<ScanMarks&>(before_.state_) = state_;
  if (state_.frames.size() == 1 && before_.state_.frames.size() == 1)
    before_.state_.frames.front() = state_.frames.front();
  else
    before_.state_.frames = state_.frames;
  if (!levels_.empty() || !before_.levels_.empty()) before_.levels_ = levels_;
  if (!objects_.empty() || !before_.objects_.empty()) before_.objects_ = objects_;
  if (inner_) inner_->remember();
}

void LineMachine::again(std::string_view redacted, Edits& out) {
  LineMemory after = *this;
  LineMemory inner_after;
  static_cast<LineMemory&>(*this) = before_;
  if (inner_) {
    inner_after = *inner_;
    static_cast<LineMemory&>(*inner_) = inner_->before_;
  }
  const std::string code = code_;  // whose columns the next lines point at
  line(redacted, out);
  code_ = code;
  static_cast<LineMemory&>(*this) = std::move(after);
  if (inner_) static_cast<LineMemory&>(*inner_) = std::move(inner_after);
}

/// Docker's json-file driver wraps every line: the line inside has its own course.
bool LineMachine::container_json(std::string_view line, Edits& out) {
  // As dockerd writes it, and as others write it again.
  static constexpr std::string_view k_key = "{\"log\":";
  if (!line.starts_with(k_key)) return false;
  const std::size_t quote = k_key.size() + (line.substr(k_key.size()).starts_with(' ') ? 1 : 0);
  if (quote >= line.size() || line[quote] != '"') return false;
  const std::size_t start = quote + 1;
  std::size_t end = start;
  while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
  if (end >= line.size()) return false;
  const std::string_view behind = line.substr(end + 1);
  if (!behind.starts_with(",\"") && !behind.starts_with(", \"")) return false;
  const std::string_view raw = line.substr(start, end - start);
  Decoded decoded = decode(raw, Escapes::backslash);
  std::string_view text = decoded.text;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!inner_) inner_ = std::make_unique<LineMachine>(env_, depth_);
  Edits edits;
  if (text.find('\n') == std::string_view::npos) {
    inner_->line(text, edits);
  } else {
    scan_text(env_, text, depth_ + 1, edits);
  }
  map_to_source(decoded, start, edits, out);
  ScanState rest;
  Scanner(env_, rest, line, out, depth_, false).scan(end + 1, line.size());
  return true;
}

/// A line of a private key. False when the key ended without its end mark.
bool LineMachine::pem_line(std::string_view line, const Payload& payload, Edits& out) {
  if (base::contains(line, "-----END")) {
    state_.pem = false;
    pem_lines_ = 0;
    return true;
  }
  std::size_t begin = first_not_blank(line, payload.begin);
  std::size_t end = line.size();
  while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\r')) --end;
  std::string_view body = line.substr(begin, end - begin);
  if (body.empty() || placeholder_length(body) == body.size()) return true;
  if (!is_base64_body(body)) {
    const bool header = body.starts_with("Proc-Type:") || body.starts_with("DEK-Info:") ||
                        body.starts_with("Version:") || body.starts_with("Comment:");
    if (header) return true;
    // Loggers that prefix every line: the last word is the body.
    const auto blank = body.rfind(' ');
    const std::string_view last = blank == std::string_view::npos ? body : body.substr(blank + 1);
    if (last.size() < 16 || !is_base64_body(last)) {
      state_.pem = false;
      return false;
    }
    begin += blank + 1;
    body = last;
  }
  if (++pem_lines_ > k_most_pem_lines) {
    state_.pem = false;
    return false;
  }
  std::string name = env_.namer.name_of_part(What::private_key);
  if (env_.profile.xml) name = "[private-key]";
  out.push_back({begin, begin + body.size(), What::private_key, std::move(name)});
  return true;
}

/// What the line before left open: the end of a quoted text, of a cut credential, the value of a
/// flag. Where the rest of the line begins.
std::size_t LineMachine::continued(std::string_view line, const Payload& payload, bool record_start,
                                   Edits& out) {
  const std::size_t begin = payload.begin;
  if (!state_.open.active && !state_.wrap.active && state_.pending.kind == KeyKind::none)
    return begin;
  const std::size_t text = first_not_blank(line, begin);
  const bool record = record_start && !after_partial_;
  if (state_.open.active) {
    if (record || state_.open.lines_left-- <= 0) {
      state_.open.active = false;
      state_.template_quote = 0;
    } else {
      std::size_t close = std::string_view::npos;
      if (state_.open.quote == k_template) return template_line(line, text, out);
      for (std::size_t i = text; i < line.size(); ++i) {
        if (line[i] == '\\') {
          ++i;
        } else if (line[i] == state_.open.quote) {
          const bool last = i + 1 >= line.size() ||
                            std::string_view(" ,)}];").find(line[i + 1]) != std::string_view::npos;
          if (last) {
            close = i;
            break;
          }
        }
      }
      const bool ends = close != std::string_view::npos;
      mask_rest(line, text, ends ? close : line.size(), state_.open.what, out);
      if (!ends) return line.size();
      state_.open.active = false;
      return close + 1;
    }
  }
  if (state_.wrap.active) {
    const ScanState::Wrap wrap = state_.wrap;
    state_.wrap = {};
    std::size_t end = text;
    while (end < line.size() &&
           (is_alnum(line[end]) || std::strchr("-_.+/=~%", line[end]) != nullptr))
      ++end;
    const std::string_view word = line.substr(text, end - text);
    const bool framed_on = after_partial_ || !payload.framed;
    const bool key = end < line.size() && line[end] == ':';
    const bool ends_word = end == line.size() ||
                           std::string_view(" \\@\"',").find(line[end]) != std::string_view::npos;
    bool goes_on =
        !word.empty() && framed_on && !record && !key && placeholder_length(line.substr(text)) == 0;
    if (goes_on && !wrap.certain && !after_partial_)
      goes_on = word.size() >= 6 && ends_word && !is_path(word) &&
                word.find('=') >= word.size() - 2 &&
                (looks_random(word, 8) || (text > begin && looks_random(word, 6)));
    if (goes_on) {
      mask_rest(line, text, end, wrap.what, out);
      const bool again = end == line.size() || (end + 1 == line.size() && line[end] == '\\');
      if (again && (payload.partial || word.size() >= 40 || line.back() == '\\'))
        state_.wrap = {true, wrap.certain, wrap.what};
      return end;
    }
  }
  if (state_.pending.kind != KeyKind::none) {
    const KeyClass key = state_.pending;
    state_.pending = {};
    std::size_t value = text;
    if (line.substr(value).starts_with("- ")) value += 2;
    std::size_t end = line.size();
    while (end > value && (line[end - 1] == ' ' || line[end - 1] == '\r' || line[end - 1] == '\\'))
      --end;
    // `- --api-key`, below it `- "x"`.
    const bool item = value > text;
    if (item && end > value + 2 && (line[value] == '"' || line[value] == '\'') &&
        line[end - 1] == line[value])
      ++value, --end;
    const std::string_view word = line.substr(value, end - value);
    const bool alone = !word.empty() && word.back() != ':' &&
                       word.find_first_of(" \"'") == std::string_view::npos && !record;
    if (key.masks_text() && !record && !word.empty() && word.front() != '-' && is_prose(word, 3) &&
        !is_technical(word)) {
      std::size_t stop = end;
      if (word.front() == '"' || word.front() == '\'') {
        stop = line.rfind(word.front(), end);
        ++value;
      }
      if (stop > value) mask_rest(line, value, stop, key.what, out);
      return end;
    }
    if (alone && (word.front() != '-' || looks_random(word))) {
      Scanner scanner(env_, state_, line, out, depth_, true);
      scanner.mask_value(key, value, end);
      return end;
    }
  }
  return begin;
}

/// Lines that are a key and its value: YAML, `describe`, headers, env files, INI. Where the part
/// begins that still wants a look.
std::size_t LineMachine::structure(std::string_view line, std::size_t begin, Edits& out) {
  const std::size_t text = first_not_blank(line, begin);
  if (text >= line.size()) return line.size();
  std::size_t at = text;
  bool item = false;
  while (line.substr(at).starts_with("- ")) {
    at = first_not_blank(line, at + 2);
    item = true;
  }
  if (at >= line.size()) return line.size();
  const std::size_t indent = at - begin;
  while (!levels_.empty() && levels_.back().indent >= (item ? text - begin + 1 : indent))
    levels_.pop_back();
  while (!objects_.empty() &&
         (objects_.back().indent > indent || (item && objects_.back().indent == indent)))
    objects_.pop_back();
  if (line.substr(begin) == "---") {
    levels_.clear();
    objects_.clear();
  }
  std::size_t key = at;
  if (line.substr(key).starts_with("export ")) key += 7;
  if (line.substr(key).starts_with("Environment=")) key += 12;
  if (key < line.size() && line[key] == '"' && key > at) ++key;
  std::size_t end = key;
  constexpr unsigned k_in_key =
      k_is_upper | k_is_lower | k_is_digit | k_is_joint | k_is_dot | k_is_slash;
  while (end < line.size() && (class_of(line[end]) & k_in_key) != 0) ++end;
  if (pgpass(line, at, out)) return begin;
  if (end == key || line[key] == '-') {
    if (!levels_.empty() && levels_.back().section == Section::prompts) in_prompts();
    // A list element: a flag whose value is the next element, or a value of a classed list.
    const bool lone_flag = line[key] == '-' && end == line.size() && end - key > 3;
    if (lone_flag) {
      const KeyClass flag = env_.keys.classify(
          line.substr(first_not_blank(line, key)).substr(line[key + 1] == '-' ? 2 : 1));
      if (flag.is_secret() || flag.kind == KeyKind::content) state_.pending = flag;
    }
    return begin;
  }
  std::size_t mark = end;
  while (mark < line.size() && line[mark] == ' ' && mark - end < 4) ++mark;
  const char sign = mark < line.size() ? line[mark] : '\0';
  const bool colon =
      sign == ':' && mark == end && (mark + 1 >= line.size() || line[mark + 1] == ' ');
  const bool equals = sign == '=' && !(mark + 1 < line.size() && line[mark + 1] == '=');
  if (!colon && !equals) {
    if (!item && placed(line, key, end, out)) return line.size();
    if (item && !levels_.empty() && levels_.back().inherited.kind != KeyKind::none) {
      const KeyClass inherited = levels_.back().inherited;
      Scanner scanner(env_, state_, line, out, depth_, true);
      if (inherited.masks_text() || scanner.is_secret_value(inherited, line.substr(at)))
        scanner.mask_value(inherited, at, line.size());
      else
        return begin;
      return line.size();
    }
    return begin;
  }
  return after_key(line, indent, line.substr(key, end - key), mark + 1, sign, out);
}

/// `host:port:database:user:password` of PostgreSQL's password file.
bool LineMachine::pgpass(std::string_view line, std::size_t begin, Edits& out) {
  if (line.size() - begin > 512 || line.find(' ', begin) != std::string_view::npos) return false;
  std::array<std::size_t, 4> colons{};
  std::size_t at = begin;
  for (std::size_t& colon : colons) {
    colon = line.find(':', at);
    if (colon == std::string_view::npos || colon == at) return false;
    at = colon + 1;
  }
  const std::string_view port = line.substr(colons[0] + 1, colons[1] - colons[0] - 1);
  const bool numbers = port == "*" || std::all_of(port.begin(), port.end(), is_digit);
  const std::string_view password = line.substr(at);
  if (!numbers || port.size() > 5 || password.size() < 4 ||
      password.find(':') != std::string_view::npos ||
      std::all_of(password.begin(), password.end(), is_digit))
    return false;
  mask_rest(line, at, line.size(), What::password, out);
  return true;
}

std::size_t LineMachine::after_key(std::string_view line, std::size_t indent, std::string_view key,
                                   std::size_t value, char separator, Edits& out) {
  const std::size_t line_begin = payload_of(line).begin;
  KeyClass found = env_.keys.classify(key);
  if (!env_.profile.content && found.masks_text()) found = {};
  if (!env_.profile.free_text && found.kind == KeyKind::maybe_text) found = {};
  std::size_t at = first_not_blank(line, value);
  if (separator == ':' && at < line.size() && line[at] == '&') {  // an anchor before the value
    const auto blank = line.find(' ', at);
    if (blank != std::string_view::npos) at = first_not_blank(line, blank);
  }
  std::size_t end = line.size();
  while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\r')) --end;
  const std::string_view rest = line.substr(at, end - at);
  if (separator == ':') note_kind(key, rest, indent);
  // `apiKey:`, below it `secretName: vllm-api-key`: the name of an object.
  const bool names_object =
      key.ends_with("Name") || key.ends_with("Ref") || key.starts_with("existing");
  const bool under = !levels_.empty() && levels_.back().inherited.kind != KeyKind::none &&
                     !(names_object && levels_.back().inherited.is_secret());
  const bool value_of_it = found.kind == KeyKind::value && under && named_.kind == KeyKind::none &&
                           levels_.back().inherited.is_secret();  // `password:`, below it `value:`
  if (under && (found.kind == KeyKind::none || value_of_it ||
                levels_.back().inherited.kind == KeyKind::encoded))
    found = levels_.back().inherited;
  if (rest.empty()) {
    if (separator == ':' && levels_.size() < k_deepest_level) {
      KeyClass inherited = found.is_secret() || found.masks_text() ? found : KeyClass{};
      const Section section = section_of(key, indent);
      if (section == Section::secret_data || section == Section::maybe_data)
        inherited = {KeyKind::encoded, What::secret};
      if (key == "stringData") inherited = {KeyKind::secret, What::secret};
      levels_.push_back({indent, inherited, section});
    }
    return line.size();
  }
  const bool tagged = rest.front() == '!' && (rest.back() == '|' || rest.back() == '>');
  const bool block = ((rest.front() == '|' || rest.front() == '>') && rest.size() <= 3) || tagged;
  if (block && separator == ':') {
    if (found.kind == KeyKind::value && named_.kind != KeyKind::none && named_indent_ == indent)
      found = std::exchange(named_, {});
    if (env_.profile.content && section_of(key, indent) == Section::prompts &&
        levels_.size() < k_deepest_level) {
      levels_.push_back({indent, {KeyKind::content, What::prompt}, Section::prompts});
      return line.size();
    }
    const Section section = levels_.empty() ? Section::none : levels_.back().section;
    if (found.masks_text() && section == Section::files) return line.size();
    if (found.is_secret() || found.masks_text()) {
      block_ = {true, indent, false, k_most_block_lines,
                found.is_secret() ? What::secret : found.what};
      block_.unless_file = found.kind == KeyKind::maybe_text;
      block_.only_base64 = section == Section::maybe_data && found.kind == KeyKind::encoded;
    }
    return line.size();
  }
  const char first = rest.front();
  const bool plain = (class_of(first) & (k_is_quote | k_is_open)) == 0 && first != '<' &&
                     first != '&' && first != '*' && first != '!';
  if (found.kind == KeyKind::name && separator == ':') {
    named_ = env_.keys.classify(base::trim(plain ? rest : rest.substr(1, rest.size() - 2)));
    named_indent_ = indent;
  } else if (found.kind == KeyKind::value && separator == ':' && named_.kind != KeyKind::none &&
             named_indent_ == indent) {
    found = named_;
    named_ = {};
    const bool quoted = !plain && (class_of(first) & k_is_quote) != 0 && rest.size() >= 2;
    if (quoted || (plain && found.kind >= KeyKind::auth && found.kind <= KeyKind::pair)) {
      Scanner scanner(env_, state_, line, out, depth_, true);
      scanner.mask_value(found, at + (quoted ? 1 : 0),
                         end - (quoted && rest.back() == first ? 1 : 0));
      return line.size();
    }
  }
  if (!plain && found.masks_text() && !levels_.empty() &&
      levels_.back().section == Section::files) {
    if ((class_of(first) & k_is_quote) == 0 || rest.size() < 2) return line_begin;
    Scanner scanner(env_, state_, line, out, depth_, true);
    scanner.mask_value({}, at + 1, end - (rest.back() == first ? 1 : 0));
    return line.size();
  }
  if (!plain && under && levels_.back().inherited.masks_text() && found.masks_text() &&
      (class_of(first) & k_is_quote) != 0 && rest.size() > 2 && rest.back() == first &&
      env_.keys.classify(key).kind == KeyKind::none && is_prose(rest, 4)) {
    Scanner(env_, state_, line, out, depth_, true).mask_value(found, at + 1, end - 1);
    return line.size();
  }
  if (!plain) return line_begin;
  // Rust: `api_key: Some("x"),`: the scanner takes the value out.
  const auto call = rest.substr(0, 32).find('(');
  if (call != std::string_view::npos && call + 1 < rest.size() && rest[call + 1] == '"' &&
      std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(call), is_alpha))
    return line_begin;
  Scanner scanner(env_, state_, line, out, depth_, true);
  // The value is the rest of the line, unless more `key=` follow on it.
  const auto more = [&] {
    for (std::size_t i = at; i < end; ++i) {
      if (line[i] != ' ') continue;
      std::size_t word = i + 1;
      while (word < end && (is_alnum(line[word]) || line[word] == '_' || line[word] == '.')) ++word;
      if (word > i + 1 && word < end && line[word] == '=') return true;
    }
    return false;
  };
  if (found.kind == KeyKind::encoded) {
    scanner.mask_value(found, at, end);
    return line.size();
  }
  if (found.is_secret() && key == "secretKey" && separator == ':' && !levels_.empty() &&
      (levels_.back().section == Section::data || levels_.back().inherited.is_secret()) &&
      (names_field(rest) ||
       (std::none_of(rest.begin(), rest.end(), is_digit) && env_.keys.classify(rest).is_secret())))
    return line.size();
  if (found.is_secret() && found.kind != KeyKind::auth && found.kind != KeyKind::cookie &&
      found.kind != KeyKind::pair) {
    if (more() || base::contains(rest, "://")) return line_begin;
    const std::string_view word = rest.substr(0, rest.find(' '));
    const bool more_words = word.size() < rest.size();
    if (more_words && separator == '=' && looks_random(word)) return line_begin;
    std::size_t stop = end;
    const auto comment = rest.find(" #");
    if (comment != std::string_view::npos) stop = at + comment;
    while (stop > at && line[stop - 1] == ' ') --stop;
    const std::string_view text = line.substr(at, stop - at);
    const bool cut = !text.empty() && (text.back() == '\\' || looks_random(text)) &&
                     text.find(' ') == std::string_view::npos;
    if (text.find(' ') != std::string_view::npos && separator == ':' && is_prose(text, 4))
      return line_begin;
    if (cut) {  // the scanner knows formats and line ends
      const std::size_t after = scanner.bare_value(found, '=', at, at, line.size());
      return after > at ? after : line_begin;
    }
    if (scanner.is_secret_value(found, text)) {
      scanner.mask(at, stop, found.what, text);
      return line.size();
    }
    return line_begin;
  }
  const bool command = std::exchange(mounting_, false);
  if (separator == ':' && found.masks_text() &&
      (begins_as_report(rest) ||
       (iequals(key, "output") && (command || is_command_output({}, rest)))))
    return at;
  // A function says so of its work: `cuda_context: creation failed with out of memory`.
  if (separator == ':' && indent == 0 && (found.is_secret() || found.masks_text()) &&
      names_function(key) && reads_as_report(rest, Doubt::report))
    return at;
  if (found.masks_text()) {
    const bool count = is_number(rest.substr(0, rest.find(' ')));
    const bool text = count                            ? false
                      : found.kind == KeyKind::content ? is_prose(rest, 3)
                                                       : is_prose(rest, 4) && !is_technical(rest);
    if (!text || (separator == '=' && more()) ||
        (found.kind == KeyKind::content && is_technical(rest) && !under))
      return line_begin;
    scanner.mask(at, end, found.what, rest);
    if (separator == ':' && indent + 2 < 40)
      block_ = {true, indent, true, k_most_block_lines, found.what};
    return line.size();
  }
  if (listed_user(key, rest)) {
    scanner.mask(at, end, What::user, rest);
    return line.size();
  }
  if (found.kind == KeyKind::user && separator == ':' && !more()) {
    if (!is_service_account(rest) && rest.find('@') == std::string_view::npos &&
        !is_prose(rest, 4) && rest.size() <= 80 && !is_path(rest)) {
      scanner.mask(at, end, What::user, rest);
      return line.size();
    }
  }
  return line_begin;
}

/// The user of the common log format, `203.0.113.4 - ada [12/May/2026:10:20:07 +0000] "GET ...`:
/// the one word before the time, whatever stands before the address.
void LineMachine::access_log_user(std::string_view line, std::size_t begin, Edits& out) {
  constexpr std::size_t k_farthest = 400;
  const std::string_view start = line.substr(0, k_farthest);
  std::size_t bracket = start.find('[', begin);
  const auto is_time = [&](std::size_t at) {  // `[12/May/2026:`
    return at > 0 && start[at - 1] == ' ' && at + 13 < start.size() && is_digit(start[at + 1]) &&
           start[at + 3] == '/' && is_alpha(start[at + 4]) && start[at + 7] == '/' &&
           start[at + 12] == ':';
  };
  while (bracket != std::string_view::npos && !is_time(bracket))
    bracket = start.find('[', bracket + 1);
  if (bracket == std::string_view::npos || bracket < begin + 6) return;
  const std::size_t end = bracket - 1;
  const auto word_before = [&](std::size_t blank) {
    const auto found = start.rfind(' ', blank - 1);
    return found == std::string_view::npos || found < begin ? begin : found + 1;
  };
  const std::size_t user_at = word_before(end);
  if (user_at <= begin + 3) return;
  const std::size_t ident_at = word_before(user_at - 1);
  if (ident_at <= begin + 1 || user_at - 1 - ident_at > 32) return;
  const std::size_t address_at = word_before(ident_at - 1);
  const std::string_view address = start.substr(address_at, ident_at - 1 - address_at);
  const std::string_view user = start.substr(user_at, end - user_at);
  static constexpr ByteSet k_of_addresses(".:-");
  if (!k_of_addresses.any_in(address) || address.back() == ':' || user.empty() ||
      user.find_first_of("=\"'<>()[]{},;:/") != std::string_view::npos || user == "-")
    return;
  if (is_service_account(user) || !find_email(line, user_at, end).empty()) return;
  Scanner(env_, state_, line, out, depth_, true).mask(user_at, end, What::user, user);
}

void scan_text(Env& env, std::string_view text, int depth, Edits& out) {
  LineMachine machine(env, depth);
  std::size_t begin = 0;
  Edits edits;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    edits.clear();
    const std::string_view line = text.substr(begin, end - begin);
    if (const DataKey data = machine.asks_for_kind(line); data.found && end < text.size()) {
      const std::size_t most = std::min(text.size() - end, std::size_t{64} << 10U);
      if (env.spend(most)) machine.kind_ahead(kind_behind(data, text.substr(end + 1), most));
    }
    machine.line(line, edits);
    machine.kind_ahead(ObjectKind::unknown);
    for (Edit& edit : edits) {
      edit.begin += begin;
      edit.end += begin;
      out.push_back(std::move(edit));
    }
    begin = end + 1;
  }
}

}  // namespace triage::redact

#include "analysis/json_line.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "analysis/stamp_forms.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace triage::analysis {
namespace {

// Exporters nest their labels three deep; what is deeper is the program's own data.
constexpr int k_max_depth = 4;
constexpr std::size_t k_max_members = 96;
// One field's value in the text of a structured line: bodies belong to no message.
constexpr std::size_t k_max_value = 4096;

struct Member {
  std::string_view key;    ///< dotted below the top
  std::string_view value;  ///< raw: a string without its quotes, a literal, an array
  enum class Type : std::uint8_t { string, literal, array } type = Type::literal;
};

std::string decode_string(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t slash = std::min(raw.find('\\', at), raw.size());
    out.append(raw.substr(at, slash - at));
    at = slash + 2;
    if (slash + 1 >= raw.size()) break;
    switch (const char c = raw[slash + 1]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        break;
      case 'b':
      case 'f':
        out += ' ';
        break;
      case 'u': {
        auto code = base::hex_number(raw.substr(std::min(at, raw.size())), 4);
        if (!code) break;
        at += 4;
        if (*code >= 0xD800 && *code < 0xDC00 && raw.substr(std::min(at, raw.size()), 2) == "\\u") {
          const auto low = base::hex_number(raw.substr(at + 2), 4);
          if (low && *low >= 0xDC00 && *low < 0xE000) {
            code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
            at += 6;
          }
        }
        base::append_utf8(out, *code >= 0xD800 && *code < 0xE000 ? 0xFFFD : *code);
        break;
      }
      default:
        out += c;
    }
  }
  return out;
}

/// Reads the members of an object, nested ones under dotted names.
class MemberReader {
 public:
  explicit MemberReader(std::string_view text) : in_{text} {}

  /// They live as long as the reader and the text.
  const std::vector<Member>& read() {
    members_.reserve(24);
    if (in_.eat('{')) read_object("", 1);
    return members_;
  }

 private:
  void skip_blanks() {
    while (!in_.at_end() && (is_blank(in_.peek()) || in_.peek() == '\r' || in_.peek() == '\n'))
      ++in_.at;
  }

  /// The raw text of a string, its quotes taken; a cut string gives what is there.
  std::string_view read_string() {
    const std::size_t first = ++in_.at;
    const std::size_t size = in_.text.size();
    for (std::size_t quote = 0;;) {
      if (quote < in_.at) quote = std::min(in_.text.find('"', in_.at), size);
      const std::size_t slash = in_.text.substr(0, quote).find('\\', in_.at);
      if (slash == std::string_view::npos) {
        in_.at = std::min(quote + 1, size);
        return in_.text.substr(std::min(first, size), quote - std::min(first, quote));
      }
      in_.at = std::min(slash + 2, size);
    }
  }

  /// An array, or an object that is nested too deep, as raw text.
  std::string_view read_nested() {
    const std::size_t first = in_.at;
    std::size_t open = 0;
    while (!in_.at_end()) {
      const char c = in_.peek();
      if (c == '"') {
        (void)read_string();
        continue;
      }
      ++in_.at;
      if (c == '{' || c == '[') ++open;
      if ((c == '}' || c == ']') && --open == 0) break;
    }
    return in_.text.substr(first, in_.at - first);
  }

  void read_object(std::string_view prefix, int depth) {
    while (members_.size() < k_max_members) {
      skip_blanks();
      if (in_.eat(',')) continue;
      if (in_.eat('}') || in_.peek() != '"') return;
      std::string_view key = read_string();
      if (!prefix.empty()) key = dotted_.emplace_back(std::string(prefix).append(key));
      skip_blanks();
      if (!in_.eat(':')) return;
      skip_blanks();
      const char c = in_.peek();
      if (c == '{' && depth < k_max_depth) {
        ++in_.at;
        read_object(dotted_.emplace_back(std::string(key) + '.'), depth + 1);
      } else if (c == '{' || c == '[') {
        members_.push_back({key, read_nested(), Member::Type::array});
      } else if (c == '"') {
        members_.push_back({key, read_string(), Member::Type::string});
      } else {
        const std::string_view literal = in_.take_until(
            [](char d) { return d == ',' || d == '}' || d == ']' || is_blank(d) || d == '\r'; });
        if (literal.empty()) return;
        members_.push_back({key, literal, Member::Type::literal});
      }
    }
  }

  Scanner in_;
  std::vector<Member> members_;
  std::deque<std::string> dotted_;  ///< keys that the text does not hold as they are
};

const Member* find(const std::vector<Member>& members, std::string_view key) {
  for (const Member& member : members)
    if (member.key == key) return &member;
  return nullptr;
}

template <std::size_t N>
const Member* find_first(const std::vector<Member>& members,
                         const std::array<std::string_view, N>& keys) {
  for (const std::string_view key : keys)
    if (const Member* member = find(members, key)) return member;
  return nullptr;
}

/// journald writes a MESSAGE that is no UTF-8 as an array of byte values.
std::string bytes_of(std::string_view array) {
  std::string out;
  Scanner in{array};
  while (!in.at_end()) {
    if (const auto value = in.number()) {
      if (*value < 256) out += static_cast<char>(*value);
    } else {
      ++in.at;
    }
  }
  return out;
}

std::string value_of(const Member& member) {
  if (member.type == Member::Type::string) return decode_string(member.value);
  if (member.type == Member::Type::array) return bytes_of(member.value);
  return std::string(member.value);
}

std::string value_of(const std::vector<Member>& members, std::string_view key) {
  const Member* member = find(members, key);
  return member == nullptr || member->type == Member::Type::array ? std::string()
                                                                  : value_of(*member);
}

constexpr std::array<std::string_view, 12> k_time_keys{"_SOURCE_REALTIME_TIMESTAMP",
                                                       "__REALTIME_TIMESTAMP",
                                                       "time",
                                                       "ts",
                                                       "timestamp",
                                                       "@timestamp",
                                                       "asctime",
                                                       "datetime",
                                                       "eventTime",
                                                       "t",
                                                       "start_time",
                                                       "date"};
constexpr std::array<std::string_view, 4> k_level_keys{"level", "severity", "lvl", "levelname"};
// A carrier's message is the whole line that a program printed.
constexpr std::array<std::string_view, 5> k_carrier_keys{"MESSAGE", "log", "textPayload", "line",
                                                         "jsonPayload.MESSAGE"};
// A structured logger's message has fields beside it.
constexpr std::array<std::string_view, 6> k_message_keys{
    "msg", "message", "fields.message", "jsonPayload.message", "jsonPayload.msg", "event"};

bool is_frame_key(std::string_view key) {
  for (const std::string_view known : k_time_keys)
    if (key == known) return true;
  for (const std::string_view known : k_level_keys)
    if (key == known) return true;
  return key == "stream" || key == "caller" || key == "filename" || key == "lineno";
}

/// ` key=value`, quoted as Go's logfmt writers do.
void append_field(std::string& text, std::string_view key, std::string_view value) {
  if (base::contains(key, ".") && key.substr(0, 7) == "fields.") key.remove_prefix(7);
  text += ' ';
  text += key;
  text += '=';
  const bool plain = std::none_of(value.begin(), value.end(), [](char c) {
    return c == ' ' || c == '=' || c == '"' || c == '\n' || c == '\t';
  });
  if (plain && !value.empty()) {
    text += value;
    return;
  }
  text += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  text += '"';
}

void read_place(const std::vector<Member>& members, LinePrefix& prefix) {
  const auto fill = [&members](std::string& part, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
      if (part.empty()) part = value_of(members, key);
  };
  fill(prefix.place.node,
       {"_HOSTNAME", "jsonPayload._HOSTNAME", "kubernetes.host", "kubernetes.node_name",
        "kubernetes.node.name", "resource.labels.node_name", "labels.node_name"});
  fill(prefix.place.pod,
       {"kubernetes.pod_name", "kubernetes.pod.name", "resource.labels.pod_name", "labels.pod"});
  fill(prefix.place.name_space, {"kubernetes.namespace_name", "kubernetes.namespace",
                                 "resource.labels.namespace_name", "labels.namespace"});
  fill(prefix.place.container,
       {"kubernetes.container_name", "kubernetes.container.name", "resource.labels.container_name",
        "labels.container", "CONTAINER_NAME"});
  fill(prefix.place.pid, {"_PID", "SYSLOG_PID"});
  fill(prefix.program, {"SYSLOG_IDENTIFIER", "_COMM"});
  prefix.host = prefix.place.node;
}

std::string_view priority_level(std::string_view priority) {
  if (priority.size() != 1) return {};
  static constexpr std::array<std::string_view, 8> names{
      "critical", "critical", "critical", "error", "warning", "info", "info", "debug"};
  return priority[0] >= '0' && priority[0] <= '7'
             ? names.at(static_cast<std::size_t>(priority[0] - '0'))
             : std::string_view();
}

/// Takes what the message's own prefix says beside what the object says.
void merge_inner(JsonLine& out, evidence::Kind kind) {
  LinePrefix inner = read_prefix(out.text, kind);
  out.prefix.message = inner.message;
  if (inner.stamp && (!out.prefix.stamp || trust_of(*inner.stamp) > trust_of(*out.prefix.stamp)))
    out.prefix.stamp = inner.stamp;
  // The inner prefix is nearer to the process: its pid and rank are those the line speaks of.
  inner.place.fill_from(out.prefix.place);
  out.prefix.place = std::move(inner.place);
  if (!inner.level.empty()) out.prefix.level = std::move(inner.level);
  if (!inner.program.empty()) out.prefix.program = std::move(inner.program);
  if (!inner.host.empty()) out.prefix.host = std::move(inner.host);
}

/// The object of a line, perhaps behind a collector's stamp, which then stands in `prefix`; empty
/// when there is none.
std::string_view object_of(std::string_view line, evidence::Kind kind, LinePrefix& prefix) {
  std::string_view object = base::trim(line);
  if (object.substr(0, 1) != "{") {
    prefix = read_prefix(line, kind);
    object = line.substr(std::min(prefix.message, line.size()));
  }
  return object.substr(0, 1) == "{" ? object : std::string_view();
}

/// The message with its fields; false when the object holds none.
bool read_text(const std::vector<Member>& members, std::string& text) {
  const Member* message = find_first(members, k_carrier_keys);
  const bool carrier = message != nullptr;
  if (!carrier) message = find_first(members, k_message_keys);
  if (message == nullptr || (message->type == Member::Type::literal && message->value == "null"))
    return false;
  text = value_of(*message);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (carrier) return true;
  for (const Member& member : members) {
    if (&member == message || is_frame_key(member.key) || member.type == Member::Type::array)
      continue;
    append_field(text, member.key,
                 base::shorten(member.type == Member::Type::string
                                   ? decode_string(member.value.substr(0, 2 * k_max_value))
                                   : std::string(member.value),
                               k_max_value));
  }
  return true;
}

}  // namespace

std::optional<std::string> decode_json_text(std::string_view line, evidence::Kind kind) {
  LinePrefix prefix;
  MemberReader reader(object_of(line, kind, prefix));
  std::string text;
  if (!read_text(reader.read(), text)) return std::nullopt;
  return text;
}

std::optional<JsonLine> decode_json_line(std::string_view line, evidence::Kind kind) {
  JsonLine out;
  MemberReader reader(object_of(line, kind, out.prefix));
  const std::vector<Member>& members = reader.read();
  if (!read_text(members, out.text)) return std::nullopt;

  for (const std::string_view key : k_time_keys) {
    const Member* member = find(members, key);
    if (member == nullptr || member->type == Member::Type::array) continue;
    const auto stamp = parse_any_stamp(member->value);
    if (!stamp) continue;
    if (!out.prefix.stamp || trust_of(*stamp) > trust_of(*out.prefix.stamp))
      out.prefix.stamp = stamp;
    break;
  }
  if (const Member* level = find_first(members, k_level_keys))
    out.prefix.level = level_name(level->value);
  if (out.prefix.level.empty()) out.prefix.level = priority_level(value_of(members, "PRIORITY"));
  read_place(members, out.prefix);
  merge_inner(out, kind);
  return out;
}

}  // namespace triage::analysis

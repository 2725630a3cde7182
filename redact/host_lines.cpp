// Lines of tables and of configurations that hold a secret or a user by their place alone.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/identifiers.hpp"
#include "redact/line_machine.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

constexpr int k_most_table_lines = 4000;
constexpr std::size_t k_longest_name = 64;

/// A key of WireGuard: 32 bytes in base64.
bool is_wireguard_key(std::string_view field) {
  return field.size() == 44 && field.back() == '=' &&
         std::all_of(field.begin(), field.end() - 1,
                     [](char c) { return is_alnum(c) || c == '+' || c == '/'; });
}

}  // namespace

/// `wg show all dump`: tabs, the private key of an interface before its public one, the preshared
/// key of a peer behind its public one.
bool LineMachine::wireguard_dump(std::string_view line, Edits& out) {
  std::array<std::string_view, 10> fields{};
  std::size_t count = 0;
  for (std::size_t at = 0; at <= line.size(); ++count) {
    const std::size_t end = std::min(line.find('\t', at), line.size());
    if (count == fields.size()) return false;
    fields[count] = line.substr(at, end - at);
    at = end + 1;
  }
  const bool interface = count == 4 || count == 5;
  if (!interface && count != 8 && count != 9) return false;
  const std::size_t first = count == 5 || count == 9 ? 1 : 0;
  if (!is_wireguard_key(fields[first]) ||
      (fields[first + 1] != "(none)" && !is_wireguard_key(fields[first + 1])))
    return false;
  const std::string_view secret = fields[interface ? first : first + 1];
  if (!is_wireguard_key(secret)) return false;
  const auto begin = static_cast<std::size_t>(secret.data() - line.data());
  mask_rest(line, begin, begin + secret.size(), What::private_key, out);
  return interface;
}

/// `db_password         x` of a table with two columns: its head says so, or the value looks
/// generated.
bool LineMachine::column_pair(std::string_view line, std::size_t key, std::size_t key_end,
                              Edits& out) {
  std::size_t at = key_end;
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  std::size_t end = line.size();
  while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\r')) --end;
  const std::string_view value = line.substr(at, end - at);
  if (value.size() < 6 || value.find_first_of(" \t[]{}\"'<>") != std::string_view::npos)
    return false;
  const KeyClass found = env_.keys.classify(line.substr(key, key_end - key));
  if (found.kind != KeyKind::secret && found.kind != KeyKind::token &&
      found.kind != KeyKind::if_random)
    return false;
  Scanner scanner(env_, state_, line, out, depth_, true);
  if (!scanner.is_secret_value(found, value) || base::contains(value, "://")) return false;
  if (!value_table_ && !looks_random(value, 10) && !(is_distinctive(value) && is_uuid(value)))
    return false;
  scanner.mask(at, end, found.what, value);
  return true;
}

/// Lines that begin with a word and no sign behind it. True when nothing else is to be looked for.
bool LineMachine::placed(std::string_view line, std::size_t begin, std::size_t end, Edits& out) {
  if (user_column_ != 0) column_user(line, out);
  if (end + 1 >= line.size()) return false;
  constexpr std::size_t k_key = 44;
  if (line.size() > 2 * k_key && (line[end] == '\t' || line[k_key] == '\t') &&
      wireguard_dump(line, out))
    return true;
  const bool columns =
      (line[end] == ' ' || line[end] == '\t') && (line[end + 1] == ' ' || line[end + 1] == '\t');
  if (!columns && line[end] != ' ') return false;
  const char first = line[begin];
  if (first == 'H' &&
      (line.substr(begin).starts_with("Host ") || line.substr(begin).starts_with("HostName ")))
    ssh_host_ = true;
  if (first == 'K' || first == 'U' || first == 'I') {
    if (line.substr(begin).starts_with("User ")) return named_user(line, begin, out);
    table_head(line);
  }
  return columns && column_pair(line, begin, end, out);
}

/// Heads of tables: `Key   Value`, `USER  PID ...`, `ID  Name   Callin ...`.
void LineMachine::table_head(std::string_view line) {
  const std::string_view text = base::trim(line);
  if (text.starts_with("Key ") && base::trim(text.substr(4)) == "Value") {
    value_table_ = true;
    return;
  }
  if (text.starts_with("USER ") && base::trim(text.substr(5)).starts_with("PID"))
    user_column_ = 1;
  else if (text.starts_with("ID ") && base::trim(text.substr(3)).starts_with("Name"))
    user_column_ = 2;
  else
    return;
  table_lines_ = k_most_table_lines;
}

/// The user of a line below such a head.
void LineMachine::column_user(std::string_view line, Edits& out) {
  if (--table_lines_ <= 0) {
    user_column_ = 0;
    return;
  }
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  std::array<std::size_t, 4> edges{};  // of the first two words
  std::size_t at = 0;
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    while (at < line.size() && blank(line[at]) == (edge % 2 == 0)) ++at;
    edges[edge] = at;
  }
  const bool first = user_column_ == 1;
  const std::string_view number = first ? line.substr(edges[2], edges[3] - edges[2])
                                        : line.substr(edges[0], edges[1] - edges[0]);
  if (number.empty() || !std::all_of(number.begin(), number.end(), is_digit)) {
    user_column_ = 0;  // the table ended
    return;
  }
  at = first ? edges[0] : edges[2];
  const std::size_t end = first ? edges[1] : edges[3];
  if (end < line.size() && is_dotted_user(line.substr(at, end - at)))
    Scanner(env_, state_, line, out, depth_, true)
        .mask(at, end, What::user, line.substr(at, end - at));
}

/// `  User ada` below `Host` in ssh_config. Programs begin sentences so.
bool LineMachine::named_user(std::string_view line, std::size_t begin, Edits& out) {
  std::size_t at = begin + 5;
  while (at < line.size() && line[at] == ' ') ++at;
  std::size_t end = line.size();
  while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\r')) --end;
  const std::string_view name = line.substr(at, end - at);
  if (!ssh_host_ && !is_dotted_user(name)) return false;
  if (name.empty() || name.size() > k_longest_name || is_service_account(name) ||
      !std::all_of(name.begin(), name.end(), [](char c) {
        return is_alnum(c) || is_high(c) || c == '.' || c == '-' || c == '_';
      }))
    return false;
  Scanner(env_, state_, line, out, depth_, true).mask(at, end, What::user, name);
  return true;
}

/// `  - name: ada.lovelace`, `    gecos: Ada Lovelace` under `users:` of cloud-init. Users of a
/// kubeconfig have names too, but those of machines have no dot.
bool LineMachine::listed_user(std::string_view key, std::string_view value) const {
  if (levels_.empty() || levels_.back().section != Section::users) return false;
  return (key == "name" && is_dotted_user(value)) ||
         (key == "gecos" && !value.empty() && !is_service_account(value) && !is_masked(value));
}

/// `read -r SYS <<'EOT'`, `PROMPT=$(cat <<EOF`, `cat > system_prompt.txt <<EOF`: the lines up to
/// the mark are what a model is told.
void LineMachine::here_document(std::string_view line) {
  const auto sign = line.rfind("<<");
  if (sign == std::string_view::npos || sign == 0 || line.substr(sign).starts_with("<<<")) return;
  const std::string_view mark = base::trim(line.substr(sign + 2));
  if (mark.empty() || mark.size() > 32) return;
  const std::string before = base::to_lower(line.substr(sign > 256 ? sign - 256 : 0, sign));
  const std::string behind = base::to_lower(mark);
  const bool variable = base::contains(before, "read ") || base::contains(before, "cat ") ||
                        base::contains(before, "=$(");
  // `SYS`, `system_prompt`: of a variable, or of a file that says `prompt`.
  static constexpr std::array<std::string_view, 5> k_names{"prompt", "question", "persona", "sys",
                                                           "system"};
  const auto named = [&](std::string_view name) {
    const bool long_enough = name[0] != 's';
    for (auto at = before.find(name); at != std::string::npos; at = before.find(name, at + 1)) {
      const char first = at > 0 ? before[at - 1] : ' ';
      const char behind_name = at + name.size() < before.size() ? before[at + name.size()] : ' ';
      if (long_enough ? !is_alpha(first) && !is_alpha(behind_name) && behind_name != '/'
                      : (first == ' ' && (behind_name == ' ' || behind_name == '=')))
        return true;
    }
    return false;
  };
  const bool file = base::contains(behind, "prompt");
  if (!file && (!variable || !std::any_of(k_names.begin(), k_names.end(), named))) return;
  announce(What::prompt);
  block_.here_document = true;
}

}  // namespace triage::redact

#include "redact/object_kind.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "redact/chars.hpp"

namespace triage::redact {
namespace {

std::size_t first_not_blank(std::string_view line) {
  std::size_t at = behind_spaces(line, 0);
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  return at;
}

ObjectKind kind_named(std::string_view value) {
  value = base::trim(value);
  if (value.ends_with(',')) value.remove_suffix(1);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\''))
    value = value.substr(1, value.size() - 2);
  return value == "Secret" ? ObjectKind::secret : ObjectKind::other;
}

/// `key:` or `key: value`, also in quotes.
bool is_yaml_key(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         (colon + 1 == text.size() || text[colon + 1] == ' ') &&
         text.substr(0, colon).find(' ') == std::string_view::npos;
}

}  // namespace

DataKey find_data_key(std::string_view line) {
  constexpr std::size_t k_farthest = 64;
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  if (line.size() < 5) return {};
  const bool json = line.back() == '{';
  if (line.back() != ':' && !json) return {};
  std::size_t at = first_not_blank(line);
  if (at > k_farthest) return {};
  if (json) {
    const std::string_view text = line.substr(at);
    const bool data = text == "\"data\": {" || text == "\"data\":{";
    return data ? DataKey{true, true, at} : DataKey{};
  }
  while (line.substr(at).starts_with("- ")) at += 2 + first_not_blank(line.substr(at + 2));
  return line.substr(at) == "data:" ? DataKey{true, false, at} : DataKey{};
}

bool KindAhead::line(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  const std::size_t at = first_not_blank(line);
  if (at >= line.size() || at > data_.indent) return false;
  if (at < data_.indent) return true;
  const std::string_view text = line.substr(at);
  if (data_.json) {
    if (!text.starts_with("\"kind\"")) return text.front() != '"' && text.front() != '}';
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return true;
    kind_ = kind_named(text.substr(colon + 1));
    return true;
  }
  if (text.starts_with("kind: ")) {
    kind_ = kind_named(text.substr(6));
    return true;
  }
  // A list may stand as far left as its key.
  if (text.front() == '#' || text.starts_with("- ") || text == "-") return false;
  return !is_yaml_key(text);
}

ObjectKind kind_behind(const DataKey& data, std::string_view text, std::size_t most) {
  KindAhead ahead(data);
  text = text.substr(0, most);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (ahead.line(text.substr(at, end - at))) break;
    at = end + 1;
  }
  return ahead.kind();
}

}  // namespace triage::redact

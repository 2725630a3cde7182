#include "report/markers.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/digest.hpp"
#include "base/text.hpp"

namespace triage::report {
namespace {

constexpr std::string_view k_begin = "<!-- triage:begin ";
constexpr std::string_view k_end = "<!-- triage:end ";
constexpr std::string_view k_list = "<!-- triage:sections ";
constexpr std::string_view k_close = " -->";

/// Line ends and blanks at line ends are an editor's business, not an edit.
std::string digest_of(std::string_view body) {
  std::string plain;
  for (const std::string_view line : base::split_lines(body)) {
    const auto last = line.find_last_not_of(" \t");
    plain += line.substr(0, last == std::string_view::npos ? 0 : last + 1);
    plain += '\n';
  }
  return base::to_hex(base::sha256(base::trim(plain))).substr(0, 12);
}

/// The words of a marker line of one kind; nothing for any other line.
std::optional<std::vector<std::string>> marker(std::string_view line, std::string_view kind) {
  line = base::trim(line);
  if (!line.starts_with(kind) || !line.ends_with(k_close) ||
      line.size() < kind.size() + k_close.size())
    return std::nullopt;
  std::vector<std::string> words;
  for (const auto word :
       base::split_blanks(line.substr(kind.size(), line.size() - kind.size() - k_close.size())))
    words.emplace_back(word);
  return words;
}

struct Part {
  std::string id;      ///< empty: a person's text
  std::string digest;  ///< of the body when it was written
  std::string text;    ///< with its markers, when a block
  std::string body;
};

std::vector<Part> parts_of(const std::string& text) {
  std::vector<Part> parts(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    if (parts.back().id.empty()) {
      const auto begins = marker(line, k_begin);
      if (begins && !begins->empty()) {
        Part block;
        block.id = begins->at(0);
        block.digest = begins->size() > 1 ? begins->at(1) : "";
        parts.push_back(std::move(block));
      }
      parts.back().text += line;
      continue;
    }
    Part& block = parts.back();
    block.text += line;
    const auto ends = marker(line, k_end);
    if (ends && ends->size() == 1 && ends->at(0) == block.id)
      parts.emplace_back();
    else
      block.body += line;
  }
  // A block that never ends is a person's text: its end marker was taken out.
  if (!parts.back().id.empty()) parts.back().id.clear();
  return parts;
}

/// At the end of the document; of an HTML one, inside its body.
void append(std::string& text, const std::string& block) {
  const auto main_ends = text.rfind("</main>");
  if (main_ends != std::string::npos) {
    text.insert(main_ends, block);
    return;
  }
  if (!text.ends_with('\n')) text += '\n';
  text += "\n" + block;
}

std::vector<std::string> listed_in(const std::string& text) {
  for (const std::string_view line : base::split_lines(text))
    if (auto ids = marker(line, k_list)) return std::move(*ids);
  return {};
}

}  // namespace

std::string marked_block(std::string_view id, std::string body) {
  // Log text that looks like a marker must not end the block.
  body = base::replace_all(std::move(body), "<!-- triage:", "<!- - triage:");
  if (!body.empty() && body.back() != '\n') body += '\n';
  return std::string(k_begin) + std::string(id) + " " + digest_of(body) + std::string(k_close) +
         "\n" + body + std::string(k_end) + std::string(id) + std::string(k_close) + "\n";
}

std::string marker_list(const std::vector<std::string>& ids) {
  return std::string(k_list) + base::join(ids, " ") + std::string(k_close) + "\n";
}

Merged merge_documents(const std::string& old_text, const std::string& fresh_text) {
  Merged merged;
  std::map<std::string, Part> fresh;
  std::vector<std::string> order;
  for (Part& part : parts_of(fresh_text)) {
    if (part.id.empty()) continue;
    order.push_back(part.id);
    fresh[part.id] = std::move(part);
  }
  const auto old_parts = parts_of(old_text);
  std::vector<std::string> present;
  for (const Part& part : old_parts) {
    const auto found = fresh.find(part.id);
    if (part.id.empty() || found == fresh.end()) {
      merged.text += part.text;
      continue;
    }
    present.push_back(part.id);
    const bool untouched = digest_of(part.body) == part.digest;
    merged.text += untouched ? found->second.text : part.text;
    if (!untouched) merged.edited.push_back(part.id);
  }
  if (present.empty()) return {};
  const auto listed = listed_in(old_text);
  for (const std::string& id : order) {
    if (std::find(present.begin(), present.end(), id) != present.end()) continue;
    if (std::find(listed.begin(), listed.end(), id) != listed.end()) {
      merged.removed.push_back(id);
      continue;
    }
    append(merged.text, fresh[id].text);
    merged.added.push_back(id);
  }
  return merged;
}

}  // namespace triage::report

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "collectors/http.hpp"

namespace triage::collectors {
namespace {

/// What stands between the quotes that begin at `quote`, as Go and JSON write it.
std::string quoted(std::string_view text, std::size_t quote) {
  std::size_t end = quote + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::string(text.substr(quote + 1));
  const auto read = nlohmann::json::parse(text.substr(quote, end + 1 - quote), nullptr, false);
  return read.is_string() ? read.get<std::string>()
                          : std::string(text.substr(quote + 1, end - quote - 1));
}

/// A line of a log without what the logger wrote before it (`I1130 ... round_trippers.go:581] `).
std::string_view message_of(std::string_view line) {
  const auto end = line.find("] ");
  return end == std::string_view::npos ? std::string_view() : line.substr(end + 2);
}

}  // namespace

HttpHead read_http_head(std::string_view log, std::string& body) {
  HttpHead head;
  bool in_fields = false;
  for (const auto line : base::split_lines(log)) {
    const std::string_view message = message_of(line);
    // kubectl up to 1.32: `Response Status: 503 Service Unavailable in 6 milliseconds`, then a
    // header a line; later: `"Response" ... status="503 Service Unavailable" headers=<`.
    constexpr std::string_view k_status = "Response Status: ";
    constexpr std::string_view k_later = " status=\"";
    constexpr std::string_view k_body = "\"Response Body\" body=\"";
    constexpr std::string_view k_old_body = "Response Body: ";
    if (message.starts_with(k_status)) {
      const auto words = message.substr(k_status.size());
      head.status = "HTTP " + std::string(words.substr(0, words.rfind(" in ")));
    } else if (const auto at = message.find(k_later);
               message.starts_with("\"Response\"") && at != std::string_view::npos) {
      head.status = "HTTP " + quoted(message, at + k_later.size() - 1);
      in_fields = message.ends_with("headers=<");
    } else if (message.starts_with("Response Headers:")) {
      in_fields = true;
    } else if (message.starts_with(k_body)) {
      in_fields = false;
      if (body.empty()) body = quoted(message, k_body.size() - 1);
    } else if (message.starts_with(k_old_body)) {
      in_fields = false;
      if (body.empty()) body = message.substr(k_old_body.size());
    } else if (in_fields) {
      const auto field = base::trim(message.empty() ? line : message);
      if (field.find(": ") == std::string_view::npos) {
        in_fields = false;
      } else {
        head.fields.append(field).push_back('\n');
      }
    }
  }
  return head;
}

}  // namespace triage::collectors

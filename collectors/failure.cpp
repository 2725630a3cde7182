#include "collectors/failure.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace triage::collectors {
namespace {

using Ended = base::Ended;

/// The line that says why kubectl failed. What its libraries log (`E1130 08:02:21 ... memcache.go`:
/// an aggregated API that is down, say) stands before it and is seldom the reason.
std::string telling_line(std::string_view text) {
  const auto is_log = [](std::string_view line) {
    constexpr std::size_t k_prefix = 5;
    return line.size() > k_prefix && std::string_view("IWEF").find(line[0]) != std::string::npos &&
           std::all_of(line.begin() + 1, line.begin() + k_prefix,
                       [](char c) { return c >= '0' && c <= '9'; }) &&
           line[k_prefix] == ' ';
  };
  std::string_view other;
  for (const auto line : base::split_lines(text)) {
    const auto words = base::trim(line);
    if (words.empty() || is_log(words)) continue;
    if (words.starts_with("Error from server") || words.starts_with("error: "))
      return base::shorten(words, 300);
    if (other.empty()) other = words;
  }
  return other.empty() ? first_line(text) : base::shorten(other, 300);
}

}  // namespace

std::string first_line(std::string_view text) {
  for (const auto line : base::split_lines(text))
    if (!base::trim(line).empty()) return base::shorten(base::trim(line), 300);
  return {};
}

bool says_nothing(std::string_view output, const std::vector<std::string>& absent) {
  output = base::trim(output);
  return !output.empty() && std::any_of(absent.begin(), absent.end(), [&](const auto& words) {
    return base::icontains(output, words);
  });
}

Failure read_failure(const Ended& ended, const std::vector<std::string>& absent) {
  const std::string said = telling_line(ended.error_text);
  const auto has = [&](std::string_view words) { return base::icontains(ended.error_text, words); };
  switch (ended.how) {
    case Ended::How::not_found:
      return {"missing", "the program is not installed"};
    case Ended::How::not_started:
      return {"error", "could not be started: " + said};
    case Ended::How::timed_out:
      return {"timeout", "did not end in time and was killed"};
    case Ended::How::unkillable:
      return {"timeout", "hangs inside the kernel and cannot be killed; it was left alone"};
    case Ended::How::cancelled:
      return {"skipped", "interrupted"};
    case Ended::How::stopped:
      return {"ok", ""};
    case Ended::How::signalled:
      return {"error",
              "died of signal " + std::to_string(ended.signal) + (said.empty() ? "" : ": " + said)};
    case Ended::How::exited:
      break;
  }
  if (ended.exit_code == 0) return {"ok", ""};
  for (const auto& words : absent)
    if (has(words)) return {"missing", said};
  if (has("(Forbidden)") || has("(Unauthorized)") || has("You must be logged in") ||
      has("permission denied") || has("Operation not permitted") || has("are you root") ||
      has("not permitted to read"))
    return {"denied", said};
  if (has("executable file not found"))
    return {"missing", "the program is not in the container that was entered"};
  if (has("(NotFound)") || has("command not found") || has("No such file or directory") ||
      ended.exit_code == 127)
    return {"missing", said};
  if (has("i/o timeout") || has("context deadline exceeded") || has("Client.Timeout exceeded") ||
      has("the server was unable to return a response in the time allotted"))
    return {"timeout", said};
  return {"error", said.empty() ? "exit code " + std::to_string(ended.exit_code) : said};
}

}  // namespace triage::collectors

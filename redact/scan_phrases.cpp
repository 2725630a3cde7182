// What the words before a text say of it: scores of passages, output that could not be read,
// who has logged in.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/identifiers.hpp"
#include "redact/scanner.hpp"
#include "redact/values.hpp"
#include "redact/wording.hpp"

namespace triage::redact {
namespace {

/// Where the bracket or brace at the start of `text` is closed; 0 when it is not.
std::size_t closed_at(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return 0;
}

}  // namespace

/// A passage that a search found, behind its score: `> [Node 17] [Similarity score: 0.804] The
/// ...`. Where it ended, or `close` + 1.
std::size_t Scanner::on_scored_text(std::size_t close, std::size_t end) {
  constexpr std::size_t k_farthest = 64;
  const std::size_t from = close > k_farthest ? close - k_farthest : 0;
  const std::size_t open = part(from, close).rfind('[');
  if (open == std::string_view::npos) return close + 1;
  const std::string_view inside = part(from + open + 1, close);
  static constexpr std::array<std::string_view, 4> k_measures{"score", "similarity", "relevance",
                                                              "distance"};
  // A number follows its name, as it does not in `[serving_score.py:131]`.
  const auto number = inside.find_last_not_of("0123456789.");
  if (number == std::string_view::npos ||
      std::string_view(" :=").find(inside[number]) == std::string_view::npos)
    return close + 1;
  const auto name = inside.find_last_not_of(" :=", number);
  if (name == std::string_view::npos) return close + 1;
  const std::string_view before = inside.substr(0, name + 1);
  const bool score =
      std::any_of(k_measures.begin(), k_measures.end(), [&](std::string_view measure) {
        return before.size() >= measure.size() &&
               iequals(before.substr(before.size() - measure.size()), measure);
      });
  if (!score || !env_.spend(end - close)) return close + 1;
  const std::size_t at = skip_blanks(close + 1, end);
  const std::string_view text = part(at, end);
  // Schedulers and routers have scores too.
  const bool search = base::icontains(inside, "similarity") || base::icontains(inside, "relevance");
  if (!is_prose(text, 4) || is_technical(text) ||
      reads_as_report(text, search ? Doubt::content : Doubt::report))
    return close + 1;
  mask(at, end, What::document, text);
  return end;
}

/// What a model wrote and the engine could not read: `Failed to parse JSON part: {"city": Ulm, the
/// address ..., error: Expecting value`. Where it ended, or `at`, a bracket behind a colon.
std::size_t Scanner::on_unreadable_output(std::size_t at, std::size_t end) {
  constexpr std::size_t k_lead = 64;
  const std::string_view before = part(at > k_lead ? at - k_lead : 0, at);
  static constexpr std::array<std::string_view, 5> k_failures{"pars", "decod", "nvalid json",
                                                              "alformed", "not valid json"};
  const auto said = [&](std::string_view words) { return base::icontains(before, words); };
  if (std::none_of(k_failures.begin(), k_failures.end(), said)) return at;
  std::string_view text = part(at, end);
  static constexpr std::array<std::string_view, 9> k_reasons{
      ", error: ",    ", JSON parse error", " Error: ", ", err: ", "; error",
      ": Expecting ", ": invalid ",         " error=",  ": line "};
  for (const std::string_view reason : k_reasons) text = text.substr(0, text.find(reason));
  if (!env_.spend(text.size())) return at;
  // What can be read says itself what it is.
  const std::size_t close = closed_at(text);
  if (close > 0 &&
      (text.find('"') == std::string_view::npos || nlohmann::json::accept(text.substr(0, close))))
    return at;
  static constexpr std::array<std::string_view, 9> k_of_models{
      "json part",  "tool",       "function call",     "llm output", "model output",
      "completion", "generation", "structured output", "arguments"};
  const bool of_model = std::any_of(k_of_models.begin(), k_of_models.end(), said);
  if (!is_prose(text, of_model ? 3 : 5) || is_technical(text) ||
      reads_as_report(text, of_model ? Doubt::content : Doubt::report))
    return at;
  mask(at, at + text.size(), What::output, text);
  return at + text.size();
}

/// `Currently logged in as: ada (team)`, `Logged in to git.example.org account ada (keyring)`. The
/// words between are read as others are: always 0.
std::size_t Scanner::on_logged_in(std::size_t word_end, std::size_t end) {
  constexpr std::size_t k_farthest = 120;
  const std::size_t most = std::min(end, word_end + k_farthest);
  const std::string_view rest = part(word_end, most);
  std::size_t at = 0;
  if (rest.starts_with(" in as ")) {
    at = 7;
  } else if (rest.starts_with(" in as: ")) {
    at = 8;
  } else if (rest.starts_with(" in to ")) {
    const std::size_t host_end = rest.find(' ', 7);
    if (host_end == std::string_view::npos) return 0;
    const std::string_view behind = rest.substr(host_end);
    at = behind.starts_with(" account ") ? host_end + 9
         : behind.starts_with(" as ")    ? host_end + 4
                                         : 0;
  }
  if (at == 0) return 0;
  const std::size_t first = word_end + at;
  std::size_t stop = first;
  while (stop < end && (is_alnum(text_[stop]) || is_high(text_[stop]) || text_[stop] == '.' ||
                        text_[stop] == '_' || text_[stop] == '-'))
    ++stop;
  if (stop < end && text_[stop] == '@') return 0;  // an address, which is found by its form
  while (stop > first && text_[stop - 1] == '.') --stop;
  const std::string_view name = part(first, stop);
  if (is_service_account(name) || is_one_of(name, {"an", "the", "user", "another", "different"}))
    return 0;
  mask(first, stop, What::user, name);
  return 0;
}

}  // namespace triage::redact

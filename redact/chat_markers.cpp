#include "redact/chat_markers.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

// ChatML, Llama 3 and 4, Gemma, Mistral, Phi, Zephyr, DeepSeek (full-width bars), Harmony, Kimi,
// Command, Granite, EXAONE, and the thoughts of reasoning models.
constexpr std::array<std::string_view, 33> k_starts{
    "<|im_start|>",
    "<|start_header_id|>",
    "<|header_start|>",
    "<start_of_turn>",
    "[INST]",
    "<think>",
    "<|user|>",
    "<|assistant|>",
    "<|system|>",
    "<|observation|>",
    "<<SYS>>",
    "<\xEF\xBD\x9CUser\xEF\xBD\x9C>",
    "<\xEF\xBD\x9C"
    "Assistant\xEF\xBD\x9C>",
    "[SYSTEM_PROMPT]",
    "[|user|]",
    "[|assistant|]",
    "[|system|]",
    "<|start|>",
    "<|message|>",
    "<|im_user|>",
    "<|im_system|>",
    "<|im_assistant|>",
    "<|im_middle|>",
    "<|START_OF_TURN_TOKEN|>",
    "<|USER_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    "<|SYSTEM_TOKEN|>",
    "<|start_of_role|>",
    "<|end_of_role|>",
    "<reserved_106>",
    "<reserved_107>",
    "<|begin_of_text|>",
    "<bos><start_of_turn>",
};

constexpr std::array<std::string_view, 17> k_ends{
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|end|>",
    "<end_of_turn>",
    "[/INST]",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</think>",
    "<|return|>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
    "[/SYSTEM_PROMPT]",
    "<|END_OF_TURN_TOKEN|>",
    "[|endofturn|]",
    "<|user_end|>",
    "</s>",
};

template <std::size_t N>
constexpr bool are_closed(const std::array<std::string_view, N>& marks) {
  return std::all_of(marks.begin(), marks.end(), [](std::string_view mark) {
    return mark.size() >= 4 && (mark.back() == '>' || mark.back() == ']');
  });
}
static_assert(are_closed(k_starts) && are_closed(k_ends));

/// Where the last of the marks ends, 0 when there is none. From the back, bracket by bracket: a
/// line may hold thousands.
template <std::size_t N>
std::size_t end_of_last(std::string_view text, const std::array<std::string_view, N>& marks) {
  for (std::size_t end = text.size(); end >= 4; --end) {
    const char c = text[end - 1];
    if (c != '>' && c != ']') continue;
    const std::string_view before = text.substr(0, end);
    const char inner = text[end - 2];
    for (const std::string_view mark : marks)
      if (mark[mark.size() - 2] == inner && before.ends_with(mark)) return end;
  }
  return 0;
}

}  // namespace

bool begins_turn(std::string_view text) {
  // Any `<|name|>` of a vocabulary counts: new models bring new ones.
  if (text.starts_with("<|") || text.starts_with("<\xEF\xBD\x9C")) return true;
  if (text.size() < 6) return false;
  return std::any_of(k_starts.begin(), k_starts.end(), [&](std::string_view mark) {
    return mark[1] == text[1] && mark[2] == text[2] && text.starts_with(mark);
  });
}

std::size_t behind_last_turn(std::string_view text) {
  return end_of_last(text, k_ends);
}

std::size_t end_of_turn(std::string_view text, std::size_t from) {
  std::size_t close = text.size();
  for (const std::string_view mark : k_ends)
    close = std::min(close, text.substr(0, close).find(mark, from));
  return std::min(close, text.size());
}

bool leaves_turn_open(std::string_view text) {
  const std::size_t last = end_of_last(text, k_starts);
  if (last == 0) return false;
  std::string_view rest = text.substr(last);
  for (const std::string_view header : {"<|end_header_id|>", "<|header_end|>"})
    if (const auto found = rest.find(header); found != std::string_view::npos)
      rest.remove_prefix(found + header.size());
  rest = base::trim(rest);
  return rest.empty() || is_role(rest) || is_prose(rest, 3);
}

bool is_role(std::string_view word) {
  static constexpr std::array<std::string_view, 12> k_roles{
      "user", "assistant", "system", "tool",     "developer", "human",
      "ai",   "gpt",       "model",  "function", "bot",       "chatbot"};
  return is_one_of(word, k_roles);
}

}  // namespace triage::redact

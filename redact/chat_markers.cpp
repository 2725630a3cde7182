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

bool is_role(std::string_view word) {
  static constexpr std::array<std::string_view, 6> k_roles{"user",  "system", "assistant",
                                                           "model", "tool",   "developer"};
  return std::any_of(k_roles.begin(), k_roles.end(),
                     [&](std::string_view role) { return iequals(role, word); });
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
  std::size_t last = 0;
  for (const std::string_view mark : k_ends) {
    const auto found = text.rfind(mark);
    if (found != std::string_view::npos) last = std::max(last, found + mark.size());
  }
  return last;
}

std::size_t end_of_turn(std::string_view text, std::size_t from) {
  std::size_t close = text.size();
  for (const std::string_view mark : k_ends)
    close = std::min(close, text.substr(0, close).find(mark, from));
  return std::min(close, text.size());
}

bool leaves_turn_open(std::string_view text) {
  std::size_t last = std::string_view::npos;
  for (const std::string_view mark : k_starts) {
    const auto found = text.rfind(mark);
    if (found != std::string_view::npos &&
        (last == std::string_view::npos || found + mark.size() > last))
      last = found + mark.size();
  }
  if (last == std::string_view::npos) return false;
  std::string_view rest = text.substr(last);
  for (const std::string_view header : {"<|end_header_id|>", "<|header_end|>"})
    if (const auto found = rest.find(header); found != std::string_view::npos)
      rest.remove_prefix(found + header.size());
  rest = base::trim(rest);
  return rest.empty() || is_role(rest) || is_prose(rest, 3);
}

}  // namespace triage::redact

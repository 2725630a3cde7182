#include "base/text.hpp"
#include "rules/loader.hpp"

namespace triage::rules {

std::string Diagnostic::to_string() const {
  std::string out = place.file;
  if (place.line > 0) out += ":" + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) out += ":" + std::to_string(place.column);
  out += level == Level::error ? ": error: " : ": warning: ";
  out += message + " [" + code + "]\n";
  if (!snippet.empty()) {
    // Long lines are shown around the column, so that the caret stays on a terminal line.
    constexpr std::size_t k_width = 100;
    std::size_t column = place.column > 0 ? place.column - 1 : 0;
    std::string_view shown = snippet;
    std::string_view cut;
    if (shown.size() > k_width && column > k_width / 2) {
      const std::size_t from = std::min(column - k_width / 2, shown.size());
      shown.remove_prefix(from);
      column = column - from + 3;
      cut = "...";
    }
    shown = shown.substr(0, k_width);
    out += "    " + std::string(cut) + base::to_valid_utf8(shown) + "\n";
    if (column <= k_width + 3) out += "    " + std::string(column, ' ') + "^\n";
  }
  if (!mend.empty()) out += "    mend: " + mend + "\n";
  return out;
}

}  // namespace triage::rules

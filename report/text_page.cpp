#include "report/text_page.hpp"

#include <algorithm>
#include <vector>

#include "report/display.hpp"

namespace triage::report {
namespace {

constexpr std::size_t k_label_indent = 2;
constexpr std::size_t k_text_indent = 11;
constexpr std::size_t k_quote_indent = 13;

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::none:
      return "";
    case Paint::fault:
      return "\x1b[1;31m";
    case Paint::sound:
      return "\x1b[1;32m";
    case Paint::unsure:
      return "\x1b[1;33m";
    case Paint::heading:
      return "\x1b[1m";
    case Paint::place:
      return "\x1b[36m";
    case Paint::dim:
      return "\x1b[2m";
  }
  return "";
}

std::size_t room(std::size_t width, std::size_t indent) {
  return std::max<std::size_t>(width, indent + 20) - indent;
}

}  // namespace

std::string TextPage::painted(std::string_view text, Paint paint) const {
  const std::string_view code = code_of(paint);
  if (options_.colour == TextOptions::Colour::off || code.empty()) return std::string(text);
  return std::string(code) + std::string(text) + "\x1b[0m";
}

void TextPage::blank_line() {
  if (!out_.empty()) out_ += '\n';
}

void TextPage::heading(std::string_view label, Paint paint, std::string_view rest) {
  const std::string shown = visible(label);
  out_ += painted(shown, paint);
  const std::size_t indent = display_width(shown) + 2;
  const auto lines = wrap(visible(rest), room(options_.width, indent));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out_ += i == 0 ? "  " : "\n" + std::string(indent, ' ');
    out_ += lines[i];
  }
  out_ += '\n';
}

void TextPage::row(std::string_view label, std::string_view text, Paint paint,
                   std::size_t max_lines) {
  std::string head = std::string(k_label_indent, ' ') + visible(label);
  const std::size_t used = display_width(head);
  head.append(used < k_text_indent ? k_text_indent - used : 1, ' ');
  const auto lines = wrap(visible(text), room(options_.width, k_text_indent), max_lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out_ += i == 0 ? head : std::string(k_text_indent, ' ');
    out_ += painted(lines[i], paint) + "\n";
  }
}

void TextPage::quote(std::string_view text, std::size_t max_lines) {
  for (const auto& line : wrap(visible(text), room(options_.width, k_quote_indent), max_lines))
    out_ += std::string(k_quote_indent, ' ') + line + "\n";
}

void TextPage::command(std::string_view text) {
  out_ += std::string(k_quote_indent, ' ') + "$ " + visible(text) + "\n";
}

void TextPage::command_row(std::string_view label, std::string_view text) {
  std::string head = std::string(k_label_indent, ' ') + visible(label);
  head.resize(std::max(head.size() + 1, k_text_indent), ' ');
  out_ += head + visible(text) + "\n";
}

void TextPage::headline(std::string_view label, Paint paint, std::string_view title,
                        std::string_view right) {
  const std::string head = visible(label) + "  " + visible(title);
  const std::string tail = visible(right);
  const std::size_t width = display_width(head) + 2 + display_width(tail);
  if (width <= options_.width) {
    out_ += painted(visible(label), paint) + "  " + painted(visible(title), Paint::heading);
    out_ += std::string(options_.width - width + 2, ' ') + painted(tail, Paint::dim) + "\n";
    return;
  }
  const std::size_t indent = display_width(visible(label)) + 2;
  const auto lines = wrap(visible(title), room(options_.width, indent));
  out_ += painted(visible(label), paint) + "  ";
  for (std::size_t i = 0; i < lines.size(); ++i)
    out_ += (i == 0 ? "" : std::string(indent, ' ')) + painted(lines[i], Paint::heading) + "\n";
  if (lines.empty()) out_ += "\n";
  row("cause", right);
}

}  // namespace triage::report

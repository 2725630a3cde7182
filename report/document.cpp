#include "report/document.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/html_page.hpp"

namespace triage::report {
namespace {

constexpr std::size_t k_text_limit = 4000;

/// Items of one list stand together; whatever comes next ends it.
class ListState {
 public:
  enum class In : std::uint8_t { nothing, items, tasks };
  /// True when this begins a list.
  bool enter(In wanted) {
    const bool begins = in_ != wanted;
    in_ = wanted;
    return begins;
  }
  [[nodiscard]] In in() const { return in_; }

 private:
  In in_ = In::nothing;
};

class MarkdownWriter final : public DocumentWriter {
 public:
  void paragraph(const Line& line) override {
    leave_list();
    out_ += inline_text(line, InTable::no) + "\n\n";
  }
  void subheading(std::string_view text) override {
    leave_list();
    out_ += "### " + markdown_text(text) + "\n\n";
  }
  void item(const Line& line) override {
    enter(ListState::In::items);
    out_ += "- " + inline_text(line, InTable::no) + "\n";
  }
  void task(const Line& line) override {
    enter(ListState::In::tasks);
    out_ += "- [ ] " + inline_text(line, InTable::no) + "\n";
  }
  void code(std::string_view text, std::string_view language) override {
    leave_list();
    out_ += markdown_fence(text, language) + "\n";
  }
  void table(const std::vector<std::string>& head,
             const std::vector<std::vector<Line>>& rows) override {
    leave_list();
    std::string rule;
    for (const auto& cell : head) {
      out_ += "| " + markdown_text(cell) + " ";
      rule += "|-";
    }
    out_ += "|\n" + rule + "|\n";
    for (const auto& row : rows) {
      for (const Line& cell : row) out_ += "| " + inline_text(cell, InTable::yes) + " ";
      out_ += "|\n";
    }
    out_ += "\n";
  }
  void fill_in(std::string_view question) override {
    leave_list();
    out_ += "**TO FILL IN:** " + markdown_text(question) + "\n\n";
  }
  std::string take() override {
    leave_list();
    return std::exchange(out_, {});
  }

 private:
  static std::string inline_text(const Line& line, InTable in_table) {
    std::string out;
    for (const Piece& piece : line) {
      const std::string text = visible(piece.text, k_text_limit);
      switch (piece.kind) {
        // Only the first piece can begin a block, but a backslash more does no harm.
        case Piece::Kind::prose:
          out += markdown_text(text);
          break;
        case Piece::Kind::code:
          out += markdown_code(text, in_table);
          break;
        case Piece::Kind::strong:
          if (!text.empty()) out += "**" + markdown_text(text) + "**";
          break;
      }
    }
    return out;
  }
  void enter(ListState::In wanted) {
    if (list_.in() != ListState::In::nothing && list_.in() != wanted) leave_list();
    list_.enter(wanted);
  }
  void leave_list() {
    if (list_.in() != ListState::In::nothing) out_ += "\n";
    list_.enter(ListState::In::nothing);
  }

  std::string out_;
  ListState list_;
};

class HtmlWriter final : public DocumentWriter {
 public:
  void paragraph(const Line& line) override { block("p", inline_text(line)); }
  void subheading(std::string_view text) override { block("h3", xml_text(text)); }
  void item(const Line& line) override {
    enter(ListState::In::items);
    out_ += "<li>" + inline_text(line) + "</li>\n";
  }
  void task(const Line& line) override {
    enter(ListState::In::tasks);
    out_ += "<li>☐ " + inline_text(line) + "</li>\n";
  }
  void code(std::string_view text, std::string_view) override {
    std::string lines;
    for (const std::string_view part : base::split_lines(text)) lines += xml_text(part) + "\n";
    block("pre", lines);
  }
  void table(const std::vector<std::string>& head,
             const std::vector<std::vector<Line>>& rows) override {
    enter(ListState::In::nothing);
    out_ += "<div class=\"scroll\"><table><thead><tr>";
    for (const auto& cell : head) out_ += html_element("th", cell);
    out_ += "</tr></thead><tbody>\n";
    for (const auto& row : rows) {
      out_ += "<tr>";
      for (const Line& cell : row) out_ += "<td>" + inline_text(cell) + "</td>";
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
  }
  void fill_in(std::string_view question) override {
    block("p", "<strong>TO FILL IN:</strong> " + xml_text(question));
  }
  std::string take() override {
    enter(ListState::In::nothing);
    return std::exchange(out_, {});
  }

 private:
  static std::string inline_text(const Line& line) {
    std::string out;
    for (const Piece& piece : line) {
      const std::string text = xml_text(visible(piece.text, k_text_limit));
      switch (piece.kind) {
        case Piece::Kind::prose:
          out += text;
          break;
        case Piece::Kind::code:
          out += "<code>" + text + "</code>";
          break;
        case Piece::Kind::strong:
          out += "<strong>" + text + "</strong>";
          break;
      }
    }
    return out;
  }
  void block(std::string_view tag, const std::string& html) {
    enter(ListState::In::nothing);
    out_ += fmt::format("<{}>{}</{}>\n", tag, html, tag);
  }
  void enter(ListState::In wanted) {
    if (list_.in() == wanted) return;
    if (list_.in() != ListState::In::nothing) out_ += "</ul>\n";
    if (wanted != ListState::In::nothing) out_ += "<ul class=\"steps\">\n";
    list_.enter(wanted);
  }

  std::string out_;
  ListState list_;
};

}  // namespace

std::unique_ptr<DocumentWriter> make_writer(Language language) {
  if (language == Language::html) return std::make_unique<HtmlWriter>();
  return std::make_unique<MarkdownWriter>();
}

}  // namespace triage::report

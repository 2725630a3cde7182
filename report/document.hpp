#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace triage::report {

/// A run of text inside a paragraph: prose, or something to be read as it is (a name, a command).
struct Piece {
  enum class Kind : std::uint8_t { prose, code, strong } kind = Kind::prose;
  std::string text;
};
using Line = std::vector<Piece>;

[[nodiscard]] inline Line prose(std::string text) {
  return {{Piece::Kind::prose, std::move(text)}};
}

/// Writes one document in one of two languages. All texts are raw: the writer escapes them.
class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;
  virtual void paragraph(const Line& line) = 0;
  virtual void subheading(std::string_view text) = 0;
  virtual void item(const Line& line) = 0;
  /// An item that a person ticks off.
  virtual void task(const Line& line) = 0;
  virtual void code(std::string_view text, std::string_view language) = 0;
  virtual void table(const std::vector<std::string>& head,
                     const std::vector<std::vector<Line>>& rows) = 0;
  /// A place that only a person can fill, marked so that it is found.
  virtual void fill_in(std::string_view question) = 0;
  /// What was written since the last call.
  [[nodiscard]] virtual std::string take() = 0;
};

enum class Language : std::uint8_t { markdown, html };
[[nodiscard]] std::unique_ptr<DocumentWriter> make_writer(Language language);

}  // namespace triage::report

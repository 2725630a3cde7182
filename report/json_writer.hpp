#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace triage::report {

/// Writes JSON as it goes, without a tree in memory: keys come out in the order of the calls, and a
/// report of 100,000 observations costs its own size. Texts become valid UTF-8 (an invalid byte is
/// U+FFFD); control and bidirectional characters are `\u` escapes, so that a file shown on a
/// terminal stays harmless; `<`, `>` and `&` are too when asked, for embedding in HTML.
///
/// Containers down to `pretty_depth` levels put each member on a line of its own; deeper ones stay
/// on one line: a report reads, greps and diffs by line.
class JsonWriter {
 public:
  enum class Embed : std::uint8_t { plain, in_html };
  explicit JsonWriter(int pretty_depth, Embed embed = Embed::plain)
      : pretty_depth_(pretty_depth), embed_(embed) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& text(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& unsigned_integer(std::uint64_t value);
  /// Shortest form that reads back the same; not finite becomes null.
  JsonWriter& number(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();

  JsonWriter& member(std::string_view name, std::string_view value) {
    return key(name).text(value);
  }
  /// Null when the text is empty.
  JsonWriter& member_or_null(std::string_view name, std::string_view value);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void before_value();
  void open(char bracket);
  void close(char bracket);
  void new_line();

  std::string out_;
  int pretty_depth_;
  Embed embed_;
  int depth_ = 0;
  bool first_in_container_ = true;
  bool after_key_ = false;
};

}  // namespace triage::report

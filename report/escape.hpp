#pragma once

#include <string>
#include <string_view>

/// Log text made harmless for each format. All of them first show deceptive characters as visible
/// escapes (report/display.hpp).
namespace triage::report {

/// For XML and HTML text and quoted attributes: `&amp; &lt; &gt; &quot; &#39;`; characters that XML
/// 1.0 refuses are visible escapes or U+FFFD.
[[nodiscard]] std::string xml_text(std::string_view text);

/// For running Markdown text (CommonMark, GitHub, GitLab): no markup, no HTML, no table cell end,
/// no link, image, mention, cross reference or quick action comes of it.
[[nodiscard]] std::string markdown_text(std::string_view text);
enum class InTable : bool { no, yes };
/// A code span that holds the text whatever backticks are in it. Empty for an empty text.
[[nodiscard]] std::string markdown_code(std::string_view text, InTable in_table = InTable::no);
/// A fenced block whose fence is longer than any run of backticks in `text`; lines are kept.
[[nodiscard]] std::string markdown_fence(std::string_view text, std::string_view language = {});

}  // namespace triage::report

#pragma once

#include <string>
#include <string_view>

namespace triage::report {

enum class Script : bool { none, report };

/// A whole HTML document that stands alone: the styles and the script of report/assets inside, and
/// a content security policy that allows exactly those (by digest) and nothing from anywhere else.
/// `body` is HTML already.
[[nodiscard]] std::string html_document(std::string_view title, std::string_view body,
                                        Script script);

/// `<tag class="...">escaped text</tag>`.
[[nodiscard]] std::string html_element(std::string_view tag, std::string_view text,
                                       std::string_view class_name = {});
/// A definition of a `<dl>`; empty when the value is. `value` is HTML already.
[[nodiscard]] std::string html_definition(std::string_view term, std::string_view value);

}  // namespace triage::report

#include "report/html_page.hpp"

#include <fmt/format.h>

#include <array>

#include "base/digest.hpp"
#include "report/assets.hpp"
#include "report/base64.hpp"
#include "report/escape.hpp"

namespace triage::report {
namespace {

std::string csp_digest(std::string_view text) {
  const base::Sha256Digest digest = base::sha256(text);
  return "'sha256-" + to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()}) +
         "'";
}

}  // namespace

std::string html_document(std::string_view title, std::string_view body, Script script) {
  // img-src data: is for the empty icon, without which a browser asks a server for one.
  const std::string policy = fmt::format(
      "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; "
      "form-action 'none'",
      csp_digest(k_report_css), script == Script::report ? csp_digest(k_report_js) : "'none'");
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n";
  out += html_element("title", title) + "\n";
  out += fmt::format("<style>{}</style>\n</head>\n<body>\n", k_report_css);
  out += body;
  if (script == Script::report) out += fmt::format("<script>{}</script>\n", k_report_js);
  return out + "</body>\n</html>\n";
}

std::string html_element(std::string_view tag, std::string_view text, std::string_view class_name) {
  if (class_name.empty()) return fmt::format("<{}>{}</{}>", tag, xml_text(text), tag);
  return fmt::format("<{} class=\"{}\">{}</{}>", tag, class_name, xml_text(text), tag);
}

std::string html_definition(std::string_view term, std::string_view value) {
  if (value.empty()) return {};
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", xml_text(term), value);
}

}  // namespace triage::report

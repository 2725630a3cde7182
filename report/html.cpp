#include "report/html.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/html_data.hpp"
#include "report/html_page.hpp"
#include "report/html_sections.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

struct Part {
  std::string_view id, name;
  std::string html;
};

std::string navigation(const std::vector<Part>& parts) {
  std::string out = "<nav>\n<strong>triage</strong>\n";
  for (const Part& part : parts)
    if (!part.html.empty()) out += fmt::format("<a href=\"#{}\">{}</a>\n", part.id, part.name);
  return out +
         "<span class=\"spacer\"></span><button type=\"button\" id=\"theme\" hidden>light or "
         "dark</button>\n</nav>\n";
}

}  // namespace

std::string render_html(const NamedReport& named) {
  const analysis::Report& report = *named.report;
  const std::vector<Part> parts{{"verdict", "Verdict", html_verdict(report)},
                                {"hold", "Hold", html_quarantine(report)},
                                {"next", "Next", html_steps(report)},
                                {"missing", "Missing", html_missing(report)},
                                {"others", "Also found", html_others(report)},
                                {"warnings", "Warnings", html_warnings(report)},
                                {"chain", "Chain", html_chain(report)},
                                {"timeline", "Timeline", html_timeline(report)},
                                {"gpus", "GPUs", html_gpus(report)},
                                {"metrics", "Metrics", html_metrics(report)},
                                {"figures", "Figures", html_figures(report)},
                                {"evidence", "Evidence", html_excerpts(report)},
                                {"observations", "Observations", html_observations(report)},
                                {"environment", "Environment", html_environment(report)},
                                {"coverage", "Coverage", html_coverage(report)}};
  std::string body = navigation(parts) + "<main>\n";
  for (const Part& part : parts) body += part.html;
  body += "</main>\n<footer>";
  if (!named.name.empty()) body += html_element("span", visible(named.name, 200)) + " · ";
  body += xml_text(fmt::format("triage {}, rules {}", report.tool_version, report.rules_digest));
  if (!report.observations.empty()) {
    const PackedData data = pack_observations(report);
    if (data.packed < report.observations.size())
      body += fmt::format(" · the filter holds the first {} of {} observations", data.packed,
                          report.observations.size());
    body += "</footer>\n<script type=\"application/octet-stream\" id=\"data\">" + data.base64 +
            "</script>\n";
  } else {
    body += "</footer>\n";
  }
  const std::string title =
      class_label(report.verdict.class_) + ": " + visible(report.verdict.title, 120);
  return html_document(title, body, Script::report);
}

}  // namespace triage::report

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/html_sections.hpp"
#include "report/svg_timeline.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Report;

constexpr std::size_t k_static_rows = 200;
constexpr std::size_t k_chain_links = 200;
constexpr std::size_t k_excerpts = 100;
constexpr std::size_t k_text_limit = 2000;

std::string text(std::string_view value) {
  return xml_text(visible(value, k_text_limit));
}

std::string_view role_class(const std::string& role) {
  if (role == "root") return "root";
  return role == "symptom" ? "symptom" : "context";
}

std::string badge(const std::string& role) {
  return fmt::format("<span class=\"badge {}\">{}</span>", role_class(role), text(role));
}

using ExcerptIndex = std::map<std::pair<std::string, std::uint32_t>, std::size_t>;

ExcerptIndex index_excerpts(const Report& report) {
  ExcerptIndex index;
  for (std::size_t i = 0; i < report.excerpts.size() && i < k_excerpts; ++i)
    index.emplace(std::pair(report.excerpts[i].file, report.excerpts[i].cited_line), i);
  return index;
}

std::string lines_of(const analysis::Excerpt& excerpt) {
  std::string out = "<div class=\"lines mono\">\n";
  for (std::size_t i = 0; i < excerpt.lines.size(); ++i) {
    const std::size_t number = excerpt.first_line + i;
    out += fmt::format("<div{}><span>{}</span><span>{}</span></div>\n",
                       number == excerpt.cited_line ? " class=\"cited\"" : "", number,
                       text(excerpt.lines[i]));
  }
  return out + "</div>\n";
}

std::string explains_words(const std::vector<std::size_t>& explains) {
  std::string out;
  for (std::size_t i = 0; i < explains.size() && i < 20; ++i)
    out += fmt::format("{}<a href=\"#link-{}\">[{}]</a>", i == 0 ? "" : ", ", explains[i],
                       explains[i]);
  if (explains.size() > 20) out += fmt::format(" and {} more", explains.size() - 20);
  return out;
}

/// The rows that stand without script: roots first, then symptoms, each in the report's order.
std::vector<const analysis::ObservationEntry*> telling(const Report& report) {
  std::vector<const analysis::ObservationEntry*> rows;
  for (const std::string_view role : {"root", "symptom", ""})
    for (const auto& seen : report.observations) {
      if (rows.size() == k_static_rows) return rows;
      const bool is_other = seen.role != "root" && seen.role != "symptom";
      if (role.empty() ? is_other : seen.role == role) rows.push_back(&seen);
    }
  return rows;
}

std::string observation_row(const analysis::ObservationEntry& seen) {
  const std::string count = seen.count > 1 ? fmt::format(" ×{}", seen.count) : "";
  return fmt::format(
      "<tr><td class=\"time\">{}</td><td>{}</td><td>{}</td><td>{}{}</td><td class=\"place\">{}</td>"
      "<td class=\"place\">{}</td><td class=\"text mono\">{}</td></tr>\n",
      xml_text(time_words(seen.at.time)), badge(seen.role), text(seen.class_), text(seen.rule),
      count, text(place_words(seen.place)), text(cite(seen.at)),
      xml_text(visible(seen.at.text, 400)));
}

constexpr std::string_view k_table_head =
    "<thead><tr><th>time</th><th>role</th><th>class</th><th>rule</th><th>place</th><th>line</th>"
    "<th>text</th></tr></thead>\n";

constexpr std::string_view k_timeline_controls =
    R"(<div class="controls" id="timeline-controls" hidden>
<label>lanes <select id="lanes"><option value="file">file</option><option value="node">node</option><option value="pod">pod</option><option value="rank">rank</option><option value="gpu">GPU</option><option value="class">class</option><option value="rule">rule</option></select></label>
<button type="button" id="zoom-in">zoom in</button><button type="button" id="zoom-out">zoom out</button>
<button type="button" id="pan-left" aria-label="earlier">←</button><button type="button" id="pan-right" aria-label="later">→</button>
<button type="button" id="zoom-incident">the incident</button><button type="button" id="zoom-all">all</button>
<span class="soft" id="timeline-range"></span>
</div>
)";

constexpr std::string_view k_filter = R"(<div class="controls" id="filter" hidden>
<input type="search" id="filter-text" placeholder="words in text, rule, file, place" aria-label="filter">
<select id="filter-role" aria-label="role"><option value="">every role</option></select>
<select id="filter-class" aria-label="class"><option value="">every class</option></select>
<button type="button" id="filter-clear">clear</button>
</div>
)";

constexpr std::string_view k_pages = R"(<div class="controls" id="pages" hidden>
<button type="button" id="page-back">back</button><span id="page-text"></span><button type="button" id="page-on">on</button>
</div>
)";

}  // namespace

std::string html_chain(const Report& report) {
  if (report.causal_chain.empty()) return {};
  const ExcerptIndex excerpts = index_excerpts(report);
  const auto& first = report.causal_chain.front().at.time;
  std::string body = "<ol class=\"chain\">\n";
  for (std::size_t i = 0; i < report.causal_chain.size() && i < k_chain_links; ++i) {
    const auto& link = report.causal_chain[i];
    body += fmt::format("<li id=\"link-{}\" class=\"{}\">[{}] {} <strong>{}</strong> {}", i,
                        role_class(link.role), i, badge(link.role), text(link.cause),
                        html_place(link.at));
    if (!link.at.rank.empty()) body += " · rank " + text(link.at.rank);
    if (link.at.time) body += " · " + xml_text(time_words(link.at.time));
    const std::string distance = i == 0 ? "" : distance_words(first, link.at.time);
    if (!distance.empty()) body += " <span class=\"soft\">(" + text(distance) + ")</span>";
    body += "<pre>" + text(link.at.text) + "</pre>";
    if (!link.explains.empty())
      body += "<span class=\"soft\">explains " + explains_words(link.explains) + "</span>";
    const auto excerpt = excerpts.find({link.at.file, link.at.line});
    if (excerpt != excerpts.end())
      body += fmt::format(" <a href=\"#excerpt-{}\">in its context</a>", excerpt->second);
    body += "</li>\n";
  }
  body += "</ol>\n";
  if (report.causal_chain.size() > k_chain_links)
    body += fmt::format("<p class=\"soft\">{} more links in the JSON report</p>\n",
                        report.causal_chain.size() - k_chain_links);
  return html_section("chain", "Causal chain", body);
}

std::string html_timeline(const Report& report) {
  const std::string picture = svg_timeline(report);
  std::string rows;
  const std::size_t shown = std::min(report.timeline.size(), k_static_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& entry = report.timeline[i];
    rows += fmt::format(
        "<tr><td class=\"time\">{}</td><td>{}</td><td class=\"place\">{}</td><td class=\"place\">{}"
        "</td><td class=\"text mono\">{}</td></tr>\n",
        entry.at.time ? xml_text(time_words(entry.at.time)) : "undated", badge(entry.role),
        text(place_words(entry.place)), text(cite(entry.at)),
        xml_text(visible(entry.at.text, 400)));
  }
  std::string body;
  if (!picture.empty())
    body = std::string(k_timeline_controls) + picture +
           "<p class=\"soft\">Dashed lines are the links of the causal chain. With script: drag "
           "to zoom, click a mark to list what it holds; keys + − ← → 0.</p>\n";
  if (!rows.empty()) {
    body += fmt::format("<details><summary>As a table ({} of {})</summary><div class=\"scroll\">",
                        shown, report.timeline.size());
    body +=
        "<table><thead><tr><th>time</th><th>role</th><th>place</th><th>line</th><th>text</th>"
        "</tr></thead><tbody>\n" +
        rows + "</tbody></table></div></details>\n";
  }
  return html_section("timeline", "Timeline", body);
}

std::string html_excerpts(const Report& report) {
  std::string body;
  for (std::size_t i = 0; i < report.excerpts.size() && i < k_excerpts; ++i) {
    const auto& excerpt = report.excerpts[i];
    body += fmt::format(
        "<figure id=\"excerpt-{}\"><figcaption class=\"place\">{}</figcaption>\n{}"
        "</figure>\n",
        i, text(cite(excerpt.file, excerpt.cited_line)), lines_of(excerpt));
  }
  if (report.excerpts.size() > k_excerpts)
    body += fmt::format("<p class=\"soft\">{} more in the JSON report</p>\n",
                        report.excerpts.size() - k_excerpts);
  return html_section("evidence", "Evidence", body);
}

std::string html_observations(const Report& report) {
  if (report.observations.empty()) return {};
  const auto rows = telling(report);
  std::string body(k_filter);
  if (rows.size() < report.observations.size())
    body += fmt::format(
        "<p class=\"soft\" id=\"observations-static\">The {} most telling of {}; a browser with "
        "script shows all, and the JSON report holds them.</p>\n",
        rows.size(), report.observations.size());
  body += "<div class=\"scroll\"><table>" + std::string(k_table_head) +
          "<tbody id=\"observation-rows\">\n";
  for (const auto* seen : rows) body += observation_row(*seen);
  body += "</tbody></table></div>\n" + std::string(k_pages);
  return html_section("observations", fmt::format("Observations ({})", report.observations.size()),
                      body);
}

}  // namespace triage::report

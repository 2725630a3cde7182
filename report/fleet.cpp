#include "report/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/document.hpp"
#include "report/escape.hpp"
#include "report/fleet_groups.hpp"
#include "report/html_page.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"
#include "report/text_page.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Report;

constexpr std::size_t k_names = 8;

std::string counts(const std::vector<FleetGroup>& groups, std::size_t all) {
  std::string out = fmt::format("{} reports", all);
  for (const FleetGroup& group : groups)
    out += fmt::format("{} {} {}", &group == &groups.front() ? ":" : ",", group.members.size(),
                       group.class_ == "none" ? "healthy" : group.cause);
  return out;
}

std::vector<std::string> member_names(const FleetGroup& group) {
  std::vector<std::string> names;
  for (const NamedReport* member : group.members) names.push_back(member->name);
  return names;
}

bool is_held(const Report& report) {
  return report.quarantine.target != "none" && !report.quarantine.target.empty();
}

std::string where_of(const Report& report) {
  return base::join(where_words(report.verdict.entities, 2), " · ");
}

std::string text_view(Reports reports, const TextOptions& options) {
  const auto groups = group_reports(reports);
  TextPage page(options);
  page.heading("FLEET", Paint::heading, counts(groups, reports.size()));
  for (const FleetGroup& group : groups) {
    page.blank_line();
    const Paint paint = group.class_ == "none"      ? Paint::sound
                        : group.class_ == "unknown" ? Paint::unsure
                                                    : Paint::fault;
    page.headline(class_label(group.class_), paint, group.title,
                  fmt::format("{} · {} of {}", group.cause, group.members.size(), reports.size()));
    page.row("nodes", list_words(group.nodes, k_names));
    if (group.is_fault()) {
      const NamedReport& first = *group.members.front();
      if (const auto& error = first.report->verdict.first_error) {
        page.row("first",
                 fmt::format("{}  {}  {}", first.name, cite(*error), time_words(error->time)),
                 Paint::place);
        page.quote(error->text, 2);
      }
    }
    page.row("shared", base::join(group.shared, " · "));
    page.row("reports", list_words(member_names(group), k_names));
  }
  if (std::any_of(reports.begin(), reports.end(),
                  [](const auto& r) { return is_held(*r.report); })) {
    page.blank_line();
    page.heading("HOLD OUT OF SERVICE", Paint::fault);
    for (const NamedReport& named : reports)
      if (is_held(*named.report))
        page.row("-", quarantine_words(named.report->quarantine) + "  (" + named.name + ")");
  }
  page.blank_line();
  page.heading("REPORTS", Paint::heading);
  for (const NamedReport& named : reports) {
    const auto& verdict = named.report->verdict;
    page.row("-", fmt::format("{}  {} {}  {}", named.name, verdict.class_, verdict.cause,
                              where_of(*named.report)));
  }
  return page.take();
}

std::string document(Reports reports, Language language) {
  const auto groups = group_reports(reports);
  const auto out = make_writer(language);
  out->paragraph({{Piece::Kind::strong, counts(groups, reports.size())}});
  for (const FleetGroup& group : groups) {
    out->subheading(fmt::format("{}: {} ({} of {})", class_label(group.class_), group.title,
                                group.members.size(), reports.size()));
    const auto item = [&](const std::string& label, const std::string& text) {
      if (!text.empty())
        out->item({{Piece::Kind::strong, label + ":"}, {Piece::Kind::prose, " " + text}});
    };
    item("Cause", group.cause);
    item("Nodes", list_words(group.nodes, k_names));
    item("Shared by all of these and by no sound one", base::join(group.shared, ", "));
    const auto& first = *group.members.front();
    if (const auto& error = first.report->verdict.first_error; error && group.is_fault()) {
      item("First", fmt::format("{} {} {}", first.name, cite(*error), time_words(error->time)));
      out->code(visible(error->text, 1000), "text");
    }
  }
  out->subheading("Reports");
  std::vector<std::vector<Line>> rows;
  for (const NamedReport& named : reports) {
    const auto& verdict = named.report->verdict;
    rows.push_back(
        {{{Piece::Kind::code, named.name}},
         prose(verdict.class_),
         {{Piece::Kind::code, verdict.cause}},
         prose(where_of(*named.report)),
         {{Piece::Kind::code, verdict.first_error ? cite(*verdict.first_error) : ""}},
         prose(is_held(*named.report) ? quarantine_words(named.report->quarantine) : "")});
  }
  out->table({"report", "class", "cause", "where", "first error", "hold out of service"}, rows);
  return out->take();
}

std::string json_view(Reports reports) {
  JsonWriter out(2);
  out.begin_object().member("schema", "triage.fleet/v1").key("groups").begin_array();
  const auto names = [&out](std::string_view name, const std::vector<std::string>& texts) {
    out.key(name).begin_array();
    for (const auto& text : texts) out.text(text);
    out.end_array();
  };
  for (const FleetGroup& group : group_reports(reports)) {
    out.begin_object().member("class", group.class_).member("cause", group.cause);
    out.member("title", group.title).key("count").unsigned_integer(group.members.size());
    names("nodes", group.nodes);
    names("shared", group.shared);
    names("reports", member_names(group));
    out.end_object();
  }
  out.end_array().key("reports").begin_array().end_array().end_object();
  std::string text = out.take();
  // The reports are written whole, as each would be alone.
  constexpr std::string_view k_end = "[]\n}";
  text.resize(text.size() - k_end.size());
  text += "[";
  for (const NamedReport& named : reports) {
    JsonWriter name(0);
    name.text(named.name);
    text += &named == &reports.front() ? "\n" : ",\n";
    text += "{\"name\": " + name.take() + ", \"report\": ";
    text += std::string(base::trim(render_json(*named.report))) + "}";
  }
  return text + "\n]}\n";
}

}  // namespace

std::string render_fleet(Format format, Reports reports, const TextOptions& text) {
  switch (format) {
    case Format::text:
      return text_view(reports, text);
    case Format::json:
      return json_view(reports);
    case Format::markdown: {
      std::string out = "## Fleet\n\n" + document(reports, Language::markdown);
      if (out.size() > k_markdown_limit) {
        out.resize(out.rfind('\n', k_markdown_limit - 100) + 1);
        out += "\nThe rest stands in the JSON and HTML views.\n";
      }
      return out;
    }
    case Format::html:
      return html_document("Fleet",
                           "<main>\n<section>\n<h1>Fleet</h1>\n" +
                               document(reports, Language::html) + "</section>\n</main>\n",
                           Script::none);
    case Format::ndjson:
    case Format::junit:
    case Format::sarif:
      break;
  }
  return render_each(format, reports, text);
}

}  // namespace triage::report

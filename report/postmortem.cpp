#include "report/postmortem.hpp"

#include <array>

#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/markers.hpp"
#include "report/postmortem_sections.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

struct Section {
  std::string_view id, heading;
  void (*write)(DocumentWriter&, const postmortem::Source&);
  std::string_view prompt;  ///< what only people know; stands outside the written block
};

constexpr std::array<Section, 13> k_sections{{
    {"summary", "Summary", postmortem::summary, ""},
    {"impact", "Impact", postmortem::impact,
     "which users and services were affected, for how long, and how that was measured"},
    {"timeline", "Timeline", postmortem::timeline,
     "when people noticed, decided and acted (the evidence holds machines only)"},
    {"root-cause", "Root cause", postmortem::root_cause, ""},
    {"conditions", "Contributing conditions", postmortem::conditions,
     "what had changed before: rollouts, traffic, nodes, configuration"},
    {"was-not", "What it was not", postmortem::was_not, ""},
    {"detection", "Detection", postmortem::detection,
     "which alert or person noticed first, and what should have noticed earlier"},
    {"response", "Response so far", postmortem::response, "what was done by whom, and what helped"},
    {"quarantine", "Quarantine record", postmortem::quarantine,
     "who put it out of service when, and who lifts it"},
    {"actions", "Action items", postmortem::actions, "an owner and a date for each item"},
    {"questions", "Investigation questions", postmortem::questions, ""},
    {"evidence", "Evidence", postmortem::evidence_index, ""},
    {"open", "Open questions", postmortem::open_questions, ""},
}};

std::string title_of(const analysis::Report& report) {
  const auto& verdict = report.verdict;
  const std::string what =
      verdict.title.empty() ? class_label(verdict.class_) : visible(verdict.title, 200);
  std::string title = "Postmortem: " + what;
  if (verdict.first_error && verdict.first_error->time)
    title += ", " + evidence::to_rfc3339(*verdict.first_error->time).substr(0, 10);
  return title;
}

std::vector<std::string> section_ids() {
  std::vector<std::string> ids;
  ids.reserve(std::size(k_sections));
  for (const Section& section : k_sections) ids.emplace_back(section.id);
  return ids;
}

std::string body_of(const Section& section, const postmortem::Source& source,
                    DocumentWriter& writer) {
  section.write(writer, source);
  std::string body = writer.take();
  if (!body.empty()) return body;
  writer.paragraph(prose("The evidence says nothing of this."));
  return writer.take();
}

std::string markdown(const postmortem::Source& source) {
  const auto writer = make_writer(Language::markdown);
  std::string out = "# " + markdown_text(title_of(source.report)) + "\n\n";
  out += marker_list(section_ids());
  out +=
      "<!-- Write anywhere outside the marked blocks, or change a block: writing this anew keeps "
      "both. -->\n";
  for (const Section& section : k_sections) {
    out += "\n## " + std::string(section.heading) + "\n\n";
    out += marked_block(section.id, "\n" + body_of(section, source, *writer));
    if (section.prompt.empty()) continue;
    writer->fill_in(section.prompt);
    out += "\n" + writer->take();
  }
  return out;
}

std::string html(const postmortem::Source& source) {
  const auto writer = make_writer(Language::html);
  const std::string title = title_of(source.report);
  std::string out = marker_list(section_ids()) + "<main>\n" + html_element("h1", title) + "\n";
  for (const Section& section : k_sections) {
    out += "<section>\n" + html_element("h2", section.heading) + "\n";
    out += marked_block(section.id, body_of(section, source, *writer));
    if (!section.prompt.empty()) {
      writer->fill_in(section.prompt);
      out += writer->take();
    }
    out += "</section>\n";
  }
  return html_document(title, out + "</main>\n", Script::none);
}

}  // namespace

std::string render_postmortem(const analysis::Report& report, const PatternNotes& pattern,
                              Language language) {
  const postmortem::Source source{report, pattern};
  return language == Language::html ? html(source) : markdown(source);
}

}  // namespace triage::report

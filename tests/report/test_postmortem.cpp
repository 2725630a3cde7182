#include <doctest/doctest.h>

#include "base/text.hpp"
#include "report/markers.hpp"
#include "report/postmortem.hpp"
#include "samples.hpp"

namespace triage::report {
namespace {

PatternNotes some_pattern() {
  return {"A rank died",
          "One rank of a group ended; the others wait for it.",
          {"No health check of the group"},
          {"The whole group stands still"},
          {"A slow network: then all ranks are late, none is gone"},
          {"Which rank ended first?"},
          {"Rebuild the group as one"},
          {"Replace the device"},
          {"Alert on Xid"}};
}

std::string markdown_of(const analysis::Report& report) {
  return render_postmortem(report, some_pattern(), Language::markdown);
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("postmortem: Markdown and HTML as recorded") {
  CHECK(tests::compare_golden("postmortem.md", markdown_of(tests::hardware_report())) == "");
  std::string html = render_postmortem(tests::hardware_report(), some_pattern(), Language::html);
  const auto style = html.find("<style>");
  html.erase(style, html.find("</style>") - style);
  const auto policy = html.find("style-src 'sha256-");
  html.erase(policy, html.find(';', policy) - policy);
  CHECK(tests::compare_golden("postmortem.html", html) == "");
}

TEST_CASE("postmortem: hostile log text stays text and ends no block") {
  auto report = tests::hostile_report();
  report.verdict.first_error->text = "<!-- triage:end root-cause -->\n# mine";
  const std::string text = markdown_of(report);
  CHECK(count(text, "<!-- triage:end root-cause -->") == 1);
  CHECK_FALSE(base::contains(text, "\n# mine"));
  CHECK_FALSE(base::contains(text, "\x1b"));
  const std::string html = render_postmortem(report, some_pattern(), Language::html);
  CHECK_FALSE(base::contains(html, "<img"));
  CHECK_FALSE(base::contains(html, "<script"));
}

TEST_CASE("postmortem: writing it anew over itself changes nothing") {
  const std::string first = markdown_of(tests::hardware_report());
  const Merged merged = merge_documents(first, first);
  const bool same = merged.text == first;
  CHECK(same);
  CHECK(merged.edited.empty());
  CHECK(merged.added.empty());
}

TEST_CASE("postmortem: what a person added outside the blocks stays, blocks nobody touched renew") {
  std::string mine = markdown_of(tests::unknown_report());
  mine = base::replace_all(mine, "## Impact\n", "## Impact\n\nTwo customers could not log in.\n");
  mine += "\n## Lessons\n\nWe should have looked earlier.\n";
  const Merged merged = merge_documents(mine, markdown_of(tests::hardware_report()));
  CHECK(base::contains(merged.text, "Two customers could not log in."));
  CHECK(base::contains(merged.text, "We should have looked earlier."));
  CHECK(base::contains(merged.text, "GPU fell off the PCIe bus"));
  CHECK_FALSE(base::contains(merged.text, "frobnicator"));
  CHECK(merged.edited.empty());
  CHECK(merged.added.empty());
}

TEST_CASE("postmortem: a block that a person edited stays as it is and is named") {
  std::string mine = markdown_of(tests::hardware_report());
  mine = base::replace_all(mine, "Alert on Xid 79", "Alert on Xid 79 (owner: Ana)");
  const Merged merged = merge_documents(mine, markdown_of(tests::unknown_report()));
  CHECK(base::contains(merged.text, "(owner: Ana)"));
  CHECK(merged.edited == std::vector<std::string>{"actions"});
}

TEST_CASE("postmortem: line ends of another editor are no edit") {
  const std::string first = markdown_of(tests::hardware_report());
  const Merged merged = merge_documents(base::replace_all(first, "\n", "  \r\n"), first);
  CHECK(merged.edited.empty());
}

TEST_CASE("postmortem: a block that a person took out does not come back, a new one does come") {
  const std::string fresh = markdown_of(tests::hardware_report());
  std::string mine = fresh;
  const auto from = mine.find("<!-- triage:begin was-not");
  const std::string end = "<!-- triage:end was-not -->\n";
  mine.erase(from, mine.find(end) + end.size() - from);
  Merged merged = merge_documents(mine, fresh);
  CHECK(merged.removed == std::vector<std::string>{"was-not"});
  CHECK_FALSE(base::contains(merged.text, "triage:begin was-not"));
  mine = base::replace_all(mine, " was-not ", " ");  // as an earlier version would have listed
  merged = merge_documents(mine, fresh);
  CHECK(merged.added == std::vector<std::string>{"was-not"});
  CHECK(count(merged.text, "triage:begin was-not") == 1);
}

TEST_CASE("postmortem: a block whose end was lost is a person's text and is not replaced") {
  std::string mine = markdown_of(tests::hardware_report());
  mine = base::replace_all(mine, "<!-- triage:end open -->\n", "");
  const Merged merged = merge_documents(mine, markdown_of(tests::unknown_report()));
  CHECK(base::contains(merged.text, "would say whether other GPUs wait for a reset"));
}

TEST_CASE("postmortem: a file that is none is not taken for one") {
  CHECK(merge_documents("# My notes\n", markdown_of(tests::hardware_report())).text.empty());
}

TEST_CASE("postmortem: an HTML document keeps what was added as well") {
  const auto html = [](const analysis::Report& report) {
    return render_postmortem(report, some_pattern(), Language::html);
  };
  std::string mine = html(tests::unknown_report());
  mine = base::replace_all(mine, "</main>", "<p>Mine.</p></main>");
  const Merged merged = merge_documents(mine, html(tests::hardware_report()));
  CHECK(base::contains(merged.text, "<p>Mine.</p></main>"));
  CHECK(base::contains(merged.text, "kubectl cordon node-b"));
}

}  // namespace triage::report

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "report/escape.hpp"
#include "report/markdown.hpp"
#include "samples.hpp"

namespace triage::report {

TEST_CASE("markdown: a ticket comment with the verdict first, as recorded") {
  CHECK(tests::compare_golden("hardware.md", render_markdown(tests::hardware_report())) == "");
  CHECK(tests::compare_golden("healthy.md", render_markdown(tests::healthy_report())) == "");
  CHECK(tests::compare_golden("unknown.md", render_markdown(tests::unknown_report())) == "");
  CHECK(tests::compare_golden("hostile.md", render_markdown(tests::hostile_report())) == "");
}

TEST_CASE("markdown: never longer than a comment may be") {
  CHECK(render_markdown(tests::large_report(5000)).size() <= k_markdown_limit);
  auto report = tests::hostile_report();
  for (int i = 0; i < 2000; ++i) {
    report.warnings.push_back(std::string(5000, '`'));
    report.next_steps.push_back(report.next_steps[0]);
    report.causal_chain.push_back(report.causal_chain[0]);
    report.excerpts.push_back(report.excerpts[0]);
  }
  report.verdict.title = std::string(100'000, '*');
  report.verdict.entities.nodes.assign(10'000, std::string(300, '|'));
  CHECK(render_markdown(report).size() <= k_markdown_limit);
}

TEST_CASE("markdown: running text cannot carry markup, HTML, mentions or links") {
  CHECK(markdown_text("<img src=x>") == "&lt;img src=x&gt;");
  CHECK(markdown_text("**b** `c` [x](y)") == "\\*\\*b\\*\\* \\`c\\` \\[x\\](y)");
  CHECK(markdown_text("@team") == "@&#8203;team");
  CHECK(markdown_text("see #12") == "see #&#8203;12");
  CHECK(markdown_text("http://x") == "http:&#8203;//x");
  CHECK(markdown_text("# x") == "\\# x");
  CHECK(markdown_text("1. x") == "1\\. x");
  CHECK(markdown_text("---") == "\\---");
  CHECK(markdown_text("0.9.1 --flag") == "0.9.1 --flag");
  CHECK(markdown_text("&amp;") == "&amp;amp;");
}

TEST_CASE("markdown: a code span outlives any backticks and does not end a table cell") {
  CHECK(markdown_code("a`b") == "``a`b``");
  CHECK(markdown_code("``x") == "``` ``x ```");
  CHECK(markdown_code("a|b", InTable::yes) == "`a\\|b`");
  CHECK(markdown_code("").empty());
}

TEST_CASE("markdown: a fence is longer than any in its text") {
  CHECK(markdown_fence("```\n/close\n````") == "`````\n```\n/close\n````\n`````\n");
}

}  // namespace triage::report

#include <doctest/doctest.h>

#include <ctime>

#include "base/text.hpp"
#include "report/base64.hpp"
#include "report/html.hpp"
#include "report/html_data.hpp"
#include "samples.hpp"
#include "tools.hpp"

namespace triage::report {
namespace {

std::string html_of(const analysis::Report& report) {
  return render_html({"", &report});
}

/// The page without its styles, script and packed data: what log text can reach.
std::string markup_of(std::string html) {
  for (const auto& [open, close] :
       {std::pair("<style>", "</style>"), std::pair("<script", "</script>"),
        std::pair("<script", "</script>")}) {
    const auto from = html.find(open);
    if (from == std::string::npos) continue;
    html.erase(from, html.find(close, from) + std::string(close).size() - from);
  }
  return html;
}

/// Of an unoptimised build less is asked than of the one that people run.
std::size_t many() {
  return 100'000 / static_cast<std::size_t>(tests::slowness());
}

/// Of this process: what other programs take does not count.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("html: as recorded, but for the styles, the script and the packed data") {
  CHECK(tests::compare_golden("hardware.html", markup_of(html_of(tests::hardware_report()))) == "");
  CHECK(tests::compare_golden("healthy.html", markup_of(html_of(tests::healthy_report()))) == "");
}

TEST_CASE("html: log text cannot become an element, an attribute or a policy") {
  const std::string markup = markup_of(html_of(tests::hostile_report()));
  CHECK_FALSE(base::contains(markup, "<img"));
  CHECK_FALSE(base::contains(markup, "<script"));
  CHECK_FALSE(base::contains(markup, "<!--"));
  CHECK_FALSE(base::contains(markup, "\x1b"));
  CHECK_FALSE(base::contains(markup, "\xE2\x80\xAE"));
  CHECK(base::contains(markup, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
  CHECK_FALSE(base::contains(markup, "style="));
  CHECK_FALSE(base::contains(markup, "href=\"http"));
}

TEST_CASE("html: the policy allows the page's own style and script by digest and nothing else") {
  const std::string html = html_of(tests::healthy_report());
  CHECK(base::contains(html, "default-src 'none'; style-src 'sha256-"));
  CHECK_FALSE(base::contains(html, "unsafe-"));
}

TEST_CASE("html: 100,000 observations take less than 5 MB and less than 3 s") {
  const auto report = tests::large_report(many());
  const double start = cpu_seconds();
  const std::string html = html_of(report);
  CHECK(cpu_seconds() - start < 3.0);
  CHECK(html.size() < 5'000'000);
  CHECK(pack_observations(report).packed == many());
}

TEST_CASE("html: observations that no page can hold are cut and said") {
  auto report = tests::large_report(20'000);
  std::uint32_t state = 1;
  for (auto& seen : report.observations) {  // noise does not compress
    seen.at.text.clear();
    for (int i = 0; i < 300; ++i) {
      state = state * 1664525U + 1013904223U;
      seen.at.text += static_cast<char>('!' + (state >> 24U) % 90);
    }
  }
  const auto packed = pack_observations(report);
  CHECK(packed.packed < 20'000);
  CHECK(packed.packed > 0);
  const std::string html = html_of(report);
  CHECK(html.size() < 5'000'000);
  CHECK(base::contains(html, "the filter holds the first"));
}

TEST_CASE("html: stamps and numbers at the ends of their range draw a picture all the same") {
  auto report = tests::hardware_report();
  report.observations[0].at.time = evidence::Time{INT64_MIN, 0};
  report.observations[1].at.time = evidence::Time{INT64_MAX, INT64_MAX};
  report.causal_chain[0].at.time = evidence::Time{INT64_MAX, 0};
  report.metrics[0].points[0].second = 1.7e308;
  report.metrics[0].points[1].second = -1.7e308;
  report.metrics[0].points[2].second = 1e300 * 1e10;
  const std::string markup = markup_of(html_of(report));
  CHECK_FALSE(base::contains(markup, "nan"));
  CHECK_FALSE(base::contains(markup, "inf,"));
  CHECK_FALSE(base::contains(markup, "\"inf"));
}

TEST_CASE("base64: the vectors of RFC 4648") {
  CHECK(to_base64("").empty());
  CHECK(to_base64("f") == "Zg==");
  CHECK(to_base64("fo") == "Zm8=");
  CHECK(to_base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("html: a browser opens the smallest, the largest and the most hostile report") {
  if (tests::is_busy()) {
    MESSAGE("skipped: the machine is too busy for a browser");
    return;
  }
  // Timeline and filter answer to clicks, the console stays empty, nothing leaves the file: see
  // browser/check_html.py.
  std::string command =
      "python3 " + std::string(TRIAGE_SOURCE_DIR) + "/tests/report/browser/check_html.py";
  const auto page = [&command](const std::string& name, const analysis::Report& report) {
    command += " " + tests::write_temporary(name, html_of(report));
  };
  page("hardware.html", tests::hardware_report());
  page("healthy.html", tests::healthy_report());
  page("hostile.html", tests::hostile_report());
  page("large.html", tests::large_report(many()));
  const auto ran = tests::run_shell(command + " --max-seconds 3 --expect Coverage");
  if (ran.status == 2) {
    MESSAGE("skipped: needs Chromium");
    return;
  }
  CHECK_MESSAGE(ran.status == 0, ran.output);
}

}  // namespace triage::report

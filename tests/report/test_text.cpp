#include <doctest/doctest.h>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/text.hpp"
#include "samples.hpp"

namespace triage::report {
namespace {

TextOptions verbose() {
  TextOptions options;
  options.detail = TextOptions::Detail::verbose;
  return options;
}

bool is_command(std::string_view line) {
  return base::contains(line, "$ ") || base::contains(line, "kubectl ");
}

}  // namespace

TEST_CASE("text: verdict, first error, quarantine, next steps and what to avoid, as recorded") {
  CHECK(tests::compare_golden("hardware.txt", render_text(tests::hardware_report())) == "");
  CHECK(tests::compare_golden("hardware-verbose.txt",
                              render_text(tests::hardware_report(), verbose())) == "");
  CHECK(tests::compare_golden("healthy.txt", render_text(tests::healthy_report())) == "");
  CHECK(tests::compare_golden("unknown.txt", render_text(tests::unknown_report())) == "");
}

TEST_CASE("text: no line but a command is wider than 80 columns") {
  for (const auto& report :
       {tests::hardware_report(), tests::healthy_report(), tests::unknown_report()}) {
    const std::string text = render_text(report, verbose());
    for (const auto line : base::split_lines(text))
      if (!is_command(line)) CHECK_MESSAGE(display_width(line) <= 80, line);
  }
}

TEST_CASE("text: the brief report of an incident fits one screen") {
  CHECK(base::split_lines(render_text(tests::hardware_report())).size() <= 40);
}

TEST_CASE("text: log text cannot drive the terminal") {
  const std::string text = render_text(tests::hostile_report(), verbose());
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.code != '\n') CHECK_FALSE(is_deceptive(c.code));
    at += c.length;
  }
}

TEST_CASE("text: colour comes only when asked for") {
  TextOptions options;
  CHECK(render_text(tests::hardware_report(), options).find('\x1b') == std::string::npos);
  options.colour = TextOptions::Colour::on;
  CHECK(render_text(tests::hardware_report(), options).find("\x1b[1;31mHARDWARE") !=
        std::string::npos);
}

}  // namespace triage::report

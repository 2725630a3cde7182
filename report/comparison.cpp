#include "report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/json.hpp"
#include "report/text_page.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Comparison;
using analysis::Difference;

std::string headline(const Comparison& comparison) {
  switch (comparison.kind) {
    case Comparison::Kind::same:
      return "No difference that explains a fault";
    case Comparison::Kind::local:
      return "A local fault: this place, not the software";
    case Comparison::Kind::regression:
      return "A regression: the software differs";
    case Comparison::Kind::load:
      return "The load differs, not software or place";
    case Comparison::Kind::unknown:
      break;
  }
  return "The evidence does not say which";
}

Paint paint_of(const Comparison& comparison) {
  switch (comparison.kind) {
    case Comparison::Kind::local:
    case Comparison::Kind::regression:
      return Paint::fault;
    case Comparison::Kind::same:
      return Paint::sound;
    default:
      return Paint::unsure;
  }
}

std::string verdict_words(const analysis::VerdictEntry& verdict) {
  if (verdict.title.empty()) return verdict.cause;
  return verdict.cause.empty() ? verdict.title : verdict.title + " (" + verdict.cause + ")";
}

std::string side(const std::string& value) {
  return value.empty() ? "-" : visible(value, 400);
}

void add_side(TextPage& page, std::string_view label, const analysis::VerdictEntry& verdict) {
  page.row(label, verdict_words(verdict));
  if (!verdict.first_error) return;
  page.row("", cite(*verdict.first_error) + "  " + time_words(verdict.first_error->time),
           Paint::place);
  page.quote(verdict.first_error->text, 2);
}

void write_side(JsonWriter& out, std::string_view name, const analysis::VerdictEntry& verdict) {
  out.key(name);
  write_verdict(out, verdict);
}

}  // namespace

std::string render_comparison_text(const Comparison& comparison, const TextOptions& options) {
  constexpr std::size_t k_brief_rows = 24;
  TextPage page(options);
  page.headline(to_string(comparison.kind), paint_of(comparison), headline(comparison), "");
  for (const auto& reason : comparison.reasons) page.row("-", reason);
  page.blank_line();
  add_side(page, "good", comparison.good);
  add_side(page, "bad", comparison.bad);
  if (comparison.differences.empty()) return page.take();
  page.blank_line();
  page.heading("DIFFERENCES", Paint::heading);
  const std::size_t shown = options.detail == TextOptions::Detail::verbose
                                ? comparison.differences.size()
                                : std::min(k_brief_rows, comparison.differences.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Difference& d = comparison.differences[i];
    page.row(d.area, d.name, Paint::heading);
    page.row("  good", side(d.good) + (d.good_source.empty() ? "" : "  " + d.good_source));
    page.row("  bad", side(d.bad) + (d.bad_source.empty() ? "" : "  " + d.bad_source));
  }
  if (shown < comparison.differences.size())
    page.row("", fmt::format("{} more: --verbose", comparison.differences.size() - shown),
             Paint::dim);
  return page.take();
}

std::string render_comparison_markdown(const Comparison& comparison) {
  std::string out = "## " + headline(comparison) + "\n\n";
  for (const auto& reason : comparison.reasons) out += "- " + markdown_text(reason) + "\n";
  out += "\n| | good | bad |\n|-|-|-|\n";
  const auto row = [&out](const std::string& name, const std::string& good,
                          const std::string& bad) {
    out += fmt::format("| {} | {} | {} |\n", markdown_text(name),
                       markdown_code(side(good), InTable::yes),
                       markdown_code(side(bad), InTable::yes));
  };
  row("verdict", verdict_words(comparison.good), verdict_words(comparison.bad));
  const auto first = [](const analysis::VerdictEntry& verdict) {
    return verdict.first_error ? cite(*verdict.first_error) + " " + verdict.first_error->text
                               : std::string();
  };
  row("first error", first(comparison.good), first(comparison.bad));
  for (const Difference& d : comparison.differences) row(d.area + " " + d.name, d.good, d.bad);
  return out;
}

std::string render_comparison_json(const Comparison& comparison) {
  JsonWriter out(2);
  out.begin_object().member("schema", "triage.diff/v1");
  out.member("conclusion", to_string(comparison.kind)).key("reasons").begin_array();
  for (const auto& reason : comparison.reasons) out.text(reason);
  out.end_array();
  write_side(out, "good", comparison.good);
  write_side(out, "bad", comparison.bad);
  out.key("differences").begin_array();
  for (const Difference& d : comparison.differences)
    out.begin_object()
        .member("area", d.area)
        .member("name", d.name)
        .member_or_null("good", d.good)
        .member_or_null("bad", d.bad)
        .member_or_null("good_source", d.good_source)
        .member_or_null("bad_source", d.bad_source)
        .end_object();
  out.end_array().end_object();
  return out.take() + "\n";
}

}  // namespace triage::report

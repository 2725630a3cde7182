#include "report/svg_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::MetricSeries;

constexpr double k_width = 360;
constexpr double k_height = 150;
constexpr double k_left = 56;
constexpr double k_right = 8;
constexpr double k_top = 8;
constexpr double k_bottom = 22;
constexpr std::size_t k_max_charts = 24;
constexpr std::size_t k_max_lines = 8;  // as many colours as the style has
constexpr std::size_t k_max_points = 400;
constexpr std::size_t k_max_rows = 60;

/// What a person looks at first after an incident of a GPU service.
constexpr std::array<std::string_view, 14> k_first_words{
    "cache_usage", "kv_cache", "token_usage", "fb_used", "memory",   "fb_free", "running",
    "waiting",     "queue",    "preempt",     "temp",    "gpu_util", "xid",     "ecc"};

std::size_t importance(const std::string& name) {
  for (std::size_t i = 0; i < k_first_words.size(); ++i)
    if (base::icontains(name, k_first_words[i])) return i;
  return k_first_words.size();
}

std::string number_words(double value) {
  const double size = std::fabs(value);
  if (size >= 1e12) return fmt::format("{:.3g}T", value / 1e12);
  if (size >= 1e9) return fmt::format("{:.3g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string label_words(const MetricSeries& series) {
  std::string out;
  for (const auto& [name, value] : series.labels) {
    if (!out.empty()) out += ", ";
    out += name + "=" + value;
  }
  return out.empty() ? series.name : out;
}

struct Point {
  double x, y;
};

/// The points of a series; undated ones stand in their order. Long series are thinned.
std::vector<Point> points_of(const MetricSeries& series) {
  const bool dated = std::all_of(series.points.begin(), series.points.end(),
                                 [](const auto& p) { return p.first.has_value(); });
  const std::size_t stride = std::max<std::size_t>(1, series.points.size() / k_max_points);
  std::vector<Point> points;
  for (std::size_t i = 0; i < series.points.size(); i += stride) {
    const auto& [time, value] = series.points[i];
    if (!(std::fabs(value) < 1e300)) continue;  // nor a number whose spread overflows
    points.push_back(
        {dated ? static_cast<double>(written_ns(*time)) : static_cast<double>(i), value});
  }
  return points;
}

struct Frame {
  double x0 = std::numeric_limits<double>::infinity(), x1 = -x0, y0 = x0, y1 = -x0;
  void take(const Point& p) {
    x0 = std::min(x0, p.x), x1 = std::max(x1, p.x);
    y0 = std::min(y0, p.y), y1 = std::max(y1, p.y);
  }
  void widen() {
    if (x1 <= x0) x1 = x0 + 1;
    // From zero when that costs little of the picture: a ratio is then seen as one.
    if (y0 > 0 && y0 < y1 * 0.6) y0 = 0;
    if (!(y1 > y0)) {
      const double room = y0 == 0 ? 1 : std::fabs(y0) * 0.1;
      y0 -= room, y1 += room;
    }
  }
  [[nodiscard]] double x(double value) const {
    return k_left + (value - x0) / (x1 - x0) * (k_width - k_left - k_right);
  }
  [[nodiscard]] double y(double value) const {
    return k_height - k_bottom - (value - y0) / (y1 - y0) * (k_height - k_top - k_bottom);
  }
};

using Group = std::vector<const MetricSeries*>;

void draw_axes(std::string& out, const Frame& frame, bool dated) {
  for (int tick = 0; tick <= 2; ++tick) {
    const double value = frame.y0 + (frame.y1 - frame.y0) * tick / 2;
    const double y = frame.y(value);
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       k_left, k_width - k_right, y, y);
    out += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                       k_left - 5, y + 4, number_words(value));
  }
  if (!dated) return;
  const auto time = [](double ns) {
    return evidence::to_rfc3339(
               {static_cast<std::int64_t>(std::clamp(ns, -9.2e18, 9.2e18)), 1'000'000'000})
        .substr(11, 8);
  };
  out += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\">{}</text>", k_left, k_height - 6,
                     xml_text(time(frame.x0)));
  out += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                     k_width - k_right, k_height - 6, xml_text(time(frame.x1)));
}

void draw_line(std::string& out, const Frame& frame, const std::vector<Point>& points,
               std::size_t colour, const MetricSeries& series) {
  out += fmt::format("<polyline class=\"series s{}\" points=\"", colour);
  for (const Point& p : points) out += fmt::format("{:.1f},{:.1f} ", frame.x(p.x), frame.y(p.y));
  out += fmt::format("\"><title>{}</title></polyline>\n", xml_text(label_words(series)));
  for (const Point& p : points)
    if (points.size() <= 60)
      out += fmt::format(
          "<circle class=\"dot d{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"><title>{}</title>"
          "</circle>",
          colour, frame.x(p.x), frame.y(p.y), number_words(p.y));
}

std::string chart(const std::string& name, const Group& group) {
  Frame frame;
  std::vector<std::vector<Point>> lines;
  bool dated = true;
  for (std::size_t i = 0; i < group.size() && i < k_max_lines; ++i) {
    lines.push_back(points_of(*group[i]));
    for (const Point& p : lines.back()) frame.take(p);
    for (const auto& point : group[i]->points) dated = dated && point.first.has_value();
  }
  frame.widen();
  std::string out = fmt::format(
      "<figure><figcaption><code>{}</code> <span class=\"soft place\">{}</span></figcaption>\n"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
      xml_text(visible(name, 100)), xml_text(cite(group[0]->file, group[0]->line)), k_width,
      k_height, xml_text("Chart of " + visible(name, 100)));
  draw_axes(out, frame, dated);
  for (std::size_t i = 0; i < lines.size(); ++i) draw_line(out, frame, lines[i], i, *group[i]);
  out += "</svg>\n<div class=\"legend\">";
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += fmt::format(
        "<span><svg viewBox=\"0 0 18 8\" aria-hidden=\"true\"><line class=\"series s{}\" x1=\"0\" "
        "x2=\"18\" y1=\"4\" y2=\"4\"/></svg> {}</span>",
        i, xml_text(visible(label_words(*group[i]), 80)));
  if (group.size() > lines.size())
    out += fmt::format("<span>and {} more</span>", group.size() - lines.size());
  return out + "</div></figure>\n";
}

std::string value_table(const std::vector<const MetricSeries*>& single) {
  if (single.empty()) return {};
  std::string out =
      "<details><summary>Metrics scraped once</summary><div class=\"scroll\"><table><thead><tr>"
      "<th>metric</th><th>labels</th><th>value</th><th>from</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < single.size() && i < k_max_rows; ++i) {
    const MetricSeries& series = *single[i];
    const double value = series.points.empty() ? std::nan("") : series.points.back().second;
    out += fmt::format(
        "<tr><td class=\"place\">{}</td><td class=\"place\">{}</td><td>{}</td>"
        "<td class=\"place\">{}</td></tr>\n",
        xml_text(visible(series.name, 120)),
        xml_text(series.labels.empty() ? "" : visible(label_words(series), 200)),
        std::isfinite(value) ? number_words(value) : "not a number",
        xml_text(cite(series.file, series.line)));
  }
  out += "</tbody></table></div>";
  if (single.size() > k_max_rows)
    out +=
        fmt::format("<p class=\"soft\">{} more in the JSON report</p>", single.size() - k_max_rows);
  return out + "</details>\n";
}

}  // namespace

std::string svg_charts(const analysis::Report& report) {
  std::map<std::string, Group> by_name;
  std::vector<const MetricSeries*> single;
  for (const MetricSeries& series : report.metrics) {
    if (points_of(series).size() < 2)
      single.push_back(&series);
    else
      by_name[series.name].push_back(&series);
  }
  std::vector<std::string> names;
  names.reserve(by_name.size());
  for (const auto& [name, group] : by_name) names.push_back(name);
  const auto before = [](const auto& a, const auto& b) { return importance(a) < importance(b); };
  std::stable_sort(names.begin(), names.end(), before);
  std::stable_sort(single.begin(), single.end(),
                   [&](const auto* a, const auto* b) { return before(a->name, b->name); });
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < k_max_charts; ++i)
    out += chart(names[i], by_name[names[i]]);
  if (!out.empty()) out = "<div class=\"charts\">\n" + out + "</div>\n";
  if (names.size() > k_max_charts)
    out += fmt::format("<p class=\"soft\">{} more series in the JSON report</p>\n",
                       names.size() - k_max_charts);
  return out + value_table(single);
}

}  // namespace triage::report

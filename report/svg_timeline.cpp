#include "report/svg_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "report/display.hpp"
#include "report/escape.hpp"

namespace triage::report {
namespace {

using analysis::ObservationEntry;
using analysis::Report;

// The same geometry as in report.js, which takes over from here.
constexpr double k_left = 170;
constexpr double k_width = 1000;
constexpr double k_top = 34;
constexpr double k_row = 24;
constexpr std::size_t k_max_lanes = 40;
constexpr std::size_t k_bins = 250;

int rank_of(const std::string& role) {
  if (role == "root") return 2;
  return role == "symptom" ? 1 : 0;
}

std::string_view class_of(int rank) {
  return rank == 2 ? "root" : (rank == 1 ? "symptom" : "context");
}

struct Bin {
  std::uint64_t count = 0;
  int rank = 0;
  const ObservationEntry* best = nullptr;
};

struct Picture {
  double from = 0, to = 0;  ///< nanoseconds; doubles, since hostile stamps may be centuries apart
  std::vector<std::string> lanes;
  std::map<std::pair<std::size_t, std::size_t>, Bin> bins;  ///< by lane and column

  [[nodiscard]] double x(double ns) const {
    return k_left + (ns - from) / (to - from) * (k_width - k_left);
  }
};

std::vector<std::string> lanes_of(const std::vector<const ObservationEntry*>& dated) {
  std::map<std::string, std::size_t> counts;
  for (const auto* seen : dated) ++counts[seen->at.file];
  std::vector<std::pair<std::size_t, std::string>> by_count;
  by_count.reserve(counts.size());
  for (const auto& [file, count] : counts) by_count.emplace_back(count, file);
  const bool too_many = by_count.size() > k_max_lanes;
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (too_many) by_count.resize(k_max_lanes - 1);
  std::vector<std::string> lanes;
  lanes.reserve(by_count.size() + 1);
  for (const auto& [count, file] : by_count) lanes.push_back(file);
  std::sort(lanes.begin(), lanes.end());
  if (too_many) lanes.emplace_back("others");
  return lanes;
}

Picture picture_of(const std::vector<const ObservationEntry*>& dated) {
  Picture picture;
  picture.lanes = lanes_of(dated);
  std::map<std::string, std::size_t> lane_index;
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) lane_index[picture.lanes[i]] = i;
  const auto [first, last] =
      std::minmax_element(dated.begin(), dated.end(), [](const auto* a, const auto* b) {
        return written_ns(*a->at.time) < written_ns(*b->at.time);
      });
  const auto from = static_cast<double>(written_ns(*(*first)->at.time));
  const auto to = static_cast<double>(written_ns(*(*last)->at.time));
  const double margin = std::max((to - from) * 0.01, 1e6);
  picture.from = from - margin;
  picture.to = to + margin;
  for (const auto* seen : dated) {
    const auto found = lane_index.find(seen->at.file);
    const std::size_t lane = found == lane_index.end() ? picture.lanes.size() - 1 : found->second;
    const double share = (static_cast<double>(written_ns(*seen->at.time)) - picture.from) /
                         (picture.to - picture.from);
    const auto column = std::min(k_bins - 1, static_cast<std::size_t>(share * k_bins));
    Bin& bin = picture.bins[{lane, column}];
    bin.count += seen->count;
    if (bin.best == nullptr || rank_of(seen->role) > bin.rank)
      bin.best = seen, bin.rank = rank_of(seen->role);
  }
  return picture;
}

std::string lane_label(const std::string& name) {
  // The end of a path tells more than its beginning.
  std::string shown = visible(name);
  if (display_width(shown) <= 26) return shown;
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < shown.size(); at += character_at(shown, at).length)
    starts.push_back(at);
  return "…" + shown.substr(starts[starts.size() > 25 ? starts.size() - 25 : 0]);
}

void draw_lanes(std::string& out, const Picture& picture) {
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const double y = k_top + static_cast<double>(i) * k_row;
    out += fmt::format("<rect class=\"lane{}\" x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                       i % 2 == 0 ? "" : " odd", y, k_width, k_row);
    out += fmt::format("<text x=\"4\" y=\"{}\">{}<title>{}</title></text>\n", y + 16,
                       xml_text(lane_label(picture.lanes[i])), xml_text(picture.lanes[i]));
  }
}

void draw_axis(std::string& out, const Picture& picture, double height) {
  for (int tick = 0; tick <= 4; ++tick) {
    const double ns = picture.from + (picture.to - picture.from) * tick / 4;
    const double x = picture.x(ns);
    // 9.2e18: what 64 bits of nanoseconds hold.
    const auto clamped = static_cast<std::int64_t>(std::clamp(ns, -9.2e18, 9.2e18));
    const std::string time = evidence::to_rfc3339({clamped, 1'000'000});
    out += fmt::format("<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>", x,
                       x, k_top, height);
    out += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"11\"{}>{}</text>\n", x,
                       tick == 4 ? " text-anchor=\"end\"" : "", xml_text(time));
  }
}

void draw_chain(std::string& out, const Picture& picture, const Report& report, double height) {
  double labelled = 0;
  for (std::size_t i = 0; i < report.causal_chain.size() && i < 60; ++i) {
    const auto& link = report.causal_chain[i];
    if (!link.at.time) continue;
    const double x = picture.x(static_cast<double>(written_ns(*link.at.time)));
    if (x < k_left || x > k_width) continue;
    out += fmt::format("<line class=\"link {}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>",
                       class_of(rank_of(link.role)), x, x, k_top - 4, height);
    if (x - labelled < 22) continue;  // the numbers would lie on each other
    labelled = x;
    out += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{}\">[{}]</text>\n",
                       std::min(x + 2, k_width - 18), k_top - 8, i);
  }
}

void draw_marks(std::string& out, const Picture& picture) {
  const double column_width = (k_width - k_left) / k_bins;
  for (const auto& [key, bin] : picture.bins) {
    const double size = std::min(k_row - 4, 6 + std::log2(static_cast<double>(bin.count) + 1) * 2);
    const double middle = k_top + static_cast<double>(key.first) * k_row + k_row / 2;
    out += fmt::format(
        "<rect class=\"mark {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
        "<title>{} × {}, {}: {}</title></rect>\n",
        class_of(bin.rank), k_left + static_cast<double>(key.second) * column_width,
        middle - size / 2, column_width, size, bin.count, class_of(bin.rank),
        evidence::to_rfc3339(*bin.best->at.time), xml_text(visible(bin.best->at.text, 80)));
  }
}

}  // namespace

std::string svg_timeline(const Report& report) {
  std::vector<const ObservationEntry*> dated;
  for (const auto& seen : report.observations)
    if (seen.at.time) dated.push_back(&seen);
  if (dated.size() < 2) return {};
  const Picture picture = picture_of(dated);
  const double height = k_top + static_cast<double>(picture.lanes.size()) * k_row + 6;
  std::string out = fmt::format(
      "<svg id=\"timeline-svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Observations over "
      "time, a lane for each file\">\n",
      k_width, height);
  draw_lanes(out, picture);
  draw_axis(out, picture, height);
  draw_chain(out, picture, report, height);
  draw_marks(out, picture);
  return out + "</svg>\n";
}

}  // namespace triage::report

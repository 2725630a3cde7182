#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/html_sections.hpp"
#include "report/svg_charts.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::GpuEntity;
using analysis::Report;

constexpr std::size_t k_rows = 400;

std::string text(std::string_view value) {
  return xml_text(visible(value, 1000));
}

/// Whether two names speak of one GPU: by UUID, else by PCI address on nodes that do not differ.
bool same_gpu(const GpuEntity& a, const GpuEntity& b) {
  if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid;
  const bool nodes_agree = a.node.empty() || b.node.empty() || a.node == b.node;
  if (!a.pci.empty() && !b.pci.empty()) return a.pci == b.pci && nodes_agree;
  return !a.index.empty() && a.index == b.index && nodes_agree;
}

std::vector<GpuEntity> all_gpus(const Report& report) {
  std::vector<GpuEntity> gpus = report.environment.gpus;
  for (const auto& gpu : report.verdict.entities.gpus) {
    const bool known = std::any_of(gpus.begin(), gpus.end(),
                                   [&](const GpuEntity& other) { return same_gpu(gpu, other); });
    if (!known) gpus.push_back(gpu);
  }
  return gpus;
}

bool is_held(const Report& report, const GpuEntity& gpu) {
  const auto& subjects = report.quarantine.subjects;
  return std::any_of(subjects.begin(), subjects.end(), [&](const auto& subject) {
    if (subject.kind == "node") return !gpu.node.empty() && subject.name == gpu.node;
    return subject.kind == "gpu" &&
           same_gpu(gpu, {subject.uuid, subject.pci, "", subject.node, ""});
  });
}

bool is_named(const Report& report, const GpuEntity& gpu) {
  const auto& gpus = report.verdict.entities.gpus;
  return std::any_of(gpus.begin(), gpus.end(),
                     [&](const GpuEntity& other) { return same_gpu(gpu, other); });
}

std::uint64_t observations_of(const Report& report, const GpuEntity& gpu) {
  std::uint64_t count = 0;
  for (const auto& seen : report.observations) {
    const auto& place = seen.place;
    if (place.gpu_uuid.empty() && place.pci.empty() && place.gpu_index.empty()) continue;
    if (same_gpu(gpu, {place.gpu_uuid, place.pci, place.gpu_index, place.node, ""}))
      count += seen.count;
  }
  return count;
}

void add_row(std::string& out, std::string_view label, std::string_view value) {
  if (!value.empty()) out += html_definition(visible(label, 200), text(value));
}

std::string rows_left(std::size_t all) {
  if (all <= k_rows) return {};
  return fmt::format("<p class=\"soft\">{} more in the JSON report</p>\n", all - k_rows);
}

}  // namespace

std::string html_gpus(const Report& report) {
  const auto gpus = all_gpus(report);
  if (gpus.empty()) return {};
  std::string body =
      "<div class=\"scroll\"><table><thead><tr><th>GPU</th><th>node</th><th>model</th>"
      "<th>PCI address</th><th>UUID</th><th>observations</th><th>state</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < gpus.size() && i < k_rows; ++i) {
    const GpuEntity& gpu = gpus[i];
    const bool held = is_held(report, gpu);
    const bool named = is_named(report, gpu);
    std::string state = named ? "named by the verdict" : "";
    if (held) state += named ? ", to be held out" : "to be held out";
    body += fmt::format(
        "<tr{}><td>{}</td><td>{}</td><td>{}</td><td class=\"place\">{}</td><td class=\"place\">{}"
        "</td><td>{}</td><td>{}</td></tr>\n",
        named ? " class=\"lit\"" : "", text(gpu.index), text(gpu.node), text(gpu.name),
        text(gpu.pci), text(gpu.uuid), observations_of(report, gpu), state);
  }
  return html_section("gpus", "GPUs", body + "</tbody></table></div>\n" + rows_left(gpus.size()));
}

std::string html_metrics(const Report& report) {
  return html_section("metrics", "Memory, KV cache and load", svg_charts(report));
}

std::string html_figures(const Report& report) {
  std::string body;
  const auto add = [&body](std::string_view title,
                           const std::optional<analysis::Section>& section) {
    if (!section || section->empty()) return;
    body += html_element("h3", title) +
            "\n<div class=\"scroll\"><table><thead><tr><th>figure</th><th>value</th><th>from</th>"
            "</tr></thead><tbody>\n";
    for (const auto& [name, sourced] : *section)
      body += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"place\">{}</td></tr>\n",
                          text(name), text(sourced.value), text(cite(sourced.file, sourced.line)));
    body += "</tbody></table></div>\n";
  };
  add("Memory budget", report.memory_budget);
  add("Load", report.load);
  add("Loading", report.loading);
  add("Replicas", report.replicas);
  add("Capacity", report.capacity);
  return html_section("figures", "Figures", body);
}

std::string html_environment(const Report& report) {
  const auto& environment = report.environment;
  std::string rows;
  add_row(rows, "Driver", environment.driver);
  add_row(rows, "CUDA", environment.cuda);
  add_row(rows, "Engine", environment.engine.name);
  add_row(rows, "Engine version", environment.engine.version);
  for (const auto& image : environment.images) add_row(rows, "Image", image);
  for (const auto& [name, value] : environment.kubernetes) add_row(rows, name, value);
  for (const auto& [name, value] : environment.engine.args)
    add_row(rows, name, value.empty() ? "set" : value);
  if (!rows.empty()) rows = "<dl class=\"facts\">\n" + rows + "</dl>\n";
  return html_section("environment", "Environment", rows);
}

std::string html_coverage(const Report& report) {
  std::string body;
  if (const auto& coverage = report.coverage) {
    body += fmt::format("<p>{} of {} files read, {} lines.</p>\n", coverage->files_read,
                        coverage->files, coverage->lines);
    for (const auto& unread : coverage->unread)
      body += html_element("p", "Left out: " + visible(unread, 1000)) + "\n";
    if (!coverage->unmatched_errors.empty())
      body += html_element("h3", "Lines that look like errors and match no rule") + "\n";
    for (const auto& cluster : coverage->unmatched_errors)
      body += fmt::format("<p>{} · {} times</p><pre>{}</pre>\n",
                          html_element("span", cite(cluster.file, cluster.line), "place"),
                          cluster.count, text(cluster.example));
  }
  if (!report.inputs.empty()) {
    body +=
        "<details><summary>Files</summary><div class=\"scroll\"><table><thead><tr><th>file</th>"
        "<th>kind</th><th>lines</th><th>size</th><th>first</th><th>last</th></tr></thead><tbody>\n";
    const auto time = [](const std::optional<evidence::Time>& t) {
      return t ? evidence::to_rfc3339(*t) : std::string();
    };
    for (std::size_t i = 0; i < report.inputs.size() && i < k_rows; ++i) {
      const auto& input = report.inputs[i];
      const auto size = static_cast<std::int64_t>(std::min<std::uint64_t>(input.bytes, INT64_MAX));
      body += fmt::format(
          "<tr><td class=\"place\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"time\">{}"
          "</td><td class=\"time\">{}</td></tr>\n",
          text(input.path), text(input.kind), input.lines, base::format_bytes(size),
          time(input.first), time(input.last));
    }
    body += "</tbody></table></div>" + rows_left(report.inputs.size()) + "</details>\n";
  }
  return html_section("coverage", "Coverage", body);
}

}  // namespace triage::report

#include "report/formats.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/ndjson.hpp"
#include "report/sarif.hpp"

namespace triage::report {
namespace {

struct Entry {
  Format format;
  std::string_view name, alias;
  std::string_view suffixes;  ///< of files, parted by blanks
};

constexpr std::array<Entry, 7> k_formats{{{Format::text, "text", "txt", ".txt"},
                                          {Format::json, "json", "", ".json"},
                                          {Format::ndjson, "ndjson", "jsonl", ".ndjson .jsonl"},
                                          {Format::markdown, "markdown", "md", ".md .markdown"},
                                          {Format::html, "html", "", ".html .htm"},
                                          {Format::junit, "junit", "", ".xml"},
                                          {Format::sarif, "sarif", "", ".sarif .sarif.json"}}};

std::string heading(Format format, const std::string& name) {
  if (name.empty()) return {};
  if (format == Format::text) return "== " + visible(name) + "\n\n";
  return "# " + markdown_code(name) + "\n\n";
}

}  // namespace

std::string_view to_string(Format format) {
  for (const Entry& entry : k_formats)
    if (entry.format == format) return entry.name;
  return {};
}

std::optional<Format> format_from(std::string_view name) {
  for (const Entry& entry : k_formats)
    if (!name.empty() && (name == entry.name || name == entry.alias)) return entry.format;
  return std::nullopt;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(std::size(k_formats));
    for (const Entry& entry : k_formats) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::optional<Format> format_of_file(std::string_view path) {
  std::optional<Format> best;
  std::size_t longest = 0;
  for (const Entry& entry : k_formats) {
    std::string_view rest = entry.suffixes;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(' '), rest.size());
      const std::string_view suffix = rest.substr(0, end);
      if (path.ends_with(suffix) && suffix.size() > longest)
        best = entry.format, longest = suffix.size();
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return best;
}

std::string render(Format format, const NamedReport& named, const TextOptions& text) {
  const analysis::Report& report = *named.report;
  switch (format) {
    case Format::text:
      return render_text(report, text);
    case Format::json:
      return render_json(report);
    case Format::ndjson:
      return render_ndjson({&named, 1});
    case Format::markdown:
      return render_markdown(report);
    case Format::html:
      return render_html(named);
    case Format::junit:
      return render_junit({&named, 1});
    case Format::sarif:
      return render_sarif({&named, 1});
  }
  return {};
}

std::string render_each(Format format, Reports reports, const TextOptions& text) {
  if (format == Format::ndjson) return render_ndjson(reports);
  if (format == Format::junit) return render_junit(reports);
  if (format == Format::sarif) return render_sarif(reports);
  std::string out;
  for (const NamedReport& named : reports) {
    if (!out.empty() && format != Format::json) out += '\n';
    if (format == Format::text || format == Format::markdown) out += heading(format, named.name);
    out += render(format, named, text);
  }
  return out;
}

}  // namespace triage::report

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"

// The Prometheus text format and OpenMetrics: one fact for each sample, histogram buckets too. A
// file may hold several scrapes one after another (a series that comes again begins the next), and
// one build of llama.cpp returned the whole text as a quoted JSON string.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

// A federated dump has millions of series; what an incident needs is far below this.
constexpr std::size_t k_max_samples = 200'000;
constexpr std::size_t k_max_labels = 32;

bool is_name_char(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         (!first && c >= '0' && c <= '9');
}

/// The text inside a JSON string, or the text as it is.
std::string unquoted(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') break;
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 'n' ? '\n' : c == 't' ? ' ' : c;
  }
  return out;
}

struct Sample {
  std::string_view name;
  std::vector<std::pair<std::string, std::string>> labels;
  std::string value;
  std::optional<evidence::Stamp> stamp;
};

std::optional<std::string> value_text(std::string_view word) {
  if (base::iequals(word, "NaN")) return "nan";
  if (base::iequals(word, "+Inf") || base::iequals(word, "Inf")) return "inf";
  if (base::iequals(word, "-Inf")) return "-inf";
  const auto value = base::parse_double(word);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return plain_number(*value);
}

std::optional<Sample> read_sample(std::string_view line) {
  Sample sample;
  std::size_t at = 0;
  while (at < line.size() && is_name_char(line[at], at == 0)) ++at;
  if (at == 0) return std::nullopt;
  sample.name = line.substr(0, at);
  if (at < line.size() && line[at] == '{') {
    ++at;
    while (at < line.size() && line[at] != '}') {
      if (line[at] == ',' || line[at] == ' ') {
        ++at;
        continue;
      }
      const std::size_t equals = line.find('=', at);
      if (equals == std::string_view::npos || equals + 1 >= line.size() || line[equals + 1] != '"')
        return std::nullopt;
      const std::string_view name = base::trim(line.substr(at, equals - at));
      std::string value;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\' && at + 1 < line.size()) {
          ++at;
          value += line[at] == 'n' ? ' ' : line[at];
        } else {
          value += line[at];
        }
      }
      if (at >= line.size()) return std::nullopt;
      ++at;
      if (sample.labels.size() < k_max_labels && !name.empty())
        sample.labels.emplace_back(std::string(name), std::move(value));
    }
    if (at >= line.size()) return std::nullopt;
    ++at;
  }
  const auto words = base::split_blanks(line.substr(at));
  if (words.empty()) return std::nullopt;
  auto value = value_text(words[0]);
  if (!value) return std::nullopt;
  sample.value = std::move(*value);
  // Milliseconds in the text format, seconds with a fraction in OpenMetrics.
  if (words.size() >= 2 && words[1] != "#") {
    Scanner in{words[1]};
    if (auto stamp = scan_epoch(in); stamp && in.at_end()) sample.stamp = stamp;
  }
  return sample;
}

/// Labels that exporters and scrapers put on name the place. `exported_pod` is the workload when
/// the scraper has put its own `pod` on.
void fill_place(evidence::Place& place, const Sample& sample) {
  const auto find = [&sample](std::initializer_list<std::string_view> names) -> std::string {
    for (const std::string_view name : names)
      for (const auto& [label, value] : sample.labels)
        if (label == name && !value.empty()) return value;
    return {};
  };
  const auto fill = [](std::string& part, std::string value) {
    if (!value.empty()) part = std::move(value);
  };
  fill(place.pod, find({"exported_pod", "pod", "pod_name"}));
  fill(place.name_space, find({"exported_namespace", "namespace"}));
  fill(place.container, find({"exported_container", "container"}));
  fill(place.node, find({"Hostname", "hostname", "kubernetes_node", "node"}));
  fill(place.gpu_uuid, evidence::normalise_gpu_uuid(find({"UUID", "uuid", "gpu_uuid"})));
  fill(place.pci, evidence::normalise_pci(find({"pci_bus_id"})));
  const std::string gpu = find({"gpu", "gpu_id"});
  if (base::parse_int(gpu)) place.gpu_index = gpu;
  const std::string rank = find({"tp_rank"});
  if (base::parse_int(rank)) place.rank = rank;
}

class MetricsReader {
 public:
  MetricsReader(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  /// With `one_line` every value stands in line 1 of the original.
  void read(std::string_view text, bool one_line) {
    std::uint32_t number = 0;
    for (const std::string_view line : base::split_lines(text)) {
      ++number;
      read_line(base::trim(line), one_line ? 1 : number);
      if (samples_ >= k_max_samples) return;
    }
  }

 private:
  void read_line(std::string_view line, std::uint32_t number) {
    if (line.empty()) return;
    if (line.front() == '#') {
      read_comment(base::trim(line.substr(1)));
      return;
    }
    auto sample = read_sample(line);
    if (!sample) return;
    ++samples_;
    begin_scrape_if_repeated(*sample);
    Fact fact;
    fact.kind = context_.kind;
    fact.place = context_.place;
    fact.line = number;
    fact.set("name", std::string(sample->name), number);
    fact.set("value", std::move(sample->value), number);
    fact.set("scrape", std::to_string(scrape_), number);
    fill_place(fact.place, *sample);
    for (auto& [label, value] : sample->labels)
      fact.set("labels." + label, std::move(value), number);
    fact.stamp = sample->stamp ? sample->stamp : scrape_stamp_;
    sink_(std::move(fact));
  }

  /// A comment may date the scrape (`# 2026-01-02T15:04:05Z`, `# scraped at ...`); `# EOF` ends
  /// one.
  void read_comment(std::string_view comment) {
    if (comment.substr(0, 5) == "HELP " || comment.substr(0, 5) == "TYPE " ||
        comment.substr(0, 5) == "UNIT ")
      return;
    if (comment == "EOF") {
      seen_.clear();
      ended_ = true;
      return;
    }
    for (std::size_t at = 0; at < comment.size() && at < 120; ++at) {
      if (!is_digit(comment[at]) || (at > 0 && is_digit(comment[at - 1]))) continue;
      Scanner in{comment, at};
      auto stamp = scan_iso(in);
      if (!stamp) stamp = scan_epoch(in);
      if (!stamp) continue;
      scrape_stamp_ = stamp;
      if (samples_ > 0) ended_ = true;
      return;
    }
  }

  void begin_scrape_if_repeated(const Sample& sample) {
    std::string series(sample.name);
    for (const auto& [label, value] : sample.labels) series += '\x1f' + label + '=' + value;
    if (ended_ || !seen_.insert(series).second) {
      // A repeat within a scrape would be a fault of the exporter; it is the next scrape.
      if (!seen_.empty() || ended_) ++scrape_;
      seen_.clear();
      seen_.insert(std::move(series));
      ended_ = false;
    }
  }

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  std::size_t samples_ = 0;
  int scrape_ = 1;
  bool ended_ = false;
  std::set<std::string> seen_;  ///< series of the scrape so far
  std::optional<evidence::Stamp> scrape_stamp_;
};

}  // namespace

void parse_prometheus(std::string_view text, const ParseContext& context,
                      const evidence::FactSink& sink) {
  const std::string_view trimmed = base::trim(text);
  MetricsReader reader(context, sink);
  if (!trimmed.empty() && trimmed.front() == '"')
    reader.read(unquoted(trimmed), true);
  else
    reader.read(text, false);
}

}  // namespace triage::analysis::formats

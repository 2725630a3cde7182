#include "report/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "report/display.hpp"
#include "report/json.hpp"

namespace triage::report {
namespace {

using analysis::Report;
using evidence::Time;
using nlohmann::json;

const json& child(const json& object, const char* name) {
  static const json k_null;
  if (!object.is_object()) return k_null;
  const auto found = object.find(name);
  return found == object.end() ? k_null : *found;
}

/// The elements of an array; nothing for any other type.
const json::array_t& elements(const json& value) {
  static const json::array_t k_none;
  const auto* array = value.get_ptr<const json::array_t*>();
  return array == nullptr ? k_none : *array;
}

std::string as_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  return {};
}

std::string text_of(const json& object, const char* name) {
  return as_text(child(object, name));
}

std::uint64_t count_of(const json& object, const char* name) {
  const json& value = child(object, name);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::uint32_t line_of(const json& object, const char* name = "line") {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count_of(object, name), std::numeric_limits<std::uint32_t>::max()));
}

std::vector<std::string> texts_of(const json& object, const char* name) {
  std::vector<std::string> texts;
  for (const json& element : elements(child(object, name))) texts.push_back(as_text(element));
  return texts;
}

std::map<std::string, std::string> map_of(const json& object, const char* name) {
  std::map<std::string, std::string> map;
  const json& value = child(object, name);
  if (!value.is_object()) return map;
  for (const auto& [key, member] : value.items()) map[key] = as_text(member);
  return map;
}

/// Where no uncertainty is written, the digits of the time say how fine it is.
std::int64_t implied_uncertainty_ns(const std::string& text) {
  const auto dot = text.find('.');
  if (dot == std::string::npos) return 1'000'000'000;
  const auto end = text.find_first_not_of("0123456789", dot + 1);
  const std::size_t digits = (end == std::string::npos ? text.size() : end) - dot - 1;
  return digits > 3 ? 1000 : 1'000'000;
}

std::optional<Time> time_from(const json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto text = value.get<std::string>();
  const auto stamp = evidence::parse_rfc3339(text);
  if (!stamp || stamp->base != evidence::Stamp::Base::utc) return std::nullopt;
  return Time{stamp->ns, implied_uncertainty_ns(text)};
}

std::optional<Time> time_of(const json& object, const char* name) {
  return time_from(child(object, name));
}

/// `time` with the `uncertainty_ms` beside it.
std::optional<Time> dated(const json& object) {
  auto time = time_of(object, "time");
  const json& ms = child(object, "uncertainty_ms");
  if (time && ms.is_number()) {
    const double ns = ms.get<double>() * 1e6;
    // 9.2e18 ns, 292 years, is what 64 bits hold.
    time->uncertainty_ns = ns >= 0 && ns < 9.2e18 ? std::llround(ns) : 0;
  }
  return time;
}

analysis::Cited cited_from(const json& object) {
  return {text_of(object, "file"), line_of(object), dated(object), text_of(object, "text"),
          text_of(object, "rank")};
}

std::optional<analysis::Cited> cited_of(const json& object, const char* name) {
  const json& value = child(object, name);
  if (!value.is_object()) return std::nullopt;
  return cited_from(value);
}

std::vector<analysis::GpuEntity> gpus_of(const json& object) {
  std::vector<analysis::GpuEntity> gpus;
  for (const json& gpu : elements(child(object, "gpus")))
    gpus.push_back({text_of(gpu, "uuid"), text_of(gpu, "pci"), text_of(gpu, "index"),
                    text_of(gpu, "node"), text_of(gpu, "name")});
  return gpus;
}

evidence::Place place_of(const json& object) {
  const json& value = child(object, "place");
  evidence::Place place;
  place.node = text_of(value, "node");
  place.name_space = text_of(value, "namespace");
  place.pod = text_of(value, "pod");
  place.container = text_of(value, "container");
  place.pid = text_of(value, "pid");
  place.gpu_uuid = text_of(value, "gpu_uuid");
  place.pci = text_of(value, "pci");
  place.gpu_index = text_of(value, "gpu_index");
  place.rank = text_of(value, "rank");
  place.workload = text_of(value, "workload");
  place.revision = text_of(value, "revision");
  return place;
}

analysis::VerdictEntry verdict_of(const json& object) {
  const json& value = child(object, "verdict");
  analysis::VerdictEntry verdict;
  verdict.class_ = text_of(value, "class");
  verdict.cause = text_of(value, "cause");
  verdict.title = text_of(value, "title");
  verdict.severity = text_of(value, "severity");
  verdict.confidence = text_of(value, "confidence");
  verdict.confidence_reasons = texts_of(value, "confidence_reasons");
  verdict.fault_domain = text_of(value, "fault_domain");
  verdict.scope = text_of(value, "scope");
  verdict.pattern = text_of(value, "pattern");
  verdict.first_error = cited_of(value, "first_error");
  verdict.first_cuda_error = cited_of(value, "first_cuda_error");
  const json& entities = child(value, "entities");
  verdict.entities.nodes = texts_of(entities, "nodes");
  verdict.entities.pods = texts_of(entities, "pods");
  verdict.entities.containers = texts_of(entities, "containers");
  verdict.entities.gpus = gpus_of(entities);
  verdict.entities.ranks = texts_of(entities, "ranks");
  return verdict;
}

analysis::QuarantineEntry quarantine_of(const json& object) {
  const json& value = child(object, "quarantine");
  analysis::QuarantineEntry quarantine;
  quarantine.target = text_of(value, "target");
  quarantine.action = text_of(value, "action");
  for (const json& subject : elements(child(value, "subjects")))
    quarantine.subjects.push_back({text_of(subject, "kind"), text_of(subject, "name"),
                                   text_of(subject, "uuid"), text_of(subject, "pci"),
                                   text_of(subject, "node")});
  quarantine.reason = text_of(value, "reason");
  quarantine.lift_when = text_of(value, "lift_when");
  quarantine.commands = texts_of(value, "commands");
  return quarantine;
}

analysis::ObservationEntry observation_from(const json& value) {
  analysis::ObservationEntry seen;
  seen.rule = text_of(value, "rule");
  seen.cause = text_of(value, "cause");
  seen.class_ = text_of(value, "class");
  seen.role = text_of(value, "role");
  seen.severity = text_of(value, "severity");
  seen.at = cited_from(value);
  seen.place = place_of(value);
  seen.count = count_of(value, "count");
  seen.first = time_of(value, "first");
  seen.last = time_of(value, "last");
  seen.captures = map_of(value, "captures");
  return seen;
}

analysis::TimelineEntry timeline_entry_from(const json& value) {
  return {cited_from(value), text_of(value, "rule"), text_of(value, "role"), place_of(value)};
}

void read_inputs(const json& root, Report& report) {
  for (const json& value : elements(child(root, "input"))) {
    analysis::InputEntry input;
    input.path = text_of(value, "path");
    input.kind = text_of(value, "kind");
    input.format = text_of(value, "format");
    input.sha256 = text_of(value, "sha256");
    input.bytes = count_of(value, "bytes");
    input.lines = count_of(value, "lines");
    input.node = text_of(value, "node");
    input.pod = text_of(value, "pod");
    input.container = text_of(value, "container");
    input.first = time_of(value, "first");
    input.last = time_of(value, "last");
    report.inputs.push_back(std::move(input));
  }
}

void read_chain(const json& root, Report& report) {
  const auto& links = elements(child(root, "causal_chain"));
  for (const json& value : links) {
    analysis::ChainLink link{text_of(value, "rule"),
                             text_of(value, "cause"),
                             text_of(value, "role"),
                             cited_from(value),
                             {}};
    for (const json& index : elements(child(value, "explains")))
      if (index.is_number_unsigned() && index.get<std::uint64_t>() < links.size())
        link.explains.push_back(index.get<std::size_t>());
    report.causal_chain.push_back(std::move(link));
  }
}

void read_environment(const json& root, Report& report) {
  const json& value = child(root, "environment");
  auto& environment = report.environment;
  environment.driver = text_of(value, "driver");
  environment.cuda = text_of(value, "cuda");
  environment.gpus = gpus_of(value);
  const json& engine = child(value, "engine");
  environment.engine = {text_of(engine, "name"), text_of(engine, "version"),
                        map_of(engine, "args")};
  environment.images = texts_of(value, "images");
  environment.kubernetes = map_of(value, "kubernetes");
}

std::optional<analysis::Coverage> coverage_of(const json& root) {
  const json& value = child(root, "coverage");
  if (!value.is_object()) return std::nullopt;
  analysis::Coverage coverage;
  coverage.files = count_of(value, "files");
  coverage.files_read = count_of(value, "files_read");
  coverage.lines = count_of(value, "lines");
  coverage.bytes = count_of(value, "bytes");
  coverage.unread = texts_of(value, "unread");
  for (const json& cluster : elements(child(value, "unmatched_errors")))
    coverage.unmatched_errors.push_back({text_of(cluster, "text"), text_of(cluster, "file"),
                                         line_of(cluster), count_of(cluster, "count")});
  return coverage;
}

std::optional<analysis::Section> section_of(const json& root, const char* name) {
  const json& value = child(root, name);
  if (!value.is_object()) return std::nullopt;
  analysis::Section section;
  for (const auto& [key, sourced] : value.items())
    section[key] = {text_of(sourced, "value"), text_of(sourced, "file"), line_of(sourced)};
  return section;
}

std::optional<analysis::Recurrence> recurrence_of(const json& root) {
  const json& value = child(root, "recurrence");
  if (!value.is_object()) return std::nullopt;
  return analysis::Recurrence{count_of(value, "same_fingerprint"),
                              count_of(value, "same_gpu_critical_30d"),
                              count_of(value, "same_gpu_remediations_7d"),
                              texts_of(value, "incident_ids"), text_of(value, "note")};
}

void read_metrics(const json& root, Report& report) {
  for (const json& value : elements(child(root, "metrics"))) {
    analysis::MetricSeries series;
    series.name = text_of(value, "name");
    series.labels = map_of(value, "labels");
    series.file = text_of(value, "file");
    series.line = line_of(value);
    for (const json& point : elements(child(value, "points"))) {
      const auto& pair = elements(point);
      if (pair.size() != 2) continue;
      series.points.emplace_back(
          time_from(pair[0]),
          pair[1].is_number() ? pair[1].get<double>() : std::numeric_limits<double>::quiet_NaN());
    }
    report.metrics.push_back(std::move(series));
  }
}

void read_rest(const json& root, Report& report) {
  const json& tool = child(root, "tool");
  report.tool_version = text_of(tool, "version");
  report.rules_digest = text_of(tool, "rules_digest");
  report.verdict = verdict_of(root);
  report.quarantine = quarantine_of(root);
  for (const json& step : elements(child(root, "next_steps")))
    report.next_steps.push_back({text_of(step, "phase"), text_of(step, "text"),
                                 text_of(step, "command"), text_of(step, "why")});
  for (const json& other : elements(child(root, "other_incidents")))
    report.other_incidents.push_back({verdict_of(other), quarantine_of(other)});
  report.coverage = coverage_of(root);
  report.memory_budget = section_of(root, "memory_budget");
  report.load = section_of(root, "load");
  report.loading = section_of(root, "loading");
  report.replicas = section_of(root, "replicas");
  report.capacity = section_of(root, "capacity");
  report.recurrence = recurrence_of(root);
  for (const json& item : elements(child(root, "missing_evidence")))
    report.missing_evidence.push_back(
        {text_of(item, "what"), text_of(item, "why"), text_of(item, "command")});
  report.warnings = texts_of(root, "warnings");
  for (const json& value : elements(child(root, "excerpts")))
    report.excerpts.push_back({text_of(value, "file"), line_of(value, "first_line"),
                               texts_of(value, "lines"), line_of(value, "cited_line")});
  report.loudest = text_of(root, "loudest");
}

/// Moves each observation and timeline entry out of the tree as soon as it is read: a report of a
/// hundred thousand of them never stands in memory as JSON.
class Collector {
 public:
  explicit Collector(Report& report) : report_(report) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1) section_ = parsed.get<std::string>();
    // Depth 2: the closing brace of an element of a top-level array.
    if (event != json::parse_event_t::object_end || depth != 2) return true;
    if (section_ == "observations") {
      report_.observations.push_back(observation_from(parsed));
      return false;
    }
    if (section_ == "timeline") {
      report_.timeline.push_back(timeline_entry_from(parsed));
      return false;
    }
    return true;
  }

 private:
  Report& report_;
  std::string section_;
};

}  // namespace

base::Result<Report> read_json(std::string_view text) {
  Report report;
  const json root = json::parse(text.begin(), text.end(), Collector(report), false);
  if (root.is_discarded())
    return base::Problem{"not JSON", "", "give the output of triage analyze -f json"};
  const std::string schema = text_of(root, "schema");
  if (schema != k_schema) {
    return base::Problem{
        schema.empty()
            ? std::string("JSON, but no triage report: it names no schema")
            : fmt::format("a report of schema '{}', not '{}'", visible(schema, 40), k_schema),
        "", "give the output of triage analyze -f json"};
  }
  read_inputs(root, report);
  read_chain(root, report);
  read_environment(root, report);
  read_metrics(root, report);
  read_rest(root, report);
  return report;
}

}  // namespace triage::report

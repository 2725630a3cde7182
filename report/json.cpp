#include "report/json.hpp"

#include "base/text.hpp"

namespace triage::report {
namespace {

using analysis::Cited;
using analysis::GpuEntity;
using analysis::Report;
using evidence::Time;

void write_texts(JsonWriter& out, std::string_view name, const std::vector<std::string>& texts) {
  out.key(name).begin_array();
  for (const std::string& text : texts) out.text(text);
  out.end_array();
}

template <class Map>
void write_map(JsonWriter& out, std::string_view name, const Map& map) {
  out.key(name).begin_object();
  for (const auto& [key, value] : map) out.member(key, value);
  out.end_object();
}

void write_time(JsonWriter& out, std::string_view name, const std::optional<Time>& time) {
  out.member_or_null(name, time ? evidence::to_rfc3339(*time) : std::string());
}

void write_uncertainty(JsonWriter& out, const std::optional<Time>& time) {
  out.key("uncertainty_ms");
  write_milliseconds(out, time ? time->uncertainty_ns : 0);
}

/// A GPU index is a number wherever it is one (`0:1` of a MIG slice stays a text).
void write_index(JsonWriter& out, std::string_view name, const std::string& index) {
  out.key(name);
  const auto number = base::parse_int(index);
  if (number && std::to_string(*number) == index)
    out.integer(*number);
  else if (index.empty())
    out.null();
  else
    out.text(index);
}

void write_gpu(JsonWriter& out, const GpuEntity& gpu) {
  out.begin_object().member("uuid", gpu.uuid).member("pci", gpu.pci);
  write_index(out, "index", gpu.index);
  out.member("node", gpu.node).member("name", gpu.name).end_object();
}

void write_gpus(JsonWriter& out, const std::vector<GpuEntity>& gpus) {
  out.key("gpus").begin_array();
  for (const GpuEntity& gpu : gpus) write_gpu(out, gpu);
  out.end_array();
}

void write_line_number(JsonWriter& out, std::uint32_t line) {
  out.key("line").unsigned_integer(line);
}

void write_cited(JsonWriter& out, std::string_view name, const std::optional<Cited>& cited) {
  out.key(name);
  if (!cited) {
    out.null();
    return;
  }
  out.begin_object().member("file", cited->file);
  write_line_number(out, cited->line);
  write_time(out, "time", cited->time);
  out.member("text", cited->text);
  write_uncertainty(out, cited->time);
  out.member_or_null("rank", cited->rank).end_object();
}

void write_inputs(JsonWriter& out, const std::vector<analysis::InputEntry>& inputs) {
  out.key("input").begin_array();
  for (const auto& input : inputs) {
    out.begin_object().member("path", input.path).member("kind", input.kind);
    out.member_or_null("sha256", input.sha256).key("bytes").unsigned_integer(input.bytes);
    out.member("format", input.format).key("lines").unsigned_integer(input.lines);
    out.member("node", input.node).member("pod", input.pod).member("container", input.container);
    write_time(out, "first", input.first);
    write_time(out, "last", input.last);
    out.end_object();
  }
  out.end_array();
}

void write_next_steps(JsonWriter& out, const std::vector<analysis::NextStep>& steps) {
  out.key("next_steps").begin_array();
  for (const auto& step : steps) {
    out.begin_object().member("phase", step.phase).member("text", step.text);
    out.member_or_null("command", step.command).member("why", step.why).end_object();
  }
  out.end_array();
}

void write_chain(JsonWriter& out, const std::vector<analysis::ChainLink>& chain) {
  out.key("causal_chain").begin_array();
  for (const auto& link : chain) {
    out.begin_object().member("rule", link.rule).member("cause", link.cause);
    out.member("role", link.role).member("file", link.at.file);
    write_line_number(out, link.at.line);
    write_time(out, "time", link.at.time);
    out.member("text", link.at.text).key("explains").begin_array();
    for (const std::size_t index : link.explains) out.unsigned_integer(index);
    out.end_array();
    write_uncertainty(out, link.at.time);
    out.member_or_null("rank", link.at.rank).end_object();
  }
  out.end_array();
}

void write_other_incidents(JsonWriter& out, const std::vector<analysis::OtherIncident>& others) {
  out.key("other_incidents").begin_array();
  for (const auto& other : others) {
    out.begin_object().key("verdict");
    write_verdict(out, other.verdict);
    out.key("quarantine");
    write_quarantine(out, other.quarantine);
    out.end_object();
  }
  out.end_array();
}

void write_timeline(JsonWriter& out, const std::vector<analysis::TimelineEntry>& timeline) {
  out.key("timeline").begin_array();
  for (const auto& entry : timeline) {
    out.begin_object();
    write_time(out, "time", entry.at.time);
    write_uncertainty(out, entry.at.time);
    out.member("file", entry.at.file);
    write_line_number(out, entry.at.line);
    out.member("rule", entry.rule).member("role", entry.role).key("place");
    write_place(out, entry.place);
    out.member("text", entry.at.text).member_or_null("rank", entry.at.rank).end_object();
  }
  out.end_array();
}

void write_environment(JsonWriter& out, const analysis::Environment& environment) {
  out.key("environment").begin_object();
  out.member("driver", environment.driver).member("cuda", environment.cuda);
  write_gpus(out, environment.gpus);
  out.key("engine").begin_object().member("name", environment.engine.name);
  out.member("version", environment.engine.version);
  write_map(out, "args", environment.engine.args);
  out.end_object();
  write_texts(out, "images", environment.images);
  write_map(out, "kubernetes", environment.kubernetes);
  out.end_object();
}

void write_coverage(JsonWriter& out, const std::optional<analysis::Coverage>& coverage) {
  out.key("coverage");
  if (!coverage) {
    out.null();
    return;
  }
  out.begin_object().key("files").unsigned_integer(coverage->files);
  out.key("files_read").unsigned_integer(coverage->files_read);
  out.key("lines").unsigned_integer(coverage->lines);
  out.key("bytes").unsigned_integer(coverage->bytes);
  write_texts(out, "unread", coverage->unread);
  out.key("unmatched_errors").begin_array();
  for (const auto& cluster : coverage->unmatched_errors) {
    out.begin_object().member("file", cluster.file);
    write_line_number(out, cluster.line);
    out.key("count").unsigned_integer(cluster.count).member("text", cluster.example).end_object();
  }
  out.end_array().end_object();
}

void write_section(JsonWriter& out, std::string_view name,
                   const std::optional<analysis::Section>& section) {
  out.key(name);
  if (!section) {
    out.null();
    return;
  }
  out.begin_object();
  for (const auto& [key, sourced] : *section) {
    out.key(key).begin_object().member("value", sourced.value).member("file", sourced.file);
    write_line_number(out, sourced.line);
    out.end_object();
  }
  out.end_object();
}

void write_recurrence(JsonWriter& out, const std::optional<analysis::Recurrence>& recurrence) {
  out.key("recurrence");
  if (!recurrence) {
    out.null();
    return;
  }
  out.begin_object().key("same_fingerprint").unsigned_integer(recurrence->same_fingerprint);
  out.key("same_gpu_critical_30d").unsigned_integer(recurrence->same_gpu_critical_30d);
  out.key("same_gpu_remediations_7d").unsigned_integer(recurrence->same_gpu_remediations_7d);
  write_texts(out, "incident_ids", recurrence->incident_ids);
  out.member("note", recurrence->note).end_object();
}

void write_missing(JsonWriter& out, const std::vector<analysis::MissingEvidence>& missing) {
  out.key("missing_evidence").begin_array();
  for (const auto& item : missing)
    out.begin_object()
        .member("what", item.what)
        .member("why", item.why)
        .member("command", item.command)
        .end_object();
  out.end_array();
}

void write_metrics(JsonWriter& out, const std::vector<analysis::MetricSeries>& metrics) {
  out.key("metrics").begin_array();
  for (const auto& series : metrics) {
    out.begin_object().member("name", series.name);
    write_map(out, "labels", series.labels);
    out.member("file", series.file);
    write_line_number(out, series.line);
    out.key("points").begin_array();
    for (const auto& [time, value] : series.points) {
      out.begin_array();
      time && time->year_known ? out.text(evidence::to_rfc3339(*time)) : out.null();
      out.number(value).end_array();
    }
    out.end_array().end_object();
  }
  out.end_array();
}

void write_excerpts(JsonWriter& out, const std::vector<analysis::Excerpt>& excerpts) {
  out.key("excerpts").begin_array();
  for (const auto& excerpt : excerpts) {
    out.begin_object().member("file", excerpt.file);
    out.key("first_line").unsigned_integer(excerpt.first_line);
    out.key("cited_line").unsigned_integer(excerpt.cited_line);
    write_texts(out, "lines", excerpt.lines);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

void write_milliseconds(JsonWriter& out, std::int64_t ns) {
  out.number(static_cast<double>(ns) / 1e6);
}

void write_place(JsonWriter& out, const evidence::Place& place) {
  const auto part = [&out](std::string_view name, const std::string& value) {
    if (!value.empty()) out.member(name, value);
  };
  out.begin_object();
  part("node", place.node);
  part("namespace", place.name_space);
  part("pod", place.pod);
  part("container", place.container);
  part("pid", place.pid);
  part("gpu_uuid", place.gpu_uuid);
  part("pci", place.pci);
  part("gpu_index", place.gpu_index);
  part("rank", place.rank);
  part("workload", place.workload);
  part("revision", place.revision);
  out.end_object();
}

void write_verdict(JsonWriter& out, const analysis::VerdictEntry& verdict) {
  out.begin_object().member("class", verdict.class_).member("cause", verdict.cause);
  out.member("title", verdict.title).member("severity", verdict.severity);
  out.member("confidence", verdict.confidence);
  write_texts(out, "confidence_reasons", verdict.confidence_reasons);
  out.member_or_null("fault_domain", verdict.fault_domain).member("scope", verdict.scope);
  out.member_or_null("pattern", verdict.pattern);
  write_cited(out, "first_error", verdict.first_error);
  write_cited(out, "first_cuda_error", verdict.first_cuda_error);
  out.key("entities").begin_object();
  write_texts(out, "nodes", verdict.entities.nodes);
  write_texts(out, "pods", verdict.entities.pods);
  write_texts(out, "containers", verdict.entities.containers);
  write_gpus(out, verdict.entities.gpus);
  write_texts(out, "ranks", verdict.entities.ranks);
  out.end_object().end_object();
}

void write_quarantine(JsonWriter& out, const analysis::QuarantineEntry& quarantine) {
  out.begin_object().member("target", quarantine.target).member("action", quarantine.action);
  out.key("subjects").begin_array();
  for (const auto& subject : quarantine.subjects)
    out.begin_object()
        .member("kind", subject.kind)
        .member("name", subject.name)
        .member("uuid", subject.uuid)
        .member("pci", subject.pci)
        .member("node", subject.node)
        .end_object();
  out.end_array();
  out.member("reason", quarantine.reason).member("lift_when", quarantine.lift_when);
  write_texts(out, "commands", quarantine.commands);
  out.end_object();
}

void write_observation_members(JsonWriter& out, const analysis::ObservationEntry& observation) {
  out.member("rule", observation.rule).member("cause", observation.cause);
  out.member("class", observation.class_).member("role", observation.role);
  out.member("severity", observation.severity).member("file", observation.at.file);
  write_line_number(out, observation.at.line);
  write_time(out, "time", observation.at.time);
  write_uncertainty(out, observation.at.time);
  out.key("place");
  write_place(out, observation.place);
  out.key("count").unsigned_integer(observation.count);
  write_time(out, "first", observation.first);
  write_time(out, "last", observation.last);
  write_map(out, "captures", observation.captures);
  out.member("text", observation.at.text).member_or_null("rank", observation.at.rank);
}

std::string render_json(const Report& report) {
  JsonWriter out(2);
  out.begin_object().member("schema", k_schema);
  out.key("tool").begin_object().member("version", report.tool_version);
  out.member("rules_digest", report.rules_digest).end_object();
  write_inputs(out, report.inputs);
  out.key("verdict");
  write_verdict(out, report.verdict);
  out.key("quarantine");
  write_quarantine(out, report.quarantine);
  write_next_steps(out, report.next_steps);
  write_chain(out, report.causal_chain);
  write_other_incidents(out, report.other_incidents);
  write_timeline(out, report.timeline);
  out.key("observations").begin_array();
  for (const auto& observation : report.observations) {
    out.begin_object();
    write_observation_members(out, observation);
    out.end_object();
  }
  out.end_array();
  write_environment(out, report.environment);
  write_coverage(out, report.coverage);
  write_section(out, "memory_budget", report.memory_budget);
  write_section(out, "load", report.load);
  write_section(out, "loading", report.loading);
  write_section(out, "replicas", report.replicas);
  write_section(out, "capacity", report.capacity);
  write_recurrence(out, report.recurrence);
  write_missing(out, report.missing_evidence);
  write_texts(out, "warnings", report.warnings);
  write_metrics(out, report.metrics);
  write_excerpts(out, report.excerpts);
  out.member("loudest", report.loudest).end_object();
  return out.take() + "\n";
}

}  // namespace triage::report

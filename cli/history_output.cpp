#include "cli/history_output.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "evidence/time.hpp"
#include "report/display.hpp"
#include "report/json.hpp"
#include "report/json_reader.hpp"
#include "report/json_writer.hpp"

namespace triage::cli {
namespace {

using history::Run;
using nlohmann::json;
using report::visible;

std::string time_text(std::int64_t ns) {
  return evidence::to_rfc3339({ns, 1'000'000'000});
}

/// Pads or cuts to exactly `width` columns.
std::string column(const std::string& text, std::size_t width) {
  std::string shown = visible(text);
  if (report::display_width(shown) > width) shown = report::wrap(shown, width, 1).front();
  const std::size_t used = report::display_width(shown);
  if (used > width) shown = visible(shown, width - 1);
  return shown + std::string(used < width ? width - used : 0, ' ');
}

std::string where_of(const Run& run) {
  if (!run.gpus.empty()) {
    const auto& gpu = run.gpus.front();
    const std::string name = gpu.pci.empty() ? gpu.uuid : gpu.pci;
    return run.nodes.empty() ? name : run.nodes.front() + " " + name;
  }
  if (!run.nodes.empty()) return run.nodes.front();
  return run.pods.empty() ? std::string() : run.pods.front();
}

void write_names(report::JsonWriter& out, std::string_view name,
                 const std::vector<std::string>& names) {
  out.key(name).begin_array();
  for (const auto& text : names) out.text(text);
  out.end_array();
}

/// Members in the order in which a person reads them; `read_run` takes the same names.
void write_run(report::JsonWriter& out, const Run& run) {
  out.key("id").integer(run.id).member("uid", run.uid);
  out.member("recorded", evidence::to_rfc3339({run.recorded_ns, 0}));
  out.key("recorded_ns").integer(run.recorded_ns);
  out.member("incident", run.incident).member("fingerprint", run.fingerprint);
  out.member("class", run.class_).member("cause", run.cause).member("title", run.title);
  out.member("severity", run.severity).member("confidence", run.confidence);
  out.member("scope", run.scope).member("pattern", run.pattern);
  out.member("fault_domain", run.fault_domain);
  out.member("quarantine_target", run.quarantine_target);
  out.member("quarantine_action", run.quarantine_action).key("first_error_ns");
  if (run.first_error_ns)
    out.integer(*run.first_error_ns);
  else
    out.null();
  out.member("first_error_file", run.first_error_file);
  out.key("first_error_line").unsigned_integer(run.first_error_line);
  out.member("first_error_text", run.first_error_text);
  out.member("driver", run.driver).member("cuda", run.cuda).member("engine", run.engine);
  out.member("engine_version", run.engine_version).member("tool_version", run.tool_version);
  out.member("rules_digest", run.rules_digest);
  write_names(out, "nodes", run.nodes);
  write_names(out, "pods", run.pods);
  write_names(out, "images", run.images);
  out.key("gpus").begin_array();
  for (const auto& gpu : run.gpus)
    out.begin_object()
        .member("uuid", gpu.uuid)
        .member("pci", gpu.pci)
        .member("index", gpu.index)
        .member("node", gpu.node)
        .member("name", gpu.name)
        .end_object();
  out.end_array();
}

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> texts_of(const json& object, const char* name) {
  std::vector<std::string> texts;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return texts;
  for (const json& text : *found)
    if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

std::optional<std::int64_t> integer_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

/// The stored bytes again: rendering what was read gives them back.
std::string report_of(const json& object) {
  const auto found = object.find("report");
  if (found == object.end() || !found->is_object()) return {};
  const std::string text = found->dump(-1, ' ', false, json::error_handler_t::replace);
  const auto report = report::read_json(text);
  return report ? report::render_json(report.value()) : text;
}

Run read_run(const json& object) {
  Run run;
  run.uid = text_of(object, "uid");
  run.recorded_ns = integer_of(object, "recorded_ns").value_or(0);
  run.incident = text_of(object, "incident");
  run.fingerprint = text_of(object, "fingerprint");
  run.class_ = text_of(object, "class");
  run.cause = text_of(object, "cause");
  run.title = text_of(object, "title");
  run.severity = text_of(object, "severity");
  run.confidence = text_of(object, "confidence");
  run.scope = text_of(object, "scope");
  run.pattern = text_of(object, "pattern");
  run.fault_domain = text_of(object, "fault_domain");
  run.quarantine_target = text_of(object, "quarantine_target");
  run.quarantine_action = text_of(object, "quarantine_action");
  run.first_error_ns = integer_of(object, "first_error_ns");
  run.first_error_file = text_of(object, "first_error_file");
  run.first_error_line =
      static_cast<std::uint32_t>(integer_of(object, "first_error_line").value_or(0));
  run.first_error_text = text_of(object, "first_error_text");
  run.driver = text_of(object, "driver");
  run.cuda = text_of(object, "cuda");
  run.engine = text_of(object, "engine");
  run.engine_version = text_of(object, "engine_version");
  run.tool_version = text_of(object, "tool_version");
  run.rules_digest = text_of(object, "rules_digest");
  run.nodes = texts_of(object, "nodes");
  run.pods = texts_of(object, "pods");
  run.images = texts_of(object, "images");
  const auto gpus = object.find("gpus");
  if (gpus != object.end() && gpus->is_array())
    for (const json& gpu : *gpus)
      if (gpu.is_object())
        run.gpus.push_back({text_of(gpu, "uuid"), text_of(gpu, "pci"), text_of(gpu, "index"),
                            text_of(gpu, "node"), text_of(gpu, "name")});
  run.report_json = report_of(object);
  return run;
}

/// RFC 4180; a cell that a spreadsheet would take for a formula begins with an apostrophe.
std::string csv_cell(const std::string& text) {
  std::string shown = visible(text);
  if (!shown.empty() && std::string_view("=+-@").find(shown.front()) != std::string_view::npos)
    shown.insert(0, "'");
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  return "\"" + base::replace_all(shown, "\"", "\"\"") + "\"";
}

}  // namespace

std::string runs_text(const std::vector<Run>& runs) {
  if (runs.empty()) return "no incidents\n";
  std::string out = fmt::format("{:>6} {:<16} {} {} {}\n", "ID", "WHEN", column("CLASS", 12),
                                column("CAUSE", 20), "WHERE");
  for (const Run& run : runs) {
    const std::string when = base::replace_all(time_text(run.time_ns()).substr(0, 16), "T", " ");
    out += fmt::format("{:>6} {:<16} {} {} {}\n", run.id, when, column(run.class_, 12),
                       column(run.cause, 20), visible(where_of(run), 60));
  }
  return out;
}

std::string runs_json(const std::vector<Run>& runs) {
  report::JsonWriter out(1);
  out.begin_array();
  for (const Run& run : runs) {
    out.begin_object();
    write_run(out, run);
    out.end_object();
  }
  out.end_array();
  return out.take() + "\n";
}

std::string runs_csv(const std::vector<Run>& runs) {
  std::string out =
      "id,time,recorded,incident,fingerprint,class,cause,severity,confidence,scope,pattern,"
      "quarantine_target,quarantine_action,nodes,pods,gpus,images,driver,engine,engine_version,"
      "first_error_file,first_error_line,first_error_text\r\n";
  for (const Run& run : runs) {
    std::vector<std::string> gpus;
    for (const auto& gpu : run.gpus) gpus.push_back(gpu.uuid.empty() ? gpu.pci : gpu.uuid);
    const std::vector<std::string> cells{std::to_string(run.id),
                                         time_text(run.time_ns()),
                                         time_text(run.recorded_ns),
                                         run.incident,
                                         run.fingerprint,
                                         run.class_,
                                         run.cause,
                                         run.severity,
                                         run.confidence,
                                         run.scope,
                                         run.pattern,
                                         run.quarantine_target,
                                         run.quarantine_action,
                                         base::join(run.nodes, " "),
                                         base::join(run.pods, " "),
                                         base::join(gpus, " "),
                                         base::join(run.images, " "),
                                         run.driver,
                                         run.engine,
                                         run.engine_version,
                                         run.first_error_file,
                                         std::to_string(run.first_error_line),
                                         run.first_error_text};
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    out += "\r\n";
  }
  return out;
}

std::string summary_text(const std::string& what, const std::vector<Run>& runs) {
  std::set<std::string> incidents;
  std::map<std::string, std::set<std::string>> by_cause;
  for (const Run& run : runs) {
    incidents.insert(run.incident);
    by_cause[run.cause].insert(run.incident);
  }
  std::string out =
      fmt::format("{}: {} incident{} in {} run{}\n", visible(what), incidents.size(),
                  incidents.size() == 1 ? "" : "s", runs.size(), runs.size() == 1 ? "" : "s");
  for (const auto& [cause, ids] : by_cause)
    out += fmt::format("  {:>4} × {}\n", ids.size(), visible(cause));
  return out + (runs.empty() ? "" : "\n" + runs_text(runs));
}

std::string similar_text(const std::vector<history::Similar>& similar) {
  if (similar.empty()) return "no similar incident is recorded\n";
  std::string out;
  for (const auto& item : similar)
    out += fmt::format("{:>4.0f} %  {:>5}  {}  {} ({})\n              {}; {}\n", item.score * 100,
                       item.run.id, time_text(item.run.time_ns()), visible(item.run.title, 60),
                       visible(item.run.cause), base::join(item.why, ", "),
                       visible(where_of(item.run), 60));
  return out + "\ntriage history show ID shows one\n";
}

std::string similar_json(const std::vector<history::Similar>& similar) {
  report::JsonWriter out(1);
  out.begin_array();
  for (const auto& item : similar) {
    out.begin_object().key("score").number(item.score);
    write_names(out, "why", item.why);
    write_run(out, item.run);
    out.end_object();
  }
  out.end_array();
  return out.take() + "\n";
}

std::string export_run(const Run& run) {
  report::JsonWriter out(0);
  out.begin_object();
  write_run(out, run);
  out.key("report").null().end_object();
  std::string text = out.take();
  if (!json::accept(run.report_json)) return text;
  constexpr std::string_view k_end = "null}";
  text.resize(text.size() - k_end.size());
  return text + std::string(base::trim(run.report_json)) + "}";
}

base::Result<std::vector<Run>> read_export(const std::string& text) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object() || text_of(root, "schema") != k_history_schema || !root.contains("runs") ||
      !root["runs"].is_array())
    return base::Problem{"no export of a history", "",
                         "give the output of triage history export -f json"};
  std::vector<Run> runs;
  for (const json& object : root["runs"]) {
    if (!object.is_object() || text_of(object, "uid").size() != 32)
      return base::Problem{fmt::format("run {} of the export has no uid", runs.size() + 1), "",
                           "give the output of triage history export -f json"};
    runs.push_back(read_run(object));
  }
  return runs;
}

}  // namespace triage::cli

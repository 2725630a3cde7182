#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/formats/kubernetes_events_text.hpp"
#include "analysis/formats/kubernetes_names.hpp"
#include "analysis/formats/parsers.hpp"
#include "analysis/formats/text_columns.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using evidence::FactSink;
using evidence::Kind;

enum class Table : std::uint8_t { none, events, pods, nodes, workloads, models };

Table table_of(const std::vector<Column>& columns) {
  const auto has = [&](std::string_view name) { return has_column(columns, name); };
  if (has("REASON") && (has("MESSAGE") || has("NOTE"))) return Table::events;
  if (!has("NAME")) return Table::none;
  if (has("STATUS") && (has("READY") || has("RESTARTS") || has("NODE"))) return Table::pods;
  if (has("STATUS") && (has("ROLES") || has("VERSION") || has("INTERNAL-IP"))) return Table::nodes;
  if (has("PHASE") && has("BACKEND")) return Table::models;
  if (has("AVAILABLE") || (has("DESIRED") && has("CURRENT")) || (has("READY") && has("AGE")))
    return Table::workloads;
  return Table::none;
}

/// A line that can only be a header: several words, all of them upper case.
bool is_header(std::string_view line) {
  if (line.empty() || line[0] < 'A' || line[0] > 'Z') return false;
  const auto words = base::split_blanks(line);
  return words.size() >= 3 && std::all_of(line.begin(), line.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || c == ' ' || c == '\t' || c == '-' || c == '_' ||
                  c == '(' || c == ')' || c == '/' || c == '.' || (c >= '0' && c <= '9');
         });
}

/// What STATUS says, in the fields that JSON would say it with.
void put_status(Fact& fact, std::string_view status, std::uint32_t line) {
  static constexpr std::array<std::string_view, 5> k_phases{"Running", "Pending", "Succeeded",
                                                            "Failed", "Unknown"};
  static constexpr std::array<std::string_view, 7> k_ends{"Completed",
                                                          "Error",
                                                          "OOMKilled",
                                                          "ContainerCannotRun",
                                                          "StartError",
                                                          "DeadlineExceeded",
                                                          "ContainerStatusUnknown"};
  static constexpr std::array<std::string_view, 7> k_pod_reasons{
      "Evicted",    "NodeLost",     "NodeAffinity", "UnexpectedAdmissionError",
      "Terminated", "NodeShutdown", "Shutdown"};
  const auto in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), status) != names.end();
  };
  fact.set("table.status", std::string(status), line);
  if (status.substr(0, 5) == "Init:") {
    fact.set("init", "true", line);
    status.remove_prefix(5);
    if (status.find('/') != std::string_view::npos) status = "PodInitializing";
  }
  if (in(k_phases)) {
    fact.set("phase", std::string(status), line);
  } else if (in(k_ends)) {
    fact.set("terminated.reason", std::string(status), line);
    if (status == "Completed") fact.set("phase", "Succeeded", line);
  } else if (in(k_pod_reasons) || status.substr(0, 5) == "OutOf") {
    fact.set("status.reason", std::string(status), line);
    fact.set("phase", "Failed", line);
  } else if (status.substr(0, 9) == "ExitCode:") {
    fact.set("terminated.exit_code", std::string(status.substr(9)), line);
  } else if (status.substr(0, 7) == "Signal:") {
    fact.set("terminated.signal", std::string(status.substr(7)), line);
  } else if (status != "Terminating" && !status.empty()) {
    fact.set("waiting.reason", std::string(status), line);
  }
}

/// `pod/NAME` of `kubectl get all`, and the bare name.
std::string_view bare(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

class TableReader {
 public:
  TableReader(const ParseContext& context, const FactSink& sink)
      : context_(context), sink_(sink), events_(context, sink) {}

  void line(std::string_view text, std::uint32_t number) {
    line_ = number;
    if (is_header(text)) {
      auto columns = read_header(text);
      if (const Table table = table_of(columns); table != Table::none) {
        events_.finish();
        table_ = table;
        columns_ = std::move(columns);
        return;
      }
      if (table_ != Table::events) table_ = Table::none;  // a table of another kind begins
    }
    if (table_ == Table::events) {
      if (!events_.table_row(text, columns_, number)) table_ = Table::none;
      return;
    }
    if (table_ == Table::none || base::trim(text).empty()) return;
    const auto row = read_row(text, columns_);
    const std::string_view name = bare(cell(row, columns_, {"NAME"}));
    if (name.empty()) return;
    Fact fact;
    fact.line = number;
    fact.place = context_.place;
    put(fact, "namespace", cell(row, columns_, {"NAMESPACE"}));
    put(fact, "name", name);
    if (!fact.get("namespace").empty()) fact.place.name_space = fact.get("namespace");
    switch (table_) {
      case Table::pods:
        return pod(std::move(fact), row);
      case Table::nodes:
        return node(std::move(fact), row);
      case Table::workloads:
        return workload(std::move(fact), row);
      case Table::models:
        return model(std::move(fact), row);
      case Table::none:
      case Table::events:
        return;
    }
  }

  void finish() { events_.finish(); }

 private:
  using Row = std::vector<std::string_view>;

  void put(Fact& fact, std::string_view field, std::string_view value) const {
    if (!value.empty() && value != "<none>" && value != "<unset>" && value != "<unknown>")
      fact.set(std::string(field), std::string(value), line_);
  }

  void pod(Fact fact, const Row& row) const {
    fact.kind = Kind::pod;
    put(fact, "node", cell(row, columns_, {"NODE", "NODE NAME"}));
    put_status(fact, cell(row, columns_, {"STATUS"}), line_);
    const std::string_view ready = cell(row, columns_, {"READY"});
    if (const std::size_t slash = ready.find('/'); slash != std::string_view::npos)
      fact.set("ready", ready.substr(0, slash) == ready.substr(slash + 1) ? "true" : "false",
               line_);
    const std::string_view restarts = cell(row, columns_, {"RESTARTS"});
    put(fact, "restart_count", restarts.substr(0, restarts.find(' ')));
    fact.place.pod = fact.get("name");
    if (!fact.get("node").empty()) fact.place.node = fact.get("node");
    const Owner owner = owner_from_pod_name(fact.place.pod);
    put(fact, "workload", owner.workload);
    put(fact, "revision", owner.revision);
    fact.place.workload = owner.workload;
    fact.place.revision = owner.revision;
    sink_(std::move(fact));
  }

  void node(Fact fact, const Row& row) const {
    fact.kind = Kind::node;
    const std::string_view status = cell(row, columns_, {"STATUS"});
    const std::string_view word = status.substr(0, status.find(','));
    if (word == "Ready") fact.set("condition.Ready", "true", line_);
    if (word == "NotReady") fact.set("condition.Ready", "false", line_);
    if (word == "Unknown") fact.set("condition.Ready", "unknown", line_);
    if (base::contains(status, "SchedulingDisabled")) fact.set("unschedulable", "true", line_);
    put(fact, "table.roles", cell(row, columns_, {"ROLES"}));
    put(fact, "kubelet_version", cell(row, columns_, {"VERSION"}));
    put(fact, "kernel_version", cell(row, columns_, {"KERNEL-VERSION"}));
    put(fact, "container_runtime", cell(row, columns_, {"CONTAINER-RUNTIME"}));
    put(fact, "os_image", cell(row, columns_, {"OS-IMAGE"}));
    fact.place.node = fact.get("name");
    fact.fields.erase("namespace");
    sink_(std::move(fact));
  }

  void workload(Fact fact, const Row& row) const {
    fact.kind = Kind::workload;
    put(fact, "replicas", cell(row, columns_, {"DESIRED"}));
    put(fact, "updated", cell(row, columns_, {"UP-TO-DATE"}));
    put(fact, "available", cell(row, columns_, {"AVAILABLE"}));
    const std::string_view ready = cell(row, columns_, {"READY"});
    const std::size_t slash = ready.find('/');
    put(fact, "ready", ready.substr(0, slash));
    if (slash != std::string_view::npos) put(fact, "replicas", ready.substr(slash + 1));
    const Owner owner = owner_from_object(
        has_column(columns_, "DESIRED") ? "ReplicaSet" : "Deployment", fact.get("name"));
    fact.place.workload = owner.workload;
    fact.place.revision = owner.revision;
    put(fact, "revision", owner.revision);
    sink_(std::move(fact));
  }

  void model(Fact fact, const Row& row) const {
    fact.kind = Kind::model;
    put(fact, "backend", cell(row, columns_, {"BACKEND"}));
    put(fact, "phase", cell(row, columns_, {"PHASE"}));
    put(fact, "substage", cell(row, columns_, {"SUBSTAGE", "STAGE"}));
    put(fact, "shared_group.name", cell(row, columns_, {"SHARED"}));
    put(fact, "priority", cell(row, columns_, {"PRIORITY"}));
    fact.place.workload = fact.get("name");
    sink_(std::move(fact));
  }

  const ParseContext& context_;
  const FactSink& sink_;
  EventRows events_;
  Table table_ = Table::none;
  std::vector<Column> columns_;
  std::uint32_t line_ = 0;
};

}  // namespace

void parse_kubernetes_table(std::string_view text, const ParseContext& context,
                            const FactSink& sink) {
  TableReader reader(context, sink);
  std::uint32_t number = 0;
  for (std::string_view line : base::split_lines(text)) reader.line(line, ++number);
  reader.finish();
}

}  // namespace triage::analysis::formats

#include <array>
#include <cctype>
#include <memory>

#include <fmt/format.h>

#include "analysis/formats/kubernetes_describe_rows.hpp"
#include "analysis/formats/kubernetes_events_text.hpp"
#include "analysis/formats/kubernetes_names.hpp"
#include "analysis/formats/kubernetes_objects.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;
using evidence::FactSink;
using evidence::Kind;

/// One described object: its rows up to the next `Name:` line.
struct Described {
  std::vector<DescribeRow> rows;
  [[nodiscard]] const DescribeRow* top(std::string_view key) const {
    for (const DescribeRow& row : rows)
      if (row.indent == 0 && row.key == key) return &row;
    return nullptr;
  }
};

Kind kind_of(const Described& object, Kind fallback) {
  if (object.top("Containers") != nullptr || object.top("Init Containers") != nullptr)
    return Kind::pod;
  if (object.top("Node") != nullptr && object.top("Status") != nullptr) return Kind::pod;
  if (object.top("Capacity") != nullptr || object.top("Non-terminated Pods") != nullptr ||
      object.top("Roles") != nullptr || object.top("Unschedulable") != nullptr)
    return Kind::node;
  if (object.top("Replicas") != nullptr || object.top("Pod Template") != nullptr)
    return Kind::workload;
  if (fallback == Kind::node || fallback == Kind::workload) return fallback;
  return Kind::pod;
}

/// Kind of a described controller, told by the rows that only it prints.
std::string workload_kind(const Described& object) {
  if (object.top("StrategyType") != nullptr) return "Deployment";
  if (object.top("Pods Statuses") != nullptr && object.top("Parallelism") != nullptr) return "Job";
  if (object.top("Update Strategy") != nullptr) return "StatefulSet";
  if (object.top("Desired Number of Nodes Scheduled") != nullptr) return "DaemonSet";
  if (object.top("Pods Status") != nullptr) return "ReplicaSet";
  return "Workload";
}

class DescribeReader {
 public:
  DescribeReader(const ParseContext& context, const FactSink& sink)
      : context_(context), sink_(sink), events_(context, sink) {}

  void line(std::string_view text, std::uint32_t number) {
    if (is_start(text)) {
      finish();
    } else if (in_events_) {
      event_line(text, number);
      return;
    }
    if (text.substr(0, 7) == "Events:") {
      object_done();
      in_events_ = true;
      return;
    }
    // A described object holds a few hundred rows; what is longer is something else.
    if (object_.rows.size() < 20'000) object_.rows.push_back(read_describe_row(text, number));
  }

  void finish() {
    object_done();
    events_.finish();
    object_ = {};
    subject_ = {};
    columns_.clear();
    in_events_ = false;
  }

 private:
  static bool is_start(std::string_view text) {
    return text.substr(0, 5) == "Name:" && text.size() > 5 && (text[5] == ' ' || text[5] == '\t');
  }

  void event_line(std::string_view text, std::uint32_t number) {
    const std::string_view trimmed = base::trim(text);
    if (columns_.empty()) {
      if (trimmed.substr(0, 4) == "Type" || trimmed.substr(0, 9) == "FirstSeen")
        columns_ = read_header(text);
      return;
    }
    if (trimmed.substr(0, 4) == "----" || trimmed.substr(0, 9) == "---------") return;
    if (trimmed.empty()) {
      events_.finish();
      return;
    }
    events_.describe_row(text, columns_, subject_, number);
  }

  void object_done() {
    if (in_events_ || object_.rows.empty()) return;
    if (object_.top("API Version") != nullptr && object_.top("Kind") != nullptr) {
      const LocatedNode tree = tree_of_rows(object_.rows);
      facts_of_object(tree, context_, [&](Fact&& fact) { take(std::move(fact)); });
      if (subject_.get("name").empty()) start_subject(Kind::workload, object_.top("Kind")->value);
      return;
    }
    const Kind kind = kind_of(object_, context_.kind);
    if (kind == Kind::pod) {
      start_subject(kind, "Pod");
      facts_of_pod_rows(object_.rows, context_, [&](Fact&& fact) { take(std::move(fact)); });
    } else if (kind == Kind::node) {
      start_subject(kind, "Node");
      facts_of_node_rows(object_.rows, context_, [&](Fact&& fact) { take(std::move(fact)); });
    } else {
      start_subject(kind, workload_kind(object_));
      workload();
    }
  }

  /// Passes a fact on; its names and place serve the events that follow.
  void take(Fact&& fact) {
    if (subject_.place == evidence::Place{} || fact.find("container") == nullptr) {
      evidence::Place place = fact.place;
      place.container.clear();
      if (fact.kind != Kind::pod || fact.get("name") == subject_.get("name")) {
        if (fact.kind != Kind::event) subject_.place = place;
      }
      if (subject_.get("name").empty()) {
        subject_.set("name", fact.get("name"), fact.line);
        subject_.set("object.kind", fact.kind == Kind::model ? "Model" : "Workload", fact.line);
      }
    }
    sink_(std::move(fact));
  }

  void start_subject(Kind kind, std::string_view object_kind) {
    subject_.kind = kind;
    subject_.place = context_.place;
    const DescribeRow* name = object_.top("Name");
    const DescribeRow* name_space = object_.top("Namespace");
    subject_.set("object.kind", std::string(object_kind), 0);
    if (name != nullptr) subject_.set("name", name->value, name->line);
    if (name_space != nullptr) subject_.set("namespace", name_space->value, name_space->line);
    place_event_object(subject_.place, object_kind, subject_.get("name"), subject_.get("namespace"),
                       {});
  }

  void workload() {
    Fact fact;
    fact.kind = Kind::workload;
    fact.line = object_.rows.front().line;
    fact.place = subject_.place;
    const auto put = [&](std::string_view field, std::string_view value, std::uint32_t line) {
      if (!value.empty()) fact.set(std::string(field), std::string(value), line);
    };
    put("object.kind", subject_.get("object.kind"), fact.line);
    put("name", subject_.get("name"), fact.line);
    put("namespace", subject_.get("namespace"), fact.line);
    put("revision", fact.place.revision, fact.line);
    if (const DescribeRow* row = object_.top("Replicas")) {
      // `4 desired | 4 updated | 4 total | 3 available | 1 unavailable`, `3 current / 3 desired`.
      static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> k_words{
          {{"desired", "replicas"},
           {"updated", "updated"},
           {"available", "available"},
           {"unavailable", "unavailable"}}};
      const auto words = base::split_blanks(row->value);
      for (std::size_t i = 0; i + 1 < words.size(); ++i)
        for (const auto& [word, field] : k_words)
          if (words[i + 1] == word && base::parse_int(words[i])) put(field, words[i], row->line);
    }
    for (const DescribeRow& row : object_.rows)
      if (row.indent > 0 && row.key == "Image" && fact.find("image") == nullptr)
        put("image", row.value, row.line);
    emit_condition_rows(fact, object_.rows, sink_);
    sink_(std::move(fact));
  }

  const ParseContext& context_;
  const FactSink& sink_;
  EventRows events_;
  Described object_;
  Fact subject_;  ///< names and place of the described object, for its events
  std::vector<Column> columns_;
  bool in_events_ = false;
};

}  // namespace

void parse_kubernetes_describe(std::string_view text, const ParseContext& context,
                               const FactSink& sink) {
  DescribeReader reader(context, sink);
  std::uint32_t number = 0;
  for (std::string_view line : base::split_lines(text)) reader.line(line, ++number);
  reader.finish();
}

}  // namespace triage::analysis::formats

#include "analysis/formats/kubernetes_events_text.hpp"

#include <fmt/format.h>

#include "analysis/formats/kubernetes_names.hpp"
#include "base/text.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;

// A message longer than this is no message: an unknown text follows the table.
constexpr std::size_t k_max_message = 64U << 10U;

void put(Fact& fact, std::string_view field, std::string_view value, std::uint32_t line) {
  if (!value.empty() && value != "<none>" && value != "<unknown>" && value != "<invalid>")
    fact.set(std::string(field), std::string(value), line);
}

/// A time or an age of LAST SEEN, FIRST SEEN, AGE columns.
void put_time(Fact& fact, std::string_view which, std::string_view text, std::uint32_t line) {
  const std::string whole(text);
  if (evidence::parse_rfc3339(whole)) {
    fact.set(std::string(which), whole, line);
    if (which == "first" || !fact.stamp) fact.stamp = evidence::parse_rfc3339(whole);
    return;
  }
  const Age age = read_age(text);
  if (age.last >= 0) fact.set("age." + std::string(which), fmt::format("{}", age.last), line);
  if (age.first >= 0) fact.set("age.first", fmt::format("{}", age.first), line);
  if (age.count >= 0) fact.set("count", fmt::format("{}", age.count), line);
}

bool is_time(std::string_view text) {
  return text == "<unknown>" || text == "<invalid>" || read_age(text).last >= 0 ||
         evidence::parse_rfc3339(std::string(text)).has_value();
}

std::string proper_kind(std::string_view kind) {
  struct Known {
    std::string_view lower, proper;
  };
  static constexpr Known k_known[] = {{"pod", "Pod"},
                                      {"node", "Node"},
                                      {"replicaset", "ReplicaSet"},
                                      {"deployment", "Deployment"},
                                      {"statefulset", "StatefulSet"},
                                      {"daemonset", "DaemonSet"},
                                      {"job", "Job"},
                                      {"cronjob", "CronJob"},
                                      {"model", "Model"},
                                      {"persistentvolumeclaim", "PersistentVolumeClaim"},
                                      {"horizontalpodautoscaler", "HorizontalPodAutoscaler"},
                                      {"leaderworkerset", "LeaderWorkerSet"},
                                      {"inferenceservice", "InferenceService"}};
  for (const Known& known : k_known)
    if (base::iequals(known.lower, kind)) return std::string(known.proper);
  return std::string(kind);
}

/// `kubelet, node-1` names the reporting node.
void put_source(Fact& fact, std::string_view source, std::uint32_t line) {
  const std::size_t comma = source.find(',');
  put(fact, "source", base::trim(source.substr(0, comma)), line);
  if (comma == std::string_view::npos) return;
  const std::string_view host = base::trim(source.substr(comma + 1));
  put(fact, "host", host, line);
  if (!host.empty()) fact.place.node = std::string(host);
}

void put_message(Fact& fact, std::string_view reason, std::string_view message,
                 std::uint32_t line) {
  put(fact, "reason", reason, line);
  fact.text = std::string(message);
  fact.line = line;
  place_event_message(fact.place, reason, message);
}

}  // namespace

bool EventRows::table_row(std::string_view line, const std::vector<Column>& columns,
                          std::uint32_t number) {
  if (base::trim(line).empty()) {
    // A blank line inside a message or at the end of the table; a row after it opens a new event.
    if (open_) continue_message(line);
    return true;
  }
  const auto row = read_row(line, columns);
  const std::string_view last =
      cell(row, columns, {"LAST SEEN", "LASTSEEN", "LAST", "AGE", "TIME"});
  const std::string_view type = cell(row, columns, {"TYPE"});
  const std::string_view reason = cell(row, columns, {"REASON"});
  const bool timed = columns.front().name == "TYPE" || is_time(last);
  const bool typed = type == "Normal" || type == "Warning" || !has_column(columns, "TYPE");
  if (!(timed && typed) || reason.empty() || reason.find(' ') != std::string_view::npos) {
    if (!open_) return false;
    continue_message(line);
    return true;
  }
  Fact fact;
  fact.kind = evidence::Kind::event;
  fact.place = context_.place;
  put_time(fact, "last", last, number);
  put_time(fact, "first", cell(row, columns, {"FIRST SEEN", "FIRSTSEEN", "FIRST"}), number);
  put(fact, "type", type, number);
  put(fact, "count", cell(row, columns, {"COUNT"}), number);
  std::string_view object = cell(row, columns, {"OBJECT", "INVOLVED-OBJECT", "INVOLVEDOBJECT"});
  std::string_view kind = cell(row, columns, {"KIND"});
  if (const std::size_t slash = object.find('/'); slash != std::string_view::npos) {
    kind = object.substr(0, slash);
    object = object.substr(slash + 1);
  } else if (object.empty()) {
    object = cell(row, columns, {"NAME"});  // before kubectl 1.12; the event's own name has a dot
    object = object.substr(0, object.rfind('.'));
  }
  const std::string_view name_space = cell(row, columns, {"NAMESPACE"});
  const std::string_view path = cell(row, columns, {"SUBOBJECT"});
  const std::string proper = kind.empty() ? std::string() : proper_kind(kind);
  put(fact, "object.kind", proper, number);
  put(fact, "object.name", object, number);
  put(fact, "object.namespace", name_space, number);
  put(fact, "object.field_path", path, number);
  place_event_object(fact.place, proper.empty() ? "Pod" : proper, object, name_space, path);
  put_source(fact, cell(row, columns, {"SOURCE", "FROM", "COMPONENT"}), number);
  put_message(fact, reason, cell(row, columns, {"MESSAGE", "NOTE"}), number);
  begin(std::move(fact));
  return true;
}

void EventRows::describe_row(std::string_view line, const std::vector<Column>& columns,
                             const Fact& object, std::uint32_t number) {
  const std::string_view trimmed = base::trim(line);
  const bool indented = line.size() > 1 && line[0] == ' ' && line[1] == ' ';
  const bool typed = trimmed.substr(0, 7) == "Normal " || trimmed.substr(0, 8) == "Warning ";
  if (!indented || !typed) {
    if (open_) continue_message(line);
    return;
  }
  const auto row = read_row(line, columns);
  Fact fact;
  fact.kind = evidence::Kind::event;
  fact.place = object.place;
  put(fact, "type", cell(row, columns, {"TYPE"}), number);
  put_time(fact, "last", cell(row, columns, {"AGE", "LASTSEEN", "LAST SEEN"}), number);
  put_time(fact, "first", cell(row, columns, {"FIRSTSEEN", "FIRST SEEN"}), number);
  put(fact, "object.kind", object.get("object.kind"), number);
  put(fact, "object.name", object.get("name"), number);
  put(fact, "object.namespace", object.get("namespace"), number);
  put(fact, "object.field_path", cell(row, columns, {"SUBOBJECTPATH", "SUBOBJECT"}), number);
  put_source(fact, cell(row, columns, {"FROM", "SOURCE"}), number);
  put_message(fact, cell(row, columns, {"REASON"}), cell(row, columns, {"MESSAGE"}), number);
  begin(std::move(fact));
}

void EventRows::begin(Fact&& fact) {
  finish();
  open_ = std::move(fact);
}

void EventRows::continue_message(std::string_view line) {
  if (open_->text.size() + line.size() > k_max_message) return;
  open_->text += '\n';
  open_->text += line;
}

void EventRows::finish() {
  if (!open_) return;
  open_->text = std::string(base::trim(open_->text));
  if (!open_->text.empty()) open_->set("message", open_->text, open_->line);
  sink_(std::move(*open_));
  open_.reset();
}

}  // namespace triage::analysis::formats

#include "bundle/manifest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "evidence/time.hpp"

namespace triage::bundle {
namespace {

using json = nlohmann::json;
using ordered = nlohmann::ordered_json;

constexpr std::int64_t k_ns_per_ms = 1'000'000;

// Readers that take any JSON: a wrong type is as good as an absent key.
std::string text_of(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}
std::optional<double> number_of(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}
std::optional<std::int64_t> whole_of(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number()) return std::nullopt;
  if (it->is_number_unsigned()) {
    const auto value = it->get<std::uint64_t>();
    return value > static_cast<std::uint64_t>(INT64_MAX)
               ? std::nullopt
               : std::optional(static_cast<std::int64_t>(value));
  }
  if (it->is_number_integer()) return it->get<std::int64_t>();
  const double value = it->get<double>();
  constexpr double k_exact = 9.0e15;
  return value > -k_exact && value < k_exact ? std::optional(static_cast<std::int64_t>(value))
                                             : std::nullopt;
}
std::uint64_t count_of(const json& object, const char* key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, whole_of(object, key).value_or(0)));
}
int small_of(const json& object, const char* key, int otherwise) {
  const auto value = whole_of(object, key);
  return value && *value >= INT32_MIN && *value <= INT32_MAX ? static_cast<int>(*value) : otherwise;
}
bool flag_of(const json& object, const char* key, bool otherwise) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() ? it->get<bool>() : otherwise;
}
const json& part_of(const json& object, const char* key) {
  static const json none = json::object();
  const auto it = object.find(key);
  return it == object.end() ? none : *it;
}
std::vector<std::string> texts_of(const json& object, const char* key) {
  std::vector<std::string> texts;
  for (const json& entry : part_of(object, key))
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  return texts;
}
std::map<std::string, std::string> text_map_of(const json& object, const char* key) {
  std::map<std::string, std::string> map;
  const json& part = part_of(object, key);
  if (part.is_object())
    for (const auto& [name, value] : part.items())
      if (value.is_string()) map[name] = value.get<std::string>();
  return map;
}

ManifestItem item_from(const json& row) {
  ManifestItem item;
  item.id = text_of(row, "id");
  item.kind = evidence::kind_from(text_of(row, "role")).value_or(evidence::Kind::unknown_text);
  if (evidence::is_derived(item.kind)) item.kind = evidence::Kind::unknown_text;
  item.path = text_of(row, "path");
  const json& subject = part_of(row, "subject");
  if (subject.is_object()) {
    item.place.node = text_of(subject, "node");
    item.place.name_space = text_of(subject, "namespace");
    item.place.pod = text_of(subject, "pod");
    item.place.container = text_of(subject, "container");
    item.place.workload = text_of(subject, "workload");
    item.place.gpu_uuid = evidence::normalise_gpu_uuid(text_of(subject, "gpu"));
  }
  item.argv = texts_of(row, "argv");
  item.url = text_of(row, "url");
  item.status = text_of(row, "status");
  item.reason = text_of(row, "reason");
  if (const auto code = whole_of(row, "exit_code")) item.exit_code = small_of(row, "exit_code", 0);
  if (const auto code = whole_of(row, "signal")) item.signal = small_of(row, "signal", 0);
  item.started_at = text_of(row, "started_at");
  item.duration_ms = whole_of(row, "duration_ms").value_or(0);
  item.bytes_seen = count_of(row, "bytes_seen");
  item.bytes_kept = count_of(row, "bytes_kept");
  if (const json& cut = part_of(row, "cut"); cut.is_object() && !cut.empty())
    item.cut = Cut{count_of(cut, "head"), count_of(cut, "tail"), count_of(cut, "dropped")};
  item.encoding = text_of(row, "encoding");
  item.time_format = text_of(row, "time_format");
  item.time_first = text_of(row, "time_first");
  item.time_last = text_of(row, "time_last");
  item.sha256 = text_of(row, "sha256");
  item.redactions = count_of(row, "redactions");
  item.source_format = text_of(row, "source_format");
  return item;
}

ManifestNode node_from(const json& row) {
  ManifestNode node;
  node.name = text_of(row, "name");
  node.boot_id = text_of(row, "boot_id");
  if (const auto stamp = evidence::parse_rfc3339(text_of(row, "boot_time")))
    node.boot_time_ns = stamp->ns;
  node.uptime_s = number_of(row, "uptime_s");
  constexpr std::int64_t k_year_ms = 366LL * 86'400 * 1000;
  if (const auto skew = whole_of(row, "clock_skew_ms"); skew && std::abs(*skew) < 100 * k_year_ms)
    node.clock_skew_ns = *skew * k_ns_per_ms;
  node.tz = text_of(row, "tz");
  node.smi_state = text_of(row, "smi_state");
  for (const json& gpu : part_of(row, "gpus"))
    if (gpu.is_object())
      node.gpus.push_back({text_of(gpu, "index"), text_of(gpu, "uuid"), text_of(gpu, "pci"),
                           text_of(gpu, "name"), text_of(gpu, "serial"), text_of(gpu, "driver"),
                           text_of(gpu, "vbios")});
  return node;
}

// Writers that leave out what is not known, so that a row shows only facts.
void put(ordered& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = base::to_valid_utf8(text);
}
void put(ordered& object, const char* key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  ordered list = ordered::array();
  for (const auto& text : texts) list.push_back(base::to_valid_utf8(text));
  object[key] = std::move(list);
}
void put(ordered& object, const char* key, const std::map<std::string, std::string>& map) {
  if (map.empty()) return;
  ordered part = ordered::object();
  for (const auto& [name, value] : map)
    part[base::to_valid_utf8(name)] = base::to_valid_utf8(value);
  object[key] = std::move(part);
}

ordered to_ordered(const ManifestItem& item) {
  ordered row = ordered::object();
  put(row, "id", item.id);
  row["role"] = std::string(evidence::to_string(item.kind));
  put(row, "path", item.path);
  ordered subject = ordered::object();
  put(subject, "node", item.place.node);
  put(subject, "namespace", item.place.name_space);
  put(subject, "pod", item.place.pod);
  put(subject, "container", item.place.container);
  put(subject, "workload", item.place.workload);
  put(subject, "gpu", item.place.gpu_uuid);
  if (!subject.empty()) row["subject"] = std::move(subject);
  put(row, "argv", item.argv);
  put(row, "url", item.url);
  put(row, "status", item.status);
  put(row, "reason", item.reason);
  if (item.exit_code) row["exit_code"] = *item.exit_code;
  if (item.signal) row["signal"] = *item.signal;
  put(row, "started_at", item.started_at);
  row["duration_ms"] = item.duration_ms;
  row["bytes_seen"] = item.bytes_seen;
  row["bytes_kept"] = item.bytes_kept;
  if (item.cut)
    row["cut"] =
        ordered{{"head", item.cut->head}, {"tail", item.cut->tail}, {"dropped", item.cut->dropped}};
  put(row, "encoding", item.encoding);
  put(row, "time_format", item.time_format);
  put(row, "time_first", item.time_first);
  put(row, "time_last", item.time_last);
  put(row, "sha256", item.sha256);
  if (item.redactions > 0) row["redactions"] = item.redactions;
  put(row, "source_format", item.source_format);
  return row;
}

ordered to_ordered(const ManifestNode& node) {
  ordered row = ordered::object();
  put(row, "name", node.name);
  put(row, "boot_id", node.boot_id);
  if (node.boot_time_ns) row["boot_time"] = evidence::to_rfc3339({*node.boot_time_ns, 0});
  if (node.uptime_s) row["uptime_s"] = *node.uptime_s;
  if (node.clock_skew_ns) row["clock_skew_ms"] = *node.clock_skew_ns / k_ns_per_ms;
  put(row, "tz", node.tz);
  put(row, "smi_state", node.smi_state);
  ordered gpus = ordered::array();
  for (const auto& gpu : node.gpus) {
    ordered entry = ordered::object();
    put(entry, "index", gpu.index);
    put(entry, "uuid", gpu.uuid);
    put(entry, "pci", gpu.pci);
    put(entry, "name", gpu.name);
    put(entry, "serial", gpu.serial);
    put(entry, "driver", gpu.driver);
    put(entry, "vbios", gpu.vbios);
    gpus.push_back(std::move(entry));
  }
  row["gpus"] = std::move(gpus);
  return row;
}

}  // namespace

const ManifestNode* Manifest::node(std::string_view name) const {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [&](const ManifestNode& node) { return node.name == name; });
  return it == nodes.end() || name.empty() ? nullptr : &*it;
}

base::Result<Manifest> parse_manifest(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object())
    return base::Problem{"the manifest is not valid JSON; files are recognised by content", "", ""};
  if (text_of(root, "format") != k_manifest_format)
    return base::Problem{"is not the manifest of a triage bundle", "", ""};
  Manifest manifest;
  manifest.format_version = small_of(root, "format_version", 0);
  if (manifest.format_version > k_manifest_version)
    return base::Problem{
        "the bundle is of a newer format than this triage knows; files are "
        "recognised by content",
        "", "use a newer triage"};
  manifest.tool_version = text_of(root, "tool_version");
  manifest.rules_version = text_of(root, "rules_version");
  manifest.bundle_id = text_of(root, "bundle_id");
  manifest.incident = text_of(root, "incident");
  manifest.labels = text_map_of(root, "labels");
  manifest.created_at = text_of(root, "created_at");
  manifest.finished_at = text_of(root, "finished_at");
  manifest.duration_ms = whole_of(root, "duration_ms").value_or(0);
  manifest.cmdline = texts_of(root, "cmdline");
  manifest.tier = text_of(root, "tier");
  manifest.since = text_of(root, "since");
  manifest.deadline_ms = whole_of(root, "deadline_ms").value_or(0);
  manifest.deadline_hit = flag_of(root, "deadline_hit", false);
  manifest.complete = flag_of(root, "complete", true);
  manifest.exit_code = small_of(root, "exit_code", 0);
  manifest.collector_os = text_of(root, "collector_host_os");
  manifest.identity = text_of(root, "identity");
  manifest.cluster = text_map_of(root, "cluster");
  for (const json& row : part_of(root, "targets"))
    if (row.is_object())
      manifest.targets.push_back({text_of(row, "namespace"), text_of(row, "pod"),
                                  text_of(row, "uid"), text_of(row, "node")});
  manifest.event_window_oldest = text_of(part_of(root, "event_window"), "oldest");
  for (const json& row : part_of(root, "nodes"))
    if (row.is_object()) manifest.nodes.push_back(node_from(row));
  for (const json& row : part_of(root, "items"))
    if (row.is_object()) manifest.items.push_back(item_from(row));
  const json& redaction = part_of(root, "redaction");
  manifest.redaction.mode = text_of(redaction, "mode");
  manifest.redaction.rules = text_of(redaction, "rules");
  manifest.redaction.salt_id = text_of(redaction, "salt_id");
  const json& totals = part_of(redaction, "totals");
  if (totals.is_object())
    for (const auto& [name, value] : totals.items())
      if (value.is_number_unsigned()) manifest.redaction.totals[name] = value.get<std::uint64_t>();
  manifest.redaction.verified = flag_of(redaction, "verified", false);
  manifest.redaction.residual = texts_of(redaction, "residual");
  manifest.redaction.map_written = flag_of(redaction, "map_written", false);
  return manifest;
}

std::string to_json(const Manifest& manifest) {
  ordered root = ordered::object();
  root["format"] = std::string(k_manifest_format);
  root["format_version"] = manifest.format_version;
  put(root, "tool_version", manifest.tool_version);
  put(root, "rules_version", manifest.rules_version);
  put(root, "bundle_id", manifest.bundle_id);
  put(root, "incident", manifest.incident);
  put(root, "labels", manifest.labels);
  put(root, "created_at", manifest.created_at);
  put(root, "finished_at", manifest.finished_at);
  root["duration_ms"] = manifest.duration_ms;
  put(root, "cmdline", manifest.cmdline);
  put(root, "tier", manifest.tier);
  put(root, "since", manifest.since);
  root["deadline_ms"] = manifest.deadline_ms;
  root["deadline_hit"] = manifest.deadline_hit;
  root["complete"] = manifest.complete;
  root["exit_code"] = manifest.exit_code;
  put(root, "collector_host_os", manifest.collector_os);
  put(root, "identity", manifest.identity);
  put(root, "cluster", manifest.cluster);
  ordered targets = ordered::array();
  for (const auto& target : manifest.targets) {
    ordered row = ordered::object();
    put(row, "namespace", target.name_space);
    put(row, "pod", target.pod);
    put(row, "uid", target.uid);
    put(row, "node", target.node);
    targets.push_back(std::move(row));
  }
  root["targets"] = std::move(targets);
  if (!manifest.event_window_oldest.empty())
    root["event_window"] = ordered{{"oldest", base::to_valid_utf8(manifest.event_window_oldest)}};
  ordered nodes = ordered::array();
  for (const auto& node : manifest.nodes) nodes.push_back(to_ordered(node));
  root["nodes"] = std::move(nodes);
  ordered items = ordered::array();
  for (const auto& item : manifest.items) items.push_back(to_ordered(item));
  root["items"] = std::move(items);
  ordered redaction = ordered::object();
  put(redaction, "mode", manifest.redaction.mode);
  put(redaction, "rules", manifest.redaction.rules);
  put(redaction, "salt_id", manifest.redaction.salt_id);
  ordered totals = ordered::object();
  for (const auto& [name, count] : manifest.redaction.totals)
    totals[base::to_valid_utf8(name)] = count;
  redaction["totals"] = std::move(totals);
  redaction["verified"] = manifest.redaction.verified;
  redaction["residual"] = ordered::array();
  put(redaction, "residual", manifest.redaction.residual);
  redaction["map_written"] = manifest.redaction.map_written;
  root["redaction"] = std::move(redaction);
  return root.dump(1) + "\n";
}

}  // namespace triage::bundle

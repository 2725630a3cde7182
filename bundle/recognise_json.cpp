#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>

#include "base/text.hpp"
#include "bundle/recognise_detail.hpp"

namespace triage::bundle::detail {
namespace {

using evidence::Format;
using evidence::Kind;

/// Walks over the beginning of a JSON text, which may be cut anywhere, and reports every key with
/// its depth and, for strings, its value. A validating parser would refuse a cut text.
class JsonSkim {
 public:
  explicit JsonSkim(std::string_view text) : text_(text) {}

  struct Pair {
    int depth = 0;  ///< 1: a key of an outermost object
    std::string_view key;
    std::string_view value;  ///< strings without quotes, undecoded; numbers and words as written
  };

  bool next(Pair& pair) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        if (depth_ >= k_max_depth) return false;
        ++depth_;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth_;
        ++at_;
        if (depth_ == 0) ++documents_;
        if (depth_ < 0) return false;
      } else if (c == '"') {
        const auto name = string();
        if (!name) return false;
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == ':') {
          ++at_;
          skip_blanks();
          pair = {depth_, *name, {}};
          if (at_ < text_.size() && text_[at_] == '"') {
            const auto value = string();
            if (!value) return false;
            pair.value = *value;
          } else if (at_ < text_.size() && text_[at_] != '{' && text_[at_] != '[') {
            const auto from = at_;
            while (at_ < text_.size() && base_character(text_[at_])) ++at_;
            pair.value = text_.substr(from, at_ - from);
          }
          return true;
        }
      } else {
        ++at_;
      }
    }
    return false;
  }
  [[nodiscard]] int documents() const { return documents_; }

 private:
  static constexpr int k_max_depth = 64;
  static bool base_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  std::optional<std::string_view> string() {
    const auto from = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return std::nullopt;
    return text_.substr(from, at_++ - from);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int documents_ = 0;
};

struct Skimmed {
  std::set<std::string_view> top;     ///< keys of outermost objects
  std::set<std::string_view> second;  ///< keys one deeper
  std::set<std::string_view> third;
  std::string_view kind;       ///< of the outermost object
  std::string_view item_kind;  ///< of the first item of a list
  std::string_view api;        ///< apiVersion of the outermost object
  std::string_view item_api;   ///< of the first item
};

Skimmed skim(std::string_view text) {
  Skimmed found;
  JsonSkim walk(text);
  JsonSkim::Pair pair;
  constexpr int k_most = 20'000;
  for (int i = 0; i < k_most && walk.next(pair); ++i) {
    // An array around everything is one level that objects do not have.
    if (pair.depth == 1) {
      if (walk.documents() == 0) found.top.insert(pair.key);
      if (pair.key == "kind" && found.kind.empty()) found.kind = pair.value;
      if (pair.key == "apiVersion" && found.api.empty()) found.api = pair.value;
    } else if (pair.depth == 2) {
      found.second.insert(pair.key);
    } else if (pair.depth == 3) {
      found.third.insert(pair.key);
      if (pair.key == "kind" && found.item_kind.empty()) found.item_kind = pair.value;
      if (pair.key == "apiVersion" && found.item_api.empty()) found.item_api = pair.value;
    }
  }
  return found;
}

std::string_view without_list(std::string_view kind) {
  constexpr std::string_view k_list = "List";
  if (kind.size() > k_list.size() && kind.substr(kind.size() - k_list.size()) == k_list)
    kind.remove_suffix(k_list.size());
  return kind;
}

}  // namespace

/// Also used for YAML.
Kind kind_of_object(std::string_view kind, std::string_view api) {
  kind = without_list(kind);
  if (kind == "Pod") return Kind::pod;
  if (kind == "Event") return Kind::event;
  if (kind == "Node") return Kind::node;
  if (kind == "Model" || base::contains(api, "flexinfer")) return Kind::model;
  return Kind::workload;
}

namespace {

/// What the records of a log shipper say of where their lines come from.
struct Origin {
  bool kernel = false;     ///< the journal's or syslog's own mark of a kernel line, or its file
  bool container = false;  ///< a container's or pod's name, its stream
  bool logger = false;     ///< the program's own fields: then the message is the program's too
  std::string_view message;
};

Origin origin_of(std::string_view record) {
  static constexpr std::array<std::string_view, 6> k_carriers{"message", "MESSAGE",     "line",
                                                              "log",     "textPayload", "msg"};
  const auto is = [](std::string_view key, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), key) != names.end();
  };
  Origin origin;
  JsonSkim walk(record);
  JsonSkim::Pair pair;
  while (walk.next(pair)) {
    const auto ends = [&](std::string_view end) { return pair.value.ends_with(end); };
    if (is(pair.key, {"_TRANSPORT", "transport", "SYSLOG_IDENTIFIER", "syslog_identifier",
                      "identifier", "ident", "appname", "program"}) &&
        pair.value == "kernel")
      origin.kernel = true;
    if (is(pair.key, {"filename", "file", "path", "job", "logName", "log_name"}) &&
        (pair.value == "kernel" || ends("kern.log") || ends("dmesg") || ends("kmsg") ||
         ends("serial_port_1_output")))
      origin.kernel = true;
    if (is(pair.key, {"stream", "container", "container_name", "container_id", "pod", "pod_name",
                      "kubernetes", "docker", "namespace", "namespace_name"}))
      origin.container = true;
    if (pair.depth == 1 && is(pair.key, {"level", "caller", "logger", "func", "component"}))
      origin.logger = true;
    if (origin.message.empty() &&
        std::find(k_carriers.begin(), k_carriers.end(), pair.key) != k_carriers.end())
      origin.message = pair.value;
  }
  return origin;
}

Kind kind_of_records(const Sample& sample) {
  Vote votes;
  int kernel = 0, records = 0, own = 0;
  for (const auto line : sample.lines) {
    const Origin origin = origin_of(line);
    ++records;
    kernel += origin.kernel ? 1 : 0;
    own += origin.container || origin.logger ? 1 : 0;
    vote(origin.message.empty() || origin.container || origin.logger ? line : origin.message,
         votes);
  }
  if (kernel * 5 >= records * 4) return Kind::kernel_log;
  const Kind kind = winner(votes).value_or(Kind::container_log);
  // What speaks of kernel or daemons inside a container's record is still the container's.
  const bool host = kind == Kind::kernel_log || kind == Kind::system_log;
  return host && own > 0 ? Kind::container_log : kind;
}

std::optional<Recognised> recognise_lines(const Sample& sample) {
  // JSON lines: at least two whole objects on lines of their own, or one that is a log record.
  int objects = 0;
  int others = 0;
  for (const auto& line : sample.lines) {
    const auto text = base::trim(line);
    if (text.empty()) continue;
    if (text.front() == '{' && text.back() == '}') {
      ++objects;
    } else if (text.front() != '{' || &line != &sample.lines.back()) {  // the last may be cut
      ++others;
    }
  }
  if (objects == 0 || objects < 2 * others) return std::nullopt;
  const Skimmed first = skim(base::trim(sample.lines[0]));
  const auto has = [&](std::string_view key) { return first.top.count(key) > 0; };
  const bool record = has("msg") || has("message") || has("MESSAGE") || has("log") ||
                      has("level") || has("severity") || has("event") || has("time") || has("ts") ||
                      has("timestamp") || has("@timestamp") || has("start_time") ||
                      has("response_code") || has("fields") || has("line") || has("textPayload") ||
                      has("jsonPayload");
  if (!record || (has("apiVersion") && has("kind"))) return std::nullopt;

  Recognised result;
  result.format = Format::json_lines;
  if (has("__REALTIME_TIMESTAMP") || has("MESSAGE")) {
    int kernel = 0;
    int total = 0;
    for (const auto line : sample.lines) {
      if (line.empty() || line.back() != '}') continue;
      ++total;
      if (base::contains(line, "\"_TRANSPORT\":\"kernel\"") ||
          base::contains(line, "\"_TRANSPORT\" : \"kernel\"") ||
          base::contains(line, "\"_TRANSPORT\": \"kernel\"") ||
          base::contains(line, "\"SYSLOG_IDENTIFIER\":\"kernel\""))
        ++kernel;
      if (result.place.node.empty()) {
        JsonSkim walk(line);
        JsonSkim::Pair pair;
        while (walk.next(pair))
          if (pair.depth == 1 && pair.key == "_HOSTNAME") result.place.node = pair.value;
      }
    }
    result.kind = kernel * 5 >= total * 4 ? Kind::kernel_log : Kind::system_log;
    return result;
  }
  const bool access =
      (has("response_code") || has("status") || has("status_code") || has("upstream_status") ||
       has("upstream_cluster") || has("DownstreamStatus") || has("OriginStatus")) &&
      (has("path") || has("method") || has("request") || has("uri") || has("request_uri") ||
       has("RequestPath") || has("upstream_host") || has("upstream_addr"));
  const bool reconciler = has("controller") || has("reconcileID") || has("controllerKind") ||
                          (has("logger") && has("ts"));
  if (access) {
    result.kind = Kind::gateway_log;
  } else if (reconciler) {
    result.kind = Kind::controller_log;
  } else {
    result.kind = kind_of_records(sample);
  }
  return result;
}

}  // namespace

std::optional<Recognised> recognise_json(const Sample& sample) {
  const auto text = base::trim(sample.text);
  if (text.empty() || (text.front() != '{' && text.front() != '[')) return std::nullopt;
  // `[ 12.345] ...`, `[2025-...]`, `[rank0]:` and `[pod/...]` are logs: JSON goes on with a value.
  const auto after = base::trim(text.substr(1));
  if (text.front() == '[') {
    if (after.empty() || (after.front() != '{' && after.front() != ']' && after.front() != '"'))
      return std::nullopt;
  } else if (after.empty() || (after.front() != '"' && after.front() != '}')) {
    return std::nullopt;
  }
  if (auto lines = recognise_lines(sample)) return lines;

  const Skimmed found = skim(text);
  const auto top = [&](std::string_view key) { return found.top.count(key) > 0; };
  const auto second = [&](std::string_view key) { return found.second.count(key) > 0; };
  const auto third = [&](std::string_view key) { return found.third.count(key) > 0; };
  Recognised result;
  result.format = Format::other_json;
  // Keys are sorted: the kind of a long List stands behind its items, beyond the head.
  const bool cut_list = found.kind.empty() && top("apiVersion") && top("items");
  if (cut_list || (!found.kind.empty() && (top("apiVersion") || top("items")))) {
    result.format = Format::k8s_json;
    // A typed list (`PodList`) says it itself, a plain `List` by its first item.
    const bool plain_list = cut_list || found.kind == "List";
    result.kind = kind_of_object(plain_list ? found.item_kind : found.kind,
                                 plain_list ? found.item_api : found.api);
    return result;
  }
  if (text.front() == '[' && second("kind") && second("apiVersion")) {
    result.format = Format::k8s_json;
    JsonSkim walk(text);
    JsonSkim::Pair pair;
    while (walk.next(pair))
      if (pair.depth == 2 && pair.key == "kind") {
        result.kind = kind_of_object(pair.value, "");
        break;
      }
    return result;
  }
  if (top("DCGM Diagnostic") || top("DCGM GPU Diagnostic") || second("test_categories") ||
      third("test_categories") || base::contains(text.substr(0, 4096), "\"Overall Health\"") ||
      (top("body") && top("header"))) {
    result.kind = Kind::dcgm_diag;
    result.format = Format::dcgm_json;
    return result;
  }
  if (top("gpu_data") || top("card0") || top("card1") || second("card0") ||
      (text.front() == '[' && (second("gpu") || second("bdf")))) {
    result.kind = Kind::gpu_state;
    result.format = Format::amd_smi_json;
    return result;
  }
  if (top("boot_id") || (top("uptime_s") && top("boot_time"))) {
    result.kind = Kind::environment;
    result.format = Format::clock;
    return result;
  }
  if (top("version") || top("args") || top("model_path") || top("server_args"))
    result.kind = Kind::environment;
  return result;
}

}  // namespace triage::bundle::detail

#include "collectors/cluster.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace triage::collectors {
namespace {

using json = nlohmann::json;

const json& at(const json& object, const char* key) {
  static const json none;
  if (!object.is_object()) return none;
  const auto it = object.find(key);
  return it == object.end() ? none : *it;
}
std::string text(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}
std::string text(const json& object, const char* key) {
  return text(at(object, key));
}

void add_port(std::vector<int>& ports, const json& value) {
  constexpr int k_last = 65535;
  int port = 0;
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    port = number > 0 && number <= k_last ? static_cast<int>(number) : 0;
  } else if (value.is_string()) {
    const auto number = base::parse_int(value.get<std::string>());
    port = number && *number > 0 && *number <= k_last ? static_cast<int>(*number) : 0;
  }
  if (port > 0 && std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
}

Container parse_container(const json& spec, bool init) {
  Container container;
  container.name = text(spec, "name");
  container.image = text(spec, "image");
  container.init = init;
  for (const char* key : {"command", "args"})
    for (const auto& word : at(spec, key)) {
      if (!word.is_string()) continue;
      if (!container.command_line.empty()) container.command_line += ' ';
      container.command_line += word.get<std::string>();
    }
  // `--port 8001`, `--port=8001`, `-p`: what the engine itself was told comes first.
  const auto words = base::split_blanks(container.command_line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if ((words[i] == "--port" || words[i] == "--http-port") && i + 1 < words.size())
      add_port(container.ports, std::string(words[i + 1]));
    for (const std::string_view flag : {"--port=", "--http-port="})
      if (words[i].substr(0, flag.size()) == flag)
        add_port(container.ports, std::string(words[i].substr(flag.size())));
  }
  for (const auto& port : at(spec, "ports")) add_port(container.ports, at(port, "containerPort"));
  for (const char* probe : {"startupProbe", "readinessProbe", "livenessProbe"})
    add_port(container.ports, at(at(at(spec, probe), "httpGet"), "port"));
  return container;
}

bool asks_for_gpu(const json& spec) {
  for (const char* part : {"limits", "requests"}) {
    const auto& resources = at(at(spec, "resources"), part);
    if (!resources.is_object()) continue;
    for (const auto& [name, value] : resources.items())
      if (name.find("nvidia.com/") == 0 || name.find("amd.com/") == 0 ||
          name.find("gpu") != std::string::npos)
        return true;
  }
  return false;
}

std::vector<Owner> parse_owners(const json& metadata) {
  std::vector<Owner> owners;
  for (const auto& owner : at(metadata, "ownerReferences")) {
    Owner parsed{text(owner, "kind"), text(owner, "apiVersion"), text(owner, "name")};
    if (!parsed.kind.empty() && !parsed.name.empty()) owners.push_back(std::move(parsed));
  }
  return owners;
}

Pod parse_pod(const json& object) {
  Pod pod;
  const auto& metadata = at(object, "metadata");
  const auto& spec = at(object, "spec");
  const auto& status = at(object, "status");
  pod.name = text(metadata, "name");
  pod.name_space = text(metadata, "namespace");
  pod.uid = text(metadata, "uid");
  pod.node = text(spec, "nodeName");
  pod.phase = text(status, "phase");
  pod.owners = parse_owners(metadata);
  const auto& labels = at(metadata, "labels");
  if (labels.is_object())
    for (const auto& [name, value] : labels.items())
      if (value.is_string()) pod.labels[name] = value.get<std::string>();
  for (const auto& condition : at(status, "conditions"))
    if (text(condition, "type") == "Ready") pod.ready = text(condition, "status") == "True";
  for (const auto& [key, init] : {std::pair("initContainers", true), std::pair("containers", false),
                                  std::pair("ephemeralContainers", false)})
    for (const auto& container : at(spec, key)) {
      pod.containers.push_back(parse_container(container, init));
      pod.requests_gpu = pod.requests_gpu || asks_for_gpu(container);
    }
  return pod;
}

bool has_label(const Pod& pod, const char* key, std::string_view part) {
  const auto it = pod.labels.find(key);
  return it != pod.labels.end() && base::contains(it->second, part);
}

}  // namespace

std::string Owner::resource() const {
  // Kinds of the API become plural by the rules of English, near enough for every kind that owns
  // pods; kubectl also takes the singular kind, but not with a group.
  std::string plural = base::to_lower(kind);
  if (!plural.empty() && plural.back() == 'y') {
    plural.replace(plural.size() - 1, 1, "ies");
  } else if (!plural.empty() && (plural.back() == 's' || plural.back() == 'x')) {
    plural += "es";
  } else {
    plural += "s";
  }
  const auto slash = api_version.find('/');
  return slash == std::string::npos ? plural : plural + "." + api_version.substr(0, slash);
}

std::vector<Pod> parse_pods(std::string_view text_) {
  std::vector<Pod> pods;
  const json root = json::parse(text_, nullptr, false);
  if (root.is_discarded()) return pods;
  if (at(root, "items").is_array()) {
    for (const auto& item : at(root, "items")) {
      Pod pod = parse_pod(item);
      if (pod.name.empty()) continue;
      json object = item;
      object["kind"] = "Pod";  // items of a typed list do not say it
      object["apiVersion"] = "v1";
      pod.raw = object.dump(4, ' ', false, json::error_handler_t::replace);
      pods.push_back(std::move(pod));
    }
  } else if (text(root, "kind") == "Pod") {
    pods.push_back(parse_pod(root));
    pods.back().raw = text_;
  }
  return pods;
}

std::optional<Object> parse_object(std::string_view text_) {
  const json root = json::parse(text_, nullptr, false);
  if (root.is_discarded() || !root.is_object()) return std::nullopt;
  Object object;
  object.kind = text(root, "kind");
  object.name = text(at(root, "metadata"), "name");
  object.owners = parse_owners(at(root, "metadata"));
  const auto& selector = at(at(root, "spec"), "selector");
  const auto& labels =
      at(selector, "matchLabels").is_object() ? at(selector, "matchLabels") : selector;
  if (labels.is_object())
    for (const auto& [name, value] : labels.items())
      if (value.is_string()) {
        if (!object.match_labels.empty()) object.match_labels += ',';
        object.match_labels += name + "=" + value.get<std::string>();
      }
  return object;
}

std::string group_selector(std::string_view kind, std::string_view name) {
  struct Row {
    std::string_view kind;
    std::string_view label;
  };
  static constexpr std::array<Row, 24> k_rows{{
      {"lws", "leaderworkerset.sigs.k8s.io/name"},
      {"leaderworkerset", "leaderworkerset.sigs.k8s.io/name"},
      {"leaderworkersets", "leaderworkerset.sigs.k8s.io/name"},
      {"isvc", "serving.kserve.io/inferenceservice"},
      {"inferenceservice", "serving.kserve.io/inferenceservice"},
      {"inferenceservices", "serving.kserve.io/inferenceservice"},
      {"raycluster", "ray.io/cluster"},
      {"rayclusters", "ray.io/cluster"},
      {"jobset", "jobset.sigs.k8s.io/jobset-name"},
      {"jobsets", "jobset.sigs.k8s.io/jobset-name"},
      {"pytorchjob", "training.kubeflow.org/job-name"},
      {"pytorchjobs", "training.kubeflow.org/job-name"},
      {"mpijob", "training.kubeflow.org/job-name"},
      {"mpijobs", "training.kubeflow.org/job-name"},
      {"trainjob", "jobset.sigs.k8s.io/jobset-name"},
      {"job", "job-name"},
      {"jobs", "job-name"},
      {"model", "ai.flexinfer/model"},
      {"models", "ai.flexinfer/model"},
      {"dynamographdeployment", "nvidia.com/dynamo-graph-deployment-name"},
      {"dgd", "nvidia.com/dynamo-graph-deployment-name"},
      {"nimservice", "app.kubernetes.io/instance"},
      {"nimservices", "app.kubernetes.io/instance"},
      {"helm", "app.kubernetes.io/instance"},
  }};
  const std::string lower = base::to_lower(kind.substr(0, kind.find('.')));
  for (const Row& row : k_rows)
    if (row.kind == lower) return std::string(row.label) + "=" + std::string(name);
  return {};
}

std::string group_of(const Pod& pod) {
  for (const char* label : {"leaderworkerset.sigs.k8s.io/group-key",
                            "training.kubeflow.org/job-name", "jobset.sigs.k8s.io/jobset-name",
                            "ray.io/cluster", "batch.kubernetes.io/job-name", "job-name"}) {
    const auto it = pod.labels.find(label);
    if (it != pod.labels.end() && !it->second.empty()) return std::string(label) + "=" + it->second;
  }
  return {};
}

std::optional<GpuDaemon> gpu_daemon(const Pod& pod) {
  using evidence::Kind;
  const auto named = [&](std::string_view part) { return base::contains(pod.name, part); };
  const auto app = [&](std::string_view part) {
    return has_label(pod, "app", part) || has_label(pod, "app.kubernetes.io/component", part) ||
           has_label(pod, "app.kubernetes.io/name", part) || has_label(pod, "k8s-app", part) ||
           has_label(pod, "name", part);
  };
  if (app("nvidia-driver") || named("nvidia-driver-daemonset") || named("nvidia-gpu-driver"))
    return GpuDaemon{Kind::driver_log, 1, "nvidia-driver"};
  if ((app("nvidia-dcgm") || named("nvidia-dcgm")) && !named("exporter") && !app("exporter"))
    return GpuDaemon{Kind::driver_log, 2, "nvidia-dcgm"};
  if (app("device-plugin") || named("device-plugin")) {
    // AMD's operator calls its own `default-device-plugin-x`: the namespace tells.
    const bool gpu = app("nvidia") || named("nvidia") || app("amd") || named("amd") || app("gpu") ||
                     named("gpu") || base::contains(pod.name_space, "gpu") ||
                     base::contains(pod.name_space, "amd") ||
                     base::contains(pod.name_space, "nvidia");
    if (gpu) return GpuDaemon{Kind::device_plugin_log, 3, ""};
  }
  if (app("dcgm-exporter") || named("dcgm-exporter")) return GpuDaemon{Kind::driver_log, 4, ""};
  if (app("metrics-exporter") || named("metrics-exporter"))
    return GpuDaemon{Kind::driver_log, 5, ""};
  if (app("operator-validator") || named("operator-validator") || named("cuda-validator"))
    return GpuDaemon{Kind::driver_log, 0, ""};
  if (app("container-toolkit") || named("container-toolkit"))
    return GpuDaemon{Kind::driver_log, 0, ""};
  if (app("mig-manager") || named("mig-manager")) return GpuDaemon{Kind::driver_log, 0, ""};
  if (app("fabricmanager") || named("fabricmanager") || named("imex"))
    return GpuDaemon{Kind::fabric_log, 0, ""};
  if (named("node-labeller") || app("node-labeller")) return GpuDaemon{Kind::driver_log, 0, ""};
  return std::nullopt;
}

std::string oldest_event(std::string_view text_) {
  const json root = json::parse(text_, nullptr, false);
  if (root.is_discarded()) return {};
  std::string oldest;
  for (const auto& event : at(root, "items")) {
    for (const char* key : {"firstTimestamp", "eventTime", "lastTimestamp"}) {
      const auto time = text(event, key);
      // RFC 3339 in UTC sorts as text.
      if (time.size() >= 20 && (oldest.empty() || time < oldest)) oldest = time;
    }
  }
  return oldest;
}

std::string rights_in_short(std::string_view table) {
  // Resources, Non-Resource URLs, Resource Names, Verbs: `pods/log  []  []  [get list]`.
  const auto allows = [&](std::string_view resource, std::string_view verb) {
    for (const auto line : base::split_lines(table)) {
      const auto words = base::split_blanks(line);
      const auto open = line.rfind('[');
      if (words.empty() || open == std::string_view::npos) continue;
      const auto names = line.substr(0, open).rfind('[');
      if (names == std::string_view::npos || line[names + 1] != ']') continue;  // single objects
      const auto name = words[0].substr(0, words[0].find('.'));
      if (words[0] != "*.*" && name != "*" && name != resource) continue;
      for (const auto word : base::split_blanks(line.substr(open + 1)))
        if (const auto allowed = word.substr(0, word.find(']')); allowed == verb || allowed == "*")
          return true;
    }
    return false;
  };
  if (table.find("Verbs") == std::string_view::npos) return {};
  std::vector<std::string> may;
  std::vector<std::string> not_allowed;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> k_needed{
      {{"pods", "get"},
       {"pods/log", "get"},
       {"events", "list"},
       {"nodes", "get"},
       {"pods/exec", "create"},
       {"pods/proxy", "get"},
       {"nodes/proxy", "get"}}};
  for (const auto& [resource, verb] : k_needed)
    (allows(resource, verb) ? may : not_allowed)
        .push_back(std::string(verb) + " " + std::string(resource));
  std::string text;
  if (!may.empty()) text = "may " + base::join(may, ", ");
  if (!not_allowed.empty())
    text += (text.empty() ? "may not " : "; may not ") + base::join(not_allowed, ", ");
  return text;
}

std::vector<int> engine_ports(const Container& container) {
  std::vector<int> ports = container.ports;
  const auto says = [&](std::string_view word) {
    return base::icontains(container.image, word) || base::icontains(container.command_line, word);
  };
  const auto add = [&](int port) {
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  };
  // What engines listen on when nothing says otherwise.
  if (says("vllm") || says("trtllm")) add(8000);
  if (says("sglang")) add(30000);
  if (says("text-generation-inference")) add(80);
  if (says("triton")) add(8002);
  if (says("llama")) add(8080);
  if (says("lmdeploy")) add(23333);
  constexpr std::size_t k_most = 4;
  if (ports.size() > k_most) ports.resize(k_most);
  return ports;
}

}  // namespace triage::collectors

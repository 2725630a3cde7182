#include "bundle/layout.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace triage::bundle {
namespace {

using evidence::Kind;
using Parts = std::vector<std::string_view>;

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}
bool all_of(std::string_view text, std::string_view alphabet) {
  return !text.empty() && text.find_first_not_of(alphabet) == std::string_view::npos;
}
constexpr std::string_view k_digits = "0123456789";
/// Kubernetes makes random suffixes of these (no vowels, no look-alikes).
constexpr std::string_view k_random = "bcdfghjklmnpqrstvwxz2456789";

/// Name without compression and log suffixes: `worker.log.gz` -> `worker`.
std::string_view stem_of(std::string_view name) {
  static constexpr std::array<std::string_view, 12> k_suffixes{".gz",  ".zst",  ".xz",   ".bz2",
                                                               ".lz4", ".log",  ".txt",  ".out",
                                                               ".err", ".json", ".yaml", ".yml"};
  for (bool again = true; again;) {
    again = false;
    for (const auto suffix : k_suffixes)
      if (name.size() > suffix.size() && ends(name, suffix)) {
        name.remove_suffix(suffix.size());
        again = true;
      }
  }
  return name;
}

bool is_pod_suffix(std::string_view text) {
  return text.size() == 5 && all_of(text, k_random) &&
         text.find_first_of(k_digits) != std::string_view::npos;
}

/// `chat-70b-7f6c9b8d54-4k2vb`: a Deployment's pod, by its two generated parts.
bool is_deployment_pod(std::string_view text) {
  const auto parts = base::split(text, '-');
  if (parts.size() < 3) return false;
  const auto hash = parts[parts.size() - 2];
  return parts.back().size() == 5 && all_of(parts.back(), k_random) && hash.size() >= 6 &&
         hash.size() <= 10 &&
         all_of(hash,
                "0123456789abcdef"
                "bcdfghjklmnpqrstvwxz2456789") &&
         hash.find_first_of(k_digits) != std::string_view::npos;
}

/// A number behind `rank` anywhere in a name: `worker-rank3.log`, `rank_03`, `log_rank12.txt`.
std::string rank_in(std::string_view name) {
  const std::string lower = base::to_lower(name);
  const auto at = lower.find("rank");
  if (at == std::string::npos ||
      (at > 0 && (std::isalpha(static_cast<unsigned char>(lower[at - 1])) != 0)))
    return {};
  std::size_t from = at + 4;
  while (from < lower.size() &&
         (lower[from] == '-' || lower[from] == '_' || lower[from] == '.' || lower[from] == '='))
    ++from;
  std::size_t to = from;
  while (to < lower.size() && k_digits.find(lower[to]) != std::string_view::npos) ++to;
  if (to == from || to - from > 6) return {};
  while (from + 1 < to && lower[from] == '0') ++from;
  return lower.substr(from, to - from);
}

/// `/var/log/pods/NS_POD_UID/CONTAINER/N.log`: the part with two underscores and a UID.
bool read_pod_uid_directory(std::string_view part, evidence::Place& place) {
  const auto pieces = base::split(part, '_');
  if (pieces.size() != 3 || pieces[0].empty() || pieces[1].empty()) return false;
  const bool uid = pieces[2].size() >= 32 && all_of(pieces[2], "0123456789abcdef-");
  if (!uid) return false;
  place.name_space = pieces[0];
  place.pod = pieces[1];
  return true;
}

/// What GPU-side daemons are called decides the kind of their logs, whatever the layout.
std::optional<Kind> kind_of_pod(std::string_view pod) {
  const auto has = [&](std::string_view word) { return base::icontains(pod, word); };
  if (has("device-plugin")) return Kind::device_plugin_log;
  if (has("nvidia-driver") || has("driver-daemonset") || has("container-toolkit") ||
      has("operator-validator") || has("cuda-validator") || has("vgpu-manager") ||
      has("mig-manager") || has("amdgpu-driver") || has("kmm-worker"))
    return Kind::driver_log;
  if (has("fabricmanager") || has("fabric-manager") || has("imex")) return Kind::fabric_log;
  if (has("gpu-operator") || has("controller-manager") || has("kube-scheduler") ||
      has("network-operator") || has("cluster-autoscaler") || has("karpenter") || has("keda-"))
    return Kind::controller_log;
  if (has("ingress-nginx") || has("istio-ingressgateway") || has("envoy-") || has("traefik") ||
      has("kong-") || has("haproxy"))
    return Kind::gateway_log;
  return std::nullopt;
}

std::optional<Kind> kind_by_name(std::string_view name, std::string_view stem) {
  const auto has = [&](std::string_view word) { return base::icontains(name, word); };
  if (has("fabricmanager") || has("fabric-manager") || has("imex") || has("nvswitch"))
    return Kind::fabric_log;
  if (has("dmesg") || has("kern.log") || has("kernel") || has("journal-k") || has("journalctl-k") ||
      has("journalctl_-k") || has("boot.log"))
    return Kind::kernel_log;
  if (has("device-plugin") || has("device_plugin") || has("deviceplugin"))
    return Kind::device_plugin_log;
  if (has("syslog") || has("journal") || starts(name, "messages") || has("kubelet") ||
      has("containerd"))
    return Kind::system_log;
  if (has("gateway") || has("nginx") || has("envoy") || has("ingress") || has("proxy") ||
      has("haproxy") || has("traefik") || has("access.log") || has("router"))
    return Kind::gateway_log;
  if (has("operator") || has("controller") || has("manager.log") || has("scheduler") ||
      has("autoscaler"))
    return Kind::controller_log;
  if (has("nvidia-driver") || has("nvidia_driver") || has("toolkit") || has("validator"))
    return Kind::driver_log;
  if (has("worker") || has("previous") || has("current.log") || has("engine") || has("server") ||
      has("vllm") || has("sglang") || has("tgi") || has("triton") || has("ollama") ||
      has("llama") || has("stdout") || has("stderr") || has("container") || has("rank") ||
      is_deployment_pod(stem) || starts(name, "logs"))
    return Kind::container_log;
  return std::nullopt;
}

/// Position of a part by name, or -1.
int find_part(const Parts& parts, std::string_view name) {
  const auto it = std::find(parts.begin(), parts.end(), name);
  return it == parts.end() ? -1 : static_cast<int>(it - parts.begin());
}

std::string without(std::string_view text, std::initializer_list<std::string_view> suffixes) {
  for (const auto suffix : suffixes)
    if (text.size() > suffix.size() && ends(text, suffix)) {
      text.remove_suffix(suffix.size());
      break;
    }
  return std::string(text);
}

/// A path below a marker directory, part by part; empty beyond its end.
class Below {
 public:
  Below(const Parts& parts, int marker) : parts_(parts), from_(marker + 1) {}
  [[nodiscard]] std::string_view operator[](int i) const {
    const std::size_t at = static_cast<std::size_t>(from_) + static_cast<std::size_t>(i);
    return at < parts_.size() ? parts_[at] : std::string_view();
  }
  [[nodiscard]] int count() const { return static_cast<int>(parts_.size()) - from_; }

 private:
  const Parts& parts_;
  int from_;
};

void pod_log(LayoutHint& hint, std::string_view ns, std::string_view pod,
             std::string_view container) {
  hint.place.name_space = ns;
  hint.place.pod = pod;
  hint.place.container = container;
  hint.kind = kind_of_pod(pod).value_or(Kind::container_log);
}

// --- The known layouts, each with its own marker ---

bool read_triage(const Parts& parts, LayoutHint& hint) {
  // Without a manifest (lost, or a person packed the parts again) the paths still tell.
  const int engines = find_part(parts, "engines");
  const int kubernetes = find_part(parts, "k8s");
  const int nodes = find_part(parts, "nodes");
  const auto name = parts.back();
  if (kubernetes >= 0) {
    const Below at(parts, kubernetes);
    if (at[1] == "pods" && at.count() >= 4) {
      hint.layout = "triage";
      if (at.count() >= 5) {
        pod_log(hint, at[0], at[2], at[3]);
        hint.previous = starts(name, "previous") || at[4] == "rotated";
      } else {
        hint.place.name_space = at[0];
        hint.place.pod = at[2];
      }
      return true;
    }
    if (at[0] == "gpu-operator" && at.count() >= 4) {
      hint.layout = "triage";
      pod_log(hint, "", at[1], at[2]);
      hint.previous = starts(name, "previous");
      return true;
    }
    if (at[0] == "nodes" && at.count() >= 3) {
      hint.layout = "triage";
      hint.place.node = at[1];
      return true;
    }
    return false;
  }
  if (nodes >= 0 && Below(parts, nodes).count() >= 2) {
    const Below at(parts, nodes);
    hint.place.node = at[0];
    if (at[1] == "kernel" || at[1] == "nvidia" || at[1] == "amd" || at[1] == "host" ||
        at[1] == "clock.json") {
      hint.layout = "triage";
      if (at[1] == "kernel" && starts(name, "dmesg")) hint.kind = Kind::kernel_log;
    }
    return !hint.layout.empty();
  }
  if (engines >= 0 && Below(parts, engines).count() == 2) {
    const auto pieces = base::split(Below(parts, engines)[0], '_');
    if (pieces.size() == 2) {
      hint.layout = "triage";
      hint.place.name_space = pieces[0];
      hint.place.pod = pieces[1];
      return true;
    }
  }
  return false;
}

bool read_troubleshoot(const Parts& parts, LayoutHint& hint) {
  const auto name = parts.back();
  const int resources = find_part(parts, "cluster-resources");
  if (resources >= 0) {
    hint.layout = "troubleshoot";
    const Below at(parts, resources);
    if (at[0] == "pods" && at[1] == "logs" && at.count() >= 5) {
      if (ends(name, "-logs-errors.log")) {
        hint.ignore = true;
        return true;
      }
      pod_log(hint, at[2], at[3], without(name, {"-previous.log", ".log"}));
      hint.previous = ends(name, "-previous.log");
    } else if (at.count() == 2) {
      hint.place.name_space = without(at[1], {".json"});
    }
    return true;
  }
  const int host = find_part(parts, "host-collectors");
  if (host >= 0) {
    hint.layout = "troubleshoot";
    hint.ignore = ends(name, "-info.json");
    return true;
  }
  if (find_part(parts, "collector-errors") >= 0 || find_part(parts, "execution-data") >= 0) {
    hint.layout = "troubleshoot";
    hint.ignore = true;
    return true;
  }
  return false;
}

bool read_gpu_operator_gather(const Parts& parts, LayoutHint& hint) {
  const auto name = parts.back();
  if (name == "must-gather.log" || name == "must-gather.stderr.log") {
    hint.layout = "gpu-operator-must-gather";
    hint.ignore = true;
    return true;
  }
  if (!starts(name, "gpu_operand_pod_") && !starts(name, "gpu_operator_pod") &&
      !starts(name, "gpu_nodes.") && !starts(name, "gpu_device_usage_") &&
      !starts(name, "gpu_operand_"))
    return false;
  hint.layout = "gpu-operator-must-gather";
  if (starts(name, "gpu_operand_pod_") && ends(name, ".log")) {
    hint.previous = ends(name, ".previous.log");
    hint.place.pod = without(name.substr(std::string_view("gpu_operand_pod_").size()),
                             {".previous.log", ".log"});
    hint.kind = kind_of_pod(hint.place.pod).value_or(Kind::driver_log);
  } else if (starts(name, "gpu_operator_pod") && ends(name, ".log")) {
    hint.previous = ends(name, ".previous.log");
    hint.kind = Kind::controller_log;
  } else if (starts(name, "gpu_device_usage_")) {
    hint.place.node = without(name.substr(std::string_view("gpu_device_usage_").size()), {".log"});
  }
  return true;
}

bool read_openshift(const Parts& parts, LayoutHint& hint) {
  const int namespaces = find_part(parts, "namespaces");
  const int cluster = find_part(parts, "cluster-scoped-resources");
  if (namespaces >= 0) {
    const Below at(parts, namespaces);
    hint.layout = "must-gather";
    hint.place.name_space = at[0];
    if (at[1] == "pods" && at.count() >= 4) {
      hint.place.pod = at[2];
      if (at[5] == "logs" && at.count() >= 7) {
        pod_log(hint, at[0], at[2], at[3]);
        hint.previous = starts(parts.back(), "previous") || at[6] == "rotated";
      }
    }
    return true;
  }
  if (cluster >= 0) {
    hint.layout = "must-gather";
    const Below at(parts, cluster);
    if (at[1] == "nodes" && at.count() == 3) hint.place.node = without(at[2], {".yaml", ".json"});
    return true;
  }
  if (find_part(parts, "host_service_logs") >= 0) {
    hint.layout = "must-gather";
    hint.kind = Kind::system_log;
    return true;
  }
  return false;
}

/// The host name in `sosreport-HOST-2026-01-12-abcdefg`.
std::string sos_host(std::string_view part) {
  if (!starts(part, "sosreport-")) return {};
  auto pieces = base::split(part.substr(std::string_view("sosreport-").size()), '-');
  std::vector<std::string> host;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].size() == 4 && all_of(pieces[i], k_digits) && i + 2 < pieces.size()) break;
    host.emplace_back(pieces[i]);
  }
  return base::join(host, "-");
}

bool read_sos(const Parts& parts, LayoutHint& hint) {
  const int commands = find_part(parts, "sos_commands");
  const int strings = find_part(parts, "sos_strings");
  const bool root = std::any_of(parts.begin(), parts.end(),
                                [](std::string_view part) { return starts(part, "sosreport-"); });
  if (commands < 0 && strings < 0 && !root) return false;
  hint.layout = "sosreport";
  for (const auto part : parts) {
    if (hint.place.node.empty()) hint.place.node = sos_host(part);
    if (part == "sos_reports" || part == "sos_logs" || part == "checksums") hint.ignore = true;
  }
  const int marker = commands >= 0 ? commands : strings;
  if (marker < 0) return true;
  const Below at(parts, marker);
  const auto name = parts.back();
  if (at[0] == "kernel" && starts(name, "dmesg")) hint.kind = Kind::kernel_log;
  if (at[0] == "logs" && starts(name, "journalctl")) hint.weak_kind = Kind::system_log;
  if (const int logs = find_part(parts, "podlogs"); logs > 0) {
    const auto words = base::split(name, '_');
    const auto container = std::find(words.begin(), words.end(), "-c");
    pod_log(hint, parts[static_cast<std::size_t>(logs) - 1], Below(parts, logs)[0],
            container != words.end() && container + 1 != words.end() ? *(container + 1)
                                                                     : std::string_view());
    hint.previous = base::contains(name, "--previous") || base::contains(name, "_-p_");
  }
  return true;
}

bool read_techsupport(const Parts& parts, LayoutHint& hint) {
  // techsupport-<uuid>-<date>/<node>/<feature>/<ns>_<pod>.txt
  std::size_t root = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (starts(parts[i], "techsupport-") || starts(parts[i], "techsupport_")) root = i;
  if (root + 1 >= parts.size()) return false;
  hint.layout = "amd-techsupport";
  const Below at(parts, static_cast<int>(root));
  static constexpr std::array<std::string_view, 5> k_features{"gpuoper", "nfd", "kmm", "dra",
                                                              "npd"};
  if (at.count() < 2 || std::find(k_features.begin(), k_features.end(), at[0]) != k_features.end())
    return true;
  hint.place.node = at[0];
  const auto stem = without(at[2], {"_previous.txt", ".txt"});
  if (at.count() == 3 && at[1] != "kubelet") {
    if (const auto bar = stem.find('_'); bar != std::string::npos) {
      const std::string feature(at[1]);
      pod_log(hint, stem.substr(0, bar), stem.substr(bar + 1), "");
      if (const auto kind = kind_of_pod(feature)) hint.kind = kind;
      hint.previous = ends(at[2], "_previous.txt");
    }
  }
  return true;
}

bool read_small_layouts(const Parts& parts, LayoutHint& hint) {
  const auto name = parts.back();
  if (find_part(parts, "insights_commands") >= 0) {
    hint.layout = "insights";
    return true;
  }
  if (find_part(parts, "var_log") >= 0 || (parts.size() >= 2 && parts[parts.size() - 2] == "gpu" &&
                                           starts(name, "nvidia-bug-report"))) {
    hint.layout = "eks-node-logs";
    return true;
  }
  if (name == "nvvs.log" || name == "nv-hostengine.log" ||
      (starts(name, "stats_") && ends(name, ".json"))) {
    hint.layout = "dcgm";
    hint.weak_kind = Kind::driver_log;
    hint.ignore = starts(name, "stats_");
    return true;
  }
  if (name == "noFMLogs.txt") {
    hint.layout = "dcgm";
    hint.ignore = true;
    return true;
  }
  // cluster-info dump: <ns>/<pod>/logs.txt beside <ns>/pods.json
  if (name == "logs.txt" && parts.size() >= 3) {
    hint.layout = "cluster-info-dump";
    hint.place.name_space = parts[parts.size() - 3];
    hint.place.pod = parts[parts.size() - 2];
    hint.weak_kind = kind_of_pod(hint.place.pod).value_or(Kind::container_log);
    return true;
  }
  return false;
}

/// kubelet's own directories, in any archive or on the host itself.
bool read_kubelet_directories(const Parts& parts, LayoutHint& hint) {
  for (std::size_t i = 0; i + 2 < parts.size() + 0; ++i) {
    if (read_pod_uid_directory(parts[i], hint.place)) {
      const auto pod = hint.place.pod;
      const auto ns = hint.place.name_space;
      pod_log(hint, ns, pod, parts[i + 1]);
      return true;
    }
  }
  if (parts.size() >= 2 && parts[parts.size() - 2] == "containers") {
    // <pod>_<ns>_<container>-<64 hex>.log
    const auto pieces = base::split(stem_of(parts.back()), '_');
    if (pieces.size() == 3 && pieces[2].size() > 65) {
      pod_log(hint, pieces[1], pieces[0], pieces[2].substr(0, pieces[2].size() - 65));
      return true;
    }
  }
  return false;
}

/// Files of a bundle that tell of its making, not of the incident.
bool is_bookkeeping(const Parts& parts) {
  static constexpr std::array<std::string_view, 6> k_names{
      "SHA256SUMS", "README.txt", "collect.log", "redaction.json", "analysis.json", "version.yaml"};
  const auto name = parts.back();
  if (std::find(k_names.begin(), k_names.end(), name) != k_names.end()) return true;
  return ends(name, ".sha256") ||
         (parts.size() >= 2 && parts[parts.size() - 2] == "report" && starts(name, "report."));
}

/// `node-a/dmesg.txt`, `hosts/gpu-3/...`, `worker-rank3.log`: what people call things themselves.
void read_plain(const Parts& parts, LayoutHint& hint) {
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto part = parts[i];
    if (hint.place.node.empty()) {
      if ((part == "nodes" || part == "hosts") && i + 2 < parts.size()) {
        hint.place.node = parts[i + 1];
      } else if (starts(part, "node") && part.size() > 5 && part.size() <= 40 &&
                 std::string_view("-_=.").find(part[4]) != std::string_view::npos) {
        hint.place.node = part[4] == '=' ? part.substr(5) : part;
      }
    }
    if (hint.place.rank.empty()) hint.place.rank = rank_in(part);
    if (hint.place.pod.empty() && (part == "pods" || is_deployment_pod(part)))
      hint.place.pod = part == "pods" ? std::string_view() : part;
  }
  const auto name = parts.back();
  const auto stem = stem_of(name);
  if (const auto rank = rank_in(stem); !rank.empty()) hint.place.rank = rank;
  if (starts(name, "previous") || ends(stem, "-previous") || ends(stem, ".previous") ||
      ends(stem, "_previous") || ends(stem, "-prev"))
    hint.previous = true;
  if (hint.place.pod.empty()) {
    if (is_deployment_pod(stem)) {
      hint.place.pod = stem;
    } else if (const auto dash = stem.rfind('-');
               dash != std::string_view::npos && is_pod_suffix(stem.substr(dash + 1))) {
      // `worker-4k2vb.log`: only the random end of the pod's name; who knows the pods completes it.
      hint.place.pod = stem.substr(dash + 1);
    }
  }
  hint.weak_kind = kind_by_name(name, stem);
}

}  // namespace

std::optional<std::string> clean_member_name(std::string_view name) {
  std::string clean;
  for (const auto part : base::split(name, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return std::nullopt;
    if (!clean.empty()) clean += '/';
    for (const char c : part) clean += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return clean;
}

LayoutHint read_path(std::string_view path) {
  LayoutHint hint;
  // Inside a nested archive both paths speak: the archive's (node) and the member's.
  Parts parts;
  for (const auto step : base::split(path, '!'))
    for (const auto part : base::split(step, '/'))
      if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  if (parts.empty() || path == "-") return hint;
  if (is_bookkeeping(parts)) {
    hint.ignore = true;
    return hint;
  }
  const bool known = read_triage(parts, hint) || read_kubelet_directories(parts, hint) ||
                     read_troubleshoot(parts, hint) || read_openshift(parts, hint) ||
                     read_sos(parts, hint) || read_techsupport(parts, hint) ||
                     read_gpu_operator_gather(parts, hint) || read_small_layouts(parts, hint);
  LayoutHint plain;
  read_plain(parts, plain);
  if (!known) return plain;
  hint.place.fill_from(plain.place);
  hint.previous = hint.previous || plain.previous;
  if (!hint.weak_kind) hint.weak_kind = plain.weak_kind;
  return hint;
}

}  // namespace triage::bundle

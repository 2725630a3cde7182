#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>

#include "base/text.hpp"
#include "bundle/recognise_detail.hpp"

namespace triage::bundle::detail {
namespace {

using evidence::Kind;

constexpr std::array<std::string_view, 12> k_months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> k_days{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_level(std::string_view word) {
  static constexpr std::array<std::string_view, 14> k_levels{
      "INFO",     "WARN",   "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL",
      "CRITICAL", "NOTICE", "info",    "warn",  "error", "debug", "[INFO]"};
  return is_one_of(word, k_levels);
}

/// Length of `[ 1234.567890] ` with what newer kernels put behind it (`[ T1946] `), else 0.
std::size_t monotonic_length(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  std::size_t at = 1;
  while (at < text.size() && text[at] == ' ') ++at;
  const auto digits = at;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  if (at == digits || at >= text.size() || text[at] != '.') return 0;
  const auto fraction = ++at;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  if (at - fraction != 6 || at >= text.size() || text[at] != ']') return 0;
  ++at;
  if (at < text.size() && text[at] == ' ') ++at;
  return at;
}

/// `[Sun Feb 23 16:24:18 2025] `, as `dmesg -T`; Apache 2.2 writes the same before `[error]`.
bool is_ctime_stamp(std::string_view text) {
  return shaped(text, "[aaa aaa _9 99:99:99 9999]") && is_one_of(text.substr(1, 3), k_days) &&
         is_one_of(text.substr(5, 3), k_months) && !starts(text.substr(26), " [error]") &&
         !starts(text.substr(26), " [notice]") && !starts(text.substr(26), " [warn]");
}

/// `kern  :warn  : ` of `dmesg -x`.
bool is_decoded(std::string_view text) {
  for (const std::string_view facility : {"kern", "user", "daemon", "syslog"})
    if (starts(text, facility)) {
      const auto rest = text.substr(facility.size());
      const auto colon = rest.find(':');
      return colon != std::string_view::npos && colon <= 4 &&
             rest.find_first_not_of(' ') == colon &&
             rest.substr(colon + 1, 8).find(':') != std::string_view::npos;
    }
  return false;
}

/// Host and program of a syslog or journald line.
struct Syslog {
  bool found = false;
  std::string_view host;
  std::string_view program;
  std::string_view message;
};

bool is_host_name(std::string_view word) {
  return !word.empty() && word.size() <= 253 && !is_level(word) &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ||
                  c == '_';
         });
}

/// `host prog[pid]: message` or `host kernel: message` behind a stamp.
Syslog read_tag(std::string_view text) {
  Syslog line;
  text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos || !is_host_name(text.substr(0, blank))) return line;
  line.host = text.substr(0, blank);
  auto rest = text.substr(blank + 1);
  const auto colon = rest.find(": ");
  const auto end = colon != std::string_view::npos
                       ? colon
                       : (!rest.empty() && rest.back() == ':' ? rest.size() - 1 : colon);
  if (end == std::string_view::npos || end == 0 || end > 80) return line;
  auto program = rest.substr(0, end);
  if (program.find(' ') != std::string_view::npos) return line;
  const auto bracket = program.find('[');
  if (bracket != std::string_view::npos) {
    if (program.back() != ']') return line;
    line.program = program.substr(0, bracket);
  } else {
    line.program = program;
  }
  line.message = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 2);
  line.found = !line.program.empty();
  return line;
}

Syslog read_syslog(std::string_view text) {
  if (!text.empty() && text[0] == '<') {  // priority of a raw syslog line
    const auto end = text.find('>');
    if (end != std::string_view::npos && end <= 4 && is_digits(text.substr(1, end - 1))) {
      text.remove_prefix(end + 1);
      if (shaped(text, "9 9999-99-99T")) {  // RFC 5424: version stamp host app pid msgid sd msg
        const auto words = base::split_blanks(text.substr(0, 400));
        if (words.size() >= 6) return {true, words[2], words[3], text};
      }
    }
  }
  if (shaped(text, "aaa _9 99:99:99 ") && is_one_of(text.substr(0, 3), k_months)) {
    text.remove_prefix(16);
    if (shaped(text, "9999 ")) text.remove_prefix(5);  // syslog with a year
    return read_tag(text);
  }
  // journalctl -o short-precise: `Jan 12 08:39:55.123456 host kernel: `
  if (shaped(text, "aaa _9 99:99:99.999") && is_one_of(text.substr(0, 3), k_months))
    return read_tag(text.substr(std::min(text.find(' ', 15), text.size())));
  // journalctl -o short-full: `Mon 2026-01-12 08:39:55 UTC host kernel: `
  if (shaped(text, "aaa 9999-99-99 99:99:99 ") && is_one_of(text.substr(0, 3), k_days)) {
    text.remove_prefix(24);
    return read_tag(text.substr(std::min(text.find(' '), text.size())));
  }
  if (const auto length = iso_stamp_length(text);
      length > 0 && text.substr(length, 1) == " " && text[10] == 'T') {
    // Other loggers write `stamp WORD word: text` too: without a pid only known programs count.
    Syslog line = read_tag(text.substr(length + 1));
    const bool sure = line.program == "kernel" || line.program == "systemd" ||
                      base::contains(text.substr(0, 160), "]: ");
    line.found = line.found && sure;
    return line;
  }
  // journalctl -o short-unix and short-monotonic
  if (shaped(text, "9999999999.999999 ")) return read_tag(text.substr(18));
  if (const auto length = monotonic_length(text); length > 0) {
    Syslog line = read_tag(text.substr(length));
    line.found = line.found && line.program != text && base::contains(text.substr(0, 200), ": ") &&
                 (line.program == "kernel" || base::contains(text.substr(length, 120), "]: "));
    return line;
  }
  return {};
}

/// Talos: `10.0.0.4: kern: warning: [2026-04-22T21:30:51.5Z]: `
bool is_talos(std::string_view text) {
  const auto at = text.find(": kern:");
  return at != std::string_view::npos && at < 64 && text.find("Z]:") != std::string_view::npos;
}

bool is_klog(std::string_view text) {
  return shaped(text, "a9999 99:99:99.") &&
         std::string_view("IWEF").find(text[0]) != std::string_view::npos;
}

bool is_access_line(std::string_view text) {
  static constexpr std::array<std::string_view, 8> k_methods{"\"GET ",   "\"POST ",   "\"PUT ",
                                                             "\"HEAD ",  "\"DELETE ", "\"OPTIONS ",
                                                             "\"PATCH ", "\"CONNECT "};
  const auto top = text.substr(0, 400);
  const bool method = std::any_of(k_methods.begin(), k_methods.end(),
                                  [&](std::string_view m) { return base::contains(top, m); });
  if (!method) return false;
  // nginx and friends: client, dash, user, [day/month/year...]; Envoy: [ISO] "METHOD path" code.
  if (base::contains(top, " - ") && base::contains(top, " [") && base::contains(top, "/20"))
    return true;
  if (text[0] == '[' && iso_stamp_length(text.substr(1)) > 0) return true;
  // AWS load balancers: the scheme, the time, the balancer.
  const std::size_t blank = text.find(' ');
  const std::string_view scheme = text.substr(0, blank);
  return (scheme == "http" || scheme == "https" || scheme == "h2" || scheme == "grpcs" ||
          scheme == "ws" || scheme == "wss") &&
         iso_stamp_length(text.substr(blank + 1)) > 0;
}

/// `2026/04/22 15:01:11 [error] 31#31: *1 upstream timed out ... while reading response header`
bool is_nginx_error(std::string_view text) {
  return shaped(text, "9999/99/99 99:99:99 [a") && base::contains(text.substr(0, 60), "#");
}

/// Removes what collectors put in front: CRI and kubectl stamps, `[pod/x/y] `, `name-1  | `.
std::string_view strip_collector(std::string_view text) {
  if (starts(text, "[pod/")) {
    const auto end = text.find("] ");
    if (end != std::string_view::npos) text.remove_prefix(end + 2);
  }
  if (const auto bar = text.find(" | "); bar != std::string_view::npos && bar > 0 && bar < 48) {
    auto name = text.substr(0, bar);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty() &&
        std::all_of(name.begin(), name.end(),
                    [](char c) {
                      return std::islower(static_cast<unsigned char>(c)) != 0 ||
                             std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' ||
                             c == '_' || c == '.';
                    }) &&
        std::isalpha(static_cast<unsigned char>(name[0])) != 0)
      text.remove_prefix(bar + 3);
  }
  const auto length = iso_stamp_length(text);
  if (length > 20 && text.substr(length, 1) == " " && text[10] == 'T') {
    auto rest = text.substr(length + 1);
    if (starts(rest, "stdout F ") || starts(rest, "stderr F ") || starts(rest, "stdout P ") ||
        starts(rest, "stderr P "))
      return rest.substr(9);
    return rest;
  }
  return text;
}

struct Word {
  std::string_view text;
  int Vote::*slot;
  int weight;
};

/// Words that only one kind of log says. Fault texts are left out where several kinds quote them.
constexpr std::array k_words{
    // Device plugins.
    Word{"NVIDIA Device Plugin", &Vote::device_plugin, 8},
    Word{"k8s-device-plugin", &Vote::device_plugin, 8},
    Word{"AMD GPU device plugin", &Vote::device_plugin, 8},
    Word{"Starting FS watcher", &Vote::device_plugin, 6},
    Word{"Starting OS watcher", &Vote::device_plugin, 4},
    Word{"Registered device plugin", &Vote::device_plugin, 6},
    Word{"Starting GRPC server for", &Vote::device_plugin, 6},
    Word{"XidCriticalError", &Vote::device_plugin, 8},
    Word{"marking device as unhealthy", &Vote::device_plugin, 8},
    Word{"device marked unhealthy", &Vote::device_plugin, 8},
    Word{"the device will go unhealthy", &Vote::device_plugin, 8},
    Word{"Retreiving plugins", &Vote::device_plugin, 5},
    Word{"Retrieving plugins", &Vote::device_plugin, 5},
    Word{"Heart beating every", &Vote::device_plugin, 5},
    Word{"Watching GPU with bus ID", &Vote::device_plugin, 6},
    Word{"Detected NVML platform", &Vote::device_plugin, 5},
    Word{"Skipping event {", &Vote::device_plugin, 3},
    // Driver containers, toolkit, validators.
    Word{"Installing NVIDIA driver kernel modules", &Vote::driver, 8},
    Word{"Loading NVIDIA driver kernel modules", &Vote::driver, 8},
    Word{"NVIDIA-Linux-x86_64", &Vote::driver, 6},
    Word{"nvidia-installer", &Vote::driver, 6},
    Word{"nvidia-driver-daemonset", &Vote::driver, 4},
    Word{"Unloading NVIDIA driver kernel modules", &Vote::driver, 6},
    Word{"Starting NVIDIA persistence daemon", &Vote::driver, 5},
    Word{"nvidia-container-toolkit", &Vote::driver, 3},
    Word{"Starting nvidia-toolkit", &Vote::driver, 6},
    Word{"nvidia-container-runtime", &Vote::driver, 3},
    Word{"toolkit-validation", &Vote::driver, 5},
    Word{"driver-validation", &Vote::driver, 5},
    Word{"running command chroot with args [/run/nvidia/driver nvidia-smi]", &Vote::driver, 8},
    Word{"libnvidia-container", &Vote::driver, 3},
    Word{"mig-parted", &Vote::driver, 5},
    Word{"nvidia-mig-manager", &Vote::driver, 5},
    Word{"Compiling NVIDIA driver kernel modules", &Vote::driver, 8},
    // Fabric manager, IMEX.
    Word{"[tid ", &Vote::fabric, 4},
    Word{"Fabric Manager", &Vote::fabric, 3},
    Word{"NVSwitch fatal error", &Vote::fabric, 4},
    Word{"NVSwitch non-fatal error", &Vote::fabric, 4},
    Word{"IMEX_NODE_INIT_STATE", &Vote::fabric, 6},
    Word{"nvidia-imex", &Vote::fabric, 5},
    Word{"multicast group", &Vote::fabric, 2},
    // Gateways.
    Word{"while connecting to upstream", &Vote::gateway, 6},
    Word{"while reading response header from upstream", &Vote::gateway, 6},
    Word{"upstream_reset_before_response_started", &Vote::gateway, 6},
    Word{"upstream_response_timeout", &Vote::gateway, 6},
    Word{"via_upstream", &Vote::gateway, 5},
    Word{"upstream connect error", &Vote::gateway, 5},
    Word{"no healthy upstream", &Vote::gateway, 5},
    Word{"upstream=", &Vote::gateway, 3},
    Word{"level=WARN msg=\"model failed", &Vote::gateway, 3},
    Word{"msg=\"retrying activation", &Vote::gateway, 5},
    Word{"msg=\"request queued\"", &Vote::gateway, 5},
    Word{"activation attempts", &Vote::gateway, 3},
    Word{"queue_depth=", &Vote::gateway, 3},
    Word{"litellm", &Vote::gateway, 2},
    Word{"LiteLLM", &Vote::gateway, 3},
    Word{"backend=", &Vote::gateway, 2},
    // Controllers.
    Word{"reconcil", &Vote::controller, 3},
    Word{"Reconcil", &Vote::controller, 3},
    Word{"leaderelection", &Vote::controller, 4},
    Word{"leader election", &Vote::controller, 3},
    Word{"controller-runtime", &Vote::controller, 5},
    Word{"\"controller\":", &Vote::controller, 4},
    Word{"controllerKind", &Vote::controller, 5},
    Word{"Starting EventSource", &Vote::controller, 5},
    Word{"Starting workers", &Vote::controller, 3},
    Word{"schedule_one.go", &Vote::controller, 6},
    Word{"Unable to schedule pod", &Vote::controller, 5},
    Word{"clusterpolicy", &Vote::controller, 3},
    Word{"ClusterPolicy", &Vote::controller, 3},
    Word{"scale_up.go", &Vote::controller, 4},
    Word{"static_autoscaler.go", &Vote::controller, 5},
    Word{"horizontal.go", &Vote::controller, 3},
    Word{"replica_set.go", &Vote::controller, 4},
    // Kernel.
    Word{"NVRM: ", &Vote::kernel, 4},
    Word{"nvidia-nvswitch", &Vote::kernel, 4},
    Word{"invoked oom-killer", &Vote::kernel, 4},
    Word{"Out of memory: Killed process", &Vote::kernel, 4},
    Word{"Memory cgroup out of memory", &Vote::kernel, 4},
    Word{"amdgpu 0000:", &Vote::kernel, 4},
    Word{"[drm", &Vote::kernel, 2},
    Word{"pcieport ", &Vote::kernel, 3},
    Word{"Call Trace:", &Vote::kernel, 1},
    Word{"EDAC MC", &Vote::kernel, 3},
    // Node daemons.
    Word{"kubelet.go", &Vote::system, 5},
    Word{"pod_workers.go", &Vote::system, 5},
    Word{"kuberuntime_", &Vote::system, 5},
    Word{"prober.go", &Vote::system, 5},
    Word{"eviction_manager.go", &Vote::system, 5},
    Word{"level=info msg=\"RunPodSandbox", &Vote::system, 5},
    Word{"containerd", &Vote::system, 2},
    // Engines, frameworks, training loops.
    Word{"vLLM", &Vote::container, 3},
    Word{"vllm", &Vote::container, 3},
    Word{"EngineCore", &Vote::container, 4},
    Word{"(APIServer pid=", &Vote::container, 5},
    Word{"sglang", &Vote::container, 3},
    Word{"server_args=ServerArgs", &Vote::container, 5},
    // A prompt may quote any log.
    Word{"SamplingParams(", &Vote::container, 5},
    Word{"prompt: '", &Vote::container, 5},
    Word{"prompt: \"", &Vote::container, 5},
    Word{"prompt='", &Vote::container, 5},
    Word{"Prefill batch", &Vote::container, 4},
    Word{"Decode batch", &Vote::container, 4},
    Word{"text_generation", &Vote::container, 5},
    Word{"[TensorRT-LLM]", &Vote::container, 5},
    Word{"[TRT-LLM]", &Vote::container, 5},
    Word{"[TM][", &Vote::container, 5},
    Word{"lmdeploy", &Vote::container, 4},
    Word{"model_lifecycle.cc", &Vote::container, 5},
    Word{"tritonserver", &Vote::container, 4},
    Word{"ggml_", &Vote::container, 5},
    Word{"llama_", &Vote::container, 4},
    Word{"llm_load_", &Vote::container, 4},
    Word{"slot update_slots", &Vote::container, 4},
    Word{"[GIN] ", &Vote::container, 4},
    Word{"ollama", &Vote::container, 2},
    Word{"torch", &Vote::container, 2},
    Word{"ProcessGroupNCCL", &Vote::container, 5},
    Word{"NCCL INFO", &Vote::container, 5},
    Word{"NCCL WARN", &Vote::container, 5},
    Word{"CUDA error", &Vote::container, 3},
    Word{"CUDA out of memory", &Vote::container, 4},
    Word{"HIP out of memory", &Vote::container, 4},
    Word{"HIP error", &Vote::container, 3},
    Word{"Traceback (most recent call last)", &Vote::container, 4},
    Word{"  File \"", &Vote::container, 2},
    Word{"(raylet)", &Vote::container, 5},
    Word{"Ray cluster", &Vote::container, 4},
    Word{"Loading safetensors checkpoint shards", &Vote::container, 5},
    Word{"Uvicorn running", &Vote::container, 4},
    Word{"Application startup complete", &Vote::container, 4},
    Word{"HTTP/1.1\" 200 OK", &Vote::container, 2},
    Word{"tok/s", &Vote::container, 2},
    Word{"'loss':", &Vote::container, 3},
    Word{"| loss ", &Vote::container, 3},
    Word{"UserWarning:", &Vote::container, 2},
    Word{"transformers", &Vote::container, 2},
};

/// Finds the words by their first two bytes: a line is walked once, not once for each word.
struct WordIndex {
  static constexpr std::uint8_t k_none = 255;
  std::array<std::uint64_t, 1024> pairs{};          ///< bit: some word begins with these two bytes
  std::array<std::uint8_t, 256> first{};            ///< first word that begins with the byte
  std::array<std::uint8_t, k_words.size()> next{};  ///< next word that begins with the same byte

  constexpr WordIndex() {
    static_assert(k_words.size() < k_none);
    first.fill(k_none);
    for (std::size_t i = k_words.size(); i-- > 0;) {
      const std::size_t pair = pair_of(k_words[i].text[0], k_words[i].text[1]);
      pairs[pair / 64] |= std::uint64_t{1} << (pair % 64);
      std::uint8_t& head = first[static_cast<unsigned char>(k_words[i].text[0])];
      next[i] = head;
      head = static_cast<std::uint8_t>(i);
    }
  }
  [[nodiscard]] static constexpr std::size_t pair_of(char a, char b) {
    return static_cast<std::size_t>(static_cast<unsigned char>(a)) << 8U |
           static_cast<unsigned char>(b);
  }
  [[nodiscard]] constexpr bool begins(char a, char b) const {
    const std::size_t pair = pair_of(a, b);
    return (pairs[pair / 64] >> (pair % 64) & 1U) != 0;
  }
};
constexpr WordIndex k_word_index;

struct Tally {
  int lines = 0;
  int kernel = 0;  ///< by their stamp
  int syslog = 0;  ///< host and program named
  int access = 0;
  int klog = 0;
  int stamped = 0;  ///< any other stamp or level in front
  int fabric = 0;
  std::map<std::string_view, int> programs;
  std::map<std::string_view, int> hosts;
};

std::string_view most_common(const std::map<std::string_view, int>& counts) {
  std::string_view best;
  int most = 0;
  for (const auto& [name, count] : counts)
    if (count > most) {
      most = count;
      best = name;
    }
  return best;
}

bool is_daemon(std::string_view program) {
  static constexpr std::array<std::string_view, 26> k_daemons{"systemd",
                                                              "kubelet",
                                                              "containerd",
                                                              "dockerd",
                                                              "docker",
                                                              "crio",
                                                              "sshd",
                                                              "CRON",
                                                              "cron",
                                                              "dbus-daemon",
                                                              "NetworkManager",
                                                              "chronyd",
                                                              "ntpd",
                                                              "rsyslogd",
                                                              "auditd",
                                                              "audit",
                                                              "systemd-logind",
                                                              "systemd-networkd",
                                                              "systemd-resolved",
                                                              "nvidia-persistenced",
                                                              "multipathd",
                                                              "polkitd",
                                                              "snapd",
                                                              "irqbalance",
                                                              "k3s",
                                                              "rke2"};
  return is_one_of(program, k_daemons);
}

Kind kind_of_journal(const Tally& tally) {
  const auto kernel = tally.programs.find("kernel");
  const int from_kernel = kernel == tally.programs.end() ? 0 : kernel->second;
  if (from_kernel * 10 >= tally.syslog * 8) return Kind::kernel_log;
  const auto program = most_common(tally.programs);
  const bool one = tally.programs.at(program) * 10 >= tally.syslog * 8;
  if (from_kernel > 0 || !one || is_daemon(program)) return Kind::system_log;
  if (base::contains(program, "fabricmanager") || base::contains(program, "imex"))
    return Kind::fabric_log;
  if (base::contains(program, "nginx") || base::contains(program, "envoy") ||
      base::contains(program, "haproxy") || base::contains(program, "traefik"))
    return Kind::gateway_log;
  return Kind::container_log;
}

/// `gpu-a03:4120:4120 [0] NCCL INFO ...`: the host, which is the pod's name unless the pod uses the
/// host's network.
std::string_view nccl_host(std::string_view line) {
  const auto at = line.find(" NCCL ");
  if (at == std::string_view::npos || at > 120) return {};
  const auto words = base::split_blanks(line.substr(0, at));
  for (const auto word : words) {
    const auto parts = base::split(word, ':');
    if (parts.size() == 3 && is_digits(parts[1]) && is_digits(parts[2]) && is_host_name(parts[0]))
      return parts[0];
  }
  return {};
}

bool looks_like_pod(std::string_view host) {
  if (base::icontains(host, "node") || base::icontains(host, "gpu") ||
      base::icontains(host, "dgx") || base::icontains(host, "hgx") || starts(host, "ip-") ||
      host.find('.') != std::string_view::npos)
    return false;
  const auto dash = host.rfind('-');
  if (dash == std::string_view::npos) return false;
  const auto last = host.substr(dash + 1);
  return is_digits(last) || last.size() == 5;
}

/// Places that hold for the whole file: the one host of a journal, the one NCCL host, the one rank
/// of a launcher's line, the one pod of `kubectl logs --prefix`.
evidence::Place read_place(const Sample& sample, const Tally& tally) {
  evidence::Place place;
  if (tally.hosts.size() == 1 && tally.syslog * 2 > tally.lines)
    place.node = tally.hosts.begin()->first;
  std::string_view host;
  std::string_view rank;
  std::string_view prefix;
  bool one_host = true;
  bool one_rank = true;
  bool one_prefix = true;
  for (const auto line : sample.lines) {
    if (const auto name = nccl_host(line); !name.empty()) {
      if (!host.empty() && host != name) one_host = false;
      host = name;
    }
    const auto at = line.find("RANK=");
    if (at != std::string_view::npos && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\'') &&
        base::contains(line, "WORLD_SIZE=")) {
      auto value = line.substr(at + 5);
      value = value.substr(0, value.find_first_not_of("0123456789"));
      if (!rank.empty() && rank != value) one_rank = false;
      rank = value;
    }
    if (starts(line, "[pod/")) {
      const auto name = line.substr(0, line.find(']'));
      if (!prefix.empty() && prefix != name) one_prefix = false;
      prefix = name;
    }
  }
  if (one_rank) place.rank = rank;
  if (one_host && !host.empty()) {
    if (looks_like_pod(host)) {
      place.pod = host;
    } else {
      place.node = host;
    }
  }
  if (one_prefix && !prefix.empty()) {
    const auto parts = base::split(prefix.substr(5), '/');
    place.pod = parts[0];
    if (parts.size() > 1) place.container = parts[1];
  }
  return place;
}

bool has_log_shape(std::string_view text) {
  if (iso_stamp_length(text) > 0 ||
      (text.size() > 1 && text[0] == '[' && iso_stamp_length(text.substr(1)) > 0))
    return true;
  if (shaped(text, "9999/99/99 99:99:99") || shaped(text, "[99/99/9999-99:99:99]") ||
      shaped(text, "99:99:99") || shaped(text, "[9999-99-99 99:99:99"))
    return true;
  if (starts(text, "time=") || starts(text, "ts=") || starts(text, "level=")) return true;
  const auto first = text.substr(0, text.find_first_of(" :"));
  return is_level(first) || starts(text, "Traceback (most");
}

Tally count_forms(const Sample& sample) {
  Tally tally;
  for (const auto raw : sample.lines) {
    if (base::trim(raw).empty()) continue;
    ++tally.lines;
    const Syslog line = read_syslog(raw);
    if (line.found) {
      ++tally.syslog;
      ++tally.programs[line.program];
      ++tally.hosts[line.host];
      continue;
    }
    if (monotonic_length(raw) > 0 || is_ctime_stamp(raw) || is_decoded(raw) || is_talos(raw) ||
        (raw[0] == '<' && shaped(raw, "<9>["))) {
      ++tally.kernel;
      continue;
    }
    // dmesg --time-format=iso writes its fraction with a comma and nothing between stamp and text.
    if (const auto length = iso_stamp_length(raw);
        length > 26 && raw[10] == 'T' && raw[19] == ',') {
      ++tally.kernel;
      continue;
    }
    const auto text = strip_collector(raw);
    if (text.empty()) continue;
    if (monotonic_length(text) > 0) ++tally.kernel;
    if (is_klog(text)) ++tally.klog;
    if (is_access_line(text) || is_nginx_error(text)) ++tally.access;
    if (shaped(text, "[aaa 99 9999 99:99:99] [")) ++tally.fabric;
    if (text.size() != raw.size() || has_log_shape(text)) ++tally.stamped;
  }
  return tally;
}

}  // namespace

void vote(std::string_view message, Vote& votes) {
  constexpr std::size_t k_far = 2000;
  message = message.substr(0, k_far);
  std::bitset<k_words.size()> said;
  for (std::size_t at = 0; at + 1 < message.size(); ++at) {
    if (!k_word_index.begins(message[at], message[at + 1])) continue;
    std::uint8_t word = k_word_index.first[static_cast<unsigned char>(message[at])];
    for (; word != WordIndex::k_none; word = k_word_index.next[word])
      if (!said[word] && starts(message.substr(at), k_words[word].text)) {
        said.set(word);
        votes.*k_words[word].slot += k_words[word].weight;
      }
  }
}

std::optional<Kind> winner(const Vote& votes) {
  const std::array<std::pair<int, Kind>, 8> all{{{votes.device_plugin, Kind::device_plugin_log},
                                                 {votes.fabric, Kind::fabric_log},
                                                 {votes.driver, Kind::driver_log},
                                                 {votes.gateway, Kind::gateway_log},
                                                 {votes.controller, Kind::controller_log},
                                                 {votes.kernel, Kind::kernel_log},
                                                 {votes.system, Kind::system_log},
                                                 {votes.container, Kind::container_log}}};
  const auto best = std::max_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr int k_enough = 3;
  return best->first >= k_enough ? std::optional(best->second) : std::nullopt;
}

Recognised recognise_log(const Sample& sample) {
  Recognised result;
  const Tally tally = count_forms(sample);
  result.place = read_place(sample, tally);
  if (tally.lines == 0) return result;
  const auto most = [&](int count) { return count * 2 >= tally.lines; };
  if (most(tally.syslog)) {
    result.kind = kind_of_journal(tally);
    return result;
  }
  if (most(tally.kernel) || (tally.kernel > 0 && most(tally.kernel + tally.syslog))) {
    result.kind = Kind::kernel_log;
    return result;
  }
  if (most(tally.access)) {
    result.kind = Kind::gateway_log;
    return result;
  }
  if (most(tally.fabric)) {
    result.kind = Kind::fabric_log;
    return result;
  }
  Vote votes;
  for (const auto line : sample.lines) vote(line, votes);
  if (const auto kind = winner(votes)) {
    result.kind = *kind;
    return result;
  }
  // Lines with stamps and levels that no word gives away are some container's.
  if (tally.klog + tally.stamped > 0 && (tally.klog + tally.stamped) * 4 >= tally.lines)
    result.kind = Kind::container_log;
  return result;
}

}  // namespace triage::bundle::detail

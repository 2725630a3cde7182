#include "redact/wording.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/word_set.hpp"

namespace triage::redact {
namespace {

// What programs and their operators speak of; in the singular, and without the endings of verbs.
constexpr auto k_operational = words(
    "abort", "affinity", "allocate", "allocation", "allowed", "annotation", "api", "argument",
    "assertion", "autoscaler", "backend", "backoff", "bandwidth", "barrier", "batch", "bfloat16",
    "boot", "bucket", "buffer", "bus", "bytes", "cache", "cached", "capacity", "card",
    "certificate", "cgroup", "channel", "checkpoint", "claim", "client", "cluster", "collective",
    "commit", "config", "configuration", "configured", "connect", "connected", "connection",
    "container", "controller", "cpu", "crash", "crash-looping", "crashed", "crashing", "credential",
    "cuda", "daemon", "dcgm", "deadline", "decode", "deployment", "deserialize", "device",
    "disconnected", "disk", "dns", "driver", "dtype", "ecc", "endpoint", "engine", "error", "evict",
    "evicted", "exceed", "exceeded", "exception", "exited", "exporter", "fabric", "fail", "failed",
    "failing", "failure", "fallback", "fault", "faulty", "firmware", "float16", "float32", "fp8",
    "gateway", "gguf", "gloo", "gpu", "gsp", "handler", "handshake", "hang", "hangs", "hardware",
    "header", "healthy", "heartbeat", "host", "hpa", "http", "hung", "idle", "image", "ingress",
    "initialized", "initializing", "instance", "int8", "interconnect", "interface", "interrupt",
    "invalid", "iommu", "job", "journal", "json", "kernel", "kubelet", "kueue", "latency",
    "launcher", "layer", "link", "listening", "lmcache", "load", "loaded", "loading", "log",
    "logger", "master", "memory", "mes", "metadata", "metric", "microcontroller", "migration",
    "model", "module", "mount", "mounted", "namespace", "nccl", "network", "nim", "node",
    "non-ready", "nvlink", "offline", "online", "oom", "operator", "orchestrator", "overflow",
    "overrides", "parameter", "parse", "parser", "payload", "pci", "peer", "pending", "pid",
    "pipeline", "pod", "pool", "port", "preempted", "prefill", "probe", "process", "prompt",
    "protocol", "proxy", "pytorch", "quantization", "queue", "queued", "quota", "rank", "ray",
    "rdma", "readiness", "ready", "reboot", "rebooted", "redis", "refused", "registry", "rejected",
    "remap", "remapped", "remapping", "rendezvous", "replica", "request", "rerouted", "reset",
    "restart", "restarted", "restarting", "retried", "retries", "retry", "retrying", "rollback",
    "rollout", "router", "runtime", "sampler", "scaled", "scaling", "scheduled", "scheduler",
    "scheduling", "schema", "serve", "server", "service", "serving", "session", "sglang", "shard",
    "shutdown", "shutting", "slice", "slowdown", "snapshot", "socket", "spawned", "spill", "stale",
    "stalled", "startup", "starved", "storage", "stream", "supervisor", "swap", "switch", "syntax",
    "taint", "temperature", "template", "tenant", "tensor", "tensorrt-llm", "terminated",
    "terminating", "thread", "threshold", "throttled", "throttling", "throughput", "timed",
    "timeout", "token", "tokenizer", "toleration", "torch", "traceback", "triton", "truncated",
    "truncating", "unavailable", "unexpected", "unhealthy", "unreachable", "unsupported",
    "upstream", "utilization", "uuid", "validation", "vllm", "vocabulary", "volume", "vram",
    "waiting", "warmup", "watchdog", "weight", "worker", "workload", "xid", "xml", "yaml", "zone");

// Whose words these are is a person.
constexpr auto k_personal =
    words("i", "i'm", "i've", "i'll", "me", "my", "mine", "you", "your", "yours", "please", "we",
          "our", "us", "she", "he", "her", "him", "his", "write", "explain", "summarize",
          "summarise", "translate", "rewrite", "draft", "compose", "describe", "imagine", "tell",
          "give", "help", "dear", "sorry", "thanks", "why", "how", "what", "who", "whom", "should");

/// The word in lower case without signs around it, and without the `s` of a plural.
std::string_view plain(std::string_view word, std::array<char, 16>& buffer) {
  while (!word.empty() && !is_alnum(word.front())) word.remove_prefix(1);
  while (!word.empty() && !is_alnum(word.back())) word.remove_suffix(1);
  if (word.size() > buffer.size()) return {};
  std::transform(word.begin(), word.end(), buffer.begin(),
                 [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return {buffer.data(), word.size()};
}

}  // namespace

bool reads_as_report(std::string_view text, Doubt doubt) {
  text = text.substr(0, 1024);
  std::size_t all = 0;
  std::size_t operational = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && static_cast<unsigned char>(text[end]) > ' ') ++end;
    std::array<char, 16> buffer{};
    std::string_view word = plain(text.substr(at, end - at), buffer);
    if (!word.empty()) {
      ++all;
      if (k_personal.has(word)) return false;
      bool known = k_operational.has(word);
      if (!known && word.size() > 3 && word.back() == 's') {
        word.remove_suffix(1);
        known = k_operational.has(word);
      }
      if (known) ++operational;
    }
    at = end + 1;
  }
  if (doubt == Doubt::report) return operational > 0 && operational * 10 >= all;
  return operational >= 2 && operational * 4 >= all && text.find('?') == std::string_view::npos;
}

bool is_command_output(std::string_view before, std::string_view output) {
  // `mount.nfs: ...`, `sh: curl: not found`.
  std::size_t at = 0;
  while (
      at < output.size() && at < 32 &&
      (is_lower(output[at]) || is_digit(output[at]) || std::strchr("._-/", output[at]) != nullptr))
    ++at;
  if (at > 1 && at + 1 < output.size() && output[at] == ':' && output[at + 1] == ' ') return true;
  constexpr std::size_t k_near = 200;
  before = before.substr(before.size() - std::min(before.size(), k_near));
  static constexpr std::array<std::string_view, 8> k_of_commands{
      "exit status", "exited with", "exit code", "probe ",
      "exec in",     "command",     "ounting ",  "Ninja"};
  return std::any_of(k_of_commands.begin(), k_of_commands.end(),
                     [&](std::string_view words) { return base::contains(before, words); });
}

bool begins_as_report(std::string_view text) {
  static constexpr auto k_beginnings =
      words("aborted", "cannot", "closed", "connection", "disabled", "failed", "illegal", "refused",
            "rejected", "timed", "timeout", "unreachable");
  const std::string_view first = text.substr(0, text.find_first_of(" ,;:."));
  return first.size() < text.size() && k_beginnings.has(first) &&
         (reads_as_report(text, Doubt::report) || first == "disabled");
}

bool begins_as_log(std::string_view text) {
  text = base::trim(text);
  if (text.size() < 8) return false;
  const auto digits = [&](std::initializer_list<std::size_t> places) {
    return std::all_of(places.begin(), places.end(),
                       [&](std::size_t at) { return is_digit(text[at]); });
  };
  const char first = text.front();
  if (first == 'F') return text.starts_with("File \"");
  if (first == 'f') return text.starts_with("frame #");
  if (first == 'T') return text.starts_with("Thread 0x") || text.starts_with("Traceback (");
  // `2026-01-31 10:`, `[12345.678901]`, `[Sat May  2 06:01:50 2026]`, `I0131 10:00:00.0`.
  if (is_digit(first))
    return text.size() > 13 && digits({1, 2, 3, 5, 6, 8, 9, 11, 12}) && text[4] == '-' &&
           text[7] == '-' && (text[10] == 'T' || text[10] == ' ');
  if (first == '[') {
    const std::string_view inside = text.substr(1, std::min<std::size_t>(text.find(']'), 26) - 1);
    const auto dot = inside.find('.');
    const bool seconds = dot != std::string_view::npos && inside.size() - dot == 7 &&
                         base::trim(inside).find_first_not_of("0123456789.") == std::string::npos;
    return seconds || (inside.size() == 24 && inside[13] == ':' && inside[16] == ':');
  }
  return (first == 'I' || first == 'W' || first == 'E' || first == 'F') && text.size() > 12 &&
         digits({1, 2, 3, 4, 6, 7}) && text[8] == ':';
}

bool is_status_line(std::string_view text) {
  text = text.substr(text.starts_with("b'") ? 2 : 0);
  return text.size() > 10 && text.starts_with("HTTP/") && is_digit(text[5]);
}

bool is_progress(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && at < 3 && is_digit(text[at])) ++at;
  if (at > 0) return text.substr(at).starts_with("%|");
  return text.size() > 4 && is_digit(text.front()) && text.find("it [") < 12;
}

bool is_digest(std::string_view value) {
  static constexpr std::array<std::string_view, 5> k_algorithms{
      "sha256:", "sha512:", "sha1:", "md5:", "blake3:"};
  return std::any_of(k_algorithms.begin(), k_algorithms.end(), [&](std::string_view algorithm) {
    return value.size() > algorithm.size() + 16 &&
           iequals(value.substr(0, algorithm.size()), algorithm);
  });
}

bool is_algorithm(std::string_view value) {
  static constexpr auto k_names =
      words("AES128", "AES256", "Ed25519", "EdDSA", "ES256", "ES384", "ES512", "HS256", "HS384",
            "HS512", "PS256", "RS256", "RS384", "RS512", "SHA1", "SHA256", "SHA512", "aes-256-gcm",
            "argon2id", "bcrypt", "ed25519", "md5", "pbkdf2", "scram-sha-256", "scram-sha-512",
            "scrypt", "sha1", "sha256", "sha512", "SCRAM-SHA-256", "SCRAM-SHA-512");
  return k_names.has(value);
}

bool is_metavariable(std::string_view value) {
  if (value.size() > 2 && value.front() == '[') value.remove_prefix(1);
  while (!value.empty() && (value.back() == ']' || value.back() == '.')) value.remove_suffix(1);
  if (value.size() < 3 || value.size() > 32) return false;
  static constexpr auto k_words =
      words("API", "AUTH", "CREDENTIALS", "FILE", "HF", "KEY", "KEYS", "NAME", "PASS", "PASSWORD",
            "PASSWD", "PATH", "PROMPT", "SECRET", "STR", "STRING", "TEXT", "TOKEN", "USER", "VALUE",
            "YOUR");
  bool known = false;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find('_', at), value.size());
    const std::string_view word = value.substr(at, end - at);
    if (!std::all_of(word.begin(), word.end(), is_upper)) return false;
    known = known || k_words.has(word);
    at = end + 1;
  }
  return known;
}

bool is_header_name(std::string_view value) {
  constexpr std::size_t k_longest = 40;
  return value.size() > 3 && value.size() <= k_longest && (value[0] == 'x' || value[0] == 'X') &&
         value[1] == '-' &&
         std::all_of(value.begin(), value.end(), [](char c) { return is_alpha(c) || c == '-'; });
}

bool is_media_base64(std::string_view value) {
  // PNG, JPEG, RIFF (WAV, WebP), GIF, PDF, MP3 with ID3, Ogg, FLAC, Matroska.
  static constexpr std::array<std::string_view, 9> k_beginnings{
      "iVBORw0KGgo", "/9j/", "UklGR", "R0lGOD", "JVBERi0", "SUQz", "T2dnUw", "ZkxhQ", "GkXfo"};
  if (value.size() < 64) return false;
  const bool known =
      std::any_of(k_beginnings.begin(), k_beginnings.end(),
                  [&](std::string_view beginning) { return value.starts_with(beginning); });
  return known && value.substr(0, 256).find_first_of(" \n:\"'") == std::string_view::npos;
}

}  // namespace triage::redact

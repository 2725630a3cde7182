#include "redact/identifiers.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/namer.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

std::string_view last_label(std::string_view host) {
  const auto dot = host.rfind('.');
  return dot == std::string_view::npos ? host : host.substr(dot + 1);
}

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-')
    return false;
  return std::all_of(label.begin(), label.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_'; });
}

bool is_dotted_name(std::string_view name) {
  if (name.size() < 4 || name.size() > 253 || name.find('.') == std::string_view::npos)
    return false;
  std::size_t start = 0;
  while (true) {
    const auto dot = name.find('.', start);
    if (!is_label(name.substr(start, dot - start))) return false;
    if (dot == std::string_view::npos) break;
    start = dot + 1;
  }
  const std::string_view last = last_label(name);
  return last.size() >= 2 && std::all_of(last.begin(), last.end(), is_alpha);
}

/// Whether what stands before `begin` says that the number is a version.
bool after_version_word(std::string_view text, std::size_t begin, bool private_range) {
  std::size_t at = begin;
  while (at > 0 && std::strchr(" \t\"':=<>(~^v[", text[at - 1]) != nullptr) --at;
  if (at < begin && at > 0) {
    const std::string_view gap = text.substr(at, begin - at);
    if (gap.find("==") != std::string_view::npos || gap.find(">=") != std::string_view::npos ||
        gap.find("<=") != std::string_view::npos || gap.find("~=") != std::string_view::npos)
      return true;
  }
  std::size_t end = at;
  std::size_t word = end;
  while (word > 0 && (is_alnum(text[word - 1]) || text[word - 1] == '_' || text[word - 1] == '-' ||
                      text[word - 1] == '.'))
    --word;
  const std::string_view before = text.substr(word, end - word);
  if (before.size() < 3) return false;
  static constexpr std::array<std::string_view, 14> k_marks{
      "version", "cudnn",   "cublas", "tensorrt", "nccl",     "vbios",  "nvinfer",
      "inforom", "nvidia-", "cufft",  "cusparse", "cusolver", "curand", "npp"};
  static constexpr std::array<std::string_view, 10> k_weak_marks{
      "firmware", "driver",  "release", "build",   "rev",
      "cuda",     "package", "lib",     "toolkit", "kernel"};
  const auto says = [&](std::string_view mark) { return base::icontains(before, mark); };
  return std::any_of(k_marks.begin(), k_marks.end(), says) ||
         (!private_range && std::any_of(k_weak_marks.begin(), k_weak_marks.end(), says));
}

/// Whether a dotted name outside of URLs and the like ends and looks as host names do.
bool ends_like_a_host(std::string_view word) {
  const std::string_view top = last_label(word);
  if (top.size() < 2 || top.size() > 11 || word.find('_') != std::string_view::npos) return false;
  const auto labels = std::count(word.begin(), word.end(), '.') + 1;
  static constexpr std::array<std::string_view, 17> k_domains{
      "com",  "net",     "org",         "internal", "local", "lan",   "corp", "intranet", "home",
      "test", "example", "localdomain", "edu",      "gov",   "cloud", "mil",  "dev"};
  // Modules and classes: `torch.test`, `com.acme`; names of two labels only where they are plain.
  static constexpr std::array<std::string_view, 3> k_plain{"com", "net", "org"};
  if (is_one_of(top, k_domains)) return labels >= 3 || is_one_of(top, k_plain);
  // Countries, unless files, attributes and code end so too: then a label must look like a host's.
  static constexpr std::array<std::string_view, 40> k_countries{
      "de", "uk", "fr", "nl", "ch", "at", "se", "no", "dk", "fi", "pl", "cz", "es", "pt",
      "it", "be", "ie", "eu", "us", "ca", "mx", "br", "jp", "kr", "cn", "tw", "hk", "sg",
      "in", "au", "nz", "za", "ru", "ua", "tr", "il", "ae", "io", "ai", "co"};
  if (labels < 3 || !is_one_of(top, k_countries)) return false;
  static constexpr std::array<std::string_view, 8> k_ambiguous{"at", "in", "it", "io",
                                                               "no", "is", "us", "be"};
  const std::string_view before_top = word.substr(0, word.size() - top.size());
  const bool host_like = before_top.find_first_of("-0123456789") != std::string_view::npos;
  return host_like || !is_one_of(top, k_ambiguous);
}

}  // namespace

Span find_email(std::string_view text, std::size_t begin, std::size_t end) {
  const auto at = text.substr(0, end).find('@', begin);
  if (at == std::string_view::npos) return {};
  std::size_t first = at;
  const auto in_local = [](char c) {
    return is_alnum(c) || is_high(c) || std::strchr("._%+-", c) != nullptr;
  };
  while (first > begin && in_local(text[first - 1])) --first;
  while (first < at && !is_alnum(text[first]) && !is_high(text[first])) ++first;
  if (first == at) return {};
  std::size_t last = at + 1;
  while (last < end &&
         (is_alnum(text[last]) || is_high(text[last]) || text[last] == '-' || text[last] == '.'))
    ++last;
  while (last > at + 1 && (text[last - 1] == '.' || text[last - 1] == '-')) --last;
  const std::string_view domain = text.substr(at + 1, last - at - 1);
  const std::string_view top = last_label(domain);
  if (top.size() < 2 || top.size() == domain.size() ||
      !std::all_of(top.begin(), top.end(), is_alpha))
    return {};
  // systemd units, package@version, git's ssh user, names of this program.
  static constexpr std::array<std::string_view, 12> k_units{
      "service", "slice",  "scope", "socket", "mount",   "target",
      "timer",   "device", "path",  "swap",   "invalid", "automount"};
  if (is_one_of(top, k_units)) return {};
  const std::string_view local = text.substr(first, at - first);
  if (local == "git" || local == "oauth2" || local == "noreply") return {};
  // `Linux version 6.12 (debian-kernel@lists.debian.org)`: who built it, not who uses it.
  // Names of SSH's algorithms: `curve25519-sha256@libssh.org`.
  if (domain == "openssh.com" || domain == "libssh.org" || domain == "ssh.com") return {};
  if (domain.ends_with("debian.org") || domain.ends_with("ubuntu.com")) return {};
  return {first, last};
}

Span find_ip4(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t last = begin;
  int dots = 0;
  while (last < end && (is_digit(text[last]) || text[last] == '.')) {
    if (text[last] == '.') ++dots;
    ++last;
  }
  if (dots > 3 && last > begin && text[last - 1] == '.') --last, --dots;  // end of a sentence
  // tcpdump writes the port behind a dot: `10.0.0.1.51220 > 10.0.0.2.8080: Flags`.
  if (dots == 4) {
    const std::size_t port = text.rfind('.', last - 1);
    const std::string_view behind = text.substr(last);
    const bool dump = behind.starts_with(" > ") ||
                      (behind.starts_with(": ") && text.substr(0, begin).ends_with(" > "));
    if (!dump || last - port > 6) return {};
    const auto source = parse_ip4(text.substr(begin, port - begin));
    const std::uint32_t first = source ? *source >> 24U : 0;
    return first == 0 || first == 127 || first >= 224 ? Span{} : Span{begin, port};
  }
  if (dots != 3) return {};
  const auto address = parse_ip4(text.substr(begin, last - begin));
  if (!address) return {};
  if (last < text.size()) {
    const char next = text[last];
    const bool next_in_word = is_alnum(next) || next == '_' || next == '+' || next == '~';
    if (next_in_word && next != '_') return {};
    // `9.5.1.17-1` is a package; `10.0.0.1-10.0.0.9` a range.
    if (next == '-' && last + 1 < text.size() && is_alnum(text[last + 1]) &&
        text.substr(last + 1).find('.') > 3)
      return {};
  }
  if (begin > 0) {
    const char before = text[begin - 1];
    if (is_alnum(before) || before == '.' || before == '_') return {};
    if (before == '-' && begin > 1 && is_alnum(text[begin - 2])) return {};
  }
  const std::uint32_t value = *address;
  const std::uint32_t top = value >> 24U;
  if (top == 0 || top == 127 || top >= 224) return {};
  if (value == 0xA9FEA9FEU) return {};  // the clouds' metadata address says nothing of a network
  const bool private_range = top == 10 || (value >> 20U) == 0xAC1U || (value >> 16U) == 0xC0A8U ||
                             (value >> 22U) == (0x64400000U >> 22U);
  if (after_version_word(text, begin, private_range)) return {};
  // Small numbers are more often versions than public addresses.
  if (!private_range && top < 16 && (value & 0xFFU) < 32 && ((value >> 8U) & 0xFFU) < 32) return {};
  return {begin, last};
}

Span find_ip6(std::string_view text, std::size_t begin) {
  if (begin > 0 && (is_alnum(text[begin - 1]) || text[begin - 1] == ':' || text[begin - 1] == '.' ||
                    text[begin - 1] == '_' || text[begin - 1] == '-'))
    return {};
  std::size_t at = begin;
  int groups = 0;
  int doubles = 0;
  bool long_group = false;
  bool pairs = true;  // of digits: a serial number or a GUID
  bool digit = false;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_hex(text[end]) && end - at < 5) ++end;
    const std::size_t length = end - at;
    if (length > 4) return {};
    if (length > 0) {
      ++groups;
      if (length >= 3) long_group = true;
      if (length != 2) pairs = false;
      for (std::size_t i = at; i < end; ++i) digit = digit || is_digit(text[i]);
    }
    at = end;
    if (at + 1 < text.size() && text[at] == ':' && text[at + 1] == ':') {
      if (++doubles > 1) return {};
      at += 2;
      if (at >= text.size() || !is_hex(text[at])) break;
    } else if (at + 1 < text.size() && text[at] == ':' && is_hex(text[at + 1]) && length > 0) {
      ++at;
    } else {
      break;
    }
  }
  if (at < text.size() && (is_alnum(text[at]) || text[at] == '_')) return {};
  if (at < text.size() && text[at] == '.' && at + 1 < text.size() && is_alnum(text[at + 1]))
    return {};
  const std::string_view address = text.substr(begin, at - begin);
  const bool whole = doubles == 0 && groups == 8;
  const bool shortened = doubles == 1 && groups >= 2 && groups < 8 && long_group && digit;
  if ((!whole && !shortened) || (whole && pairs)) return {};
  if (address.starts_with("100::") || address.starts_with("ff")) return {};
  // A link-local address or GID names a port of this machine, as `mlx5_0` does.
  if (address.starts_with("fe80")) return {};
  return {begin, at};
}

Span find_mac(std::string_view text, std::size_t begin) {
  if (text.size() - begin < 17) return {};
  if (begin > 0 && (is_alnum(text[begin - 1]) || text[begin - 1] == ':' || text[begin - 1] == '-'))
    return {};
  const char mark = text[begin + 2];
  if (mark != ':' && mark != '-') return {};
  for (std::size_t i = 0; i < 17; ++i) {
    const char c = text[begin + i];
    if (i % 3 == 2 ? c != mark : !is_hex(c)) return {};
  }
  if (begin + 17 < text.size() && (is_alnum(text[begin + 17]) || text[begin + 17] == mark))
    return {};
  const std::string_view address = text.substr(begin, 17);
  if (address.starts_with("fe:ed:") || address == "00:00:00:00:00:00" ||
      address == "ff:ff:ff:ff:ff:ff")
    return {};
  // Dates and times with hyphens hold no hex letters and are caught by their length elsewhere.
  return {begin, begin + 17};
}

bool is_private_host(std::string_view word, bool sure) {
  while (!word.empty() && word.back() == '.') word.remove_suffix(1);
  if (!sure && !ends_like_a_host(word)) return false;
  if (!is_dotted_name(word)) return false;
  const std::string lower = base::to_lower(word);
  // Names inside a cluster or a cloud, and of those who publish: documentation, registries, APIs.
  static constexpr std::array<std::string_view, 71> k_public{"invalid",
                                                             "cluster.local",
                                                             "svc",
                                                             "compute.internal",
                                                             "ec2.internal",
                                                             "amazonaws.com",
                                                             "googleapis.com",
                                                             "azure.com",
                                                             "windows.net",
                                                             "k8s.io",
                                                             "kubernetes.io",
                                                             "pythonhosted.org",
                                                             "nvidia.com",
                                                             "huggingface.co",
                                                             "langchain.com",
                                                             "pydantic.dev",
                                                             "wandb.ai",
                                                             "nvcr.io",
                                                             "docker.io",
                                                             "docker.com",
                                                             "ghcr.io",
                                                             "quay.io",
                                                             "gcr.io",
                                                             "pkg.dev",
                                                             "hf.co",
                                                             "github.com",
                                                             "githubusercontent.com",
                                                             "gitlab.com",
                                                             "pypi.org",
                                                             "openai.com",
                                                             "anthropic.com",
                                                             "istio.io",
                                                             "pytorch.org",
                                                             "vllm.ai",
                                                             "sglang.ai",
                                                             "amd.com",
                                                             "intel.com",
                                                             "prometheus.io",
                                                             "opentelemetry.io",
                                                             "google.com",
                                                             "microsoft.com",
                                                             "mozilla.org",
                                                             "python.org",
                                                             "debian.org",
                                                             "openssh.com",
                                                             "libssh.org",
                                                             "ubuntu.com",
                                                             "kernel.org",
                                                             "redhat.com",
                                                             "apache.org",
                                                             "w3.org",
                                                             "json-schema.org",
                                                             "schema.org",
                                                             "golang.org",
                                                             "go.dev",
                                                             "hashicorp.com",
                                                             "projectcalico.org",
                                                             "cncf.io",
                                                             "argoproj.io",
                                                             "x-k8s.io",
                                                             "kserve.io",
                                                             "ray.io",
                                                             "readthedocs.io",
                                                             "stackoverflow.com",
                                                             "modelscope.cn",
                                                             "hooks.slack.com",
                                                             "grafana.com",
                                                             "slack.com",
                                                             "discord.com",
                                                             "sigs.k8s.io",
                                                             "kubeflow.org"};
  const auto within = [&](std::string_view domain) {
    return lower.ends_with(domain) &&
           (lower.size() == domain.size() || lower[lower.size() - domain.size() - 1] == '.');
  };
  // Of services that give every customer a name, only the bare name says nothing.
  static constexpr std::array<std::string_view, 3> k_of_customers{"slack.com", "grafana.com",
                                                                  "discord.com"};
  for (const std::string_view domain : k_public)
    if (within(domain) && (lower == domain || !is_one_of(domain, k_of_customers))) return false;
  return true;
}

bool is_service_account(std::string_view name) {
  static constexpr std::array<std::string_view, 72> k_names{
      "root",    "admin",    "administrator", "ubuntu",       "debian",    "centos",  "ec2-user",
      "user",    "users",    "runner",        "app",          "appuser",   "vllm",    "ray",
      "triton",  "sglang",   "nonroot",       "nobody",       "anonymous", "default", "daemon",
      "node",    "service",  "svc",           "system",       "guest",     "test",    "jovyan",
      "worker",  "workers",  "model",         "models",       "docker",    "builder", "build",
      "jenkins", "postgres", "postgresql",    "mysql",        "redis",     "mongo",   "rabbit",
      "guest1",  "nginx",    "www-data",      "assistant",    "human",     "tool",    "function",
      "gpt",     "kubelet",  "nvidia",        "tritonserver", "workspace", "python",  "python3",
      "none",    "null",     "unknown",       "ollama",       "llama",     "tgi",     "inference",
      "ops",     "me",       "oauth2",        "token",        "api",       "litellm", "proxy",
      "router",  "metrics"};
  if (name.size() < 2 || is_one_of(name, k_names)) return true;
  if (name.front() == '$' || name.front() == '-' || name.find(':') != std::string_view::npos)
    return true;
  const std::string lower = base::to_lower(name);
  static constexpr std::array<std::string_view, 8> k_starts{
      "svc", "service", "system", "serviceaccount", "bot-", "ci-", "default", "team"};
  for (const std::string_view start : k_starts)
    if (lower.starts_with(start)) return true;
  static constexpr std::array<std::string_view, 10> k_ends{
      "-sa", "_sa", "-svc", "_svc", "-bot", "_bot", "-service", "_service", "user", "runner"};
  for (const std::string_view end : k_ends)
    if (lower.ends_with(end)) return true;
  return is_number(name) || is_masked(name) || is_reference(name) || is_status_word(name);
}

bool is_dotted_user(std::string_view name) {
  constexpr std::size_t k_longest = 64;
  if (name.ends_with('+')) name.remove_suffix(1);
  const auto dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 2 >= name.size()) return false;
  return name.size() <= k_longest && !is_service_account(name) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) {
                       return is_alnum(c) || is_high(c) || c == '.' || c == '-' || c == '_';
                     }) &&
         std::none_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(dot), is_digit) &&
         is_alpha(name[dot + 1]) && !name.ends_with(".slice") && !name.ends_with(".service");
}

Span find_home_user(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view word = text.substr(begin, end - begin);
  bool possible = false;
  for (std::size_t at = 0; at + 6 < word.size() && !possible; ++at)
    possible = word[at] == '/' && word[at + 5 + (word[at + 1] == 'U')] == '/' &&
               (word[at + 1] == 'h' || word[at + 1] == 'U');
  if (!possible) return {};
  for (const std::string_view root : {std::string_view("/home/"), std::string_view("/Users/")}) {
    const auto at = word.find(root);
    if (at == std::string_view::npos) continue;
    const std::size_t first = at + root.size();
    const std::size_t last = std::min(word.find('/', first), word.size());
    const std::string_view user = word.substr(first, last - first);
    if (user.empty() || user.size() > 64 || is_service_account(user)) return {};
    if (user.find_first_of("<>%${}*") != std::string_view::npos) return {};
    return {begin + first, begin + last};
  }
  return {};
}

}  // namespace triage::redact

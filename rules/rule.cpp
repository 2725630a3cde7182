#include "rules/rule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace triage::rules {
namespace {

template <class E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

constexpr Names<Role, 3> k_roles{
    {{Role::root, "root"}, {Role::symptom, "symptom"}, {Role::context, "context"}}};
constexpr Names<Severity, 4> k_severities{{{Severity::info, "info"},
                                           {Severity::warning, "warning"},
                                           {Severity::error, "error"},
                                           {Severity::critical, "critical"}}};
constexpr Names<Confidence, 3> k_confidences{
    {{Confidence::low, "low"}, {Confidence::medium, "medium"}, {Confidence::high, "high"}}};
constexpr Names<Phase, 6> k_phases{{{Phase::contain, "contain"},
                                    {Phase::diagnose, "diagnose"},
                                    {Phase::recover, "recover"},
                                    {Phase::verify, "verify"},
                                    {Phase::prevent, "prevent"},
                                    {Phase::avoid, "avoid"}}};
constexpr Names<Same, 10> k_sames{{{Same::any, "any"},
                                   {Same::pid, "pid"},
                                   {Same::process, "process"},
                                   {Same::pod, "pod"},
                                   {Same::node, "node"},
                                   {Same::gpu, "gpu"},
                                   {Same::group, "group"},
                                   {Same::workload, "workload"},
                                   {Same::revision, "revision"},
                                   {Same::file, "file"}}};

template <class E, std::size_t N>
std::string_view name_of(E value, const Names<E, N>& names) {
  for (const auto& [v, name] : names)
    if (v == value) return name;
  return {};
}

template <class E, std::size_t N>
std::optional<E> value_of(std::string_view name, const Names<E, N>& names) {
  for (const auto& [v, n] : names)
    if (n == name) return v;
  return std::nullopt;
}

/// `0x004505c6` or `004505c6` against 32 characters of `0 1 -`, bit 31 first.
bool mask_fits(std::string_view mask, std::string_view hex) {
  if (hex.substr(0, 2) == "0x" || hex.substr(0, 2) == "0X") hex.remove_prefix(2);
  std::uint32_t word = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), word, 16);
  if (error != std::errc{} || end != hex.data() + hex.size() || mask.size() != 32) return false;
  for (std::size_t i = 0; i < 32; ++i) {
    const bool bit = ((word >> (31 - i)) & 1U) != 0;
    if ((mask[i] == '0' && bit) || (mask[i] == '1' && !bit)) return false;
  }
  return true;
}

/// Numbers written in hexadecimal differ in their zeros only: `0x1` is `0x00000001`.
std::string plain(std::string_view cell) {
  std::string text = base::to_lower(base::trim(cell));
  if (text.rfind("0x", 0) != 0) return text;
  const auto first = text.find_first_not_of('0', 2);
  return first == std::string::npos ? "0x0" : "0x" + text.substr(first);
}

/// A cell may name several spellings, `700|cudaErrorIllegalAddress`.
bool any_spelling(std::string_view cell, std::string_view key) {
  const std::string wanted = plain(key);
  for (std::string_view spelling : base::split(cell, '|'))
    if (plain(spelling) == wanted) return true;
  return false;
}

}  // namespace

std::string_view to_string(Role v) {
  return name_of(v, k_roles);
}
std::string_view to_string(Severity v) {
  return name_of(v, k_severities);
}
std::string_view to_string(Confidence v) {
  return name_of(v, k_confidences);
}
std::string_view to_string(Phase v) {
  return name_of(v, k_phases);
}
std::string_view to_string(Same v) {
  return name_of(v, k_sames);
}
std::optional<Role> role_from(std::string_view n) {
  return value_of(n, k_roles);
}
std::optional<Severity> severity_from(std::string_view n) {
  return value_of(n, k_severities);
}
std::optional<Confidence> confidence_from(std::string_view n) {
  return value_of(n, k_confidences);
}
std::optional<Phase> phase_from(std::string_view n) {
  return value_of(n, k_phases);
}
std::optional<Same> same_from(std::string_view n) {
  return value_of(n, k_sames);
}

const std::vector<std::string>& all_classes() {
  static const std::vector<std::string> names{
      "scheduling",   "runtime",     "hardware", "gpu-oom",      "host-oom",
      "cuda-fault",   "distributed", "loading",  "health-probe", "capacity",
      "request-path", "none",        "unknown"};
  return names;
}

const std::vector<std::string>& all_fault_domains() {
  static const std::vector<std::string> names{"request", "process", "pod",    "gpu",
                                              "node",    "group",   "fleet",  "storage",
                                              "network", "config",  "cluster"};
  return names;
}

const std::vector<std::string>& all_scopes() {
  static const std::vector<std::string> names{"local", "regression", "fleet", "unknown"};
  return names;
}

const std::vector<std::string>& all_patterns() {
  static const std::vector<std::string> names{
      "gpu-oom-cascade",           "memory-capacity",
      "faulty-device-crash-loop",  "dead-rank",
      "slow-load-killed-by-probe", "stale-device-advertisement",
      "shared-gpu-thrash",         "retry-storm",
      "rollout-regression",        "host-oom-disguised"};
  return names;
}

const std::vector<std::string>& all_quarantine_targets() {
  static const std::vector<std::string> names{"none", "worker", "group", "gpu", "node"};
  return names;
}

const std::vector<std::string>& all_quarantine_actions() {
  static const std::vector<std::string> names{"none",        "replace-worker",  "rebuild-group",
                                              "reset-gpu",   "drain-and-reset", "cordon-node",
                                              "reboot-node", "replace-hardware"};
  return names;
}

bool Rule::has_tag(std::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool Rule::reads(Kind kind) const {
  return std::find(evidence.begin(), evidence.end(), kind) != evidence.end();
}

const CatalogRow* CatalogTable::find(const std::vector<std::string>& key) const {
  if (key.size() != key_columns.size()) return nullptr;
  for (const CatalogRow& row : *rows) {
    bool fits = row.key.size() == key.size();
    for (std::size_t i = 0; fits && i < key.size(); ++i) {
      if (row.key[i].empty()) continue;
      fits = key_columns[i].rfind("mask:", 0) == 0 ? mask_fits(row.key[i], key[i])
                                                   : any_spelling(row.key[i], key[i]);
    }
    if (fits) return &row;
  }
  return nullptr;
}

const Rule* RuleSet::find(std::string_view id) const {
  const auto it =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
  return it == rules.end() ? nullptr : &*it;
}

}  // namespace triage::rules

#include "analysis/formats/gpu_fact.hpp"

#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "evidence/place.hpp"

namespace triage::analysis::formats {
namespace {

using evidence::Fact;

/// Without brackets: `[N/A]`, `[Unknown Error]` are CSV's way.
std::string_view bare(std::string_view value) {
  value = base::trim(value);
  if (value.size() >= 2 && value.front() == '[' && value.back() == ']')
    value = base::trim(value.substr(1, value.size() - 2));
  return value;
}

/// The number at the beginning and what follows it.
std::optional<double> leading_number(std::string_view text, std::string_view& unit) {
  text = base::trim(text);
  std::size_t end = 0;
  while (end < text.size() && (text[end] == '-' || text[end] == '+' || text[end] == '.' ||
                               (text[end] >= '0' && text[end] <= '9')))
    ++end;
  const auto value = base::parse_double(text.substr(0, end));
  unit = base::trim(text.substr(end));
  return value;
}

std::string hyphenate(std::string_view text) {
  std::string out = base::to_lower(text);
  for (char& c : out)
    if (c == ' ' || c == '_' || c == '/') c = '-';
  return out;
}

/// Names to R595, then R610's; judged by the words, since each branch varies them.
std::string recovery_of(std::string_view text) {
  const std::string word = base::to_lower(text);
  const auto has = [&word](std::string_view part) { return base::contains(word, part); };
  if (word == "none" || word == "0") return "none";
  if (has("imex")) return "recover-imex-domain";
  if (has("drain") && has("p2p")) return "drain-p2p";
  if (has("drain")) return "drain-and-reset";
  if (has("reboot") || word == "2") return "reboot";
  if (has("reset") || has("flr") || word == "1") return "reset";
  return hyphenate(text);
}

std::string yes_no(std::string_view text) {
  const std::string word = base::to_lower(text);
  if (word == "yes" || word == "true" || word == "1" || word == "enabled") return "true";
  if (word == "no" || word == "false" || word == "0" || word == "disabled") return "false";
  return {};
}

std::string number_text(std::string_view text) {
  std::string_view unit;
  const auto value = leading_number(text, unit);
  return value && std::isfinite(*value) ? plain_number(*value) : std::string();
}

std::string bytes_text(std::string_view text, double bare_unit) {
  std::string_view unit;
  const auto value = leading_number(text, unit);
  if (!value || *value < 0 || !std::isfinite(*value)) return {};
  double factor = bare_unit;
  if (!unit.empty()) {
    const auto one = base::parse_bytes("1" + std::string(unit));
    if (!one) return {};
    // amd-smi writes MB and GB for powers of two.
    const std::string lower = base::to_lower(unit);
    factor = lower == "mb"   ? 1048576.0
             : lower == "gb" ? 1073741824.0
             : lower == "kb" ? 1024.0
                             : static_cast<double>(*one);
  }
  return *value * factor < 9e18 ? fmt::format("{:.0f}", *value * factor) : std::string();
}

std::string converted(GpuValue kind, std::string_view raw) {
  switch (kind) {
    case GpuValue::text:
      return std::string(raw);
    case GpuValue::word:
      return hyphenate(raw);
    case GpuValue::number:
    case GpuValue::sum:
      return number_text(raw);
    case GpuValue::bytes:
      return bytes_text(raw, 1);
    case GpuValue::mebibytes:
      return bytes_text(raw, 1048576);
    case GpuValue::yes_no:
      return yes_no(raw);
    case GpuValue::active:
      if (base::iequals(raw, "Active")) return "active";
      return base::iequals(raw, "Not Active") ? "not-active" : "";
    case GpuValue::recovery:
      return recovery_of(raw);
    case GpuValue::microseconds: {
      std::string_view unit;
      const auto value = leading_number(raw, unit);
      return value ? plain_number(*value / 1e6) : std::string();
    }
    case GpuValue::pci:
      return evidence::normalise_pci(raw);
    case GpuValue::uuid: {
      std::string uuid = evidence::normalise_gpu_uuid(raw);
      // AMD's have no prefix and other lengths: kept as they are.
      return uuid.empty() ? base::to_lower(raw) : uuid;
    }
  }
  return {};
}

}  // namespace

std::string plain_number(double value) {
  if (std::nearbyint(value) == value && std::abs(value) < 1e18) return fmt::format("{:.0f}", value);
  std::string out = fmt::format("{}", value);
  if (out.find('e') == std::string::npos) return out;
  out = fmt::format("{:.12f}", value);
  if (out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
  }
  return out;
}

const GpuField* find_field(std::span<const GpuField> table, std::string_view section,
                           std::string_view label) {
  for (const GpuField& row : table)
    if (row.label == label && row.section == section) return &row;
  return nullptr;
}

bool is_absent(std::string_view value) {
  value = bare(value);
  static constexpr std::array<std::string_view, 8> words{
      "",     "N/A", "Not Supported", "Requested functionality has been deprecated",
      "None", "N/S", "Unknown",       "Insufficient Permissions"};
  for (const std::string_view word : words)
    if (base::iequals(value, word)) return true;
  return value.size() < 40 &&
         (base::icontains(value, "not supported") || base::icontains(value, "unsupported"));
}

std::string_view trouble_of(std::string_view value) {
  value = bare(value);
  if (value.empty() || value.size() > 120) return {};
  if (base::icontains(value, "unknown error")) return "unknown-error";
  if (base::icontains(value, "requires reset") || base::icontains(value, "reset required"))
    return "requires-reset";
  if (base::icontains(value, "gpu is lost")) return "lost";
  return base::contains(value, "ERR!") ? "err" : std::string_view();
}

Fact make_gpu_fact(const ParseContext& context, std::string_view tool, std::uint32_t line) {
  Fact fact;
  fact.kind = context.kind;
  fact.place = context.place;
  fact.line = line;
  fact.set("tool", std::string(tool), line);
  return fact;
}

Fact make_message_fact(const ParseContext& context, std::string_view tool, std::string_view text,
                       std::uint32_t line) {
  // A line that nobody would read whole says what it says in its first kilobytes.
  constexpr std::size_t longest = 4096;
  Fact fact = make_gpu_fact(context, tool, line);
  fact.text = base::trim(text).substr(0, longest);
  return fact;
}

void set_gpu_value(Fact& fact, std::string_view field, GpuValue kind, std::string_view raw,
                   std::uint32_t line) {
  raw = bare(raw);
  if (kind != GpuValue::recovery && is_absent(raw)) return;
  const std::string_view trouble =
      kind == GpuValue::recovery ? std::string_view() : trouble_of(raw);
  if (!trouble.empty()) {
    if (field == "ecc.mode" || field == "ecc.mode_pending") {
      if (fact.find(field) == nullptr) fact.set(std::string(field), std::string(trouble), line);
    } else if (fact.find("state") == nullptr) {
      fact.set("state", std::string(trouble), line);
    }
    return;
  }
  if (kind == GpuValue::recovery && raw != "None" && is_absent(raw)) return;
  std::string text = converted(kind, raw);
  if (text.empty()) return;
  const evidence::Value* before = fact.find(field);
  if (before != nullptr) {
    if (kind != GpuValue::sum) return;
    const double sum = base::parse_double(before->text).value_or(0);
    const double more = base::parse_double(text).value_or(0);
    fact.set(std::string(field), plain_number(sum + more),
             sum == 0 && more > 0 ? line : before->line);
    return;
  }
  fact.set(std::string(field), std::move(text), line);
}

void set_processes(Fact& fact, std::span<const GpuProcess> processes) {
  if (processes.empty()) return;
  double sum = 0;
  bool any_memory = false;
  std::string pids;
  std::string names;
  // A GPU runs some dozens at most; what is beyond only counts.
  constexpr std::size_t listed = 64;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const GpuProcess& process = processes[i];
    if (const auto memory = base::parse_double(process.memory)) sum += *memory, any_memory = true;
    if (i >= listed) continue;
    const std::string prefix = fmt::format("process.{}.", i);
    fact.set(prefix + "pid", process.pid, process.line);
    const auto line_or = [&process](std::uint32_t own) { return own != 0 ? own : process.line; };
    if (!process.name.empty()) fact.set(prefix + "name", process.name, line_or(process.name_line));
    if (!process.memory.empty())
      fact.set(prefix + "memory", process.memory, line_or(process.memory_line));
    pids += (pids.empty() ? "" : ",") + process.pid;
    names += (names.empty() ? "" : ",") + process.name;
  }
  const std::uint32_t line = processes.front().line;
  fact.set("process.count", std::to_string(processes.size()), line);
  fact.set("process.pids", pids, line);
  fact.set("process.names", names, line);
  if (any_memory) fact.set("process.memory", plain_number(sum), line);
}

void finish_gpu_fact(Fact& fact) {
  const auto number = [&fact](std::string_view field) -> std::optional<double> {
    const evidence::Value* value = fact.find(field);
    return value == nullptr ? std::nullopt : base::parse_double(value->text);
  };
  const auto total = number("memory.total");
  const auto used = number("memory.used");
  if (total && used && *total > 0 && fact.find("memory.used_percent") == nullptr)
    fact.set("memory.used_percent", fmt::format("{:.1f}", 100 * *used / *total),
             fact.find("memory.used")->line);
  if (const std::string uuid = evidence::normalise_gpu_uuid(fact.get("uuid")); !uuid.empty())
    fact.place.gpu_uuid = uuid;
  if (const evidence::Value* pci = fact.find("pci")) fact.place.pci = pci->text;
  if (const evidence::Value* index = fact.find("index")) fact.place.gpu_index = index->text;
}

}  // namespace triage::analysis::formats

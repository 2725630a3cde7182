#include "evidence/place.hpp"

#include <array>

#include "base/text.hpp"

namespace triage::evidence {
namespace {

bool is_hex(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

}  // namespace

std::string normalise_pci(std::string_view text) {
  text = base::trim(text);
  for (std::string_view prefix : {"PCI:", "GPU", "pci:"})
    if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
  std::string_view function = "0";
  if (const auto dot = text.rfind('.'); dot != std::string_view::npos) {
    function = text.substr(dot + 1);
    text = text.substr(0, dot);
  }
  const auto parts = base::split(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || function.size() != 1 || !is_hex(function)) return {};
  std::string domain = parts.size() == 3 ? base::to_lower(parts[0]) : "0000";
  const std::string bus = base::to_lower(parts[parts.size() - 2]);
  const std::string device = base::to_lower(parts.back());
  if (!is_hex(domain) || domain.size() > 8 || !is_hex(bus) || bus.size() > 2 || !is_hex(device) ||
      device.size() > 2)
    return {};
  while (domain.size() > 4 && domain.front() == '0') domain.erase(0, 1);
  if (domain.size() < 4) domain.insert(0, 4 - domain.size(), '0');
  const auto two = [](const std::string& s) { return s.size() == 1 ? "0" + s : s; };
  return domain + ":" + two(bus) + ":" + two(device) + "." + base::to_lower(function);
}

std::string normalise_gpu_uuid(std::string_view text) {
  text = base::trim(text);
  const std::string_view prefix = text.substr(0, 4);
  if (prefix != "GPU-" && prefix != "MIG-") return {};
  const std::string rest = base::to_lower(text.substr(4));
  static constexpr std::array<std::size_t, 5> lengths{8, 4, 4, 4, 12};
  const auto parts = base::split(rest, '-');
  if (parts.size() != lengths.size()) return {};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (parts[i].size() != lengths[i] || !is_hex(parts[i])) return {};
  return std::string(prefix) + rest;
}

void Place::fill_from(const Place& other) {
  const auto fill = [](std::string& mine, const std::string& theirs) {
    if (mine.empty()) mine = theirs;
  };
  fill(node, other.node);
  fill(name_space, other.name_space);
  fill(pod, other.pod);
  fill(container, other.container);
  fill(pid, other.pid);
  fill(gpu_uuid, other.gpu_uuid);
  fill(pci, other.pci);
  fill(gpu_index, other.gpu_index);
  fill(rank, other.rank);
  fill(workload, other.workload);
  fill(revision, other.revision);
}

}  // namespace triage::evidence

#include "report/fleet_groups.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace triage::report {
namespace {

using analysis::Report;

std::set<std::string> traits_of(const Report& report) {
  std::set<std::string> traits;
  const auto& environment = report.environment;
  for (const auto& image : environment.images) traits.insert("image " + image);
  if (!environment.driver.empty()) traits.insert("driver " + environment.driver);
  if (!environment.engine.version.empty())
    traits.insert(environment.engine.name + " " + environment.engine.version);
  for (const auto& node : report.verdict.entities.nodes) traits.insert("node " + node);
  for (const auto& gpu : report.verdict.entities.gpus)
    if (!gpu.uuid.empty()) traits.insert("GPU " + gpu.uuid);
  return traits;
}

std::int64_t start_of(const Report& report) {
  const auto& first = report.verdict.first_error;
  return first && first->time ? first->time->ns : INT64_MAX;
}

void find_shared(FleetGroup& group, const std::vector<const NamedReport*>& sound) {
  if (group.members.size() < 2) return;
  std::set<std::string> shared = traits_of(*group.members.front()->report);
  for (const NamedReport* member : group.members) {
    const auto traits = traits_of(*member->report);
    std::erase_if(shared, [&](const auto& trait) { return !traits.contains(trait); });
  }
  for (const NamedReport* other : sound)
    for (const auto& trait : traits_of(*other->report)) shared.erase(trait);
  group.shared.assign(shared.begin(), shared.end());
}

int order_of(const FleetGroup& group) {
  if (group.class_ == "none") return 2;
  return group.class_ == "unknown" ? 1 : 0;
}

}  // namespace

std::vector<FleetGroup> group_reports(Reports reports) {
  std::map<std::pair<std::string, std::string>, FleetGroup> by_cause;
  std::vector<const NamedReport*> sound;
  for (const NamedReport& named : reports) {
    const auto& verdict = named.report->verdict;
    FleetGroup& group = by_cause[{verdict.class_, verdict.cause}];
    group.class_ = verdict.class_;
    group.cause = verdict.cause;
    if (group.title.empty()) group.title = verdict.title;
    group.members.push_back(&named);
    if (verdict.class_ == "none") sound.push_back(&named);
  }
  std::vector<FleetGroup> groups;
  for (auto& [key, group] : by_cause) {
    std::stable_sort(group.members.begin(), group.members.end(),
                     [](const NamedReport* a, const NamedReport* b) {
                       return start_of(*a->report) < start_of(*b->report);
                     });
    std::set<std::string> nodes;
    for (const NamedReport* member : group.members)
      nodes.insert(member->report->verdict.entities.nodes.begin(),
                   member->report->verdict.entities.nodes.end());
    group.nodes.assign(nodes.begin(), nodes.end());
    if (group.is_fault()) find_shared(group, sound);
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const FleetGroup& a, const FleetGroup& b) {
    if (order_of(a) != order_of(b)) return order_of(a) < order_of(b);
    return a.members.size() > b.members.size();
  });
  return groups;
}

}  // namespace triage::report

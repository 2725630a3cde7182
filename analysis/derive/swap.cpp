#include <limits>
#include <map>
#include <set>
#include <string>

#include "analysis/derive/derivers.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {
namespace {

using evidence::Fact;
using evidence::Kind;

/// Evictions among the models of one shared GPU group.
struct Group {
  std::map<std::pair<std::string, std::string>, double> moves;  ///< from, to -> how often
  Histogram durations;
  std::uint32_t file = 0, line = 0;
  std::optional<evidence::Stamp> stamp;
  bool counted = false;  ///< by counters: they hold what logs and events only sample
};

double upper_bound(const std::string& text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  return base::parse_double(text).value_or(0);
}

void note(Group& group, std::uint32_t file, std::uint32_t line,
          const std::optional<evidence::Stamp>& stamp) {
  if (group.line != 0) return;
  group.file = file;
  group.line = line;
  group.stamp = stamp;
}

void from_metrics(const Evidence& evidence, std::map<std::string, Group>& groups) {
  for (std::size_t i = 0; i < evidence.facts.size(); ++i) {
    const Fact& fact = evidence.facts[i];
    if (fact.kind != Kind::metrics) continue;
    const std::string name = fact.get("name");
    const double value = base::parse_double(fact.get("value")).value_or(0);
    if (base::contains(name, "preemptions_total") && fact.find("labels.from") != nullptr &&
        fact.find("labels.to") != nullptr) {
      Group& group = groups[fact.get("labels.group")];
      group.counted = true;
      double& moves = group.moves[{fact.get("labels.from"), fact.get("labels.to")}];
      moves = std::max(moves, value);
      if (value > 0) note(group, fact.file, fact.line, stamp_of(time_of(evidence, i)));
    }
    if (base::contains(name, "swap_duration_seconds_bucket"))
      groups[fact.get("labels.group")].durations.add(upper_bound(fact.get("labels.le")), value);
  }
}

void from_logs(const Evidence& evidence, std::map<std::string, Group>& groups) {
  for (const Observation& o : evidence.observations) {
    if (!tagged(o, "model-swap")) continue;
    const auto from = o.captures.find("from");
    const auto to = o.captures.find("to");
    std::string loser = from == o.captures.end() ? std::string() : from->second;
    // An event is about the model that lost the GPU.
    if (loser.empty()) {
      const auto name = o.captures.find("object.name");
      loser = name == o.captures.end() ? o.place.workload : name->second;
    }
    const std::string winner = to == o.captures.end() ? std::string() : to->second;
    if (loser.empty() || winner.empty()) continue;
    const auto named = o.captures.find("group");
    const std::string key = named != o.captures.end() ? named->second
                            : groups.size() == 1      ? groups.begin()->first
                                                      : std::string();
    Group& group = groups[key];
    if (group.counted) continue;
    group.moves[{loser, winner}] += static_cast<double>(o.count);
    note(group, o.file, o.line, stamp_of(o.time));
    if (const auto seconds = capture_number(o, "seconds")) group.durations.add(*seconds, 1);
  }
}

void emit(const std::string& name, const Group& group, const evidence::FactSink& sink) {
  std::set<std::string> models;
  double count = 0;
  bool both_ways = false;
  for (const auto& [pair, moves] : group.moves) {
    if (moves <= 0) continue;
    models.insert(pair.first);
    models.insert(pair.second);
    count += moves;
    const auto back = group.moves.find({pair.second, pair.first});
    both_ways = both_ways || (back != group.moves.end() && back->second > 0);
  }
  if (count <= 0) return;
  Fact fact;
  fact.kind = Kind::swap;
  fact.file = group.file;
  fact.line = group.line;
  fact.stamp = group.stamp;
  const auto set = [&](const char* field, const std::string& value) {
    if (!value.empty()) fact.set(field, value, group.line);
  };
  set("group", name);
  set("models", std::to_string(models.size()));
  set("both_ways", both_ways ? "true" : "false");
  set("count", plain(count));
  if (const auto p95 = group.durations.quantile(0.95)) set("p95", plain(*p95));
  sink(std::move(fact));
}

}  // namespace

void derive_swap(const Evidence& evidence, const evidence::FactSink& sink) {
  std::map<std::string, Group> groups;
  from_metrics(evidence, groups);
  from_logs(evidence, groups);
  for (const auto& [name, group] : groups) emit(name, group, sink);
}

}  // namespace triage::analysis::derive

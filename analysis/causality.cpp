#include "analysis/causality.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "analysis/neighbours.hpp"
#include "analysis/roles.hpp"
#include "base/text.hpp"

namespace triage::analysis {

using evidence::Kind;
using rules::Direction;
using rules::Role;
using rules::Same;
using rules::Severity;

namespace {

struct ClassRow {
  std::string_view cause;
  std::string_view effects;
};

/// Which class can bring about which. A broken device shows up as everything above it; nothing
/// above it breaks a device.
constexpr std::array<ClassRow, 11> k_classes{{
    {"hardware",
     "runtime cuda-fault distributed health-probe request-path scheduling capacity loading"},
    {"host-oom", "distributed cuda-fault loading health-probe request-path runtime capacity"},
    {"gpu-oom", "distributed cuda-fault loading health-probe request-path capacity"},
    {"cuda-fault", "distributed gpu-oom health-probe request-path loading capacity"},
    {"runtime", "loading cuda-fault distributed health-probe request-path scheduling"},
    {"distributed", "health-probe request-path loading capacity"},
    {"loading", "health-probe request-path distributed"},
    {"scheduling", "request-path distributed health-probe"},
    {"health-probe", "request-path distributed"},
    {"capacity", "request-path health-probe"},
    {"request-path", ""},
}};

/// A fault of a process is over with the process: what comes hours later has another cause. Faults
/// of devices, drivers and clusters last until somebody mends them. Long enough for the longest
/// collective timeouts in use.
constexpr std::int64_t k_process_reach_ns = std::int64_t{2} * 3600 * 1'000'000'000;

std::optional<std::int64_t> lasts(const Observation& from) {
  const bool process = from.class_ == "cuda-fault" || from.class_ == "gpu-oom" ||
                       from.class_ == "host-oom" || from.class_ == "distributed";
  return process ? std::optional(k_process_reach_ns) : std::nullopt;
}

constexpr std::int64_t k_race_window_ns = 60'000'000'000;  // kernel log and process race each other
/// Above this many observations only the first of each rule and place take part: the graph is
/// quadratic.
constexpr std::size_t k_most_in_graph = 2000;

/// Where an observation of a class reaches: a device fault its GPU, an application fault its group.
Same reach(const Observation& from, const Observation& to) {
  if (to.class_ == "distributed" || to.class_ == "request-path" || to.class_ == "capacity")
    return Same::group;
  if (from.class_ == "hardware" && to.class_ == "cuda-fault") return Same::gpu;
  if (from.class_ == "hardware") return Same::node;
  if (from.class_ == "scheduling" || from.class_ == "runtime") return Same::workload;
  return Same::pod;
}

struct Link {
  bool holds = false;
  bool assumed_place = false;
  bool order_unknown = false;
  bool by_rule = false;
};

/// How far `to` stands from the nearest repeat of `from`, which may have folded many lines.
std::optional<std::int64_t> apart_from(const Observation& from, const Observation& to) {
  const auto apart = time_between(from, to);
  if (!apart || !from.time || !from.last_time || !to.time) return apart;
  if (from.time->ns <= to.time->ns && to.time->ns <= from.last_time->ns) return 0;
  Observation last;
  last.place = from.place;
  last.time = from.last_time;
  const auto from_last = time_between(last, to);
  return from_last ? std::min(*apart, *from_last) : apart;
}

Link in_time(const Observation& from, const Observation& to, Direction direction,
             std::optional<std::int64_t> window) {
  Link link;
  const Ordering order = order_of(from, to);
  const auto apart = window ? apart_from(from, to) : std::nullopt;
  if (window && apart && *apart > *window) return link;
  if (order == Ordering::after && direction == Direction::after) return link;
  link.holds = true;
  link.order_unknown = order == Ordering::unknown && from.file != to.file;
  return link;
}

Link by_term(const rules::Explains& term, const Observation& from, const Observation& to) {
  bool assumed = false;
  if (term.same == Same::file ? from.file != to.file
                              : !agrees(from.place, to.place, term.same, &assumed))
    return {};
  Link link = in_time(from, to, term.direction, term.window_ns);
  link.assumed_place = assumed;
  link.by_rule = true;
  return link;
}

/// A line that only the kernel writes, against an error that a process reports: of one fault,
/// whichever is stamped first.
bool kernel_and_process(const Observation& a, const Observation& b) {
  return b.class_ == "cuda-fault" && !is_kernel_line(b) &&
         (a.class_ == "hardware" || (a.class_ == "cuda-fault" && is_kernel_line(a)));
}

/// One trouble seen twice: the same cause at agreeing places, or the same class at the same device
/// or pod.
Link same_trouble(const Observation& from, const Observation& to) {
  if (to.role != Role::root || from.class_ != to.class_) return {};
  bool assumed = false;
  const bool device = from.class_ == "hardware";
  const Same same = device ? Same::gpu : (from.cause == to.cause ? Same::group : Same::pod);
  if (!agrees(from.place, to.place, same, &assumed)) return {};
  Link link = in_time(from, to, Direction::after, lasts(from));
  if (!link.holds && kernel_and_process(from, to))
    link = in_time(from, to, Direction::either, k_race_window_ns);
  link.assumed_place = assumed;
  return link;
}

Link by_class(const Observation& from, const Observation& to) {
  const bool own_symptom =
      to.role == Role::symptom &&
      (to.class_ == from.class_ || to.class_ == "unknown" || to.class_ == "none");
  if (!own_symptom && !class_brings_about(from.class_, to.class_)) return same_trouble(from, to);
  // What is only a warning does not explain a grave fault away, unless its rule says so.
  if (to.role == Role::root && from.severity < Severity::error && to.severity >= Severity::error)
    return {};
  bool assumed = false;
  if (!agrees(from.place, to.place, reach(from, to), &assumed)) return {};
  Link link = in_time(from, to, Direction::after, lasts(from));
  if (!link.holds && kernel_and_process(from, to))
    link = in_time(from, to, Direction::either, k_race_window_ns);
  link.assumed_place = assumed;
  return link;
}

/// Whether `from` explains `to`; rules' own words come before the built-in table.
Link explains(const Observation& from, const Observation& to) {
  for (const rules::Explains& term : from.rule->explains)
    if (is_named_by(term.ref, to))
      if (const Link link = by_term(term, from, to); link.holds) return link;
  for (const rules::Explains& term : to.rule->explained_by)
    if (is_named_by(term.ref, from))
      if (const Link link = by_term(term, from, to); link.holds) return link;
  return from.role == Role::root ? by_class(from, to) : Link{};
}

bool grave(const Observation& o) {
  return o.severity >= Severity::error;
}

class Graph {
 public:
  explicit Graph(const EvidenceModel& model) : model_(model), neighbours_(model) { pick(); }

  Causality run() {
    for (const std::size_t from : explainers_)
      for (const std::size_t to : nodes_)
        if (from != to) link(from, to);
    drop_explained();
    rank(causality_.candidates);
    if (causality_.candidates.empty()) {
      for (const std::size_t i : nodes_)
        if (at(i).role == Role::symptom && at(i).stands_alone && explained_.count(i) == 0)
          causality_.standing_alone.push_back(i);
      rank(causality_.standing_alone);
    }
    return std::move(causality_);
  }

 private:
  const Observation& at(std::size_t i) const { return model_.observations[i]; }

  /// Everything when it is little; else the first few of each rule and place.
  void pick() {
    std::map<std::string, int> seen;
    const bool thin = model_.observations.size() > k_most_in_graph;
    for (std::size_t i = 0; i < model_.observations.size(); ++i) {
      const Observation& o = at(i);
      // What was declared benign (by its catalog row, a refine, a later success) explains nothing.
      const bool explains_something =
          o.role == Role::root ||
          (!o.rule->explains.empty() && (o.role != Role::context || o.rule->role == Role::context));
      if (o.role == Role::context && !explains_something) continue;
      if (thin) {
        const std::string key = o.rule->id + '|' + o.place.node + '|' + o.place.pod + '|' +
                                o.place.pci + '|' + o.place.rank + '|' + o.cause;
        if (++seen[key] > 2) continue;
      }
      if (nodes_.size() >= 2 * k_most_in_graph) break;
      nodes_.push_back(i);
      if (explains_something) explainers_.push_back(i);
    }
  }

  void link(std::size_t from, std::size_t to) {
    if (at(to).role == Role::context) return;
    if (neighbours_.is_elsewhere(at(from), at(to))) return;
    const Link found = explains(at(from), at(to));
    if (!found.holds) return;
    causality_.edges.push_back({from, to, found.assumed_place, found.order_unknown, found.by_rule});
    by_pair_.insert({{from, to}, found.by_rule});
  }

  /// Two that explain each other (same moment, no order): what a rule says beats the table of
  /// classes, then the better one stays.
  void drop_explained() {
    std::vector<std::size_t> roots;
    for (const std::size_t i : nodes_)
      if (at(i).role == Role::root) roots.push_back(i);
    for (const Causality::Edge& edge : causality_.edges)
      if (at(edge.to).fatal) explains_fatal_.insert(edge.from);
    for (const Causality::Edge& edge : causality_.edges) {
      const auto back = by_pair_.find({edge.to, edge.from});
      const bool stays = back == by_pair_.end()         ? true
                         : back->second != edge.by_rule ? edge.by_rule
                                                        : prefer(edge.from, edge.to);
      if (stays) explained_.insert(edge.to);
    }
    for (const std::size_t i : roots)
      if (explained_.count(i) == 0) causality_.candidates.push_back(i);
    // A ring of unknown orders must not leave nobody.
    if (causality_.candidates.empty()) causality_.candidates = roots;
  }

  /// Of two roots that explain one another: a class that can bring about the other's wins, then
  /// rank.
  bool prefer(std::size_t a, std::size_t b) const {
    const bool a_over_b = class_brings_about(at(a).class_, at(b).class_);
    const bool b_over_a = class_brings_about(at(b).class_, at(a).class_);
    if (a_over_b != b_over_a) return a_over_b;
    // The kernel sees a fault as it happens; a process reports it later, often under a stamp that
    // its undated lines inherit.
    if (is_kernel_line(at(a)) != is_kernel_line(at(b)) && at(a).class_ == at(b).class_)
      return is_kernel_line(at(a));
    return better(a, b);
  }

  [[nodiscard]] bool is_event(std::size_t i) const {
    return at(i).fact >= 0 &&
           model_.facts[static_cast<std::size_t>(at(i).fact)].kind == Kind::event;
  }

  /// A process fault of hours before, in the same stream: its process is over, and the later fault
  /// is the one of this incident.
  [[nodiscard]] bool over_by(std::size_t a, std::size_t b) const {
    const auto reach = lasts(at(a));
    if (!reach || at(a).file != at(b).file || !at(a).stamp || !at(b).stamp) return false;
    const evidence::Stamp& first = *at(a).stamp;
    const evidence::Stamp& second = *at(b).stamp;
    if (at(a).last_stamp && second.ns - at(a).last_stamp->ns <= *reach) return false;
    return first.base == second.base && second.ns - first.ns > *reach;
  }

  bool better(std::size_t a, std::size_t b) const {
    if (neighbours_.is_elsewhere(at(b), at(a))) return true;
    if (neighbours_.is_elsewhere(at(a), at(b))) return false;
    const bool fatal_a = explains_fatal_.count(a) > 0;
    const bool fatal_b = explains_fatal_.count(b) > 0;
    if (grave(at(a)) != grave(at(b)) && (fatal_a == fatal_b)) return grave(at(a));
    if (fatal_a != fatal_b) return fatal_a;
    if (grave(at(a)) != grave(at(b))) return grave(at(a));
    if (over_by(a, b) != over_by(b, a)) return over_by(b, a);
    const Ordering order = order_of(at(a), at(b));
    if (order != Ordering::unknown) return order == Ordering::before;
    if (at(a).severity != at(b).severity) return at(a).severity > at(b).severity;
    // An event says what happened; the pod's state in another file repeats it.
    if (at(a).cause == at(b).cause && at(a).file != at(b).file && is_event(a) != is_event(b))
      return is_event(a);
    if (at(a).class_ == "cuda-fault" && at(b).class_ == "cuda-fault" &&
        is_kernel_line(at(a)) != is_kernel_line(at(b)))
      return is_kernel_line(at(a));
    // A line that may have been written late does not come before one that certainly was early.
    if (at(a).file != at(b).file && latest_ns(at(a)) && latest_ns(at(b)) &&
        *latest_ns(at(a)) != *latest_ns(at(b)))
      return *latest_ns(at(a)) < *latest_ns(at(b));
    if (earlier_for_display(at(a), at(b))) return true;
    if (earlier_for_display(at(b), at(a))) return false;
    return at(a).rule->id < at(b).rule->id;
  }

  void rank(std::vector<std::size_t>& indices) const {
    // `better` is not transitive where orders are unknown: select the best one by one, which always
    // terminates.
    std::vector<std::size_t> ranked;
    std::vector<std::size_t> rest = indices;
    while (!rest.empty() && ranked.size() < 200) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < rest.size(); ++i)
        if (better(rest[i], rest[best])) best = i;
      ranked.push_back(rest[best]);
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(best));
    }
    indices = std::move(ranked);
  }

  const EvidenceModel& model_;
  Neighbours neighbours_;
  std::vector<std::size_t> nodes_;
  std::vector<std::size_t> explainers_;
  std::map<std::pair<std::size_t, std::size_t>, bool> by_pair_;  ///< whether a rule says it
  std::set<std::size_t> explained_;
  std::set<std::size_t> explains_fatal_;
  Causality causality_;
};

}  // namespace

bool is_kernel_line(const Observation& o) {
  return o.rule->reads(Kind::kernel_log) && !o.rule->reads(Kind::container_log);
}

bool class_brings_about(const std::string& cause, const std::string& effect) {
  for (const ClassRow& row : k_classes) {
    if (row.cause != cause) continue;
    const auto effects = base::split_blanks(row.effects);
    return std::find(effects.begin(), effects.end(), effect) != effects.end();
  }
  return false;
}

Causality explain(const EvidenceModel& model) {
  return Graph(model).run();
}

}  // namespace triage::analysis

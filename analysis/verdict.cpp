#include "analysis/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "analysis/fill.hpp"
#include "analysis/quarantine.hpp"
#include "analysis/roles.hpp"
#include "base/text.hpp"
#include "redact/excerpt.hpp"

namespace triage::analysis {

using rules::Confidence;
using rules::Role;
using rules::Severity;

namespace {

constexpr std::size_t k_chain_links = 60;
constexpr std::size_t k_timeline_entries = 2000;

class Builder {
 public:
  Builder(const EvidenceModel& model, const Causality& causality, const std::vector<Lift>& lifts,
          const rules::RuleSet& rules, int jobs)
      : model_(model), causality_(causality), lifts_(lifts), rules_(rules), jobs_(jobs) {
    for (const Causality::Edge& edge : causality.edges) explains_[edge.from].push_back(&edge);
  }

  Report build() {
    report_.rules_digest = rules_.digest;
    report_.inputs = model_.inputs;
    report_.warnings = model_.warnings;
    if (!causality_.candidates.empty()) {
      root_ = causality_.candidates.front();
    } else if (!causality_.standing_alone.empty()) {
      root_ = causality_.standing_alone.front();
    }
    if (root_) {
      incident_ = incident_of(*root_);
      report_.verdict = verdict_of(*root_, incident_, true);
      report_.quarantine = make_quarantine(model_, at(*root_), incident_, at(*root_).quarantine);
      take_steps(at(*root_));
      add_group_step();
      lift();
      chain();
      others();
      missing();
      report_.loudest = loudest();
    } else {
      no_root();
    }
    observations();
    timeline();
    return std::move(report_);
  }

 private:
  const Observation& at(std::size_t i) const { return model_.observations[i]; }

  Cited cite(const Observation& o) const {
    return {model_.inputs[o.file].path, o.line, o.time,
            base::shorten(base::to_valid_utf8(redact::excerpt(o.text, kind_of(model_, o))), 400),
            o.place.rank};
  }

  /// Everything that the root explains, directly or by way of another root it explains.
  std::vector<std::size_t> incident_of(std::size_t root) const {
    std::vector<std::size_t> members;
    std::set<std::size_t> seen{root};
    std::vector<std::size_t> todo{root};
    while (!todo.empty()) {
      const std::size_t from = todo.back();
      todo.pop_back();
      const auto it = explains_.find(from);
      if (it == explains_.end()) continue;
      for (const Causality::Edge* edge : it->second) {
        if (!seen.insert(edge->to).second) continue;
        members.push_back(edge->to);
        if (at(edge->to).role == Role::root) todo.push_back(edge->to);
      }
    }
    std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      if (earlier_for_display(at(a), at(b))) return true;
      if (earlier_for_display(at(b), at(a))) return false;
      return a < b;
    });
    return members;
  }

  VerdictEntry verdict_of(std::size_t root, const std::vector<std::size_t>& incident,
                          bool main) const {
    const Observation& o = at(root);
    VerdictEntry v;
    v.class_ = o.class_;
    v.cause = o.cause;
    v.title = base::to_valid_utf8(redact::excerpt(o.title, evidence::Kind::unknown_text));
    v.severity = std::string(rules::to_string(o.severity));
    v.fault_domain = o.fault_domain;
    v.scope = o.scope.empty() ? "local" : o.scope;
    v.pattern = o.pattern;
    if (o.class_ != "none" && !no_single_line(o)) v.first_error = cite(o);
    v.first_cuda_error = first_cuda_error(root, incident);
    v.entities = entities_of(root, incident);
    const auto [confidence, reasons] = confidence_of(root, incident, main);
    v.confidence = std::string(rules::to_string(confidence));
    v.confidence_reasons = reasons;
    return v;
  }

  /// A state shown by many samples (a queue that grows, two models that swap) has a deciding line,
  /// but it is evidence all the same.
  static bool no_single_line(const Observation& o) { return o.line == 0; }

  std::optional<Cited> first_cuda_error(std::size_t root,
                                        const std::vector<std::size_t>& incident) const {
    const Observation* first = nullptr;
    const auto look = [&](const Observation& o) {
      const bool cuda = has_tag(o, "cuda-error") || o.class_ == "cuda-fault" ||
                        (o.class_ == "gpu-oom" && o.fact < 0);
      const evidence::Kind kind = model_.files[o.file].kind;
      if (!cuda || o.role == Role::context || o.fact >= 0 || kind == evidence::Kind::kernel_log)
        return;
      if (first == nullptr || earlier_for_display(o, *first)) first = &o;
    };
    look(at(root));
    for (const std::size_t i : incident) look(at(i));
    return first == nullptr ? std::nullopt : std::optional<Cited>(cite(*first));
  }

  Entities entities_of(std::size_t root, const std::vector<std::size_t>& incident) const {
    Entities entities;
    const auto add = [](std::vector<std::string>& list, const std::string& value) {
      if (!value.empty() && std::find(list.begin(), list.end(), value) == list.end() &&
          list.size() < 256)
        list.push_back(value);
    };
    const auto take = [&](const Observation& o, bool own) {
      if (own) add(entities.nodes, o.place.node);
      if (own) add(entities.pods, o.place.pod);
      if (own) add(entities.containers, o.place.container);
      if (own) add(entities.ranks, o.place.rank);
      if (const auto gpu = model_.entities.gpu_of(o.place); gpu && own)
        if (std::find(entities.gpus.begin(), entities.gpus.end(), *gpu) == entities.gpus.end())
          entities.gpus.push_back(*gpu);
    };
    take(at(root), true);
    for (const std::size_t i : incident) {
      const bool same = at(i).class_ == at(root).class_ && at(i).role == Role::root;
      take(at(i), same);
    }
    // An application fault names no GPU itself: the kernel's echo of it may.
    if (entities.gpus.empty())
      for (const std::size_t i : incident) {
        const auto gpu = model_.entities.gpu_of(at(i).place);
        if (gpu && (!gpu->pci.empty() || !gpu->uuid.empty()) &&
            agrees(at(root).place, at(i).place, rules::Same::node)) {
          if (std::find(entities.gpus.begin(), entities.gpus.end(), *gpu) == entities.gpus.end())
            entities.gpus.push_back(*gpu);
          break;
        }
      }
    return entities;
  }

  std::pair<Confidence, std::vector<std::string>> confidence_of(
      std::size_t root, const std::vector<std::size_t>& incident, bool main) const {
    const Observation& o = at(root);
    int level = 2;
    std::vector<std::string> reasons;
    const auto lower = [&](std::string why) {
      level = std::max(0, level - 1);
      reasons.push_back(std::move(why));
    };
    const auto it = explains_.find(root);
    if (it != explains_.end()) {
      const bool only_assumed =
          std::all_of(it->second.begin(), it->second.end(),
                      [](const auto* e) { return e->assumed_place || e->order_unknown; });
      const bool needs_it = std::any_of(it->second.begin(), it->second.end(),
                                        [&](const auto* e) { return at(e->to).file != o.file; });
      if (only_assumed && needs_it)
        lower(
            "files are held together by assumption: the evidence does not name their place or "
            "order");
    }
    if (main && causality_.candidates.size() > 1) {
      const Observation& second = at(causality_.candidates[1]);
      if (second.severity >= Severity::error && second.class_ != o.class_)
        lower(fmt::format("a second fault is not explained by this one: {}", second.title));
    }
    if (o.severity < Severity::error) lower("the deciding line is a warning");
    if (o.role == Role::symptom)
      level = std::min(level, 0),
      reasons.emplace_back("only a symptom is in evidence; what came before it is not");
    if (o.confidence_cap) {
      const int cap = static_cast<int>(*o.confidence_cap);
      if (cap < level) reasons.emplace_back("the rule caps the confidence");
      level = std::min(level, cap);
    }
    if (reasons.empty()) {
      reasons.push_back(
          fmt::format("{}:{} shows the fault itself", model_.inputs[o.file].path, o.line));
      std::set<std::uint32_t> files;
      for (const std::size_t i : incident) files.insert(at(i).file);
      files.erase(o.file);
      if (!files.empty())
        reasons.push_back(fmt::format("{} more {} with it", files.size(),
                                      files.size() == 1 ? "file agrees" : "files agree"));
    }
    return {static_cast<Confidence>(level), reasons};
  }

  void take_steps(const Observation& o) {
    const auto values = fill_values(o);
    std::vector<rules::Step> steps = steps_of(o);
    std::stable_sort(steps.begin(), steps.end(),
                     [](const rules::Step& a, const rules::Step& b) { return a.phase < b.phase; });
    for (const rules::Step& step : steps) add_step(step, values);
  }

  void add_step(const rules::Step& step, const std::map<std::string, std::string>& values) {
    NextStep next{std::string(rules::to_string(step.phase)), fill(step.text, values),
                  fill_command(step.command, values), fill(step.why, values)};
    for (const NextStep& known : report_.next_steps)
      if (known.phase == next.phase && known.text == next.text) return;
    report_.next_steps.push_back(std::move(next));
  }

  /// Several ranks, or a map of them, anywhere in the evidence.
  [[nodiscard]] bool shows_ranks() const {
    std::set<std::string> ranks;
    for (const Observation& o : model_.observations) {
      if (!o.place.rank.empty()) ranks.insert(o.place.rank);
      const auto total = o.captures.find("nranks");
      if (total != o.captures.end() && total->second != "1") return true;
      if (has_tag(o, "collective-timeout")) return true;
    }
    return ranks.size() > 1;
  }

  /// A device's rule speaks of the device. Where it carried one rank of a group, the group is lost
  /// with it: its other ranks cannot take a new one in.
  void add_group_step() {
    const std::string& target = report_.quarantine.target;
    const bool device = at(*root_).class_ == "hardware" && (target == "gpu" || target == "node");
    if (!device || !shows_ranks()) return;
    report_.next_steps.push_back(
        {"contain",
         "Rebuild the whole tensor-parallel group away from the faulty device: all ranks stop and "
         "start together",
         "kubectl delete pod -l GROUP_LABEL", "one rank alone cannot rejoin its communicator"});
  }

  /// Composite rules that lift the verdict: the first that concerns the incident sets pattern,
  /// scope, domain and hold.
  void lift() {
    for (const Lift& lift : lifts_) {
      const bool concerns = std::any_of(lift.terms.begin(), lift.terms.end(), [&](std::size_t i) {
        return i == *root_ || std::find(incident_.begin(), incident_.end(), i) != incident_.end();
      });
      if (!concerns) continue;
      const rules::Overlay& set = lift.rule->when.set;
      VerdictEntry& v = report_.verdict;
      if (set.pattern && v.pattern.empty()) v.pattern = *set.pattern;
      if (set.scope) v.scope = *set.scope;
      if (set.fault_domain) v.fault_domain = *set.fault_domain;
      if (set.cause) v.cause = *set.cause;
      if (set.class_) v.class_ = *set.class_;
      if (set.title) v.title = fill(*set.title, fill_values(at(*root_)));
      if (set.quarantine)
        report_.quarantine = make_quarantine(model_, at(*root_), incident_, *set.quarantine);
      const auto values = fill_values(at(*root_));
      for (const rules::Step& step : set.next_steps) add_step(step, values);
      for (const rules::Step& step : *lift.rule->next_steps) add_step(step, values);
      for (const std::size_t i : lift.terms) add_entities(at(i));
    }
    std::stable_sort(report_.next_steps.begin(), report_.next_steps.end(),
                     [](const NextStep& a, const NextStep& b) {
                       return rules::phase_from(a.phase) < rules::phase_from(b.phase);
                     });
  }

  void add_entities(const Observation& o) {
    Entities& e = report_.verdict.entities;
    const auto add = [](std::vector<std::string>& list, const std::string& value) {
      if (!value.empty() && std::find(list.begin(), list.end(), value) == list.end() &&
          list.size() < 256)
        list.push_back(value);
    };
    add(e.nodes, o.place.node);
    add(e.pods, o.place.pod);
  }

  /// The root and what it explains, the first of each rule and place, with what each explains.
  void chain() {
    std::vector<std::size_t> members;
    std::set<std::string> seen;
    const auto add = [&](std::size_t i) {
      const Observation& o = at(i);
      const std::string key =
          fmt::format("{}|{}|{}|{}|{}", o.rule->id, o.file, o.place.rank, o.place.pci, o.cause);
      if (members.size() < k_chain_links && seen.insert(key).second) members.push_back(i);
    };
    add(*root_);
    for (const std::size_t i : incident_) add(i);
    std::map<std::size_t, std::size_t> position;
    for (std::size_t p = 0; p < members.size(); ++p) position[members[p]] = p;
    for (const std::size_t i : members) {
      const Observation& o = at(i);
      ChainLink link{o.rule->id, o.cause, std::string(rules::to_string(o.role)), cite(o), {}};
      if (const auto it = explains_.find(i); it != explains_.end())
        for (const Causality::Edge* edge : it->second)
          if (const auto p = position.find(edge->to);
              p != position.end() && p->second != position[i])
            link.explains.push_back(p->second);
      std::sort(link.explains.begin(), link.explains.end());
      report_.causal_chain.push_back(std::move(link));
    }
  }

  void others() {
    std::set<std::string> causes{report_.verdict.cause};
    std::set<std::size_t> inside(incident_.begin(), incident_.end());
    for (std::size_t p = 1; p < causality_.candidates.size() && report_.other_incidents.size() < 20;
         ++p) {
      const std::size_t i = causality_.candidates[p];
      if (inside.count(i) > 0) continue;
      const std::vector<std::size_t> members = incident_of(i);
      const std::string key =
          at(i).cause + '|' + at(i).place.node + '|' + at(i).place.pci + '|' + at(i).place.pod;
      if (!causes.insert(key).second) continue;
      report_.other_incidents.push_back(
          {verdict_of(i, members, false),
           make_quarantine(model_, at(i), members, at(i).quarantine)});
    }
  }

  void missing() {
    const auto values = fill_values(at(*root_));
    for (const rules::SettledBy& by : at(*root_).rule->settled_by) {
      if (model_.kinds.count(by.kind) > 0) continue;
      report_.missing_evidence.push_back(
          {by.what.empty() ? std::string(evidence::describe(by.kind)) : fill(by.what, values),
           fill(by.why, values), fill_command(by.command, values)});
    }
  }

  /// The rule that shouts most among what the root explains.
  std::string loudest() const {
    std::map<std::string, std::pair<std::uint64_t, std::size_t>> counts;
    std::map<std::string, std::set<std::string>> ranks;
    for (const std::size_t i : incident_) {
      auto [it, is_new] = counts.try_emplace(at(i).rule->id, std::pair{std::uint64_t{0}, i});
      it->second.first += at(i).count;
      if (!at(i).place.rank.empty()) ranks[at(i).rule->id].insert(at(i).place.rank);
    }
    const auto most = std::max_element(
        counts.begin(), counts.end(),
        [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    if (most == counts.end() || most->second.first < 2) return {};
    const Observation& o = at(most->second.second);
    const std::size_t rank_count = ranks[most->first].size();
    std::string text = rank_count > 1 ? fmt::format("{} ranks: {}", rank_count, o.title)
                                      : fmt::format("{} times: {}", most->second.first, o.title);
    const Observation& root = at(*root_);
    if (o.time && root.time && o.time->ns > root.time->ns)
      text += fmt::format(", {} later", base::format_duration_ns(o.time->ns - root.time->ns));
    return base::to_valid_utf8(redact::excerpt(text, evidence::Kind::unknown_text));
  }

  /// A GPU that answers, a container that is ready, a load that advances, requests that finish.
  static bool shows_work(const evidence::Fact& fact) {
    using evidence::Kind;
    const auto is = [&](const char* field) { return fact.get(field) == "true"; };
    switch (fact.kind) {
      case Kind::gpu_state:
        // A list of names (`nvidia-smi -L`) shows no GPU at work.
        return fact.find("memory.total") != nullptr || fact.find("memory.used") != nullptr ||
               fact.find("temperature.gpu") != nullptr || fact.find("performance_state") != nullptr;
      case Kind::pod:
        return is("ready");
      case Kind::loading:
        return is("advancing") || is("done");
      case Kind::load:
        return is("serving");
      default:
        return false;
    }
  }

  /// The first exception of a stream after which that stream shows no work any more, unless it was
  /// told to stop: whatever raised it ended the process or its start.
  struct Raised {
    const Observation* exception = nullptr;
    bool during_start = false;  ///< an engine began its start in that stream and never was at work
  };

  Raised unanswered_exception() const {
    std::map<std::uint32_t, std::uint32_t> newest_work;  // stream -> line
    std::map<std::uint32_t, std::uint32_t> told_to_stop;
    std::set<std::uint32_t> started;
    for (const Observation& o : model_.observations) {
      if (has_tag(o, "engine-serving") || has_tag(o, "engine-ready"))
        newest_work[o.file] = std::max({newest_work[o.file], o.line, o.last_line});
      if (has_tag(o, "engine-start") || has_tag(o, "load-start") || has_tag(o, "loading-progress"))
        started.insert(o.file);
      if (has_tag(o, "planned-termination")) {
        std::uint32_t& line = told_to_stop.try_emplace(o.file, o.line).first->second;
        line = std::min(line, o.line);
      }
    }
    const Observation* first = nullptr;
    for (const Observation& o : model_.observations) {
      if (!has_tag(o, "python-exception") || o.role != Role::context) continue;
      const auto work = newest_work.find(o.file);
      if (work != newest_work.end() && work->second > o.line) continue;
      const auto stop = told_to_stop.find(o.file);
      if (stop != told_to_stop.end() && stop->second < o.line) continue;
      if (first == nullptr || (o.file == first->file && o.line < first->line)) first = &o;
    }
    const bool worked = first != nullptr && newest_work.count(first->file) > 0;
    return {first, first != nullptr && !worked && started.count(first->file) > 0};
  }

  /// `EngineCore failed to start.` and the traceback under it: the exception says more.
  static bool is_wrapped(const Observation& exception, const Observation& wrapper) {
    constexpr std::uint32_t k_longest_traceback = 300;  // lines
    return has_tag(wrapper, "engine-wrapper") && exception.line > wrapper.line &&
           exception.line - wrapper.line <= k_longest_traceback;
  }

  /// Nothing is the root: a sound system, or an honest "unknown".
  void no_root() {
    VerdictEntry& v = report_.verdict;
    bool sound = false;
    const Observation* worst = nullptr;
    for (const Observation& o : model_.observations) {
      if (has_tag(o, "engine-serving") || has_tag(o, "engine-ready") ||
          has_tag(o, "container-ready") || has_tag(o, "sound"))
        sound = true;
      if (o.role == Role::symptom && o.severity >= Severity::error && !has_tag(o, "exit-signal"))
        if (worst == nullptr || (o.fatal && !worst->fatal)) worst = &o;
    }
    for (const evidence::Fact& fact : model_.facts) sound = sound || shows_work(fact);
    // A container that was killed, or that ends again and again, is no sound system while nothing
    // shows it at work.
    if (worst != nullptr || !sound)
      for (const Observation& o : model_.observations)
        if (o.role == Role::symptom && o.severity >= Severity::warning && o.fatal &&
            (worst == nullptr || !worst->fatal))
          worst = &o;
    // What raised comes before the wrappers that tell of it.
    const Raised raised = unanswered_exception();
    const Observation* exception = raised.exception;
    if (exception != nullptr &&
        (worst == nullptr || (exception->file == worst->file &&
                              (exception->line < worst->line || is_wrapped(*exception, *worst)))))
      worst = exception;
    const bool unexplained = worst != nullptr || (!sound && !model_.unmatched.empty());
    if (!unexplained && nothing_known()) {
      v.class_ = v.cause = "unknown";
      v.title = "Nothing in this is known as evidence of an inference service";
      v.severity = "info";
      v.scope = "unknown";
      v.confidence_reasons.emplace_back("no line was recognised, so nothing speaks for health");
      report_.missing_evidence.push_back(
          {"the log of the failed container", "the first error usually stands there",
           "kubectl -n NAMESPACE logs POD -c CONTAINER --previous --timestamps"});
    } else if (unexplained) {
      v.cause = "unknown";
      // What kept the engine from starting is not known, that it did not start is.
      v.class_ = raised.during_start && worst == exception ? "loading" : "unknown";
      v.title = worst != nullptr
                    ? worst->title
                    : "No known fault; some lines look like errors that no rule explains";
      v.severity = "warning";
      v.scope = "unknown";
      v.confidence_reasons.emplace_back(
          worst != nullptr ? "a symptom is in evidence, its cause is not" : "no rule matched");
      if (worst != nullptr) v.first_error = cite(*worst);
      report_.missing_evidence.push_back(
          {"the log of the container instance before the restart",
           "the first error usually stands there",
           "kubectl -n NAMESPACE logs POD -c CONTAINER --previous --timestamps"});
      report_.missing_evidence.push_back(
          {"the kernel log of the node", "a Xid or an OOM kill stands there", "dmesg -T"});
      report_.next_steps.push_back(
          {"diagnose", "Look at the unmatched error lines (coverage) and collect what is missing",
           "triage collect POD -n NAMESPACE", ""});
    } else {
      v.class_ = "none";
      v.cause = "healthy";
      v.title = "No fault in the evidence";
      v.severity = "info";
      v.scope = "local";
      v.confidence = sound ? "high" : "medium";
      v.confidence_reasons.emplace_back(
          sound ? "the evidence shows a system at work and no fault"
                : "no fault line, but nothing shows the system at work either");
    }
    report_.quarantine.reason =
        "nothing in the evidence asks for holding hardware or a worker out of service";
  }

  /// Whether the inputs hold neither a line that a rule knows nor a form that a parser knows.
  [[nodiscard]] bool nothing_known() const {
    const bool form = std::any_of(
        model_.streams.begin(), model_.streams.end(),
        [](const StreamInfo& stream) { return stream.kind != evidence::Kind::unknown_text; });
    return model_.observations.empty() && model_.facts.empty() && !form;
  }

  void timeline() {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < model_.observations.size(); ++i) {
      const Observation& o = at(i);
      const bool milestone = has_tag(o, "engine-ready") || has_tag(o, "planned-termination") ||
                             has_tag(o, "gpu-reset-done") || has_tag(o, "load-start") ||
                             has_tag(o, "load-done") || has_tag(o, "container-ready") ||
                             has_tag(o, "recovery-action");
      if (o.role != Role::context || milestone) shown.push_back(i);
    }
    std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
      const Observation& x = at(a);
      const Observation& y = at(b);
      if (x.time.has_value() != y.time.has_value()) return x.time.has_value();
      if (x.time && x.time->ns != y.time->ns) return x.time->ns < y.time->ns;
      return x.file != y.file ? x.file < y.file : x.line < y.line;
    });
    if (shown.size() > k_timeline_entries) {
      report_.warnings.push_back(fmt::format("the timeline shows the first {} of {} entries",
                                             k_timeline_entries, shown.size()));
      shown.resize(k_timeline_entries);
    }
    for (const std::size_t i : shown)
      report_.timeline.push_back({report_.observations[i].at, at(i).rule->id,
                                  std::string(rules::to_string(at(i).role)), at(i).place});
  }

  ObservationEntry entry_of(const Observation& o) const {
    ObservationEntry entry{o.rule->id,
                           o.cause,
                           o.class_,
                           std::string(rules::to_string(o.role)),
                           std::string(rules::to_string(o.severity)),
                           cite(o),
                           o.place,
                           o.count,
                           o.first_time,
                           o.last_time,
                           {}};
    for (const auto& [name, value] : o.captures)
      if (name.rfind("catalog.", 0) != 0)
        entry.captures[name] = base::shorten(
            base::to_valid_utf8(redact::excerpt(value, evidence::Kind::unknown_text)), 200);
    return entry;
  }

  /// Redacting thousands of excerpts is the longest part of a report: two threads share it.
  void observations() {
    constexpr std::size_t k_worth_a_thread = 256;
    // Where the machine gives no thread any more, this one does both halves.
    constexpr auto k_either = std::launch::async | std::launch::deferred;
    const auto& all = model_.observations;
    report_.observations.resize(all.size());
    const auto fill = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) report_.observations[i] = entry_of(all[i]);
    };
    const bool shared = jobs_ > 1 && all.size() >= k_worth_a_thread;
    const std::size_t half = shared ? all.size() / 2 : all.size();
    std::future<void> rest;
    if (shared) rest = std::async(k_either, fill, half, all.size());
    fill(0, half);
    if (shared) rest.get();
  }

  const EvidenceModel& model_;
  const Causality& causality_;
  const std::vector<Lift>& lifts_;
  const rules::RuleSet& rules_;
  int jobs_;
  std::map<std::size_t, std::vector<const Causality::Edge*>> explains_;
  std::optional<std::size_t> root_;
  std::vector<std::size_t> incident_;
  Report report_;
};

}  // namespace

Report make_report(const EvidenceModel& model, const Causality& causality,
                   const std::vector<Lift>& lifts, const rules::RuleSet& rules, int jobs) {
  return Builder(model, causality, lifts, rules, jobs).build();
}

}  // namespace triage::analysis

#include "analysis/history.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/causality.hpp"

namespace triage::analysis {
namespace {

using evidence::Kind;
using rules::Role;

/// Longer than any timeout between a fault and the last error that it brings about.
constexpr std::int64_t k_long_ago_ns = std::int64_t{3} * 3600 * 1'000'000'000;
constexpr std::int64_t k_second = 1'000'000'000;

bool is_of_object(const EvidenceModel& model, const Observation& o) {
  const Kind kind = kind_of(model, o);
  return kind == Kind::event || kind == Kind::pod || kind == Kind::scheduling;
}

void put_aside(Observation& o) {
  o.role = Role::context;
  o.set_aside = true;
}

class History {
 public:
  explicit History(EvidenceModel& model) : model_(model) {
    for (const Observation& o : model_.observations) {
      if (has_tag(o, "host-booted")) boots_.push_back(&o);
      if (o.role == Role::context) {
        if (has_tag(o, "engine-serving") || has_tag(o, "engine-ready")) work_.push_back(&o);
      } else if (o.role == Role::root || o.fatal || o.stands_alone) {
        troubles_.push_back(&o);
      }
      if (o.age) {
        const auto [it, first] = newest_age_.try_emplace(o.file, o.age->last);
        it->second = std::min(it->second, o.age->last);
      }
    }
  }

  void run() {
    std::vector<Observation*> old;
    for (Observation& o : model_.observations)
      if ((o.role == Role::root || (o.role == Role::symptom && o.stands_alone)) && passes(o) &&
          (o.time ? is_alone(o) && is_followed(o) : is_old_in_its_table(o)))
        old.push_back(&o);
    for (Observation* o : old) put_aside(*o);
  }

 private:
  /// When it was, at the earliest: an age counts from the printing of its table, which came after
  /// everything else.
  [[nodiscard]] std::optional<evidence::Time> moment(const Observation& o) const {
    if (o.time || !o.age || !model_.end) return o.time;
    return evidence::Time{model_.end->ns - o.age->first * k_second, model_.end->uncertainty_ns};
  }

  static std::int64_t end_of(const evidence::Time& last) {
    return last.ns + std::min(last.uncertainty_ns, k_long_ago_ns);
  }

  static bool long_after(const std::optional<evidence::Time>& later,
                         const std::optional<evidence::Time>& last) {
    return later && last &&
           later->ns - std::min(later->uncertainty_ns, k_long_ago_ns) - end_of(*last) >
               k_long_ago_ns;
  }

  static const std::optional<evidence::Time>& last_of(const Observation& o) {
    return o.last_time ? o.last_time : o.time;
  }

  /// Whether such a fault is over with the process, the pod, the moment or the boot that it hit.
  [[nodiscard]] bool passes(const Observation& o) const {
    const bool object = is_of_object(model_, o);
    const bool kernel = o.fact < 0 && is_kernel_line(o);
    if (o.class_ == "host-oom") return object || kernel;
    if (o.class_ == "hardware") return kernel && is_over_by_boot(o);
    if (o.class_ == "cuda-fault" || o.class_ == "distributed") return kernel;
    return object && (o.class_ == "scheduling" || o.class_ == "loading" ||
                      o.class_ == "health-probe" || o.class_ == "runtime");
  }

  /// Whether the node booted since and nothing that was seen after that speaks of its devices.
  [[nodiscard]] bool is_over_by_boot(const Observation& o) const {
    const Observation last = analysis::last_of(o);
    return std::any_of(boots_.begin(), boots_.end(), [&](const Observation* boot) {
      // Equal banners of several boots are one observation: its last line counts.
      const Observation newest = analysis::last_of(*boot);
      if (order_of(last, newest) != Ordering::before ||
          !agrees(o.place, boot->place, rules::Same::node))
        return false;
      return std::none_of(troubles_.begin(), troubles_.end(), [&](const Observation* t) {
        return t->class_ == "hardware" &&
               order_of(analysis::last_of(*t), newest) != Ordering::before;
      });
    });
  }

  /// Whether no other file tells of trouble in the hours around it.
  [[nodiscard]] bool is_alone(const Observation& o) const {
    return std::none_of(troubles_.begin(), troubles_.end(), [&](const Observation* other) {
      return other->file != o.file && !long_after(moment(*other), last_of(o)) &&
             !long_after(o.time, last_of(*other));
    });
  }

  /// Whether long after it something else broke, or an engine that started long after it works.
  [[nodiscard]] bool is_followed(const Observation& o) const {
    const bool broke = std::any_of(troubles_.begin(), troubles_.end(), [&](const Observation* t) {
      return t->rule != o.rule && t->class_ != "hardware" && long_after(moment(*t), last_of(o));
    });
    return broke || std::any_of(work_.begin(), work_.end(), [&](const Observation* w) {
             return w->fact < 0 && long_after(model_.streams[w->file].first_time, last_of(o));
           });
  }

  /// Whether its table goes on for hours after it, and there is other trouble.
  [[nodiscard]] bool is_old_in_its_table(const Observation& o) const {
    constexpr std::int64_t k_long_ago = k_long_ago_ns / k_second;
    if (!o.age || o.age->last - newest_age_.at(o.file) <= k_long_ago) return false;
    return std::any_of(troubles_.begin(), troubles_.end(), [&](const Observation* t) {
      return t->rule != o.rule &&
             (t->file != o.file || (t->age && o.age->last - t->age->first > k_long_ago));
    });
  }

  EvidenceModel& model_;
  std::map<std::uint32_t, std::int64_t> newest_age_;  ///< seconds, by file
  std::vector<const Observation*> troubles_;
  std::vector<const Observation*> work_;
  std::vector<const Observation*> boots_;
};

/// Namespaces of the pods that the evidence is about: those whose logs it holds, else those of the
/// files that show pods of one namespace only. Empty: it does not say.
std::set<std::string> own_namespaces(const EvidenceModel& model) {
  std::set<std::string> own;
  for (const StreamInfo& stream : model.streams)
    if (stream.kind == Kind::container_log && !stream.place.name_space.empty())
      own.insert(stream.place.name_space);
  if (!own.empty()) return own;
  std::map<std::uint32_t, std::set<std::string>> by_file;
  std::set<std::string> pods;  // of tables that do not name their namespace
  for (const evidence::Fact& fact : model.facts) {
    if (fact.kind != Kind::pod && fact.kind != Kind::model && fact.kind != Kind::workload) continue;
    if (!fact.place.name_space.empty())
      by_file[fact.file].insert(fact.place.name_space);
    else if (fact.kind == Kind::pod)
      pods.insert(fact.place.pod);
  }
  for (const auto& [file, names] : by_file)
    if (names.size() == 1) own.insert(*names.begin());
  for (const evidence::Fact& fact : model.facts)
    if (fact.kind == Kind::event && !fact.place.pod.empty() && pods.count(fact.place.pod) > 0 &&
        !fact.place.name_space.empty())
      own.insert(fact.place.name_space);
  return own;
}

/// Where the components run that every pod with a GPU depends on.
bool serves_all(const std::string& name_space) {
  return name_space == "kube-system" || name_space == "default" ||
         name_space.find("gpu") != std::string::npos ||
         name_space.find("nvidia") != std::string::npos ||
         name_space.find("amd") != std::string::npos;
}

}  // namespace

void set_history_aside(EvidenceModel& model) {
  History(model).run();
}

void set_strangers_aside(EvidenceModel& model) {
  const std::set<std::string> own = own_namespaces(model);
  if (own.empty()) return;
  for (Observation& o : model.observations) {
    const std::string& name_space = o.place.name_space;
    if (name_space.empty() || own.count(name_space) > 0 || serves_all(name_space)) continue;
    if (is_of_object(model, o) && o.class_ != "hardware") put_aside(o);
  }
}

}  // namespace triage::analysis

#include "analysis/history.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/causality.hpp"

namespace triage::analysis {
namespace {

using evidence::Kind;
using rules::Role;
using rules::Severity;

/// Longer than any timeout between a fault and the last error that it brings about.
constexpr std::int64_t k_long_ago_ns = std::int64_t{6} * 3600 * 1'000'000'000;

std::int64_t end_of(const Observation& o) {
  const evidence::Time& last = o.last_time ? *o.last_time : *o.time;
  return last.ns + std::min(last.uncertainty_ns, k_long_ago_ns);
}

bool long_after(const evidence::Time& later, const Observation& o) {
  return later.ns - std::min(later.uncertainty_ns, k_long_ago_ns) - end_of(o) > k_long_ago_ns;
}

class History {
 public:
  explicit History(EvidenceModel& model) : model_(model) {
    for (const Observation& o : model_.observations) {
      if (o.role == Role::context) {
        if (shows_work(o)) work_.push_back(&o);
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
      if (o.role == Role::root && passes(o) &&
          (o.time ? is_alone(o) && is_followed(o) : is_old_in_its_table(o)))
        old.push_back(&o);
    for (Observation* o : old) o->role = Role::context;
  }

 private:
  [[nodiscard]] Kind kind_of(const Observation& o) const {
    return o.fact >= 0 ? model_.facts[static_cast<std::size_t>(o.fact)].kind
                       : model_.files[o.file].kind;
  }

  static bool shows_work(const Observation& o) {
    return std::any_of(o.tags.begin(), o.tags.end(), [](const std::string& tag) {
      return tag == "engine-serving" || tag == "engine-ready";
    });
  }

  /// Whether such a fault is over with the process, the pod or the moment that it hit.
  [[nodiscard]] bool passes(const Observation& o) const {
    const Kind kind = kind_of(o);
    const bool object = kind == Kind::event || kind == Kind::pod;
    const bool kernel = o.fact < 0 && is_kernel_line(o);
    if (o.class_ == "host-oom") return object || kernel;
    if (o.class_ == "cuda-fault" || o.class_ == "distributed") return kernel;
    return object && (o.class_ == "scheduling" || o.class_ == "loading" ||
                      o.class_ == "health-probe" || o.class_ == "runtime");
  }

  /// Whether no other file tells of trouble in the hours around it.
  [[nodiscard]] bool is_alone(const Observation& o) const {
    return std::none_of(troubles_.begin(), troubles_.end(), [&](const Observation* other) {
      return other->file != o.file && !(other->time && long_after(*other->time, o)) &&
             !(other->time && other->last_time && long_after(*o.time, *other));
    });
  }

  /// Whether long after it something else broke, or an engine that started long after it works.
  [[nodiscard]] bool is_followed(const Observation& o) const {
    const bool broke = std::any_of(troubles_.begin(), troubles_.end(), [&](const Observation* t) {
      return t->time && t->rule != o.rule && long_after(*t->time, o);
    });
    return broke || std::any_of(work_.begin(), work_.end(), [&](const Observation* w) {
             const auto& begin = model_.streams[w->file].first_time;
             return begin && w->fact < 0 && long_after(*begin, o);
           });
  }

  /// Whether its table goes on for hours after it, and there is other trouble.
  [[nodiscard]] bool is_old_in_its_table(const Observation& o) const {
    constexpr std::int64_t k_second = 1'000'000'000;
    if (!o.age || o.age->last - newest_age_.at(o.file) <= k_long_ago_ns / k_second) return false;
    return std::any_of(troubles_.begin(), troubles_.end(), [&](const Observation* t) {
      return t->rule != o.rule && (t->file != o.file || (t->age && o.age->last - t->age->first >
                                                                       k_long_ago_ns / k_second));
    });
  }

  EvidenceModel& model_;
  std::map<std::uint32_t, std::int64_t> newest_age_;  ///< seconds, by file
  std::vector<const Observation*> troubles_;
  std::vector<const Observation*> work_;
};

}  // namespace

void set_history_aside(EvidenceModel& model) {
  History(model).run();
}

}  // namespace triage::analysis

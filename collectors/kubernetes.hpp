#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "collectors/cluster.hpp"
#include "collectors/host.hpp"
#include "collectors/plan.hpp"
#include "collectors/session.hpp"

namespace triage::collectors {

/// How long a small question to the API may take.
inline constexpr std::chrono::milliseconds k_short{15'000};
/// Of JSON that is looked at for discovery, in bytes.
inline constexpr std::size_t k_objects = 64U << 20U;

/// False when the list holds the value already.
template <class T>
bool add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) != list.end()) return false;
  list.push_back(value);
  return true;
}

/// The Kubernetes side: finds what the request means and adds the plan's items for it.
class Kubernetes {
 public:
  Kubernetes(Session& session, const Plan& plan, HostSide& hosts);

  /// Does the API answer, and what are the targets? A problem means that nothing can be had.
  [[nodiscard]] base::Status resolve();
  /// Puts the jobs for all targets into the queue; more follow as objects are read.
  void add_jobs();

  /// Deletes the debug pods that this run made, whatever became of the run. Gives a note for each
  /// that is still there.
  [[nodiscard]] std::vector<std::string> clean_up();

 private:
  struct Answer {
    std::string text;
    Failure failure;
    [[nodiscard]] bool ok() const { return failure.status == "ok"; }
  };
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& words,
                                                 std::chrono::milliseconds deadline) const;
  [[nodiscard]] Answer get(const std::vector<std::string>& words,
                           std::chrono::milliseconds deadline);
  [[nodiscard]] base::Status check_api();
  /// Names the context and, where none was asked for, its namespace.
  void find_context();
  void add_pods_by_selector(const std::string& selector, const std::string& what);
  void add_named(const std::string& name);
  void add_workload(const std::string& kind, const std::string& name);
  void add_groups();
  void add_pod(Pod pod);
  void add_pods_of_nodes();
  void note_missing(const std::string& what, const Failure& failure);

  [[nodiscard]] Values values_of(const Pod& pod) const;
  [[nodiscard]] Job job_for(const PlanItem& item, const Values& values) const;
  void add_item(const PlanItem& item);
  void add_newest_lines(Job& job);
  void add_rotated(const PlanItem& item, const Pod& pod, const Container& container);
  void add_engines(const PlanItem& item);
  void try_port(const PlanItem& item, const Pod& pod, const Container& container,
                std::vector<int> ports, std::size_t at);
  void engine_found(const PlanItem& first, const Pod& pod, const Container& container, int port);
  void add_owners(const PlanItem& item);
  void add_owner(const PlanItem& item, const std::string& name_space, const Owner& owner,
                 int depth);
  void on_node_pods(const std::string& node, const Result& result);
  /// Makes a debug pod on the node and enters it; false, with the reason, when that fails.
  bool enter_by_debug_pod(const std::string& node, const std::vector<Pod>& pods,
                          std::string& reason);
  void add_gpu_daemons(const std::string& node, const std::vector<Pod>& pods);
  [[nodiscard]] bool wanted(const PlanItem& item) const {
    return item.tier <= session_.request().tier;
  }

  Session& session_;
  const Plan& plan_;
  HostSide& hosts_;
  std::string name_space_;
  std::vector<Pod> pods_;
  std::vector<std::string> nodes_;  ///< of the pods and those asked for
  std::vector<std::string> name_spaces_;
  std::mutex mutex_;
  std::vector<std::string> owners_seen_;
  std::vector<std::string> debug_pods_;   ///< made by this run, to be deleted by it
  std::vector<std::string> debug_notes_;  ///< of pods that may be left
};

}  // namespace triage::collectors

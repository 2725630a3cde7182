// The pods that run on a target's node: whose logs tell of its GPUs, and by which its inside is
// reached.

#include <algorithm>
#include <thread>

#include "base/text.hpp"
#include "collectors/commands.hpp"
#include "collectors/kubernetes.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

void Kubernetes::on_node_pods(const std::string& node, const Result& result) {
  std::vector<Pod> pods;
  if (result.row.status == "ok") {
    pods = parse_pods(result.raw);
  } else {
    // Who may not list all pods may still see where the GPU stack lives.
    for (const char* name :
         {"gpu-operator", "nvidia-gpu-operator", "kube-amd-gpu", "kube-system"}) {
      if (session_.over()) break;
      const Answer answer = get({"kubectl", "-n", name, "get", "pods", "--field-selector",
                                 "spec.nodeName=" + node, "-o", "json"},
                                k_short);
      if (!answer.ok()) continue;
      for (auto& pod : parse_pods(answer.text)) pods.push_back(std::move(pod));
    }
  }
  add_gpu_daemons(node, pods);

  std::vector<Pod> mine;
  for (const Pod& pod : pods_)
    if (pod.node == node) mine.push_back(pod);
  if (!session_.request().exec) return hosts_.add_unreachable(node, "entering pods was turned off");
  const Pod* best = nullptr;
  int rank = 0;
  for (const Pod& pod : pods) {
    const auto daemon = gpu_daemon(pod);
    if (!daemon || daemon->exec_rank == 0 || pod.phase != "Running") continue;
    if (best == nullptr || daemon->exec_rank < rank) {
      best = &pod;
      rank = daemon->exec_rank;
    }
  }
  if (best == nullptr) {
    std::string reason =
        pods.empty()
            ? "the pods on the node could not be listed, so none could be entered; run triage "
              "collect --local on it"
            : "no driver, device plugin or DCGM pod runs on the node; use --debug-node, or run "
              "triage collect --local on it";
    if (session_.request().debug_node && enter_by_debug_pod(node, mine, reason)) return;
    return hosts_.add_unreachable(node, reason);
  }
  const auto daemon = gpu_daemon(*best);
  std::string container;
  for (const Container& candidate : best->containers) {
    if (candidate.init) continue;
    const bool named =
        !daemon->exec_container.empty() &&
        candidate.name.compare(0, daemon->exec_container.size(), daemon->exec_container) == 0;
    if (container.empty() || named) container = candidate.name;
    if (named) break;
  }
  Channel channel;
  channel.node = node;
  channel.prefix = enter_pod(session_.request(), best->name_space, best->name, container);
  hosts_.add_node(channel, mine);
}

bool Kubernetes::enter_by_debug_pod(const std::string& node, const std::vector<Pod>& pods,
                                    std::string& reason) {
  std::string said;
  constexpr milliseconds k_make{20'000};
  constexpr std::size_t k_words = 64 * 1024;
  // Not to be cancelled: a pod whose name was not read could not be deleted.
  base::Command making;
  making.argv = make_debug_pod(session_.request(), name_space_, node);
  making.deadline = k_make;
  const auto made = base::run(making, [&](std::string_view piece) {
    said.append(piece.substr(0, k_words - std::min(k_words, said.size())));
    return true;
  });
  said += made.error_text;
  const auto failure = read_failure(made, {});
  const auto at = said.find("node-debugger-");
  if (failure.status != "ok" || at == std::string::npos) {
    reason = "the debug pod could not be made: " + failure.reason;
    if (failure.status == "timeout") {
      const std::lock_guard lock(mutex_);
      debug_notes_.push_back("a debug pod may be left on " + session_.shown_host(node) +
                             ": look for node-debugger- in kubectl get pods -n " + name_space_);
    }
    return false;
  }
  const std::string name =
      said.substr(at, said.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.", at) - at);
  {
    const std::lock_guard lock(mutex_);
    debug_pods_.push_back(name);
  }
  constexpr int k_tries = 30;
  bool running = false;
  for (int i = 0; i < k_tries && !running && !session_.over(); ++i) {
    const Answer answer =
        get({"kubectl", "-n", name_space_, "get", "pod", name, "-o", "jsonpath={.status.phase}"},
            k_short);
    running = answer.ok() && answer.text == "Running";
    if (!running) std::this_thread::sleep_for(seconds{1});
  }
  if (!running) {
    reason = "the debug pod did not start in " + std::to_string(k_tries) + " s";
    return false;
  }
  Channel channel;
  channel.node = node;
  channel.prefix = enter_debug_pod(session_.request(), name_space_, name);
  hosts_.add_node(channel, pods);
  return true;
}

std::vector<std::string> Kubernetes::clean_up() {
  std::vector<std::string> notes = std::move(debug_notes_);
  for (const auto& name : debug_pods_) {
    base::Command removal;
    removal.argv = delete_debug_pod(session_.request(), name_space_, name);
    removal.deadline = k_short;
    // Not to be cancelled: what this run made, it removes.
    if (!base::run(removal, [](std::string_view) { return true; }).ok())
      notes.push_back("the debug pod is still there; delete it with: " +
                      base::shell_words(removal.argv));
  }
  debug_pods_.clear();
  return notes;
}

void Kubernetes::add_gpu_daemons(const std::string& node, const std::vector<Pod>& pods) {
  for (const PlanItem& item : plan_.items) {
    if (item.scope != Scope::gpu_pod || !wanted(item)) continue;
    for (const Pod& pod : pods) {
      const auto daemon = gpu_daemon(pod);
      if (!daemon) continue;
      for (const Container& container : pod.containers) {
        Values values = values_of(pod);
        values["container"] = container.name;
        values["node"] = node;
        Job job = job_for(item, values);
        job.role = daemon->role;
        session_.add(std::move(job));
      }
    }
  }
}

}  // namespace triage::collectors

#include <map>
#include <set>
#include <string>

#include "analysis/derive/derivers.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {
namespace {

using evidence::Fact;

/// One pod, from all facts that speak of it.
struct Pod {
  std::string node, revision;
  bool ready = false, unready = false, failed = false;
  const Fact* shown = nullptr;  ///< a fact that says that it failed, else any
};

bool failed_container(const Fact& fact) {
  const std::string waiting = fact.get("waiting.reason");
  if (waiting == "CrashLoopBackOff" || waiting == "RunContainerError" ||
      waiting == "CreateContainerError" || waiting == "ImagePullBackOff" ||
      waiting == "ErrImagePull" || waiting == "CreateContainerConfigError")
    return true;
  const auto nonzero = [&](const char* field) {
    const auto code = base::parse_int(fact.get(field));
    return code && *code != 0 && *code != 143;
  };
  if (nonzero("terminated.exit_code") || fact.get("terminated.reason") == "Error" ||
      fact.get("terminated.reason") == "OOMKilled")
    return true;
  if (fact.get("phase") == "Failed") return true;
  // A container that has been ready again since its last end is no failed replica; one that is
  // still not ready after a restart is.
  const auto restarts = base::parse_int(fact.get("restart_count"));
  return restarts && *restarts > 0 && fact.get("ready") == "false" &&
         (fact.find("last.exit_code") == nullptr || nonzero("last.exit_code"));
}

void learn(Pod& pod, const Fact& fact) {
  if (pod.node.empty()) pod.node = fact.place.node;
  if (pod.revision.empty()) pod.revision = fact.place.revision;
  if (fact.get("init") != "true") {
    if (fact.get("ready") == "true") pod.ready = true;
    if (fact.get("ready") == "false") pod.unready = true;
  }
  if (fact.get("condition.Ready") == "true") pod.ready = true;
  if (fact.get("condition.Ready") == "false") pod.unready = true;
  const bool failed = failed_container(fact);
  if (pod.shown == nullptr || (failed && !pod.failed)) pod.shown = &fact;
  pod.failed = pod.failed || failed;
}

void emit(const std::string& workload, const std::map<std::string, Pod>& pods,
          const evidence::FactSink& sink) {
  int ready = 0;
  int failed = 0;
  std::set<std::string> nodes, failed_nodes, revisions, failed_revisions;
  const Fact* shown = nullptr;
  for (const auto& [name, pod] : pods) {
    if (!pod.node.empty()) nodes.insert(pod.node);
    if (!pod.revision.empty()) revisions.insert(pod.revision);
    if (pod.ready && !pod.unready) ++ready;
    if (!pod.failed) continue;
    ++failed;
    if (!pod.node.empty()) failed_nodes.insert(pod.node);
    failed_revisions.insert(pod.revision);
    if (shown == nullptr) shown = pod.shown;
  }
  if (shown == nullptr) shown = pods.begin()->second.shown;
  Fact fact;
  fact.kind = evidence::Kind::replicas;
  fact.file = shown->file;
  fact.line = shown->line;
  fact.place.name_space = shown->place.name_space;
  fact.place.workload = workload;
  const auto set = [&](const std::string& field, const std::string& value) {
    fact.set(field, value, shown->line);
  };
  set("workload", workload);
  if (!fact.place.name_space.empty()) set("namespace", fact.place.name_space);
  set("total", std::to_string(pods.size()));
  set("ready", std::to_string(ready));
  set("failed", std::to_string(failed));
  set("failed_nodes", std::to_string(failed_nodes.size()));
  set("nodes", std::to_string(nodes.size()));
  set("revisions", std::to_string(revisions.size()));
  if (failed_revisions.size() == 1 && !failed_revisions.begin()->empty()) {
    const std::string& revision = *failed_revisions.begin();
    int of_revision = 0;
    int other_ready = 0;
    for (const auto& [name, pod] : pods) {
      if (pod.revision == revision)
        ++of_revision;
      else if (pod.ready && !pod.unready)
        ++other_ready;
    }
    set("revision", revision);
    set("revision_failed", std::to_string(failed));
    set("revision_total", std::to_string(of_revision));
    set("other_revision_ready", std::to_string(other_ready));
    fact.place.revision = revision;
  }
  sink(std::move(fact));
}

}  // namespace

void derive_replicas(const Evidence& evidence, const evidence::FactSink& sink) {
  std::map<std::string, std::map<std::string, Pod>> workloads;
  for (const Fact& fact : evidence.facts) {
    if (fact.kind != evidence::Kind::pod || fact.place.workload.empty() || fact.place.pod.empty())
      continue;
    // Names only (a node's pod list) say nothing of its state.
    if (fact.find("phase") == nullptr && fact.find("container") == nullptr &&
        fact.find("table.status") == nullptr)
      continue;
    learn(workloads[fact.place.workload][fact.place.pod], fact);
  }
  for (const auto& [workload, pods] : workloads) emit(workload, pods, sink);
}

}  // namespace triage::analysis::derive

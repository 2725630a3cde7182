#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace triage::analysis::derive {

/// One clause of a scheduler's message: `3 node(s) had untolerated taint {sku: gpu}`.
struct SchedulerClause {
  std::string kind;    ///< name below `clauses.` of the scheduling facts, or `control-plane`
  std::string detail;  ///< resource or taint key and value
  int nodes = 0;       ///< 0: the message does not count
};

struct SchedulerMessage {
  int nodes = 0;
  std::vector<SchedulerClause> clauses;
  [[nodiscard]] const SchedulerClause* find(std::string_view kind) const;
};

/// `0/7 nodes are available: 3 node(s) had untolerated taint {...}, 4 Insufficient nvidia.com/gpu.
/// preemption: ...` of kube-scheduler, Volcano and others; the part behind `preemption:` repeats
/// the nodes and is left out.
[[nodiscard]] SchedulerMessage read_scheduler_message(std::string_view message);

/// What a taint stands for: `node-pressure`, `node-not-ready`, `unschedulable`, `control-plane`, or
/// `untolerated-taint` for one that keeps pods off on purpose.
[[nodiscard]] std::string taint_kind(std::string_view key);
/// A taint that marks a pool of accelerators, by its key or value.
[[nodiscard]] bool is_gpu_taint(std::string_view key_and_value);

/// The clause that decides where nothing is known of the nodes. The scheduler reports each node's
/// first failing filter, in the order unschedulable, taint, affinity, resources, volumes, spread: a
/// node named by a late filter has passed the earlier ones.
[[nodiscard]] std::string deciding_clause(const SchedulerMessage& message);

}  // namespace triage::analysis::derive

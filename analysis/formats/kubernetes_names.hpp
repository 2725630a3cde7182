#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evidence/place.hpp"

/// What the four Kubernetes parsers share: quantities, resource names, and the naming habits of
/// controllers.
namespace triage::analysis::formats {

/// `96Gi`, `500m`, `1e3`, `128M` as a plain decimal in base units (bytes, cores, pieces). Text that
/// is no quantity is returned as it is.
[[nodiscard]] std::string quantity(std::string_view text);

/// A resource that stands for a GPU or a part of one: `nvidia.com/gpu`, `nvidia.com/mig-1g.10gb`
/// (MIG names hold no "gpu"), `amd.com/gpu`, `gpu.intel.com/i915`, `habana.ai/gaudi`.
[[nodiscard]] bool is_gpu_resource(std::string_view name);
[[nodiscard]] bool is_mig_resource(std::string_view name);

struct Owner {
  std::string workload;
  std::string revision;
};

/// Workload and revision from a pod's name, when it has the form that a controller gives it:
/// `chat-7c4d9f6b58-b2hzl` (Deployment), `vllm-0` (StatefulSet), `group-0-1` (LeaderWorkerSet).
[[nodiscard]] Owner owner_from_pod_name(std::string_view pod);
/// Workload and revision from the name of a ReplicaSet; the whole name as workload for other kinds.
[[nodiscard]] Owner owner_from_object(std::string_view kind, std::string_view name);

/// Fills node, namespace, pod, workload from an event's object. `field_path` names the container
/// (`spec.containers{vllm}`).
void place_event_object(evidence::Place& place, std::string_view kind, std::string_view name,
                        std::string_view name_space, std::string_view field_path);
/// What an event's message alone tells: the node of `Successfully assigned NS/POD to NODE`, the
/// container of `Container X failed liveness probe`.
void place_event_message(evidence::Place& place, std::string_view reason, std::string_view message);

/// `Completed`, `OOMKilled` ... and conditions' `True`, `False`, `Unknown` as `true`, `false`,
/// `unknown`.
[[nodiscard]] std::string condition_status(std::string_view status);

/// Whether a condition speaks of trouble: a state that ought to be true is not (`Ready`,
/// `PodScheduled`, `Available`), or one that ought to be false is (`DiskPressure`,
/// `XidCriticalError`, `DisruptionTarget`). Sound conditions' messages are no evidence of a fault.
[[nodiscard]] bool is_bad_condition(std::string_view type, std::string_view status);

}  // namespace triage::analysis::formats

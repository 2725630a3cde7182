#include "analysis/neighbours.hpp"

#include <algorithm>

#include "analysis/causality.hpp"
#include "analysis/formats/kubernetes_names.hpp"
#include "evidence/fact.hpp"

namespace triage::analysis {
namespace {

using evidence::Fact;
using evidence::Kind;

bool names_gpu(const Fact& fact) {
  return std::any_of(fact.fields.begin(), fact.fields.end(), [](const auto& field) {
    const std::string& name = field.first;
    const std::size_t dot = name.find('.');
    const std::string stem = name.substr(0, dot == std::string::npos ? 0 : dot);
    return (stem == "limits" || stem == "requests") &&
           formats::is_gpu_resource(name.substr(dot + 1));
  });
}

/// What a process reports of itself or of its GPU: no pod beside it brings that about.
bool is_own_fault(const std::string& class_) {
  return class_ == "cuda-fault" || class_ == "gpu-oom" || class_ == "loading" ||
         class_ == "runtime" || class_ == "capacity" || class_ == "hardware";
}

/// A process that refuses what it was asked for says why: no crash or kill of another process,
/// which the kernel tells of, made it refuse.
bool is_other_process(const Observation& trouble, const Observation& fault) {
  const bool of_a_process = trouble.class_ == "cuda-fault" || trouble.class_ == "host-oom";
  const bool refusal = fault.fault_domain == "config" &&
                       (fault.class_ == "loading" || fault.class_ == "gpu-oom" ||
                        fault.class_ == "capacity" || fault.cause == "nccl-duplicate-gpu");
  if (!of_a_process || !refusal || !is_kernel_line(trouble) || is_kernel_line(fault)) return false;
  return trouble.place.pid.empty() || trouble.place.pid != fault.place.pid;
}

}  // namespace

Neighbours::Neighbours(const EvidenceModel& model) : model_(model) {
  for (const StreamInfo& stream : model.streams)
    if (stream.kind == Kind::container_log && !stream.place.pod.empty())
      with_log_.insert(stream.place.pod);
  for (const Fact& fact : model.facts) {
    if (fact.kind != Kind::pod || fact.place.pod.empty() || fact.find("image") == nullptr) continue;
    bool& asks = asks_gpu_.try_emplace(fact.place.pod, false).first->second;
    asks = asks || names_gpu(fact);
  }
}

bool Neighbours::is_elsewhere(const Observation& trouble, const Observation& fault) const {
  if (fault.fact >= 0) return false;
  if (trouble.fact < 0) return is_other_process(trouble, fault);
  if (trouble.place.pod.empty()) return false;
  const Kind kind = model_.facts[static_cast<std::size_t>(trouble.fact)].kind;
  if (kind != Kind::event && kind != Kind::pod) return false;
  if (fault.place.pod == trouble.place.pod || with_log_.count(trouble.place.pod) > 0) return false;
  if (fault.severity < rules::Severity::error || !is_own_fault(fault.class_)) return false;
  if (trouble.class_ == "host-oom") {
    const auto known = asks_gpu_.find(trouble.place.pod);
    return known != asks_gpu_.end() && !known->second;
  }
  return (trouble.class_ == "scheduling" || trouble.class_ == "loading") &&
         !class_brings_about(trouble.class_, fault.class_);
}

}  // namespace triage::analysis

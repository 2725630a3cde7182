#pragma once

#include <map>
#include <string>

#include "evidence/place.hpp"

namespace triage::analysis {

/// The device, pod, container and node that a rule's captures name.
[[nodiscard]] inline evidence::Place named_place(
    const std::map<std::string, std::string>& captures) {
  const auto get = [&](const char* name) {
    const auto it = captures.find(name);
    return it == captures.end() ? std::string() : it->second;
  };
  evidence::Place place;
  place.pci = evidence::normalise_pci(get("pci"));
  place.gpu_uuid = evidence::normalise_gpu_uuid(get("gpu_uuid"));
  place.gpu_index = get("gpu_index");
  place.container = get("container");
  place.node = get("node");
  place.pod = get("pod");
  return place;
}

}  // namespace triage::analysis

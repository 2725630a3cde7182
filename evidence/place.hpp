#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace triage::evidence {

/// `dddd:bb:dd.f` in lower case from any source's form (`0000:3b:00`, `00000000:A1:00.0`,
/// `GPU0000:A1:00.0`, `3b:00.0`); a missing function is `.0`, a missing domain `0000`. Empty when
/// it is no PCI address.
[[nodiscard]] std::string normalise_pci(std::string_view text);

/// `GPU-` or `MIG-` and a UUID, in lower case behind the prefix. Empty when it is none.
[[nodiscard]] std::string normalise_gpu_uuid(std::string_view text);

/// Where something was seen. Empty means that the evidence does not say; an unsaid part agrees with
/// any other.
struct Place {
  std::string node;
  std::string name_space;  ///< Kubernetes namespace
  std::string pod;
  std::string container;
  std::string
      pid;  ///< of the process the line speaks of; host or container PID namespace, as printed
  std::string gpu_uuid;  ///< normalise_gpu_uuid
  std::string pci;       ///< normalise_pci
  std::string gpu_index;
  std::string rank;
  std::string workload;  ///< owner of the pod
  std::string revision;  ///< pod-template-hash or controller revision

  bool operator==(const Place&) const = default;
  /// Takes every part of `other` that is empty here.
  void fill_from(const Place& other);
};

}  // namespace triage::evidence

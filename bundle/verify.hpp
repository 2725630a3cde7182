#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bundle/manifest.hpp"

/// Is a bundle what its maker packed? Digests of all members against `SHA256SUMS` and the manifest,
/// the layout, and that nothing is missing or too much. Whether secrets are left in it is for
/// redaction to say.
namespace triage::bundle {

struct Finding {
  std::string path;  ///< in the bundle, empty for the whole of it
  std::string message;
};

struct Verification {
  Manifest manifest;
  std::vector<Finding> findings;  ///< empty: sound
  std::uint64_t members = 0;
  std::uint64_t bytes = 0;              ///< of the members, expanded
  bool archive_digest_checked = false;  ///< a `<bundle>.sha256` lay beside it
};

/// A bundle's archive, or the directory it unpacks to. A problem means that it is no triage bundle
/// or cannot be read at all.
[[nodiscard]] base::Result<Verification> verify_bundle(const std::string& path);

}  // namespace triage::bundle

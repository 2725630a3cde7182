#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bundle/manifest.hpp"
#include "evidence/kind.hpp"

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

/// Sees the bytes of every member: redaction looks for what was left in them.
class MemberInspector {
 public:
  virtual ~MemberInspector() = default;
  virtual void begin(const std::string& path, evidence::Kind kind) = 0;
  virtual void feed(std::string_view bytes) = 0;
  virtual void end() = 0;
};

/// A bundle's archive, or the directory it unpacks to. A problem means that it is no triage bundle
/// or cannot be read at all.
[[nodiscard]] base::Result<Verification> verify_bundle(const std::string& path,
                                                       MemberInspector* inspector = nullptr);

}  // namespace triage::bundle

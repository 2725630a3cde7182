#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "bundle/manifest.hpp"
#include "bundle/spool.hpp"

/// Makes the archive of a spool directory: manifest first, members sorted, `SHA256SUMS` last; no
/// links, modes 0600 and 0700, owner 0, no names of users, one time for all members: the same spool
/// gives the same bytes. Written under a temporary name beside the target and renamed, so that a
/// bundle that is there is whole.
namespace triage::bundle {

struct WriteOptions {
  std::string output;       ///< `.tar.zst` packs with zstd, anything else with gzip
  std::string top;          ///< top directory in the archive
  std::int64_t time_s = 0;  ///< modification time of all members, seconds since 1970
};

struct Written {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t members = 0;
  std::string sha256;           ///< of the archive; also in `<path>.sha256`
  std::string sidecar_problem;  ///< why there is no `<path>.sha256`; the bundle itself is whole
};

[[nodiscard]] base::Result<Written> write_bundle(const Spool& spool, const WriteOptions& options);

}  // namespace triage::bundle

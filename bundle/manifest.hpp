#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evidence/kind.hpp"
#include "evidence/place.hpp"

/// `manifest.json`, the first member of a bundle: one row for every wanted piece of evidence,
/// present or not, and what is known of nodes and clocks.
namespace triage::bundle {

inline constexpr std::string_view k_manifest_format = "triage-bundle";
inline constexpr int k_manifest_version = 1;

/// What a cap cut out of a stream, in bytes.
struct Cut {
  std::uint64_t head = 0;     ///< kept from the beginning
  std::uint64_t tail = 0;     ///< kept from the end
  std::uint64_t dropped = 0;  ///< between them
};

struct ManifestItem {
  std::string id;  ///< of the plan's item
  evidence::Kind kind = evidence::Kind::unknown_text;
  std::string path;  ///< in the bundle; empty when there is none
  evidence::Place place;
  std::vector<std::string> argv;
  std::string url;
  std::string status = "missing";  ///< ok empty missing denied timeout error skipped
  std::string reason;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string started_at;  ///< RFC 3339
  std::int64_t duration_ms = 0;
  std::uint64_t bytes_seen = 0;
  std::uint64_t bytes_kept = 0;
  std::optional<Cut> cut;
  std::string encoding;     ///< ascii, utf-8, unknown-8bit
  std::string time_format;  ///< of the lines: rfc3339, monotonic (seconds since boot); else empty
  std::string time_first;   ///< of the first and the last line that carry a time
  std::string time_last;
  std::string sha256;
  std::uint64_t redactions = 0;
  std::string source_format;  ///< of foreign input
};

struct ManifestGpu {
  std::string index;
  std::string uuid;
  std::string pci;
  std::string name;
  std::string serial;
  std::string driver;
  std::string vbios;
};

struct ManifestNode {
  std::string name;
  std::string boot_id;
  std::optional<std::int64_t> boot_time_ns;
  std::optional<double> uptime_s;
  std::optional<std::int64_t> clock_skew_ns;
  std::string tz;
  std::string smi_state;  ///< ok slow hung absent
  std::vector<ManifestGpu> gpus;
};

struct ManifestTarget {
  std::string name_space;
  std::string pod;
  std::string uid;
  std::string node;
};

struct ManifestRedaction {
  std::string mode;  ///< default, strict
  std::string rules;
  std::string salt_id;
  std::map<std::string, std::uint64_t> totals;
  bool verified = false;
  std::vector<std::string> residual;  ///< `kind path:line`, no text
  bool map_written = false;
};

struct Manifest {
  int format_version = k_manifest_version;
  std::string tool_version;
  std::string rules_version;
  std::string bundle_id;
  std::string incident;
  std::map<std::string, std::string> labels;
  std::string created_at;
  std::string finished_at;
  std::int64_t duration_ms = 0;
  std::vector<std::string> cmdline;
  std::string tier;
  std::string since;
  std::int64_t deadline_ms = 0;
  bool deadline_hit = false;
  bool complete = true;
  int exit_code = 0;
  std::string collector_os;
  std::string identity;                        ///< what `kubectl auth can-i` allowed, in short
  std::map<std::string, std::string> cluster;  ///< server version, context alias
  std::vector<ManifestTarget> targets;
  std::string event_window_oldest;  ///< time of the oldest event seen
  std::vector<ManifestNode> nodes;
  std::vector<ManifestItem> items;
  ManifestRedaction redaction;

  [[nodiscard]] const ManifestNode* node(std::string_view name) const;
};

/// Unknown keys are ignored, so that newer bundles stay readable.
[[nodiscard]] base::Result<Manifest> parse_manifest(std::string_view text);
/// Stable order and form: the same manifest gives the same bytes.
[[nodiscard]] std::string to_json(const Manifest& manifest);

}  // namespace triage::bundle

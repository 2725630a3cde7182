#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evidence/format.hpp"
#include "evidence/kind.hpp"
#include "evidence/place.hpp"
#include "evidence/time.hpp"

/// Reading evidence containers. Archives are streamed in one pass and never unpacked to disk;
/// nothing here knows rules.
namespace triage::bundle {

/// Bytes of one evidence file, already decompressed. `read` fills as much of `buffer` as it can; 0
/// is the end.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  [[nodiscard]] virtual std::size_t read(std::span<char> buffer) = 0;
  /// All that is left, when it lies in memory anyway: then nothing is left to read. The bytes last
  /// as long as the stream.
  [[nodiscard]] virtual std::optional<std::string_view> take_held() { return std::nullopt; }
  /// True when a live source (a log that is being followed) has nothing more at the moment: who
  /// waits for more would hold back what came.
  [[nodiscard]] virtual bool idle() const { return false; }
  /// Set when the stream ended early (truncated or damaged archive): what is wrong.
  [[nodiscard]] virtual const std::optional<std::string>& damage() const = 0;
};

/// What is known of an evidence file before it is read: from the manifest, a known layout's path,
/// or its first 64 KiB.
struct EvidenceFile {
  std::string path;  ///< relative to the input; `outer!inner` in nested archives; `-` for stdin
  evidence::Kind kind = evidence::Kind::unknown_text;
  evidence::Format format = evidence::Format::lines;
  evidence::Place place;
  std::string layout;  ///< layout that named it (`triage`, `sosreport` ...), empty: by content
  std::optional<std::uint64_t> size;         ///< decompressed, when the container tells
  std::optional<std::string> sha256;         ///< from a manifest
  std::optional<std::int64_t> boot_time_ns;  ///< of its node, from the manifest
  std::optional<std::int64_t>
      clock_skew_ns;               ///< of its node against the collector, from the manifest
  bool instance_previous = false;  ///< the log of an earlier container instance
  /// A section of a container file (nvidia-bug-report, cluster-info dump on stdout ...) keeps the
  /// path of the whole; its lines count from here, so that reports name lines of the original.
  std::uint64_t first_line = 1;
  std::string section;  ///< title of the section, empty for a whole file
  std::string
      local_path;  ///< plain uncompressed file on disk: may be read again, or mapped; else empty
};

/// Receives every evidence file of the inputs in a defined order. `head` holds the first bytes (at
/// most 64 KiB), which `stream` delivers again. Return false to stop.
using FileVisitor =
    std::function<bool(const EvidenceFile& file, std::string_view head, ByteStream& stream)>;

struct Limits {
  std::uint64_t max_expanded_bytes = 64ULL << 30U;
  std::uint64_t max_members = 1'000'000;
  int max_depth = 4;
  /// Compression ratios are only judged beyond 8 GiB expanded: repeated log lines reach 250 (gzip)
  /// and 10 000 (zstd) honestly.
  std::uint64_t ratio_check_from = 8ULL << 30U;
  double max_ratio = 20'000;
};

/// What was left out, and why; becomes warnings and coverage.
struct Omission {
  std::string path;
  std::string reason;
};

/// What a bundle's manifest says of a node.
struct NodeClock {
  std::optional<std::int64_t> boot_time_ns;
  std::optional<std::int64_t> clock_skew_ns;
  std::string smi_state;  ///< `ok`, `slow`, `hung`, `absent`
};

/// Evidence that was wanted when the bundle was made and could not be had.
struct AbsentItem {
  evidence::Kind kind = evidence::Kind::unknown_text;
  evidence::Place place;
  std::string status;   ///< `missing`, `denied`, `timeout`, `error`, `skipped`
  std::string reason;   ///< may be empty
  std::string command;  ///< what was run or asked for
};

struct ReadSummary {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<Omission> omissions;
  std::vector<std::string> warnings;       ///< truncated archive, limits hit
  std::map<std::string, NodeClock> nodes;  ///< from manifests, by node name
  std::vector<AbsentItem> absent;          ///< from manifests
};

struct InputOptions {
  Limits limits;
  /// `--place FILE=NODE/POD`: what the person knows about a loose file; wins over everything.
  std::map<std::string, evidence::Place> places;
  /// Files of a directory that are no evidence, by their path in it: the label of an incident.
  std::vector<std::string> skip;
  /// Off: container files are shown whole (for `triage show`).
  bool split_sections = true;
  /// On: every file is shown, also manifests and what layouts call bookkeeping (for redaction).
  bool every_member = false;
  /// On: what standard input brings is shown as it comes, for filters. The kind of the evidence is
  /// then told by what came before the first pause.
  bool live = false;
};

/// Reads `inputs` (bundle, directory, file, `-`) and shows every evidence file to `visit`. A
/// problem is returned only when nothing at all could be read; what could not be read among others
/// stands in the summary.
[[nodiscard]] base::Result<ReadSummary> read_inputs(const std::vector<std::string>& inputs,
                                                    const InputOptions& options,
                                                    const FileVisitor& visit);

/// What a file is, from its first bytes (at most 64 KiB) and, as a hint only, its name.
struct Recognised {
  evidence::Kind kind = evidence::Kind::unknown_text;
  evidence::Format format = evidence::Format::lines;
  evidence::Place place;
  bool binary = false;
};
[[nodiscard]] Recognised recognise(std::string_view head, std::string_view path);

}  // namespace triage::bundle

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bundle/input.hpp"
#include "bundle/streams.hpp"

/// Members of tar and zip archives, streamed by libarchive. Formats are enabled by name: `all`
/// takes some text for an archive, and its filters run external programs on a magic number.
namespace triage::bundle {

enum class ArchiveFormat : std::uint8_t { none, tar, zip };

/// By content; needs the first 1024 bytes.
[[nodiscard]] ArchiveFormat sniff_archive(std::string_view head);

struct Member {
  enum class Type : std::uint8_t { file, directory, link, other };
  std::string name;  ///< as the archive spells it
  Type type = Type::file;
  std::optional<std::uint64_t> size;
  bool encrypted = false;
  unsigned mode = 0;  ///< permission bits
  std::int64_t uid = 0;
  std::int64_t gid = 0;
};

class ArchiveReader {
 public:
  /// `file` is given when the archive is itself a seekable file: zip then reads its directory.
  [[nodiscard]] static std::unique_ptr<ArchiveReader> open(ArchiveFormat format, ByteStream& source,
                                                           const FileStream* file);
  virtual ~ArchiveReader() = default;
  /// The next member, nothing at the end or when the archive is damaged.
  [[nodiscard]] virtual std::optional<Member> next() = 0;
  /// The bytes of the current member.
  [[nodiscard]] virtual ByteStream& content() = 0;
  /// What went wrong with the archive itself.
  [[nodiscard]] virtual const std::optional<std::string>& damage() const = 0;
};

}  // namespace triage::bundle

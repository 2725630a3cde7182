#include "bundle/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace triage::bundle {
namespace {

constexpr std::size_t k_tar_block = 512;

bool has_tar_checksum(std::string_view head) {
  if (head.size() < k_tar_block || head[0] == '\0') return false;
  constexpr std::size_t k_at = 148;
  constexpr std::size_t k_length = 8;
  unsigned stored = 0;
  bool digits = false;
  for (std::size_t i = k_at; i < k_at + k_length; ++i) {
    const char c = head[i];
    if (c >= '0' && c <= '7') {
      stored = stored * 8 + static_cast<unsigned>(c - '0');
      digits = true;
    } else if (c != ' ' && c != '\0') {
      return false;
    }
  }
  unsigned sum = 0;
  int signed_sum = 0;
  for (std::size_t i = 0; i < k_tar_block; ++i) {
    const bool in_field = i >= k_at && i < k_at + k_length;
    sum += in_field ? ' ' : static_cast<unsigned char>(head[i]);
    signed_sum += in_field ? ' ' : static_cast<signed char>(head[i]);
  }
  return digits && (stored == sum || static_cast<int>(stored) == signed_sum);
}

class LibarchiveReader final : public ArchiveReader, private ByteStream {
 public:
  LibarchiveReader(ArchiveFormat format, ByteStream& source, const FileStream* file)
      : source_(source), file_(file), archive_(archive_read_new()), buffer_(k_buffer) {
    if (archive_ == nullptr) {
      damage_ = "out of memory";
      return;
    }
    archive_read_support_filter_none(archive_);
    if (format == ArchiveFormat::tar) {
      archive_read_support_format_tar(archive_);
    } else if (file_ != nullptr) {
      archive_read_support_format_zip_seekable(archive_);
    } else {
      archive_read_support_format_zip_streamable(archive_);
    }
    archive_read_set_callback_data(archive_, this);
    archive_read_set_read_callback(archive_,
                                   [](archive*, void* self, const void** out) -> la_ssize_t {
                                     return static_cast<LibarchiveReader*>(self)->supply(out);
                                   });
    if (format == ArchiveFormat::zip && file_ != nullptr) {
      archive_read_set_seek_callback(
          archive_, [](archive*, void* self, la_int64_t offset, int whence) -> la_int64_t {
            return static_cast<LibarchiveReader*>(self)->seek(offset, whence);
          });
      by_offset_ = true;
    }
    if (archive_read_open1(archive_) != ARCHIVE_OK) fail();
  }
  LibarchiveReader(const LibarchiveReader&) = delete;
  LibarchiveReader& operator=(const LibarchiveReader&) = delete;
  ~LibarchiveReader() override { archive_read_free(archive_); }

  std::optional<Member> next() override {
    block_ = {};
    member_damage_.reset();
    if (damage_ || ended_) return std::nullopt;
    archive_entry* entry = nullptr;
    constexpr int k_retries = 16;
    int code = ARCHIVE_RETRY;
    for (int i = 0; i < k_retries && code == ARCHIVE_RETRY; ++i)
      code = archive_read_next_header(archive_, &entry);
    if (code == ARCHIVE_EOF) {
      ended_ = true;
      return std::nullopt;
    }
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      fail();
      return std::nullopt;
    }
    return describe(entry);
  }

  ByteStream& content() override { return *this; }
  const std::optional<std::string>& damage() const override {
    return member_damage_ ? member_damage_ : damage_;
  }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && !damage_ && !member_damage_) {
      if (block_.empty() && !next_block()) break;
      if (hole_ > 0) {  // sparse files: holes read as zeros
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(hole_, buffer.size() - filled));
        std::memset(buffer.data() + filled, 0, count);
        hole_ -= count;
        filled += count;
        continue;
      }
      const std::size_t count = std::min(block_.size(), buffer.size() - filled);
      std::memcpy(buffer.data() + filled, block_.data(), count);
      block_.remove_prefix(count);
      filled += count;
      position_ += count;
    }
    return filled;
  }

 private:
  static constexpr std::size_t k_buffer = 256 * 1024;

  Member describe(archive_entry* entry) {
    Member member;
    // The UTF-8 form fails for names in other encodings; the raw bytes always exist.
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(entry);
    member.name = name == nullptr ? "" : name;
    member.encrypted = archive_entry_is_data_encrypted(entry) != 0;
    if (archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) >= 0)
      member.size = static_cast<std::uint64_t>(archive_entry_size(entry));
    member.mode = static_cast<unsigned>(archive_entry_perm(entry));
    member.uid = archive_entry_uid(entry);
    member.gid = archive_entry_gid(entry);
    const auto type = archive_entry_filetype(entry);
    if (archive_entry_hardlink(entry) != nullptr || type == AE_IFLNK) {
      member.type = Member::Type::link;
    } else if (type == AE_IFREG) {
      member.type = Member::Type::file;
    } else if (type == AE_IFDIR) {
      member.type = Member::Type::directory;
    } else {
      member.type = Member::Type::other;
    }
    position_ = 0;
    hole_ = 0;
    return member;
  }

  bool next_block() {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    constexpr int k_retries = 16;
    int code = ARCHIVE_RETRY;
    for (int i = 0; i < k_retries && code == ARCHIVE_RETRY; ++i)
      code = archive_read_data_block(archive_, &data, &size, &offset);
    if (code == ARCHIVE_EOF) return false;
    if (code == ARCHIVE_FATAL) {
      fail();
      return false;
    }
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      member_damage_ = message();
      return false;
    }
    block_ = {static_cast<const char*>(data), size};
    const auto at = static_cast<std::uint64_t>(std::max<la_int64_t>(offset, 0));
    hole_ = at > position_ ? at - position_ : 0;
    if (hole_ > 0) position_ = at;
    return size > 0 || hole_ > 0;
  }

  la_ssize_t supply(const void** out) {
    *out = buffer_.data();
    if (by_offset_) {
      const std::size_t got = file_->read_at(offset_, buffer_);
      offset_ += got;
      return static_cast<la_ssize_t>(got);
    }
    return static_cast<la_ssize_t>(source_.read(buffer_));
  }

  la_int64_t seek(la_int64_t offset, int whence) {
    la_int64_t from = 0;
    if (whence == SEEK_CUR) from = static_cast<la_int64_t>(offset_);
    if (whence == SEEK_END) from = static_cast<la_int64_t>(file_->size().value_or(0));
    if (from + offset < 0) return ARCHIVE_FATAL;
    offset_ = static_cast<std::uint64_t>(from + offset);
    return from + offset;
  }

  std::string message() const {
    const char* text = archive_error_string(archive_);
    return text == nullptr ? "the archive is damaged" : text;
  }
  void fail() { damage_ = message(); }

  ByteStream& source_;
  const FileStream* file_;
  archive* archive_;
  std::vector<char> buffer_;
  std::string_view block_;
  std::uint64_t position_ = 0;
  std::uint64_t hole_ = 0;
  std::uint64_t offset_ = 0;
  bool by_offset_ = false;
  bool ended_ = false;
  std::optional<std::string> damage_;
  std::optional<std::string> member_damage_;
};

}  // namespace

ArchiveFormat sniff_archive(std::string_view head) {
  const std::string_view magic = head.substr(0, 4);
  if (magic == "PK\x03\x04" || magic == "PK\x05\x06") return ArchiveFormat::zip;
  return has_tar_checksum(head) ? ArchiveFormat::tar : ArchiveFormat::none;
}

std::unique_ptr<ArchiveReader> ArchiveReader::open(ArchiveFormat format, ByteStream& source,
                                                   const FileStream* file) {
  return std::make_unique<LibarchiveReader>(format, source, file);
}

}  // namespace triage::bundle

#include "bundle/writer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "bundle/streams.hpp"

namespace triage::bundle {
namespace {

constexpr std::string_view k_sums = "SHA256SUMS";
constexpr std::string_view k_manifest = "manifest.json";

bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The growing archive: a temporary file that is removed unless it is kept.
class Output {
 public:
  explicit Output(std::string target) : target_(std::move(target)) {
    temporary_ = target_ + ".XXXXXX";
    fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (fd_ < 0) error_ = errno;
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
  [[nodiscard]] bool ok() const { return error_ == 0; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  la_ssize_t append(const void* data, std::size_t size) {
    std::string_view rest(static_cast<const char*>(data), size);
    digest_.update(rest);
    while (!rest.empty()) {
      const ssize_t wrote = ::write(fd_, rest.data(), rest.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        error_ = errno;
        return -1;
      }
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
    size_ += size;
    return static_cast<la_ssize_t>(size);
  }

  /// Flushes, renames, and gives the digest; empty when that failed.
  std::string keep() {
    const bool flushed = ::fsync(fd_) == 0 || errno == EINVAL;
    if (!flushed || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
      error_ = errno;
      return {};
    }
    ::close(fd_);
    fd_ = -1;
    return base::to_hex(digest_.finish());
  }

  [[nodiscard]] base::Problem problem() const {
    std::string mend;
    if (error_ == ENOSPC || error_ == EDQUOT)
      mend = "free space there, or choose another place with -o";
    if (error_ == EACCES || error_ == EROFS || error_ == ENOENT || error_ == ENOTDIR)
      mend = "choose a place you can write to with -o";
    const std::string why = error_ == 0 ? "packing failed" : std::strerror(error_);
    return {"cannot be written: " + why, target_, mend};
  }

 private:
  std::string target_;
  std::string temporary_;
  int fd_ = -1;
  int error_ = 0;
  std::uint64_t size_ = 0;
  base::Sha256 digest_;
};

class ArchiveWriter {
 public:
  ArchiveWriter(Output& output, bool zstd, std::int64_t time_s)
      : output_(output), archive_(archive_write_new()), time_s_(time_s) {
    if (zstd) {
      archive_write_add_filter_zstd(archive_);
    } else {
      archive_write_add_filter_gzip(archive_);
      // The time of packing would make every bundle differ.
      archive_write_set_filter_option(archive_, "gzip", "timestamp", nullptr);
    }
    archive_write_set_format_pax_restricted(archive_);
    archive_write_set_bytes_in_last_block(archive_, 1);
    ok_ = archive_write_open2(
              archive_, &output_, nullptr,
              [](archive*, void* out, const void* data, std::size_t size) -> la_ssize_t {
                return static_cast<Output*>(out)->append(data, size);
              },
              nullptr, nullptr) == ARCHIVE_OK;
  }
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  ~ArchiveWriter() { archive_write_free(archive_); }

  bool directory(const std::string& name) { return header(name, AE_IFDIR, 0700, 0); }

  /// Copies one member; its digest goes to `sha256`.
  bool file(const std::string& name, std::uint64_t size, ByteStream& content, std::string& sha256) {
    if (!header(name, AE_IFREG, 0600, size)) return false;
    base::Sha256 digest;
    std::vector<char> buffer(k_buffer);
    while (const std::size_t got = content.read(buffer)) {
      digest.update({buffer.data(), got});
      if (archive_write_data(archive_, buffer.data(), got) != static_cast<la_ssize_t>(got)) {
        ok_ = false;
        return false;
      }
    }
    sha256 = base::to_hex(digest.finish());
    return true;
  }

  bool close() { return ok_ && archive_write_close(archive_) == ARCHIVE_OK; }

 private:
  static constexpr std::size_t k_buffer = 256 * 1024;

  bool header(const std::string& name, unsigned type, mode_t mode, std::uint64_t size) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, mode);
    archive_entry_set_size(entry, static_cast<la_int64_t>(size));
    archive_entry_set_mtime(entry, static_cast<time_t>(time_s_), 0);
    archive_entry_set_uid(entry, 0);
    archive_entry_set_gid(entry, 0);
    const bool good = archive_write_header(archive_, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    ok_ = ok_ && good;
    return good;
  }

  Output& output_;
  archive* archive_;
  std::int64_t time_s_;
  bool ok_ = false;
};

/// Manifest first, everything else by name.
std::vector<std::string> member_order(const Spool& spool) {
  std::vector<std::string> files = spool.files();
  files.erase(std::remove(files.begin(), files.end(), std::string(k_sums)), files.end());
  const auto manifest = std::find(files.begin(), files.end(), k_manifest);
  if (manifest != files.end()) std::rotate(files.begin(), manifest, manifest + 1);
  return files;
}

}  // namespace

base::Result<Written> write_bundle(const Spool& spool, const WriteOptions& options) {
  Output output(options.output);
  if (!output.ok()) return output.problem();
  Written written;
  {
    ArchiveWriter writer(output, ends(options.output, ".zst") || ends(options.output, ".tzst"),
                         options.time_s);
    std::string sums;
    const std::vector<std::string> members = member_order(spool);
    bool good = writer.directory(options.top + "/");
    for (const auto& member : members) {
      if (!good) break;
      auto file = FileStream::open(spool.directory() + "/" + member);
      if (!file) return file.problem();
      std::string sha256;
      good = writer.file(options.top + "/" + member, (*file)->size().value_or(0), **file, sha256);
      sums += sha256 + "  " + member + "\n";
    }
    MemoryStream sums_stream(sums);
    std::string ignored;
    good = good &&
           writer.file(options.top + "/" + std::string(k_sums), sums.size(), sums_stream, ignored);
    if (!good || !writer.close()) return output.problem();
    written.members = members.size() + 1;
  }
  written.bytes = output.size();
  written.sha256 = output.keep();
  if (written.sha256.empty()) return output.problem();
  written.path = options.output;
  // The directory entry itself must survive a crash of the host that is being diagnosed.
  if (const int fd =
          ::open(directory_of(options.output).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
  Output sidecar(options.output + ".sha256");
  const auto slash = options.output.rfind('/');
  const std::string line =
      written.sha256 + "  " +
      (slash == std::string::npos ? options.output : options.output.substr(slash + 1)) + "\n";
  if (!sidecar.ok() || sidecar.append(line.data(), line.size()) < 0 || sidecar.keep().empty())
    written.sidecar_problem = sidecar.problem().to_string();
  return written;
}

}  // namespace triage::bundle

#include "bundle/spool.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "bundle/streams.hpp"

namespace triage::bundle {
namespace {

constexpr std::string_view k_partial = ".partial";
constexpr std::string_view k_lock = ".lock";
constexpr mode_t k_private_directory = 0700;
constexpr mode_t k_private_file = 0600;

base::Problem system_problem(const std::string& what, const std::string& path) {
  const int error = errno;
  std::string mend;
  if (error == ENOSPC || error == EDQUOT)
    mend = "free space there, or choose another directory with TMPDIR or -o";
  if (error == EACCES || error == EROFS || error == EPERM)
    mend = "choose a directory you can write to";
  return {what + ": " + std::strerror(error), path, mend};
}

base::Status make_directories(const std::string& root, const std::string& path) {
  std::string at = root;
  const auto parts = base::split(path, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    at += "/" + std::string(parts[i]);
    if (::mkdir(at.c_str(), k_private_directory) != 0 && errno != EEXIST)
      return system_problem("cannot make a directory", at);
  }
  return base::Done{};
}

}  // namespace

std::string safe_path(std::string_view path) {
  std::string safe;
  for (const auto part : base::split(path, '/')) {
    if (part.empty()) continue;
    if (!safe.empty()) safe += '/';
    // A leading dot would hide the file, or climb.
    bool leading = true;
    for (const char c : part) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                         c == '=' || c == '+' || c == '@' || (c == '.' && !leading);
      safe += plain ? c : '_';
      leading = false;
    }
  }
  return safe;
}

SpoolFile::SpoolFile(int fd, std::string temporary, std::string final_path)
    : fd_(fd), temporary_(std::move(temporary)), final_path_(std::move(final_path)) {}

SpoolFile::SpoolFile(SpoolFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      temporary_(std::move(other.temporary_)),
      final_path_(std::move(other.final_path_)),
      size_(other.size_),
      digest_(std::move(other.digest_)) {}

SpoolFile& SpoolFile::operator=(SpoolFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(temporary_, other.temporary_);
  std::swap(final_path_, other.final_path_);
  std::swap(size_, other.size_);
  std::swap(digest_, other.digest_);
  return *this;
}

SpoolFile::~SpoolFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

base::Status SpoolFile::write(std::string_view bytes) {
  digest_.update(bytes);
  size_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return system_problem("cannot write", temporary_);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return base::Done{};
}

base::Result<std::string> SpoolFile::keep() {
  const int fd = std::exchange(fd_, -1);
  // close() is where a network file system reports a full disk.
  if (::close(fd) != 0) {
    const auto problem = system_problem("cannot write", temporary_);
    ::unlink(temporary_.c_str());
    return problem;
  }
  if (::rename(temporary_.c_str(), final_path_.c_str()) != 0) {
    const auto problem = system_problem("cannot rename", temporary_);
    ::unlink(temporary_.c_str());
    return problem;
  }
  return base::to_hex(digest_.finish());
}

base::Result<Spool> Spool::create(const std::string& parent, const std::string& bundle_id) {
  std::string name = parent + "/." + safe_path(bundle_id) + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    return system_problem("cannot make a working directory", parent);
  return resume(name);
}

base::Result<Spool> Spool::resume(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return system_problem("cannot be resumed", directory);
  if (!S_ISDIR(info.st_mode)) return base::Problem{"is not a directory", directory, ""};
  const std::string path = directory + "/" + std::string(k_lock);
  const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, k_private_file);
  if (lock < 0) return system_problem("cannot be locked", path);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return base::Problem{"another collection is running in it", directory,
                         "wait for it, or name another directory"};
  }
  Spool spool(directory, lock);
  // Halves that a killed run left behind.
  for (const auto& file : spool.files())
    if (file.size() > k_partial.size() &&
        file.compare(file.size() - k_partial.size(), k_partial.size(), k_partial) == 0)
      ::unlink((directory + "/" + file).c_str());
  return spool;
}

Spool::Spool(Spool&& other) noexcept
    : directory_(std::move(other.directory_)), lock_(std::exchange(other.lock_, -1)) {}

Spool& Spool::operator=(Spool&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(lock_, other.lock_);
  return *this;
}

Spool::~Spool() {
  if (lock_ >= 0) ::close(lock_);
}

base::Result<SpoolFile> Spool::open(const std::string& path) const {
  const std::string safe = safe_path(path);
  if (safe.empty()) return base::Problem{"has no usable name", path, ""};
  if (auto made = make_directories(directory_, safe); !made) return made.problem();
  const std::string target = directory_ + "/" + safe;
  const std::string temporary = target + std::string(k_partial);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                        k_private_file);
  if (fd < 0) return system_problem("cannot be written", temporary);
  return SpoolFile(fd, temporary, target);
}

base::Result<std::string> Spool::write(const std::string& path, std::string_view text) const {
  auto file = open(path);
  if (!file) return file.problem();
  if (auto wrote = file->write(text); !wrote) return wrote.problem();
  return file->keep();
}

void Spool::remove_file(const std::string& path) const {
  ::unlink((directory_ + "/" + safe_path(path)).c_str());
}

base::Status Spool::save_manifest(const Manifest& manifest) const {
  const auto wrote = write("manifest.json", to_json(manifest));
  return wrote ? base::Status(base::Done{}) : base::Status(wrote.problem());
}

base::Result<Manifest> Spool::load_manifest() const {
  auto file = FileStream::open(directory_ + "/manifest.json");
  if (!file)
    return base::Problem{"is not a directory that collect left: it has no manifest.json",
                         directory_, "give the directory that the interrupted run named"};
  constexpr std::size_t k_limit = 64 * 1024 * 1024;
  return parse_manifest(read_all(**file, k_limit));
}

std::vector<std::string> Spool::files() const {
  std::vector<std::string> paths;
  std::error_code error;
  const std::filesystem::path root(directory_);
  std::filesystem::recursive_directory_iterator it(root, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->is_symlink(ignored) || !it->is_regular_file(ignored)) continue;
    const std::string path = it->path().string().substr(directory_.size() + 1);
    if (path != k_lock) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<std::uint64_t> Spool::free_bytes() const {
  struct statvfs info {};
  if (::statvfs(directory_.c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

void Spool::remove() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace triage::bundle

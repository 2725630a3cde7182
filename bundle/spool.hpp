#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "base/result.hpp"
#include "bundle/manifest.hpp"

/// The directory in which a bundle grows. Every file is written under a temporary name and renamed
/// when it is whole, and the manifest is rewritten after each item: whenever the program dies, what
/// lies there is a sound, if incomplete, bundle that `collect --resume` goes on with. Only redacted
/// bytes come here.
namespace triage::bundle {

/// `a/b.txt` below a bundle's top directory: relative, no `..`, no empty or hidden parts, plain
/// characters. Anything else in a name (`:` of a resource, blanks) becomes `_`.
[[nodiscard]] std::string safe_path(std::string_view path);

class SpoolFile {
 public:
  SpoolFile(SpoolFile&&) noexcept;
  SpoolFile& operator=(SpoolFile&&) noexcept;
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  /// Removes what was written when `keep` was not called.
  ~SpoolFile();

  [[nodiscard]] base::Status write(std::string_view bytes);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Makes the file part of the bundle; gives its SHA-256 in hex.
  [[nodiscard]] base::Result<std::string> keep();

 private:
  friend class Spool;
  SpoolFile(int fd, std::string temporary, std::string final_path);
  int fd_;
  std::string temporary_;
  std::string final_path_;
  std::uint64_t size_ = 0;
  base::Sha256 digest_;
};

class Spool {
 public:
  /// A new directory with a random name below `parent`, mode 0700.
  [[nodiscard]] static base::Result<Spool> create(const std::string& parent,
                                                  const std::string& bundle_id);
  /// A directory that an earlier run left. Refused while another process works in it.
  [[nodiscard]] static base::Result<Spool> resume(const std::string& directory);

  Spool(Spool&&) noexcept;
  Spool& operator=(Spool&&) noexcept;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] base::Result<SpoolFile> open(const std::string& path) const;
  /// A whole small file; gives its SHA-256 in hex.
  [[nodiscard]] base::Result<std::string> write(const std::string& path,
                                                std::string_view text) const;
  void remove_file(const std::string& path) const;
  [[nodiscard]] base::Status save_manifest(const Manifest& manifest) const;
  [[nodiscard]] base::Result<Manifest> load_manifest() const;
  /// Paths of all files in it, sorted.
  [[nodiscard]] std::vector<std::string> files() const;
  /// Free bytes of the file system it lies on.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes() const;
  /// Removes the directory and everything in it.
  void remove();

 private:
  Spool(std::string directory, int lock) : directory_(std::move(directory)), lock_(lock) {}
  std::string directory_;
  int lock_ = -1;
};

}  // namespace triage::bundle

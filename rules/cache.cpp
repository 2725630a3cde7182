#include "rules/cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/digest.hpp"
#include "rules/serialise.hpp"

namespace triage::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_entries = 16;
constexpr std::size_t k_digest_length = 64;
constexpr std::uintmax_t k_most_bytes = 256U << 20U;

std::string default_dir() {
  if (const char* dir = std::getenv("XDG_CACHE_HOME"); dir != nullptr && *dir == '/')
    return std::string(dir) + "/triage";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/triage";
  return {};
}

std::string digest(std::string_view bytes) {
  return base::to_hex(base::sha256(bytes));
}

}  // namespace

Cache::Cache(std::string dir) : dir_(dir.empty() ? default_dir() : std::move(dir)) {}

std::string Cache::path_of(const std::string& key) const {
  return dir_ + "/rules-" + key.substr(0, 32) + ".bin";
}

std::optional<Loaded> Cache::read(const std::string& key) const {
  if (dir_.empty()) return std::nullopt;
  std::ifstream in(path_of(key), std::ios::binary);
  if (!in) return std::nullopt;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path_of(key), error);
  if (error || size < k_digest_length || size > k_most_bytes) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  const std::string_view body = std::string_view(bytes).substr(k_digest_length);
  if (bytes.compare(0, k_digest_length, digest(body)) != 0) return std::nullopt;
  return loaded_from_bytes(bytes.substr(k_digest_length));
}

void Cache::write(const std::string& key, const Loaded& loaded) const {
  if (dir_.empty()) return;
  std::error_code error;
  fs::create_directories(dir_, error);
  if (error) return;
  const std::string path = path_of(key);
  const std::string temporary = path + "." + std::to_string(getpid());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    const std::string body = to_bytes(loaded);
    out << digest(body) << body;
    out.flush();
    if (!out.good()) {
      out.close();
      fs::remove(temporary, error);
      return;
    }
  }
  fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write, error);
  fs::rename(temporary, path, error);
  if (error) fs::remove(temporary, error);
  prune();
}

/// Old entries go when there are many: every edit of a pack leaves one behind.
void Cache::prune() const {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (fs::directory_iterator it(dir_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (name.rfind("rules-", 0) == 0 && it->is_regular_file(ignored))
      entries.emplace_back(fs::last_write_time(it->path(), ignored), it->path());
  }
  if (entries.size() <= k_most_entries) return;
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i + k_most_entries < entries.size(); ++i)
    fs::remove(entries[i].second, error);
}

}  // namespace triage::rules

#include "rules/sources.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "rules/catalog.hpp"
#include "rules/check.hpp"

namespace triage::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_bytes = 16U << 20U;

bool is_rule_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".tsv";
}

}  // namespace

base::Result<std::vector<std::string>> rule_files(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return base::Problem{"there is no such file or directory", path, "name a pack or a folder"};
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator
           it(path, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored) && is_rule_file(it->path()))
      files.push_back(it->path().string());
    if (it.depth() > 8) it.disable_recursion_pending();
  }
  if (error) return base::Problem{"the directory cannot be read: " + error.message(), path, {}};
  std::sort(files.begin(), files.end());
  return files;
}

base::Result<std::string> read_source(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return base::Problem{std::string("cannot be read: ") + std::strerror(errno), file, {}};
  std::string text;
  char buffer[65536];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
    if (text.size() > k_max_bytes)
      return base::Problem{"is larger than 16 MiB", file, "a pack or catalog is a small text file"};
  }
  if (in.bad()) return base::Problem{"cannot be read", file, {}};
  return text;
}

void add_source(Merger& merger, const std::string& file, std::string text) {
  const fs::path path(file);
  if (path.extension() != ".tsv") {
    Pack pack = read_pack(std::move(text), file);
    const auto weak = check_literals(pack);
    pack.diagnostics.insert(pack.diagnostics.end(), weak.begin(), weak.end());
    return merger.add(std::move(pack));
  }
  std::vector<Diagnostic> found;
  CatalogTable table = read_catalog(text, path.stem().string(), file, found);
  if (found.empty()) found = check_catalog(table, text, file);
  if (found.empty()) merger.add_catalog(std::move(table));
  merger.diagnostics().insert(merger.diagnostics().end(), found.begin(), found.end());
}

}  // namespace triage::rules

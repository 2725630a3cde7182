#include "incidents.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace incidents {

namespace fs = std::filesystem;

std::vector<Incident> all() {
  std::vector<Incident> found;
  const fs::path root = fs::path(TRIAGE_SOURCE_DIR) / "fixtures";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "case.json") continue;
    const fs::path folder = entry.path().parent_path();
    const auto json = nlohmann::json::parse(read_file(entry.path()));
    found.push_back({folder, fs::relative(folder, root).string(), json.at("expect")});
  }
  std::sort(found.begin(), found.end(),
            [](const Incident& a, const Incident& b) { return a.name < b.name; });
  return found;
}

std::vector<Incident> some_when_sanitized() {
#if defined(__SANITIZE_ADDRESS__)
  std::vector<Incident> some;
  const auto every = all();
  for (std::size_t i = 0; i < every.size(); i += 8) some.push_back(every[i]);
  return some;
#else
  return all();
#endif
}

Copy::Copy(const Incident& incident) {
  std::string name = (fs::temp_directory_path() / "triage-incident-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = fs::path(name) / "evidence";
  fs::copy(incident.folder, folder_, fs::copy_options::recursive);
  fs::remove(folder_ / "case.json");
}

Copy::~Copy() {
  std::error_code ignored;
  fs::remove_all(folder_.parent_path(), ignored);
}

std::vector<fs::path> Copy::files() const {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
}

}  // namespace incidents

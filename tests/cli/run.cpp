#include "run.hpp"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace triage::tests {

Workplace::Workplace() {
  std::string name = (std::filesystem::temp_directory_path() / "triage-cli-XXXXXX").string();
  path_ = ::mkdtemp(name.data());
  std::filesystem::create_directories(path_ / ".bin");
  std::filesystem::create_symlink(TRIAGE_BINARY, path_ / ".bin" / "triage");
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Ran Workplace::sh(const std::string& command) const {
  write(".command", command);
  const std::string folder = path_.string();
  const std::string line = "cd '" + folder + "' && env -u TRIAGE_HISTORY HOME='" + folder +
                           "' XDG_STATE_HOME='" + folder + "/state' XDG_CONFIG_HOME='" + folder +
                           "/config' XDG_CACHE_HOME='" + folder + "/cache' PATH='" + folder +
                           "/.bin':\"$PATH\" bash .command >.out 2>.err";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
}

void Workplace::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string Workplace::read(const std::string& name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string fixture(const std::string& name) {
  return std::string(TRIAGE_SOURCE_DIR) + "/fixtures/" + name;
}

}  // namespace triage::tests

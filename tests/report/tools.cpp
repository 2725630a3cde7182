#include "tools.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace triage::tests {

Ran run_shell(const std::string& command) {
  Ran ran;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer{};
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0)
    ran.output.append(buffer.data(), count);
  const int status = ::pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

bool has_program(const std::string& name) {
  return run_shell("command -v " + name).status == 0;
}

int slowness() {
#if defined(__SANITIZE_ADDRESS__)
  return 10;
#elif defined(NDEBUG)
  return 1;
#else
  return 4;
#endif
}

bool is_busy() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 && load > 4.0 * std::thread::hardware_concurrency();
}

std::string schema_folder() {
  const auto folder = std::filesystem::path(TRIAGE_SOURCE_DIR) / ".." / "shared" / "schemas";
  return std::filesystem::exists(folder) ? folder.string() : std::string();
}

std::string write_temporary(const std::string& name, const std::string& text) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("triage-test-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto path = folder / name;
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

}  // namespace triage::tests

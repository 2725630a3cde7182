#pragma once

#include <filesystem>
#include <string>

/// Runs the built binary as a shell would, in a folder that is gone with the test.
namespace triage::tests {

struct Ran {
  int status = -1;
  std::string out, err;
};

class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  /// A shell command; `triage` in it is the built binary, history and rules of the person are not
  /// seen.
  [[nodiscard]] Ran sh(const std::string& command) const;
  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A labelled incident of fixtures/.
[[nodiscard]] std::string fixture(const std::string& name);

}  // namespace triage::tests

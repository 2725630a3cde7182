#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Labelled incidents of fixtures/, for the tests that run the whole engine on them.
namespace incidents {

struct Incident {
  std::filesystem::path folder;
  std::string name;  ///< `<topic>/<id>`
  nlohmann::json expect;
};

/// Every folder below fixtures/ with a case.json, sorted by name.
[[nodiscard]] std::vector<Incident> all();

/// All of them, but one of eight under AddressSanitizer: for tests that go over every incident once
/// more, which takes minutes there.
[[nodiscard]] std::vector<Incident> some_when_sanitized();

/// The evidence of an incident without its case.json, in a fresh temporary folder that goes with
/// this object.
class Copy {
 public:
  explicit Copy(const Incident& incident);
  ~Copy();
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// Every evidence file, sorted.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path folder_;
};

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace incidents

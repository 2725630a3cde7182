#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evidence/kind.hpp"

/// The plan of a collection: which evidence, how, in which order. A YAML file (collectors/plan.yaml
/// is built in) that people can print, edit and use instead.
namespace triage::collectors {

enum class Tier : std::uint8_t { minimal, standard, full };
[[nodiscard]] std::optional<Tier> tier_from(std::string_view name);
[[nodiscard]] std::string_view to_string(Tier tier);

/// What an item is gathered once for each of.
enum class Scope : std::uint8_t {
  run,
  name_space,
  pod,
  container,
  owner,    ///< each object above a pod, by ownerReferences
  engine,   ///< each container that answers on a metrics port
  node,     ///< from the API
  host,     ///< a node from inside
  gpu_pod,  ///< containers of driver, device plugin, DCGM and the like on a target's node
};
[[nodiscard]] std::optional<Scope> scope_from(std::string_view name);
[[nodiscard]] std::string_view to_string(Scope scope);

/// What of an output survives its cap.
enum class Keep : std::uint8_t { head, head_and_tail };

struct PlanItem {
  std::string id;
  evidence::Kind role = evidence::Kind::unknown_text;
  Scope scope = Scope::run;
  Tier tier = Tier::standard;
  int order = 50;
  std::vector<std::string> command;
  std::vector<std::string> each;   ///< run for every name that `command` listed
  std::string url;                 ///< path below an engine's port
  bool whole_answer = false;       ///< status line, headers and body, of errors too
  std::vector<std::string> files;  ///< patterns on a host
  std::string path;                ///< in the bundle
  std::chrono::milliseconds deadline{30'000};
  std::uint64_t cap = 1024 * 1024;
  Keep keep = Keep::head;
  std::string gate;   ///< name of a gate, or empty
  std::string after;  ///< id of the item that must be over, and how long ago
  std::chrono::milliseconds pause{0};
  bool optional = false;
  std::vector<std::string> absent;
};

struct Gate {
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> otherwise;  ///< tried when the first program does not exist
  std::string path;
  std::chrono::milliseconds deadline{10'000};
  std::chrono::milliseconds slow{5'000};  ///< an answer after this is called slow
};

struct Plan {
  std::string name;
  std::map<std::string, Gate, std::less<>> gates;
  std::vector<PlanItem> items;  ///< by order, then as written
};

/// Unknown keys, roles, scopes, gates and placeholders are mistakes with their line.
[[nodiscard]] base::Result<Plan> parse_plan(std::string_view yaml, const std::string& path);
[[nodiscard]] std::string_view built_in_plan_text();
[[nodiscard]] base::Result<Plan> load_plan(const std::string& path);

using Values = std::map<std::string, std::string, std::less<>>;
/// Fills `{name}` in; what has no value stays as `<name>`, for printing.
[[nodiscard]] std::string fill(std::string_view text, const Values& values);
[[nodiscard]] std::vector<std::string> fill(const std::vector<std::string>& words,
                                            const Values& values);

}  // namespace triage::collectors

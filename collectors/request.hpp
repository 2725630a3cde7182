#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bundle/manifest.hpp"
#include "collectors/plan.hpp"

namespace triage::collectors {

/// What a person asked for.
struct Request {
  std::vector<std::string> names;  ///< `chat-0`, `deploy/chat`, `ns/pod` is not a form of kubectl
  std::string selector;
  std::vector<std::string> nodes;
  bool local = false;
  std::string name_space;  ///< empty: the context's own
  std::string context;
  Tier tier = Tier::standard;
  std::chrono::milliseconds since{std::chrono::hours{2}};
  std::chrono::milliseconds deadline{std::chrono::minutes{5}};
  std::uint64_t max_size = 50ULL << 20U;  ///< of the archive, aimed at
  int jobs = 6;
  std::string incident;
  bool exec = true;         ///< enter GPU daemon pods for the node side
  bool debug_node = false;  ///< make a debug pod where there is none
  std::string debug_image = "busybox:stable";

  [[nodiscard]] bool any_target() const {
    return local || !names.empty() || !selector.empty() || !nodes.empty();
  }
};

/// One step, for a person who waits.
struct Step {
  std::size_t number = 0;
  std::size_t total = 0;  ///< known so far: discovery adds
  std::string where;      ///< `llm/chat-0`, `nodes/gpu-3`
  std::string what;       ///< the command, short
  bool finished = false;
  std::string status;  ///< when finished
  std::string reason;
  std::chrono::milliseconds duration{0};
};
/// Called from several threads, one at a time.
using Progress = std::function<void(const Step&)>;

}  // namespace triage::collectors

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/kind.hpp"

/// What the objects of the API say that a collection must know: pods, their containers, ports,
/// owners and nodes. Reads JSON as kubectl prints it; what is missing or of another type counts as
/// not said.
namespace triage::collectors {

struct Container {
  std::string name;
  bool init = false;
  std::vector<int> ports;  ///< declared, probed, and named by `--port`
  std::string image;
  std::string command_line;
};

struct Owner {
  std::string kind;
  std::string api_version;
  std::string name;
  /// `replicasets.apps`: how kubectl names the resource without guessing.
  [[nodiscard]] std::string resource() const;
};

struct Pod {
  std::string name_space;
  std::string name;
  std::string uid;
  std::string node;
  std::string phase;
  bool ready = false;
  bool requests_gpu = false;
  std::vector<Container> containers;
  std::vector<Owner> owners;
  std::map<std::string, std::string> labels;
  std::string raw;  ///< the object as JSON, should it vanish before it is asked for again
};

/// A Pod, a PodList or a List.
[[nodiscard]] std::vector<Pod> parse_pods(std::string_view json);

struct Object {
  std::string kind;
  std::string name;
  std::string match_labels;  ///< `a=b,c=d` of spec.selector, or empty
  std::vector<Owner> owners;
};
[[nodiscard]] std::optional<Object> parse_object(std::string_view json);

/// Labels that tell the pods of a custom resource: `kind` as people write it (`lws`, `isvc`).
[[nodiscard]] std::string group_selector(std::string_view kind, std::string_view name);
/// The selector of all pods that live and die with this one (a tensor-parallel group), or empty.
[[nodiscard]] std::string group_of(const Pod& pod);

/// A pod of the GPU stack on a node, by its labels and name.
struct GpuDaemon {
  evidence::Kind role = evidence::Kind::driver_log;
  int exec_rank = 0;                ///< lower is better to enter for node evidence; 0: not at all
  std::string_view exec_container;  ///< a container's name begins with this; empty: the first
};
[[nodiscard]] std::optional<GpuDaemon> gpu_daemon(const Pod& pod);

/// The oldest time of any event, RFC 3339, or empty.
[[nodiscard]] std::string oldest_event(std::string_view json);

/// What `kubectl auth can-i --list` allows of that which a collection reads, in one line: `may read
/// pods, pods/log; may not read nodes`. Empty when the text is no such table.
[[nodiscard]] std::string rights_in_short(std::string_view table);

/// Ports of a container on which an engine may answer, likeliest first.
[[nodiscard]] std::vector<int> engine_ports(const Container& container);

}  // namespace triage::collectors

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collectors/request.hpp"

/// The commands that a collection needs besides those of its plan. One place for the steps that run
/// them and for `--dry-run`, which prints them.
namespace triage::collectors {

/// `kubectl` with context and request timeout in front of the words; no words, no command.
[[nodiscard]] std::vector<std::string> kubectl_command(const Request& request,
                                                       const std::vector<std::string>& words,
                                                       std::chrono::milliseconds deadline);

/// The API's way to an engine's port: `/api/v1/namespaces/NS/pods/POD:PORT/proxy/PATH`.
[[nodiscard]] std::string proxy_path(const std::string& name_space, const std::string& pod,
                                     const std::string& port, const std::string& path);

/// Asks for a path of an engine. With `whole_answer` kubectl tells status line and headers too, on
/// standard error.
[[nodiscard]] std::vector<std::string> engine_command(const Request& request,
                                                      const std::string& path, bool whole_answer,
                                                      std::chrono::milliseconds deadline);

/// Current context and its namespace, a line each.
[[nodiscard]] std::vector<std::string> context_command(const Request& request);

/// Words in front of a command that is to run inside a pod.
[[nodiscard]] std::vector<std::string> enter_pod(const Request& request,
                                                 const std::string& name_space,
                                                 const std::string& pod,
                                                 const std::string& container);

/// Makes a pod on the node, lets it live somewhat longer than the run may last, enters the host by
/// it, and removes it.
[[nodiscard]] std::vector<std::string> make_debug_pod(const Request& request,
                                                      const std::string& name_space,
                                                      const std::string& node);
[[nodiscard]] std::vector<std::string> enter_debug_pod(const Request& request,
                                                       const std::string& name_space,
                                                       const std::string& pod);
[[nodiscard]] std::vector<std::string> delete_debug_pod(const Request& request,
                                                        const std::string& name_space,
                                                        const std::string& pod);

/// Prints time, uptime, boot id, boot time and zone of a host; read by `parse_clock`.
[[nodiscard]] std::vector<std::string> clock_command();

/// Prints the files of another host that match a pattern, which only a shell there can expand.
[[nodiscard]] std::vector<std::string> cat_command(const std::string& pattern);

/// `2026-01-31 10:00:00 UTC`, as journalctl takes `--since`.
[[nodiscard]] std::string journal_time(std::int64_t ns);

}  // namespace triage::collectors

#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "base/text.hpp"
#include "bundle/input.hpp"
#include "bundle/verify.hpp"
#include "collectors/plan.hpp"

/// Running the built binary's `collect` in a world made for the test: a directory of its own, tools
/// that stand in on PATH, a replayed API server.
namespace collect_run {

using triage::base::Ended;
using Environment = std::vector<std::pair<std::string, std::string>>;

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class World {
 public:
  World() {
    std::string name = (std::filesystem::temp_directory_path() / "triage-collect-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(path_ + "/bin");
    std::filesystem::create_directory(path_ + "/home");
    std::filesystem::create_directory(path_ + "/out");
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  /// A shell script that stands in for a tool.
  void tool(const std::string& name, const std::string& script) const {
    const std::string file = write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    ::chmod(file.c_str(), 0755);
  }
  [[nodiscard]] std::string path_variable() const { return path_ + "/bin:/usr/bin:/bin"; }
  [[nodiscard]] Environment environment() const {
    return {{"PATH", path_variable()},
            {"HOME", path_ + "/home"},
            {"KUBECONFIG", path_ + "/kubeconfig"},
            {"XDG_CONFIG_HOME", path_ + "/home"}};
  }
  /// Files that a run left in the directory of its output, hidden ones too.
  [[nodiscard]] std::vector<std::string> left_in_out() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_ + "/out"))
      names.push_back(entry.path().filename().string());
    return names;
  }

 private:
  std::string path_;
};

struct Run {
  Ended ended;
  std::string out;
  std::string bundle;  ///< the path that was printed, or empty

  [[nodiscard]] const std::string& errors() const { return ended.error_text; }
  [[nodiscard]] int exit() const {
    return ended.how == Ended::How::exited ? ended.exit_code : 128 + ended.signal;
  }
};

inline Run run(const World& world, std::vector<std::string> arguments, const Environment& more = {},
               const std::atomic<bool>* cancel = nullptr) {
  triage::base::Command command;
  command.argv = {TRIAGE_BINARY};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.deadline = std::chrono::minutes(4);
  command.environment = world.environment();
  command.environment.insert(command.environment.end(), more.begin(), more.end());
  command.stderr_limit = 4 << 20;
  Run result;
  result.ended = triage::base::run(
      command,
      [&](std::string_view piece) {
        result.out += piece;
        return true;
      },
      cancel);
  for (const auto line : triage::base::split_lines(result.out))
    if (line.find(".tar.") != std::string_view::npos && result.bundle.empty()) result.bundle = line;
  return result;
}

/// The built-in plan with other times, so that tests need not wait for what people may.
inline std::string hasty_plan(const World& world,
                              std::vector<std::pair<std::string, std::string>> changes = {}) {
  std::string text(triage::collectors::built_in_plan_text());
  changes.emplace_back("pause: 10s", "pause: 200ms");
  // A loaded test machine is slower than any cluster.
  changes.emplace_back(
      "{id: cluster-version, role: environment, for: run, order: 70, tier: minimal, deadline: 10s",
      "{id: cluster-version, role: environment, for: run, order: 70, tier: minimal, deadline: 60s");
  for (const auto& [from, to] : changes) text = triage::base::replace_all(text, from, to);
  return world.write("plan.yaml", text);
}

struct Bundle {
  triage::bundle::Verification checked;
  std::map<std::string, std::string> files;

  [[nodiscard]] const triage::bundle::ManifestItem* row(const std::string& id,
                                                        const std::string& container = "") const {
    for (const auto& item : checked.manifest.items)
      if (item.id == id && (container.empty() || item.place.container == container)) return &item;
    return nullptr;
  }
  [[nodiscard]] std::string status(const std::string& id) const {
    const auto* item = row(id);
    return item == nullptr ? "no row" : item->status;
  }
  [[nodiscard]] std::string file(const std::string& path) const {
    const auto it = files.find(path);
    return it == files.end() ? "(absent)" : it->second;
  }
  [[nodiscard]] bool holds(const std::string& text) const {
    for (const auto& [path, content] : files)
      if (content.find(text) != std::string::npos) return true;
    return false;
  }
};

/// Checks the bundle and reads all its evidence.
inline Bundle open(const std::string& path) {
  Bundle bundle;
  auto checked = triage::bundle::verify_bundle(path);
  REQUIRE_MESSAGE(checked.ok(), checked.problem().to_string());
  bundle.checked = std::move(*checked);
  for (const auto& finding : bundle.checked.findings) {
    CAPTURE(finding.path);
    FAIL_CHECK(finding.message);
  }
  const auto read =
      triage::bundle::read_inputs({path}, {},
                                  [&](const triage::bundle::EvidenceFile& file, std::string_view,
                                      triage::bundle::ByteStream& stream) {
                                    std::vector<char> buffer(1 << 16);
                                    std::string& text = bundle.files[file.path];
                                    while (const std::size_t got = stream.read(buffer))
                                      text.append(buffer.data(), got);
                                    return true;
                                  });
  CHECK(read.ok());
  return bundle;
}

/// A replayed API server for the time of a test; kubectl of the world talks to it.
class Server {
 public:
  Server(const World& world, const nlohmann::json& scenario) {
    const std::string file = world.write("scenario.json", scenario.dump());
    const std::string port_file = world.path("port");
    std::filesystem::remove(port_file);
    thread_ = std::thread([this, file, port_file] {
      triage::base::Command command;
      command.argv = {"python3",
                      std::string(TRIAGE_SOURCE_DIR) + "/tests/collectors/replay_server.py", file,
                      port_file};
      command.deadline = std::chrono::minutes(10);
      command.grace = std::chrono::milliseconds(300);
      ended_ = triage::base::run(
          command, [](std::string_view) { return true; }, &stop_);
    });
    for (int i = 0; i < 1200 && !std::filesystem::exists(port_file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    port_ = read_file(port_file);
    CHECK_MESSAGE(!port_.empty(), "the replay server did not start");
    world.write("kubeconfig",
                "apiVersion: v1\nkind: Config\ncurrent-context: t\n"
                "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:" +
                    port_ +
                    "'}}]\n"
                    "users: [{name: u, user: {}}]\n"
                    "contexts: [{name: t, context: {cluster: c, user: u, namespace: llm}}]\n");
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::string port_;
  Ended ended_;
};

/// False, and said aloud, where the tools of a test are not installed.
inline bool have(const std::vector<std::string>& programs) {
  for (const auto& program : programs)
    if (!triage::base::find_program(program)) {
      MESSAGE("skipped: " << program << " is not installed");
      return false;
    }
  return true;
}

/// `kubectl exec` speaks WebSocket from 1.29 on; older ones only SPDY, which the server does not.
inline bool kubectl_execs_over_websocket() {
  triage::base::Command command;
  command.argv = {"kubectl", "version", "--client", "-o", "json"};
  std::string text;
  (void)triage::base::run(command, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  const auto version = nlohmann::json::parse(text, nullptr, false);
  if (version.is_discarded() || !version.contains("clientVersion")) return false;
  const std::string minor = version["clientVersion"].value("minor", "0");
  const bool good = std::atoi(minor.c_str()) >= 29;
  if (!good) MESSAGE("skipped: kubectl 1." << minor << " has no exec over WebSocket");
  return good;
}

}  // namespace collect_run

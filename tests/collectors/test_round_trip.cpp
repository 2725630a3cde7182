#include <algorithm>
#include <cstdlib>
#include <regex>

#include "collect_run.hpp"

using namespace triage;
using namespace collect_run;
using nlohmann::json;

/// The labelled incidents once more, but through a cluster: a replay server gives their files out
/// as a cluster would (logs, events, objects, tools in a driver pod), `collect` gathers and redacts
/// them, and `analyze` must say the same of the bundle as of the raw files. TRIAGE_ROUND_TRIP=all
/// runs every incident that a cluster can give out, another text those whose path holds it;
/// otherwise one of each class is run.
namespace {

namespace fs = std::filesystem;

const char* k_node = "gpu-node-rt";
const char* k_driver = "gpu-operator/nvidia-driver-daemonset-abcde";

/// The files of an incident by what a cluster gives them out as; empty when one of them is
/// something that neither the API nor a node's tools give back: a `describe`, a table, a second
/// log.
std::map<std::string, fs::path> served_files(const fs::path& incident) {
  static const std::map<std::string, std::string> k_served{{"worker.log", "current"},
                                                           {"w.log", "current"},
                                                           {"engine.log", "current"},
                                                           {"triton.log", "current"},
                                                           {"vllm.log", "current"},
                                                           {"p.log", "current"},
                                                           {"previous.log", "previous"},
                                                           {"dmesg.txt", "dmesg"},
                                                           {"dmesg.log", "dmesg"},
                                                           {"dmesg-T.txt", "dmesg"},
                                                           {"fabricmanager.log", "fabricmanager"},
                                                           {"nvidia-smi.txt", "smi"},
                                                           {"nvidia-smi-q.txt", "smi-q"},
                                                           {"pod.json", "pod"},
                                                           {"pods.json", "pods"},
                                                           {"events.json", "events"},
                                                           {"ev.json", "events"},
                                                           {"node.json", "node"},
                                                           {"nodes.json", "nodes"},
                                                           {"metrics.prom", "metrics"}};
  std::map<std::string, fs::path> files;
  for (const auto& entry : fs::directory_iterator(incident)) {
    const std::string name = entry.path().filename().string();
    if (name == "case.json") continue;
    const auto served = k_served.find(name);
    if (served == k_served.end() || !files.emplace(served->second, entry.path()).second) return {};
  }
  // What a collection starts from: without a pod or a node's log there is nothing of its own.
  const bool anchored = std::any_of(files.begin(), files.end(), [](const auto& file) {
    return file.first == "current" || file.first == "previous" || file.first == "dmesg" ||
           file.first == "fabricmanager" || file.first == "pod";
  });
  return anchored ? files : std::map<std::string, fs::path>();
}

json items_of(const std::map<std::string, fs::path>& files, const std::string& name) {
  const auto file = files.find(name);
  if (file == files.end()) return json::array();
  const json root = json::parse(read_file(file->second.string()), nullptr, false);
  if (root.is_discarded()) return json::array();
  return root.contains("items") ? root["items"] : json::array({root});
}

/// The year that a date in the files names, or 0.
int year_of(const std::map<std::string, fs::path>& files) {
  static const std::regex k_dated(R"((20\d\d)(?:-\d\d-\d\dT|\]))");
  for (const auto& [name, path] : files) {
    std::smatch found;
    const std::string text = read_file(path.string());
    if (std::regex_search(text, found, k_dated)) return std::stoi(found[1]);
  }
  return 0;
}

struct Target {
  std::string name_space = "llm";
  std::string pod = "app-0";
  std::string node = k_node;
};

json scenario_of(const fs::path& incident, Target& target) {
  json s;
  const auto files = served_files(incident);
  json pods = items_of(files, "pod");
  for (const auto& pod : items_of(files, "pods")) pods.push_back(pod);
  if (pods.empty())
    pods.push_back({{"metadata", {{"name", "app-0"}, {"namespace", "llm"}, {"uid", "u"}}},
                    {"spec",
                     {{"nodeName", k_node},
                      {"containers", {{{"name", "app"}, {"ports", {{{"containerPort", 8000}}}}}}}}},
                    {"status", {{"phase", "Running"}}}});
  auto& first = pods[0];
  target.pod = first["metadata"]["name"];
  target.name_space = first["metadata"].value("namespace", "default");
  if (first["spec"].contains("nodeName")) target.node = first["spec"]["nodeName"];
  const std::string container = first["spec"]["containers"][0]["name"];
  const std::string where = target.name_space + "/" + target.pod + "/" + container;
  const auto text_of = [&](const char* name) {
    const auto file = files.find(name);
    return file == files.end() ? json() : json{{"file", file->second.string()}};
  };
  const auto serve = [&](const char* name, const char* section, const std::string& key) {
    if (json text = text_of(name); !text.is_null()) s[section][key] = std::move(text);
  };
  if (const int year = year_of(files); year != 0) s["log_year"] = year;
  serve("current", "logs", where);
  serve("previous", "previous", where);
  serve("metrics", "proxy", target.name_space + "/" + target.pod + ":8000/metrics");
  s["events"] = items_of(files, "events");
  s["nodes"] = items_of(files, "node");
  for (const auto& node : items_of(files, "nodes")) s["nodes"].push_back(node);
  if (s["nodes"].empty())
    s["nodes"].push_back({{"metadata", {{"name", target.node}}}, {"status", json::object()}});
  pods.push_back(
      {{"metadata",
        {{"name", "nvidia-driver-daemonset-abcde"},
         {"namespace", "gpu-operator"},
         {"uid", "d"},
         {"labels", {{"app.kubernetes.io/component", "nvidia-driver"}}}}},
       {"spec", {{"nodeName", target.node}, {"containers", {{{"name", "nvidia-driver-ctr"}}}}}},
       {"status", {{"phase", "Running"}}}});
  s["pods"] = pods;
  auto& exec = s["exec"][k_driver];
  for (const auto& [name, command] : {std::pair{"dmesg", "dmesg"},
                                      {"smi", "nvidia-smi"},
                                      {"smi-q", "nvidia-smi -q"},

                                      {"fabricmanager", "cat /var/log/fabricmanager.log"}})
    if (json text = text_of(name); !text.is_null()) exec[command] = {{"stdout", std::move(text)}};
  if (!exec.is_null()) exec["nvidia-smi -L"] = {{"stdout", "GPU 0: served by a test\n"}};
  return s;
}

struct Verdict {
  std::string class_, cause, quarantine, first_error;
};

Verdict verdict_of(const World& world, const std::string& input) {
  const Run got = run(world, {"analyze", "-f", "json", input});
  const json report = json::parse(got.out, nullptr, false);
  if (report.is_discarded()) return {"no report", got.errors(), "", ""};
  const auto& verdict = report["verdict"];
  const auto& first = verdict["first_error"];
  return {verdict.value("class", ""), verdict.value("cause", ""),
          report["quarantine"].value("target", ""),
          first.is_object() ? first.value("text", "") : ""};
}

std::vector<fs::path> incidents() {
  std::vector<fs::path> all;
  for (const auto& entry :
       fs::recursive_directory_iterator(std::string(TRIAGE_SOURCE_DIR) + "/fixtures"))
    if (entry.path().filename() == "case.json" && !served_files(entry.path().parent_path()).empty())
      all.push_back(entry.path().parent_path());
  std::sort(all.begin(), all.end());
  const char* wanted = std::getenv("TRIAGE_ROUND_TRIP");
  if (wanted != nullptr) {
    const std::string part = std::string(wanted) == "all" ? "" : wanted;
    std::erase_if(
        all, [&](const fs::path& path) { return path.string().find(part) == std::string::npos; });
    return all;
  }
  std::map<std::string, fs::path> one_of_each;
  for (const auto& incident : all) {
    const json label = json::parse(read_file((incident / "case.json").string()), nullptr, false);
    if (!label.is_discarded()) one_of_each.emplace(label["expect"].value("class", "?"), incident);
  }
  std::vector<fs::path> some;
  for (const auto& [class_, incident] : one_of_each) some.push_back(incident);
#if defined(__SANITIZE_ADDRESS__)
  some.resize(std::min<std::size_t>(some.size(), 5));  // kubectl and the server take the time
#endif
  return some;
}

}  // namespace

TEST_CASE(
    "incidents served by a cluster give the same verdict from the collected bundle as from their "
    "files") {
  if (!have({"kubectl", "python3"}) || !kubectl_execs_over_websocket()) return;
  const auto chosen = incidents();
  CHECK(!chosen.empty());
  std::size_t different = 0;
  for (const auto& incident : chosen) {
    CAPTURE(incident.string());
    const World world;
    // The raw files without the label, under a name that says nothing.
    fs::create_directory(world.path("raw"));
    for (const auto& entry : fs::directory_iterator(incident))
      if (entry.path().filename() != "case.json")
        fs::copy(entry.path(), world.path("raw/" + entry.path().filename().string()));
    Target target;
    const Server server(world, scenario_of(incident, target));
    const Run got =
        run(world, {"collect", target.pod, "-n", target.name_space, "-o",
                    world.path("out/b.tar.gz"), "--plan", hasty_plan(world), "--tier", "minimal"});
    INFO(got.errors());
    REQUIRE_FALSE(got.bundle.empty());
    const Verdict raw = verdict_of(world, world.path("raw"));
    const Verdict collected = verdict_of(world, got.bundle);
    const bool same = collected.class_ == raw.class_ && collected.cause == raw.cause &&
                      collected.quarantine == raw.quarantine;
    if (same) continue;
    ++different;
    MESSAGE(incident.string() << ": " << raw.cause << " became " << collected.cause);
  }
  CHECK(different == 0);
}

#include <algorithm>
#include <cstdlib>

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

/// Files that the API or a node's tools can give back; a `describe` or a table cannot be served.
bool servable(const fs::path& incident) {
  static const std::vector<std::string> k_names{
      "case.json", "worker.log", "previous.log", "dmesg.txt", "nvidia-smi.txt", "nvidia-smi-q.txt",
      "pod.json",  "pods.json",  "events.json",  "node.json", "nodes.json",     "metrics.prom"};
  bool log = false;
  for (const auto& entry : fs::directory_iterator(incident)) {
    const std::string name = entry.path().filename().string();
    if (std::find(k_names.begin(), k_names.end(), name) == k_names.end()) return false;
    log = log || name == "worker.log" || name == "previous.log" || name == "dmesg.txt";
  }
  return log;
}

json items_of(const fs::path& file) {
  if (!fs::exists(file)) return json::array();
  const json root = json::parse(read_file(file.string()), nullptr, false);
  if (root.is_discarded()) return json::array();
  return root.contains("items") ? root["items"] : json::array({root});
}

struct Target {
  std::string name_space = "llm";
  std::string pod = "app-0";
  std::string node = k_node;
};

json scenario_of(const fs::path& incident, Target& target) {
  json s;
  json pods = items_of(incident / "pod.json");
  for (const auto& pod : items_of(incident / "pods.json")) pods.push_back(pod);
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
  const auto text = [&](const char* name) { return json{{"file", (incident / name).string()}}; };
  if (fs::exists(incident / "worker.log")) s["logs"][where] = text("worker.log");
  if (fs::exists(incident / "previous.log")) s["previous"][where] = text("previous.log");
  if (fs::exists(incident / "metrics.prom"))
    s["proxy"][target.name_space + "/" + target.pod + ":8000/metrics"] = text("metrics.prom");
  s["events"] = items_of(incident / "events.json");
  s["nodes"] = items_of(incident / "node.json");
  for (const auto& node : items_of(incident / "nodes.json")) s["nodes"].push_back(node);
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
  if (fs::exists(incident / "dmesg.txt")) exec["dmesg"] = {{"stdout", text("dmesg.txt")}};
  if (fs::exists(incident / "nvidia-smi.txt"))
    exec["nvidia-smi"] = {{"stdout", text("nvidia-smi.txt")}};
  if (fs::exists(incident / "nvidia-smi-q.txt"))
    exec["nvidia-smi -q"] = {{"stdout", text("nvidia-smi-q.txt")}};
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
    if (entry.path().filename() == "case.json" && servable(entry.path().parent_path()))
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

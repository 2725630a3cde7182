// What a request means: the API is asked which pods and nodes it names.

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "collectors/commands.hpp"
#include "collectors/kubernetes.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t k_most_pods = 64;

}  // namespace

base::Status Kubernetes::check_api() {
  if (!base::find_program("kubectl"))
    return base::Problem{"kubectl is not installed", "",
                         "install it, or run triage collect --local on the node itself"};
  milliseconds patience{10'000};
  for (const PlanItem& item : plan_.items)
    if (item.id == "cluster-version") patience = item.deadline;
  const Answer version = get({"kubectl", "version", "-o", "json"}, patience);
  if (!version.ok())
    return base::Problem{"the cluster does not answer: " + version.failure.reason, "",
                         "check kubectl version, --context and your credentials"};
  const auto at = version.text.find("\"serverVersion\"");
  if (at != std::string::npos) {
    const auto key = version.text.find("\"gitVersion\": \"", at);
    if (key != std::string::npos) {
      const auto from = key + std::string_view("\"gitVersion\": \"").size();
      const std::string server = version.text.substr(from, version.text.find('"', from) - from);
      session_.edit_manifest(
          [&](bundle::Manifest& manifest) { manifest.cluster["server"] = server; });
    }
  }
  return base::Done{};
}

void Kubernetes::find_context() {
  std::string text;
  const auto ended = session_.ask(context_command(session_.request()), k_short, text, k_objects);
  if (!ended.ok()) text.clear();
  const auto lines = base::split_lines(text);
  const auto line = [&](std::size_t at) {
    return std::string(at < lines.size() ? base::trim(lines[at]) : std::string_view());
  };
  // `--minify` has one context left; without one (inside a pod) there is no name.
  const std::string name =
      session_.request().context.empty() ? line(0) : session_.request().context;
  if (!name.empty())
    session_.edit_manifest([&](bundle::Manifest& manifest) {
      manifest.cluster["context"] = session_.redactor().redact(
          name, {"manifest", evidence::Kind::environment, evidence::Format::lines});
    });
  if (name_space_.empty()) name_space_ = line(1).empty() ? "default" : line(1);
}

void Kubernetes::note_missing(const std::string& what, const Failure& failure) {
  Job job;
  job.id = "target";
  job.role = evidence::Kind::pod;
  const std::string resource = what.substr(0, what.find('/'));
  if (resource == "node") {
    job.role = evidence::Kind::node;
    job.place.node = what.substr(resource.size() + 1);
    job.argv = {"kubectl", "get", "node", job.place.node};
  } else {
    job.place.name_space = name_space_;
    job.argv = {"kubectl", "-n", name_space_, "get"};
    for (const auto word : base::split_blanks(what)) job.argv.emplace_back(word);
    if (resource == "pod")
      job.place.pod = what.substr(resource.size() + 1);
    else
      job.place.workload = what;
  }
  session_.add_absent(job, failure.status == "ok" ? "missing" : failure.status,
                      failure.reason.empty() ? "no pod was found" : failure.reason);
}

void Kubernetes::add_pod(Pod pod) {
  if (pods_.size() >= k_most_pods) return;
  const bool known = std::any_of(pods_.begin(), pods_.end(), [&](const Pod& other) {
    return other.name_space == pod.name_space && other.name == pod.name;
  });
  if (known) return;
  if (!pod.node.empty()) add_once(nodes_, pod.node);
  add_once(name_spaces_, pod.name_space);
  pods_.push_back(std::move(pod));
}

void Kubernetes::add_pods_by_selector(const std::string& selector, const std::string& what) {
  const Answer answer =
      get({"kubectl", "-n", name_space_, "get", "pods", "-l", selector, "-o", "json"}, k_short);
  std::vector<Pod> found;
  if (answer.ok()) found = parse_pods(answer.text);
  if (found.empty()) return note_missing(what, answer.failure);
  for (auto& pod : found) add_pod(std::move(pod));
}

void Kubernetes::add_workload(const std::string& kind, const std::string& name) {
  const Answer answer =
      get({"kubectl", "-n", name_space_, "get", kind + "/" + name, "-o", "json"}, k_short);
  const std::string what = kind + "/" + name;
  if (!answer.ok()) return note_missing(what, answer.failure);
  std::string selector = group_selector(kind, name);
  const auto object = parse_object(answer.text);
  if (selector.empty() && object) selector = object->match_labels;
  if (!selector.empty()) return add_pods_by_selector(selector, what);
  // A kind that nobody told us of: its pods carry its name.
  const Answer all = get({"kubectl", "-n", name_space_, "get", "pods", "-o", "json"}, k_short);
  bool any = false;
  if (all.ok())
    for (auto& pod : parse_pods(all.text))
      if (pod.name.compare(0, name.size() + 1, name + "-") == 0) {
        add_pod(std::move(pod));
        any = true;
      }
  if (!any) note_missing(what, all.failure);
}

void Kubernetes::add_named(const std::string& name) {
  const auto slash = name.find('/');
  if (slash != std::string::npos) {
    const std::string kind = name.substr(0, slash);
    const std::string rest = name.substr(slash + 1);
    if (kind != "pod" && kind != "pods" && kind != "po") return add_workload(kind, rest);
    return add_named(rest);
  }
  const Answer answer =
      get({"kubectl", "-n", name_space_, "get", "pod", name, "-o", "json"}, k_short);
  std::vector<Pod> found;
  if (answer.ok()) found = parse_pods(answer.text);
  if (found.empty()) return note_missing("pod/" + name, answer.failure);
  for (auto& pod : found) add_pod(std::move(pod));
}

void Kubernetes::add_groups() {
  // One rank's log shows the timeout, another's the fault: a group is gathered as one.
  std::set<std::string> selectors;
  for (const Pod& pod : pods_)
    if (const auto selector = group_of(pod); !selector.empty()) selectors.insert(selector);
  for (const auto& selector : selectors) {
    const Answer answer =
        get({"kubectl", "-n", name_space_, "get", "pods", "-l", selector, "-o", "json"}, k_short);
    if (!answer.ok()) continue;
    for (auto& pod : parse_pods(answer.text)) add_pod(std::move(pod));
  }
}

void Kubernetes::add_pods_of_nodes() {
  for (const auto& node : session_.request().nodes) {
    const Answer object = get({"kubectl", "get", "node", node, "-o", "name"}, k_short);
    if (object.failure.status == "missing") {
      note_missing("node/" + node, object.failure);
      continue;
    }
    add_once(nodes_, node);
    const Answer answer = get(
        {"kubectl", "get", "pods", "-A", "--field-selector", "spec.nodeName=" + node, "-o", "json"},
        milliseconds{20'000});
    if (!answer.ok()) continue;  // the node-pods item says why
    for (auto& pod : parse_pods(answer.text))
      if (pod.requests_gpu && !gpu_daemon(pod)) add_pod(std::move(pod));
  }
}

base::Status Kubernetes::resolve() {
  if (auto answers = check_api(); !answers) return answers;
  find_context();
  const Request& request = session_.request();
  if (!request.names.empty() || !request.selector.empty()) add_once(name_spaces_, name_space_);
  for (const auto& name : request.names) add_named(name);
  if (!request.selector.empty())
    add_pods_by_selector(request.selector, "pods -l " + request.selector);
  add_groups();
  add_pods_of_nodes();
  session_.edit_manifest([&](bundle::Manifest& manifest) {
    for (const Pod& pod : pods_)
      manifest.targets.push_back({pod.name_space, pod.name, pod.uid,
                                  pod.node.empty() ? "" : session_.shown_host(pod.node)});
  });
  return base::Done{};
}

}  // namespace triage::collectors

#include "collectors/kubernetes.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include "base/text.hpp"
#include "bundle/input.hpp"
#include "collectors/commands.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds k_short{15'000};
constexpr std::size_t k_objects = 64U << 20U;  ///< of JSON looked at for discovery
constexpr std::size_t k_most_pods = 64;

template <class T>
bool add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) != list.end()) return false;
  list.push_back(value);
  return true;
}

/// Names in the links of a directory listing, as kubelet's log server writes them.
std::vector<std::string> listed_names(std::string_view html) {
  std::vector<std::string> names;
  constexpr std::string_view k_link = "href=\"";
  for (std::size_t at = html.find(k_link); at != std::string_view::npos;
       at = html.find(k_link, at)) {
    at += k_link.size();
    const auto end = html.find('"', at);
    if (end == std::string_view::npos) break;
    const std::string name(html.substr(at, end - at));
    const bool plain = !name.empty() && name[0] != '.' &&
                       name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789._-") == std::string::npos;
    if (plain) add_once(names, name);
  }
  return names;
}

bool is_metrics(std::string_view text) {
  return bundle::recognise(text.substr(0, 64 * 1024), "").kind == evidence::Kind::metrics;
}

}  // namespace

Kubernetes::Kubernetes(Session& session, const Plan& plan, HostSide& hosts)
    : session_(session), plan_(plan), hosts_(hosts), name_space_(session.request().name_space) {}

std::vector<std::string> Kubernetes::command(const std::vector<std::string>& words,
                                             milliseconds deadline) const {
  return kubectl_command(session_.request(), words, deadline);
}

Kubernetes::Answer Kubernetes::get(const std::vector<std::string>& words, milliseconds deadline) {
  Answer answer;
  const auto ended = session_.ask(command(words, deadline), deadline, answer.text, k_objects);
  answer.failure = read_failure(ended, {});
  return answer;
}

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
  const auto lines = base::split_lines(ended.ok() ? text : std::string());
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

Values Kubernetes::values_of(const Pod& pod) const {
  return {{"namespace", pod.name_space}, {"pod", pod.name}, {"uid", pod.uid}, {"node", pod.node}};
}

Job Kubernetes::job_for(const PlanItem& item, const Values& values) const {
  Job job;
  job.id = item.id;
  job.role = item.role;
  job.order = item.order;
  job.argv = command(fill(item.command, values), item.deadline);
  // Paths show hosts as redaction names them.
  Values shown = values;
  if (const auto node = shown.find("node"); node != shown.end())
    node->second = session_.shown_host(node->second);
  job.path = fill(item.path, shown);
  job.deadline = item.deadline;
  job.cap = item.cap;
  job.keep = item.keep;
  job.optional = item.optional;
  job.absent = item.absent;
  const auto value = [&](const char* name) {
    const auto it = values.find(name);
    return it == values.end() ? std::string() : it->second;
  };
  job.place.name_space = value("namespace");
  job.place.pod = value("pod");
  job.place.container = value("container");
  if (job.place.pod.empty() || !job.place.container.empty() || item.scope == Scope::pod)
    job.place.node = value("node");
  return job;
}

void Kubernetes::add_jobs() {
  for (const PlanItem& item : plan_.items)
    if (wanted(item)) add_item(item);
}

void Kubernetes::add_item(const PlanItem& item) {
  switch (item.scope) {
    case Scope::run:
      session_.add(job_for(item, {}));
      break;
    case Scope::name_space:
      for (const auto& name : name_spaces_) {
        Job job = job_for(item, {{"namespace", name}});
        if (item.role == evidence::Kind::event) {
          job.capture = k_objects;
          job.then = [this](const Result& result) {
            const auto oldest = oldest_event(result.raw);
            if (oldest.empty()) return;
            session_.edit_manifest([&](bundle::Manifest& manifest) {
              auto& known = manifest.event_window_oldest;
              if (known.empty() || oldest < known) known = oldest;
            });
          };
        }
        if (item.id == "rights") {
          job.capture = k_objects;
          job.then = [this](const Result& result) {
            session_.edit_manifest([&](bundle::Manifest& manifest) {
              if (manifest.identity.empty()) manifest.identity = rights_in_short(result.redacted);
            });
          };
        }
        session_.add(std::move(job));
      }
      break;
    case Scope::pod:
      for (const Pod& pod : pods_) {
        Job job = job_for(item, values_of(pod));
        if (item.id == "pod") {
          job.then = [this, job, raw = pod.raw](const Result& result) {
            if (result.row.status == "ok" || raw.empty()) return;
            Job again = job;
            again.note = "gone since; as it was when the collection began";
            session_.add_text(again, raw);
          };
        }
        session_.add(std::move(job));
      }
      break;
    case Scope::container:
      for (const Pod& pod : pods_)
        for (const Container& container : pod.containers) {
          if (!item.each.empty()) {
            add_rotated(item, pod, container);
            continue;
          }
          Values values = values_of(pod);
          values["container"] = container.name;
          Job job = job_for(item, values);
          add_newest_lines(job);
          session_.add(std::move(job));
        }
      break;
    case Scope::engine:
      if (item.after.empty() && item.url == "metrics") add_engines(item);
      break;
    case Scope::owner:
      add_owners(item);
      break;
    case Scope::node:
      for (const auto& node : nodes_) {
        Job job = job_for(item, {{"node", node}});
        if (item.id == "node-pods") {
          job.capture = k_objects;
          job.then = [this, node](const Result& result) { on_node_pods(node, result); };
        }
        session_.add(std::move(job));
      }
      break;
    case Scope::gpu_pod:
    case Scope::host:
      break;  // when the pods of the node are known
  }
}

/// `kubectl logs` begins with the oldest lines. Where it does not get to the end in time, the
/// newest ones, which tell of the fault, are asked for by themselves.
void Kubernetes::add_newest_lines(Job& job) {
  if (job.keep != Keep::head_and_tail ||
      std::find(job.argv.begin(), job.argv.end(), "logs") == job.argv.end())
    return;
  Job newest = job;
  newest.id += "-newest";
  newest.argv.emplace_back("--tail=10000");
  newest.note = "the newest lines; the whole log did not come in time";
  const auto dot = newest.path.rfind('.');
  newest.path.insert(dot == std::string::npos ? newest.path.size() : dot, "-newest");
  job.then = [this, newest = std::move(newest)](const Result& result) {
    if (result.row.status == "timeout" && !session_.over()) session_.add(newest);
  };
}

void Kubernetes::add_rotated(const PlanItem& item, const Pod& pod, const Container& container) {
  if (pod.node.empty() || pod.uid.empty()) return;
  Values values = values_of(pod);
  values["container"] = container.name;
  values["name"] = "";
  session_.add_work(item.order, [this, &item, values]() mutable {
    const Job list = job_for(item, values);
    std::string html;
    constexpr std::size_t k_listing = 1U << 20U;
    const auto ended = session_.ask(list.argv, item.deadline, html, k_listing);
    const auto failure = read_failure(ended, item.absent);
    if (failure.status != "ok") return session_.add_absent(list, failure.status, failure.reason);
    for (const auto& name : listed_names(html)) {
      values["name"] = name;
      Job job = job_for(item, values);
      job.argv = command(fill(item.each, values), item.deadline);
      session_.add(std::move(job));
    }
  });
}

void Kubernetes::add_engines(const PlanItem& item) {
  for (const Pod& pod : pods_)
    for (const Container& container : pod.containers) {
      const auto ports = engine_ports(container);
      if (container.init || ports.empty()) continue;
      session_.add_work(item.order, [this, &item, &pod, &container, ports] {
        try_port(item, pod, container, ports, 0);
      });
    }
}

void Kubernetes::try_port(const PlanItem& item, const Pod& pod, const Container& container,
                          std::vector<int> ports, std::size_t at) {
  Values values = values_of(pod);
  values["container"] = container.name;
  const auto command_of = [&](int port) {
    return engine_command(
        session_.request(),
        proxy_path(pod.name_space, pod.name, std::to_string(port), fill(item.url, values)), false,
        item.deadline);
  };
  Failure last{"missing", "the pod is not running: its phase is " + pod.phase};
  if (pod.phase == "Running") {
    for (; at < ports.size() && !session_.over(); ++at) {
      std::string text;
      constexpr std::size_t k_look = 64 * 1024;
      const auto ended = session_.ask(command_of(ports[at]), item.deadline, text, k_look);
      last = read_failure(ended, {});
      if (last.status == "ok" &&
          (is_metrics(text) || text.substr(0, 1) == "{" || text.substr(0, 1) == "["))
        return engine_found(item, pod, container, ports[at]);
      if (last.status == "ok") last = {"missing", "what answers on the port are no metrics"};
    }
  }
  Job job = job_for(item, values);
  job.argv = command_of(ports.front());
  // An engine that does not answer is what is being diagnosed, not a failure to collect.
  const bool dead = last.status == "error" || last.status == "timeout";
  session_.add_absent(job, dead ? "missing" : last.status, last.reason);
}

void Kubernetes::engine_found(const PlanItem& first, const Pod& pod, const Container& container,
                              int port) {
  Values values = values_of(pod);
  values["container"] = container.name;
  values["port"] = std::to_string(port);
  const auto make = [this, values, pod, port](const PlanItem& item) {
    Job job = job_for(item, values);
    job.argv = engine_command(
        session_.request(),
        proxy_path(pod.name_space, pod.name, std::to_string(port), fill(item.url, values)),
        item.whole_answer, item.deadline);
    job.place.container = values.at("container");
    job.error_is_answer = true;
    job.whole_answer = item.whole_answer;
    return job;
  };
  Job scrape = make(first);
  scrape.then = [this, make, id = first.id](const Result&) {
    for (const PlanItem& item : plan_.items)
      if (item.after == id && wanted(item))
        session_.add(make(item), Queue::Clock::now() + item.pause);
  };
  session_.add(std::move(scrape));
  for (const PlanItem& item : plan_.items)
    if (item.scope == Scope::engine && item.after.empty() && item.id != first.id && wanted(item))
      session_.add(make(item));
}

void Kubernetes::add_owners(const PlanItem& item) {
  for (const Pod& pod : pods_)
    for (const Owner& owner : pod.owners)
      if (owner.kind != "Node") add_owner(item, pod.name_space, owner, 0);
}

void Kubernetes::add_owner(const PlanItem& item, const std::string& name_space, const Owner& owner,
                           int depth) {
  constexpr int k_deepest = 4;
  {
    const std::lock_guard lock(mutex_);
    if (depth > k_deepest ||
        !add_once(owners_seen_, name_space + "/" + owner.resource() + "/" + owner.name))
      return;
  }
  Job job = job_for(item, {{"namespace", name_space},
                           {"resource", owner.resource()},
                           {"name", owner.name},
                           {"kind", base::to_lower(owner.kind)}});
  job.place.workload = owner.name;
  job.capture = k_objects;
  job.then = [this, &item, name_space, depth](const Result& result) {
    if (const auto object = parse_object(result.raw))
      for (const Owner& above : object->owners) add_owner(item, name_space, above, depth + 1);
  };
  session_.add(std::move(job));
}

void Kubernetes::on_node_pods(const std::string& node, const Result& result) {
  std::vector<Pod> pods;
  if (result.row.status == "ok") {
    pods = parse_pods(result.raw);
  } else {
    // Who may not list all pods may still see where the GPU stack lives.
    for (const char* name :
         {"gpu-operator", "nvidia-gpu-operator", "kube-amd-gpu", "kube-system"}) {
      if (session_.over()) break;
      const Answer answer = get({"kubectl", "-n", name, "get", "pods", "--field-selector",
                                 "spec.nodeName=" + node, "-o", "json"},
                                k_short);
      if (!answer.ok()) continue;
      for (auto& pod : parse_pods(answer.text)) pods.push_back(std::move(pod));
    }
  }
  add_gpu_daemons(node, pods);

  std::vector<Pod> mine;
  for (const Pod& pod : pods_)
    if (pod.node == node) mine.push_back(pod);
  if (!session_.request().exec) return hosts_.add_unreachable(node, "entering pods was turned off");
  const Pod* best = nullptr;
  int rank = 0;
  for (const Pod& pod : pods) {
    const auto daemon = gpu_daemon(pod);
    if (!daemon || daemon->exec_rank == 0 || pod.phase != "Running") continue;
    if (best == nullptr || daemon->exec_rank < rank) {
      best = &pod;
      rank = daemon->exec_rank;
    }
  }
  if (best == nullptr) {
    std::string reason =
        pods.empty()
            ? "the pods on the node could not be listed, so none could be entered; run triage "
              "collect --local on it"
            : "no driver, device plugin or DCGM pod runs on the node; use --debug-node, or run "
              "triage collect --local on it";
    if (session_.request().debug_node && enter_by_debug_pod(node, mine, reason)) return;
    return hosts_.add_unreachable(node, reason);
  }
  const auto daemon = gpu_daemon(*best);
  std::string container;
  for (const Container& candidate : best->containers) {
    if (candidate.init) continue;
    const bool named =
        !daemon->exec_container.empty() &&
        candidate.name.compare(0, daemon->exec_container.size(), daemon->exec_container) == 0;
    if (container.empty() || named) container = candidate.name;
    if (named) break;
  }
  Channel channel;
  channel.node = node;
  channel.prefix = enter_pod(session_.request(), best->name_space, best->name, container);
  hosts_.add_node(channel, mine);
}

bool Kubernetes::enter_by_debug_pod(const std::string& node, const std::vector<Pod>& pods,
                                    std::string& reason) {
  std::string said;
  constexpr milliseconds k_make{20'000};
  constexpr std::size_t k_words = 64 * 1024;
  // Not to be cancelled: a pod whose name was not read could not be deleted.
  base::Command making;
  making.argv = make_debug_pod(session_.request(), name_space_, node);
  making.deadline = k_make;
  const auto made = base::run(making, [&](std::string_view piece) {
    said.append(piece.substr(0, k_words - std::min(k_words, said.size())));
    return true;
  });
  said += made.error_text;
  const auto failure = read_failure(made, {});
  const auto at = said.find("node-debugger-");
  if (failure.status != "ok" || at == std::string::npos) {
    reason = "the debug pod could not be made: " + failure.reason;
    if (failure.status == "timeout") {
      const std::lock_guard lock(mutex_);
      debug_notes_.push_back("a debug pod may be left on " + session_.shown_host(node) +
                             ": look for node-debugger- in kubectl get pods -n " + name_space_);
    }
    return false;
  }
  const std::string name =
      said.substr(at, said.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.", at) - at);
  {
    const std::lock_guard lock(mutex_);
    debug_pods_.push_back(name);
  }
  constexpr int k_tries = 30;
  bool running = false;
  for (int i = 0; i < k_tries && !running && !session_.over(); ++i) {
    const Answer answer =
        get({"kubectl", "-n", name_space_, "get", "pod", name, "-o", "jsonpath={.status.phase}"},
            k_short);
    running = answer.ok() && answer.text == "Running";
    if (!running) std::this_thread::sleep_for(seconds{1});
  }
  if (!running) {
    reason = "the debug pod did not start in " + std::to_string(k_tries) + " s";
    return false;
  }
  Channel channel;
  channel.node = node;
  channel.prefix = enter_debug_pod(session_.request(), name_space_, name);
  hosts_.add_node(channel, pods);
  return true;
}

std::vector<std::string> Kubernetes::clean_up() {
  std::vector<std::string> notes = std::move(debug_notes_);
  for (const auto& name : debug_pods_) {
    base::Command removal;
    removal.argv = delete_debug_pod(session_.request(), name_space_, name);
    removal.deadline = k_short;
    // Not to be cancelled: what this run made, it removes.
    if (!base::run(removal, [](std::string_view) { return true; }).ok())
      notes.push_back("the debug pod is still there; delete it with: " +
                      base::shell_words(removal.argv));
  }
  debug_pods_.clear();
  return notes;
}

void Kubernetes::add_gpu_daemons(const std::string& node, const std::vector<Pod>& pods) {
  for (const PlanItem& item : plan_.items) {
    if (item.scope != Scope::gpu_pod || !wanted(item)) continue;
    for (const Pod& pod : pods) {
      const auto daemon = gpu_daemon(pod);
      if (!daemon) continue;
      for (const Container& container : pod.containers) {
        Values values = values_of(pod);
        values["container"] = container.name;
        values["node"] = node;
        Job job = job_for(item, values);
        job.role = daemon->role;
        session_.add(std::move(job));
      }
    }
  }
}

}  // namespace triage::collectors

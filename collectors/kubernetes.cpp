#include "collectors/kubernetes.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "bundle/input.hpp"
#include "collectors/commands.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;

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

}  // namespace triage::collectors

#include <algorithm>

#include "base/process.hpp"
#include "base/text.hpp"
#include "collectors/collect.hpp"
#include "collectors/commands.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_short{15'000};

/// A plan as the commands it comes down to, with `<words>` for what the cluster would tell.
class DryRun {
 public:
  explicit DryRun(const CollectOptions& options) : request_(options.request), plan_(options.plan) {
    known_["since"] = journal_time(
        std::chrono::duration_cast<std::chrono::nanoseconds>(
            (options.fixed_time_s ? std::chrono::seconds(*options.fixed_time_s)
                                  : std::chrono::system_clock::now().time_since_epoch()) -
            request_.since)
            .count());
    for (const char* name :
         {"namespace", "pod", "container", "node", "uid", "port", "resource", "kind", "name"})
      known_[name] = std::string("<") + name + ">";
    if (!request_.name_space.empty()) known_["namespace"] = request_.name_space;
    if (request_.nodes.size() == 1 && request_.names.empty() && request_.selector.empty())
      known_["node"] = request_.nodes.front();
  }

  std::string text() {
    text_ = "# Nothing was run or asked. <words> stand for what the cluster would tell.\n";
    if (!request_.names.empty() || !request_.selector.empty() || !request_.nodes.empty()) cluster();
    if (request_.local) local();
    return text_;
  }

 private:
  void line(const std::string& what) { text_ += what + "\n"; }
  void command(const std::vector<std::string>& words, const std::string& remark = "") {
    // The words that stand for something are to be read, not to be quoted.
    std::string shown;
    for (const auto& word : words) {
      const bool plain = word.find('<') != std::string::npos &&
                         word.find_first_of(" '\"$*;&|(){}") == std::string::npos;
      shown += (shown.empty() ? "" : " ") + (plain ? word : base::shell_words({word}));
    }
    line(shown + (remark.empty() ? "" : "   # " + remark));
  }
  void kubectl(const std::vector<std::string>& words, milliseconds deadline = k_short,
               const std::string& remark = "") {
    command(kubectl_command(request_, words, deadline), remark);
  }
  [[nodiscard]] bool wanted(const PlanItem& item, Scope scope) const {
    return item.scope == scope && item.tier <= request_.tier;
  }

  void targets() {
    line("\n# what the names mean");
    milliseconds patience{10'000};
    for (const PlanItem& item : plan_.items)
      if (item.id == "cluster-version") patience = item.deadline;
    kubectl({"kubectl", "version", "-o", "json"}, patience);
    command(context_command(request_));
    const std::string& in = known_["namespace"];
    bool workloads = !request_.selector.empty();
    if (!request_.selector.empty())
      kubectl({"kubectl", "-n", in, "get", "pods", "-l", request_.selector, "-o", "json"});
    for (const auto& name : request_.names) {
      const bool pod = name.find('/') == std::string::npos;
      workloads = workloads || !pod;
      std::vector<std::string> words{"kubectl", "-n", in, "get"};
      if (pod) words.emplace_back("pod");
      words.insert(words.end(), {name, "-o", "json"});
      kubectl(words);
    }
    if (!request_.names.empty())
      kubectl({"kubectl", "-n", in, "get", "pods", "-l", "<selector>", "-o", "json"}, k_short,
              workloads ? "the pods of a workload, and the group that a pod belongs to"
                        : "the group that a pod belongs to");
    for (const auto& node : request_.nodes) {
      kubectl({"kubectl", "get", "node", node, "-o", "name"});
      kubectl({"kubectl", "get", "pods", "-A", "--field-selector", "spec.nodeName=" + node, "-o",
               "json"},
              milliseconds{20'000});
    }
  }

  void cluster() {
    targets();
    for (const Scope scope : {Scope::container, Scope::engine, Scope::name_space, Scope::run,
                              Scope::pod, Scope::owner, Scope::node, Scope::gpu_pod}) {
      line("\n# for each: " + std::string(to_string(scope)));
      for (const PlanItem& item : plan_.items) {
        if (!wanted(item, scope)) continue;
        if (scope == Scope::engine) {
          const std::string path =
              proxy_path(known_["namespace"], "<pod>", "<port>", fill(item.url, known_));
          const bool first = item.url == "metrics" && item.after.empty();
          if (first)
            command(engine_command(request_, path, false, item.deadline),
                    "on each likely port, until one answers");
          command(engine_command(request_, path, item.whole_answer, item.deadline),
                  item.after.empty() ? "" : "after " + item.after);
          continue;
        }
        kubectl(fill(item.command, known_), item.deadline);
        if (!item.each.empty())
          kubectl(fill(item.each, known_), item.deadline, "for each name it lists");
      }
    }
    if (!request_.exec) return line("\n# --no-exec: no node is looked at from inside");
    line("\n# for each node, by the driver, device plugin or DCGM pod that runs there");
    host(enter_pod(request_, "<gpu-namespace>", "<gpu-pod>", "<container>"));
    if (!request_.debug_node) return;
    const std::string& in = known_["namespace"];
    line("\n# where none of them runs: a debug pod is made, entered and deleted (--debug-node)");
    command(make_debug_pod(request_, in, known_["node"]), "changes the cluster");
    kubectl({"kubectl", "-n", in, "get", "pod", "<debug-pod>", "-o", "jsonpath={.status.phase}"});
    host(enter_debug_pod(request_, in, "<debug-pod>"));
    command(delete_debug_pod(request_, in, "<debug-pod>"), "whatever became of the run");
  }

  /// The node side, each command behind the words that lead into the node.
  void host(const std::vector<std::string>& enter) {
    const auto inside = [&](const std::vector<std::string>& words, const std::string& remark = "") {
      std::vector<std::string> all = enter;
      all.insert(all.end(), words.begin(), words.end());
      command(all, remark);
    };
    inside(clock_command());
    for (const auto& [name, gate] : plan_.gates) {
      inside(gate.command, "gate " + name);
      if (!gate.otherwise.empty())
        inside(gate.otherwise, "gate " + name + ", where " + gate.command.front() + " is missing");
    }
    for (const PlanItem& item : plan_.items) {
      if (!wanted(item, Scope::host)) continue;
      const std::string remark =
          item.gate.empty() ? "" : "where the gate " + item.gate + " answers";
      if (item.files.empty()) inside(fill(item.command, known_), remark);
      for (const auto& pattern : fill(item.files, known_)) {
        if (enter.empty())
          line("cat -- " + pattern + "   # each file by itself");
        else
          inside(cat_command(pattern), remark);
      }
    }
  }

  void local() {
    line("\n# this host");
    host({});
    line("\n# engines on this host, on each port that one usually listens on");
    for (const PlanItem& item : plan_.items)
      if (wanted(item, Scope::engine))
        line("GET http://127.0.0.1:<port>/" + fill(item.url, known_));
  }

  const Request& request_;
  const Plan& plan_;
  Values known_;
  std::string text_;
};

}  // namespace

std::string dry_run(const CollectOptions& options) {
  return DryRun(options).text();
}

}  // namespace triage::collectors

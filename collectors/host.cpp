#include "collectors/host.hpp"

#include <glob.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "bundle/input.hpp"
#include "collectors/commands.hpp"
#include "collectors/http.hpp"
#include "evidence/place.hpp"
#include "evidence/time.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t k_small = 1U << 20U;
constexpr std::int64_t k_second = 1'000'000'000;

std::vector<std::string> expand_pattern(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::sort(paths.begin(), paths.end());
  constexpr std::size_t k_most = 64;
  if (paths.size() > k_most) paths.resize(k_most);
  return paths;
}

/// `/var/log/pods/a/b/0.log` matched by `/var/log/pods/a/*/*.log*` is `b_0.log`: what the pattern
/// fixes is said elsewhere.
std::string name_of_match(const std::string& path, const std::string& pattern) {
  const auto star = pattern.find_first_of("*?[");
  const auto slash = pattern.rfind('/', star);
  return base::replace_all(path.substr(slash == std::string::npos ? 0 : slash + 1), "/", "_");
}

}  // namespace

std::vector<bundle::ManifestGpu> parse_gpu_csv(std::string_view csv) {
  std::vector<bundle::ManifestGpu> gpus;
  std::vector<std::string> header;
  for (const auto line : base::split_lines(csv)) {
    if (base::trim(line).empty()) continue;
    std::vector<std::string> cells;
    for (const auto cell : base::split(line, ',')) cells.emplace_back(base::trim(cell));
    if (header.empty()) {
      header = cells;
      continue;
    }
    const auto cell = [&](std::string_view name) {
      for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i)
        if (header[i].compare(0, name.size(), name) == 0) return cells[i];
      return std::string();
    };
    bundle::ManifestGpu gpu;
    gpu.index = cell("index");
    gpu.uuid = evidence::normalise_gpu_uuid(cell("uuid"));
    gpu.pci = evidence::normalise_pci(cell("pci.bus_id"));
    gpu.name = cell("name");
    gpu.serial = cell("serial");
    gpu.driver = cell("driver_version");
    gpu.vbios = cell("vbios_version");
    if (!gpu.uuid.empty() || !gpu.pci.empty()) gpus.push_back(std::move(gpu));
  }
  return gpus;
}

ClockReading parse_clock(std::string_view text) {
  ClockReading reading;
  for (const auto line : base::split_lines(text)) {
    const auto words = base::split_blanks(line);
    if (words.empty()) continue;
    if (words[0] == "now" && words.size() > 1) {
      reading.now_s = base::parse_double(words[1]);
    } else if (words[0] == "uptime" && words.size() > 1) {
      reading.uptime_s = base::parse_double(words[1]);
    } else if (words[0] == "boot" && words.size() > 1) {
      reading.boot_id = words[1];
    } else if (words[0] == "btime" && words.size() > 1) {
      reading.boot_time_s = base::parse_int(words[1]);
    } else if (words[0] == "zone" && words.size() > 1) {
      reading.zone = words[1];
    }
  }
  return reading;
}

std::vector<std::string> HostSide::through(const Channel& channel,
                                           const std::vector<std::string>& words) const {
  std::vector<std::string> argv = channel.prefix;
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

Job HostSide::job_for(const Channel& channel, const PlanItem& item, const Values& values) const {
  Job job;
  job.id = item.id;
  job.role = item.role;
  job.order = item.order;
  job.deadline = item.deadline;
  job.cap = item.cap;
  job.keep = item.keep;
  job.optional = item.optional;
  job.absent = item.absent;
  job.place.node = channel.node;
  Values all = values;
  all["node"] = channel.node;
  all["since"] = journal_time(
      session_.clock().now_ns() -
      std::chrono::duration_cast<std::chrono::nanoseconds>(session_.request().since).count());
  job.argv = through(channel, fill(item.command, all));
  all["node"] = session_.shown_host(channel.node);
  job.path = fill(item.path, all);
  job.keep_failed_output = true;
  job.keep_error_text = item.role == evidence::Kind::gpu_state;
  return job;
}

void HostSide::add_node(const Channel& channel, const std::vector<Pod>& pods) {
  session_.edit_manifest([&](bundle::Manifest& manifest) {
    const std::string name = session_.shown_host(channel.node);
    if (manifest.node(name) != nullptr) return;
    bundle::ManifestNode node;
    node.name = name;
    manifest.nodes.push_back(std::move(node));
  });
  constexpr int k_clock_order = 39;
  session_.add_work(k_clock_order, [this, channel] { add_clock(channel); });
  add_items(channel, "", {true, ""}, pods);
  for (const auto& [name, gate] : plan_.gates) ask_gate(channel, gate, pods);
}

void HostSide::add_unreachable(const std::string& node, const std::string& reason) {
  Channel channel;
  channel.node = node;
  for (const PlanItem& item : plan_.items)
    // The vendor's tools would only be wanted where the vendor's hardware is.
    if (item.scope == Scope::host && item.tier <= session_.request().tier && item.gate != "amd" &&
        item.files.empty())
      session_.add_absent(job_for(channel, item, {}), "skipped", reason);
}

void HostSide::ask_gate(const Channel& channel, const Gate& gate, const std::vector<Pod>& pods) {
  PlanItem item;
  item.id = "gate-" + gate.name;
  item.role = evidence::Kind::gpu_state;
  item.scope = Scope::host;
  constexpr int k_order = 38;
  item.order = k_order;
  item.command = gate.command;
  item.path = gate.path;
  item.deadline = gate.deadline;
  item.cap = k_small;
  Job job = job_for(channel, item, {});
  job.capture = k_small;
  job.then = [this, channel, &gate, pods, item](const Result& result) {
    const bool absent = result.row.status == "missing";
    if (absent && !gate.otherwise.empty()) {
      PlanItem second = item;
      second.command = gate.otherwise;
      Job again = job_for(channel, second, {});
      again.then = [this, channel, &gate, pods](const Result& answer) {
        after_gate(channel, gate, answer, pods);
      };
      session_.add(std::move(again));
      return;
    }
    after_gate(channel, gate, result, pods);
  };
  session_.add(std::move(job));
}

void HostSide::set_smi_state(const std::string& node, const std::string& state) {
  session_.edit_manifest([&](bundle::Manifest& manifest) {
    for (auto& entry : manifest.nodes)
      if (entry.name == session_.shown_host(node)) entry.smi_state = state;
  });
}

void HostSide::keep_kernel_state(const Channel& channel, const Gate& gate, const Result& result) {
  if (result.ended.kernel_state.empty()) return;
  Job job;
  job.id = "gate-" + gate.name + "-kernel-state";
  job.role = evidence::Kind::environment;
  job.place.node = channel.node;
  const std::string list = fill(gate.path, {{"node", session_.shown_host(channel.node)}});
  job.path = list.substr(0, list.rfind('/') + 1) + "hang.txt";
  session_.add_text(job, base::shell_words(result.row.argv) + " did not answer in " +
                             std::to_string(result.ended.duration.count() / 1000) + " s\n" +
                             result.ended.kernel_state);
}

void HostSide::watch_for_hang(const Channel& channel, const std::string& gate, Job& job) {
  const std::string key = channel.node + "/" + gate;
  const auto of_vendor = plan_.gates.find(gate);
  if (of_vendor == plan_.gates.end()) return;
  job.skip = [this, key] {
    const std::lock_guard lock(mutex_);
    const auto hung = hung_.find(key);
    return hung == hung_.end() ? std::string()
                               : hung->second + " hangs: nothing more that asks the driver was run";
  };
  job.then = [this, channel, key, &vendor = of_vendor->second, before = job.then,
              words = job.argv](const Result& result) {
    if (before) before(result);
    const auto how = result.ended.how;
    const bool hung = how == base::Ended::How::timed_out || how == base::Ended::How::unkillable;
    if (!hung || session_.over()) return;
    {
      const std::lock_guard lock(mutex_);
      if (!hung_.emplace(key, base::shell_words(words)).second) return;
    }
    if (vendor.name == "nvidia") set_smi_state(channel.node, "hung");
    keep_kernel_state(channel, vendor, result);
  };
}

void HostSide::after_gate(const Channel& channel, const Gate& gate, const Result& result,
                          const std::vector<Pod>& pods) {
  const auto how = result.ended.how;
  const bool hung = how == base::Ended::How::timed_out || how == base::Ended::How::unkillable;
  Vendor vendor;
  std::string state;
  if (hung && session_.over()) {
    vendor.reason = "the run ended before " + gate.name + "'s tool answered";
  } else if (hung) {
    state = "hung";
    vendor.reason = gate.command.front() + " hangs: no command that asks the driver was run";
    keep_kernel_state(channel, gate, result);
  } else if (result.row.status == "missing") {
    state = "absent";
    vendor.reason = "no " + gate.name + " tools on this node";
  } else {
    // It answered, be it with an error: that is what the other commands are for.
    state = result.ended.duration > gate.slow ? "slow" : "ok";
    vendor.usable = true;
  }
  if (gate.name == "nvidia" && !state.empty()) set_smi_state(channel.node, state);
  add_items(channel, gate.name, vendor, pods);
}

void HostSide::add_items(const Channel& channel, const std::string& gate, const Vendor& vendor,
                         const std::vector<Pod>& pods) {
  for (const PlanItem& item : plan_.items) {
    if (item.scope != Scope::host || item.gate != gate || item.tier > session_.request().tier)
      continue;
    if (!item.files.empty()) {
      add_files(channel, item, pods);
      continue;
    }
    Job job = job_for(channel, item, {});
    if (!vendor.usable) {
      session_.add_absent(job, "skipped", vendor.reason);
      continue;
    }
    if (item.id == "smi-gpus") {
      job.capture = k_small;
      job.then = [this, node = channel.node](const Result& result) { read_gpus(node, result); };
    }
    watch_for_hang(channel, gate, job);
    session_.add(std::move(job));
  }
}

void HostSide::add_files(const Channel& channel, const PlanItem& item,
                         const std::vector<Pod>& pods) {
  const auto add_pattern = [&](const std::string& pattern, const Values& values) {
    if (!channel.local) {
      // From outside one command reads all that match; a shell expands the pattern.
      PlanItem remote = item;
      remote.command = cat_command(pattern);
      Values named = values;
      named["name"] = base::replace_all(name_of_match(pattern, pattern), "*", "all");
      Job job = job_for(channel, remote, named);
      job.absent.emplace_back("No such file");
      job.optional = true;
      job.keep_failed_output = false;
      session_.add(std::move(job));
      return;
    }
    for (const auto& path : expand_pattern(pattern)) {
      PlanItem one = item;
      one.command = {"cat", "--", path};
      Values named = values;
      named["name"] = name_of_match(path, pattern);
      session_.add(job_for(channel, one, named));
    }
  };
  bool any = false;
  for (const auto& pattern : item.files) {
    if (pattern.find("{pod}") != std::string::npos) {
      for (const Pod& pod : pods) {
        const Values values{{"namespace", pod.name_space}, {"pod", pod.name}, {"uid", pod.uid}};
        add_pattern(fill(pattern, values), values);
        any = true;
      }
      continue;
    }
    any = any || !channel.local || !expand_pattern(pattern).empty();
    add_pattern(pattern, {});
  }
  if (!any) {
    PlanItem none = item;
    none.command = {"cat", "--"};
    none.command.insert(none.command.end(), item.files.begin(), item.files.end());
    session_.add_absent(job_for(channel, none, {{"name", ""}}), "missing", "no such file");
  }
}

void HostSide::add_clock(const Channel& channel) {
  Job job;
  job.id = "clock";
  job.role = evidence::Kind::environment;
  job.place.node = channel.node;
  job.path = "nodes/" + session_.shown_host(channel.node) + "/clock.json";
  job.argv = through(channel, clock_command());
  std::string text;
  const auto before = session_.clock().now_ns();
  const auto ended = session_.ask(job.argv, milliseconds{5'000}, text, 64 * 1024);
  const auto after = session_.clock().now_ns();
  const ClockReading reading = parse_clock(text);
  if (!reading.uptime_s && reading.boot_id.empty()) {
    const auto failure = read_failure(ended, {});
    session_.add_absent(job, failure.status == "ok" ? "error" : failure.status,
                        failure.reason.empty() ? "the clock could not be read" : failure.reason);
    return;
  }
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  std::optional<std::int64_t> skew_ns;
  if (reading.now_s && !channel.local && !session_.clock().fixed()) {
    // The command's own time lies somewhere between asking and answer.
    const auto middle = (before + after) / 2;
    const auto doubt = (after - before) / 2;
    const auto skew = static_cast<std::int64_t>(std::llround(*reading.now_s * 1e9)) - middle;
    skew_ns = std::abs(skew) > doubt ? skew : 0;
    out["skew_ms"] = *skew_ns / 1'000'000;
    out["skew_uncertainty_ms"] = doubt / 1'000'000;
  } else if (channel.local) {
    skew_ns = 0;
  }
  std::optional<std::int64_t> boot_ns;
  if (reading.now_s && reading.uptime_s) {
    // Finer than btime, which counts whole seconds.
    boot_ns = static_cast<std::int64_t>(std::llround((*reading.now_s - *reading.uptime_s) * 1e3)) *
              1'000'000;
  } else if (reading.boot_time_s) {
    boot_ns = *reading.boot_time_s * k_second;
  }
  if (session_.clock().fixed() && reading.boot_time_s) boot_ns = *reading.boot_time_s * k_second;
  out["boot_id"] = reading.boot_id;
  if (boot_ns) out["boot_time"] = evidence::to_rfc3339({*boot_ns, 0});
  if (reading.uptime_s && !session_.clock().fixed()) out["uptime_s"] = *reading.uptime_s;
  if (!session_.clock().fixed())
    out["time"] = evidence::to_rfc3339({after / 1'000'000 * 1'000'000, 0});
  out["tz"] = reading.zone;
  session_.edit_manifest([&](bundle::Manifest& manifest) {
    for (auto& node : manifest.nodes) {
      if (node.name != session_.shown_host(channel.node)) continue;
      node.boot_id = reading.boot_id;
      node.boot_time_ns = boot_ns;
      if (!session_.clock().fixed()) node.uptime_s = reading.uptime_s;
      node.clock_skew_ns = skew_ns;
      node.tz = reading.zone;
    }
  });
  session_.add_text(job, out.dump(1) + "\n");
}

void HostSide::read_gpus(const std::string& node, const Result& result) {
  const auto gpus = parse_gpu_csv(result.redacted);
  session_.edit_manifest([&](bundle::Manifest& manifest) {
    for (auto& entry : manifest.nodes)
      if (entry.name == session_.shown_host(node)) entry.gpus = gpus;
  });
}

void HostSide::add_local_engines() {
  // Default ports of vLLM and Triton, SGLang, TGI, Triton's metrics, llama.cpp, DCGM exporter,
  // AMD's.
  static constexpr int k_ports[] = {8000, 30000, 3000, 8002, 8080, 23333, 9400, 5000};
  for (const PlanItem& item : plan_.items) {
    if (item.scope != Scope::engine || item.tier > session_.request().tier ||
        item.url != "metrics" || !item.after.empty())
      continue;
    session_.add_work(item.order, [this, &item] {
      bool any = false;
      for (const int port : k_ports) {
        if (session_.over()) return;
        const std::string root = "http://127.0.0.1:" + std::to_string(port) + "/";
        std::string text;
        constexpr milliseconds k_patience{2'000};
        constexpr std::size_t k_look = 64 * 1024;
        const auto ended = http_get(
            root + "metrics", k_patience,
            [&](std::string_view piece) {
              text += piece;
              return text.size() < k_look;
            },
            nullptr);
        const bool answers = ended.ok() || ended.how == base::Ended::How::stopped;
        if (!answers ||
            bundle::recognise(text.substr(0, k_look), "").kind != evidence::Kind::metrics)
          continue;
        any = true;
        const Values values{
            {"namespace", "local"}, {"pod", std::to_string(port)}, {"port", std::to_string(port)}};
        const auto make = [=](const PlanItem& what) {
          Job job;
          job.id = what.id;
          job.role = what.role;
          job.order = what.order;
          job.deadline = what.deadline;
          job.cap = what.cap;
          job.error_is_answer = true;
          job.whole_answer = what.whole_answer;
          job.path = fill(what.path, values);
          job.url = root + fill(what.url, values);
          return job;
        };
        Job first = make(item);
        first.then = [this, make, id = item.id](const Result&) {
          for (const PlanItem& later : plan_.items)
            if (later.after == id && later.tier <= session_.request().tier)
              session_.add(make(later), Queue::Clock::now() + later.pause);
        };
        session_.add(std::move(first));
        for (const PlanItem& other : plan_.items)
          if (other.scope == Scope::engine && other.after.empty() && other.id != item.id &&
              other.tier <= session_.request().tier)
            session_.add(make(other));
      }
      if (any) return;
      Job job;
      job.id = item.id;
      job.role = item.role;
      job.url = "http://127.0.0.1:8000/metrics";
      session_.add_absent(job, "missing",
                          "no engine answers with metrics on the usual ports of this host");
    });
  }
}

}  // namespace triage::collectors

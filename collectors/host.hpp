#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "collectors/cluster.hpp"
#include "collectors/plan.hpp"
#include "collectors/session.hpp"

namespace triage::collectors {

/// How a node is reached from inside: words in front of a command. Empty words: this host.
struct Channel {
  std::string node;
  std::vector<std::string> prefix;
  bool local = false;
};

/// The node side: asks the gates first, then adds the plan's host items that make sense.
class HostSide {
 public:
  HostSide(Session& session, const Plan& plan) : session_(session), plan_(plan) {}

  /// Adds the node's items; the pods on it whose files may lie there.
  void add_node(const Channel& channel, const std::vector<Pod>& pods);
  /// A node that cannot be entered: one row for each item that would have been wanted.
  void add_unreachable(const std::string& node, const std::string& reason);
  /// Engines on this host, by the ports that engines listen on.
  void add_local_engines();

 private:
  struct Vendor {
    bool usable = false;
    std::string reason;  ///< why not
  };
  void ask_gate(const Channel& channel, const Gate& gate, const std::vector<Pod>& pods);
  void after_gate(const Channel& channel, const Gate& gate, const Result& result,
                  const std::vector<Pod>& pods);
  void add_items(const Channel& channel, const std::string& gate, const Vendor& vendor,
                 const std::vector<Pod>& pods);
  void add_files(const Channel& channel, const PlanItem& item, const std::vector<Pod>& pods);
  void add_clock(const Channel& channel);
  [[nodiscard]] Job job_for(const Channel& channel, const PlanItem& item,
                            const Values& values) const;
  [[nodiscard]] std::vector<std::string> through(const Channel& channel,
                                                 const std::vector<std::string>& words) const;
  void read_gpus(const std::string& node, const Result& result);
  /// A tool may hang later than its gate: from then on no other of its kind is started.
  void watch_for_hang(const Channel& channel, const std::string& gate, Job& job);
  void keep_kernel_state(const Channel& channel, const Gate& gate, const Result& result);
  void set_smi_state(const std::string& node, const std::string& state);

  Session& session_;
  const Plan& plan_;
  std::mutex mutex_;
  std::map<std::string, std::string> hung_;  ///< by node and gate: what hangs there
};

/// Reads `nvidia-smi --query-gpu` CSV by the names in its header.
[[nodiscard]] std::vector<bundle::ManifestGpu> parse_gpu_csv(std::string_view csv);

/// What the clock command printed: `date +%s.%N`, /proc/uptime, boot id, btime, zone.
struct ClockReading {
  std::optional<double> now_s;
  std::optional<double> uptime_s;
  std::string boot_id;
  std::optional<std::int64_t> boot_time_s;
  std::string zone;
};
[[nodiscard]] ClockReading parse_clock(std::string_view text);

}  // namespace triage::collectors

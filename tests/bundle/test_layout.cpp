#include <doctest/doctest.h>

#include "bundle/layout.hpp"

using namespace triage;
using evidence::Kind;

namespace {

struct PathCase {
  const char* path;
  const char* layout;
  const char* node;
  const char* ns;
  const char* pod;
  const char* container;
  bool previous;
};

const PathCase k_paths[] = {
    {"k8s/llm/pods/chat-0/vllm/previous.log", "triage", "", "llm", "chat-0", "vllm", true},
    {"k8s/llm/pods/chat-0/vllm/current.log", "triage", "", "llm", "chat-0", "vllm", false},
    {"k8s/nodes/gpu-3/node.json", "triage", "gpu-3", "", "", "", false},
    {"nodes/gpu-3/kernel/dmesg.txt", "triage", "gpu-3", "", "", "", false},
    {"engines/llm_chat-0/metrics-1.prom", "triage", "", "llm", "chat-0", "", false},
    {"b/cluster-resources/pods/logs/llm/chat-0/vllm-previous.log", "troubleshoot", "", "llm",
     "chat-0", "vllm", true},
    {"b/cluster-resources/events/llm.json", "troubleshoot", "", "llm", "", "", false},
    {"x/gpu_operand_pod_nvidia-device-plugin-daemonset-x7k2p.previous.log",
     "gpu-operator-must-gather", "", "", "nvidia-device-plugin-daemonset-x7k2p", "", true},
    {"x/gpu_device_usage_node-a.log", "gpu-operator-must-gather", "node-a", "", "", "", false},
    {"m/quay-io/namespaces/llm/pods/chat-0/vllm/vllm/logs/current.log", "must-gather", "", "llm",
     "chat-0", "vllm", false},
    {"m/quay-io/namespaces/llm/pods/chat-0/vllm/vllm/logs/rotated/0.log.20260112-081500.gz",
     "must-gather", "", "llm", "chat-0", "vllm", true},
    {"m/cluster-scoped-resources/core/nodes/gpu-3.yaml", "must-gather", "gpu-3", "", "", "", false},
    {"sosreport-gpu-3-2026-01-12-abcdefg/sos_commands/kernel/dmesg_-T", "sosreport", "gpu-3", "",
     "", "", false},
    {"sosreport-gpu-3-2026-01-12-abcdefg/sos_commands/kubernetes/cluster-info/llm/podlogs/chat-0/"
     "kubectl_--namespace_llm_logs_chat-0_-c_vllm",
     "sosreport", "gpu-3", "llm", "chat-0", "vllm", false},
    {"all.tar!sosreport-gpu-9-2026-01-12-abcdefg/var/log/messages", "sosreport", "gpu-9", "", "",
     "", false},
    {"techsupport-1/gpu-3/device-plugin/kube-amd-gpu_plugin-1_previous.txt", "amd-techsupport",
     "gpu-3", "kube-amd-gpu", "plugin-1", "", true},
    {"techsupport-1/gpu-3/dmesg.txt", "amd-techsupport", "gpu-3", "", "", "", false},
    {"dump/llm/chat-0/logs.txt", "cluster-info-dump", "", "llm", "chat-0", "", false},
    {"var/log/pods/llm_chat-0_0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f/vllm/1.log", "", "", "llm",
     "chat-0", "vllm", false},
    {"node-a/dmesg.txt", "", "node-a", "", "", "", false},
    {"hosts/gpu-3/dmesg.txt", "", "gpu-3", "", "", "", false},
    {"worker-4k2vb.log", "", "", "", "4k2vb", "", false},
    {"previous-gm2rd.log", "", "", "", "gm2rd", "", true},
    {"chat-70b-7f6c9b8d54-4k2vb.log", "", "", "", "chat-70b-7f6c9b8d54-4k2vb", "", false},
    {"vllm-previous.log", "", "", "", "", "", true},
};

}  // namespace

TEST_CASE("paths of known layouts and plain names give the place and the instance") {
  for (const PathCase& item : k_paths) {
    CAPTURE(std::string(item.path));
    const auto hint = bundle::read_path(item.path);
    CHECK(hint.layout == item.layout);
    CHECK(hint.place.node == item.node);
    CHECK(hint.place.name_space == item.ns);
    CHECK(hint.place.pod == item.pod);
    CHECK(hint.place.container == item.container);
    CHECK(hint.previous == item.previous);
    CHECK_FALSE(hint.ignore);
  }
}

TEST_CASE("a rank in a file or directory name is read") {
  CHECK(bundle::read_path("worker-rank3.log").place.rank == "3");
  CHECK(bundle::read_path("logs/rank_07.txt").place.rank == "7");
  CHECK(bundle::read_path("rank12/stderr.log").place.rank == "12");
  CHECK(bundle::read_path("frank3.log").place.rank.empty());
  CHECK(bundle::read_path("rank.log").place.rank.empty());
}

TEST_CASE("bookkeeping of collecting tools is no evidence") {
  for (const char* path :
       {"SHA256SUMS", "collect.log", "redaction.json", "report/report.json", "b/version.yaml",
        "b/cluster-resources/pods/logs/llm/chat-0/vllm-logs-errors.log", "x/must-gather.stderr.log",
        "sosreport-a-2026-01-12-x/sos_reports/manifest.json", "a.tar.gz.sha256"}) {
    CAPTURE(std::string(path));
    CHECK(bundle::read_path(path).ignore);
  }
}

TEST_CASE("logs of GPU daemons are told from applications by the pod's name") {
  CHECK(bundle::read_path("k8s/gpu-operator/nvidia-device-plugin-daemonset-abc12/c/current.log")
            .kind == Kind::device_plugin_log);
  CHECK(
      bundle::read_path("m/namespaces/nvidia-gpu-operator/pods/nvidia-driver-daemonset-x/c/c/logs/"
                        "current.log")
          .kind == Kind::driver_log);
  CHECK(bundle::read_path("k8s/llm/pods/chat-0/vllm/current.log").kind == Kind::container_log);
}

TEST_CASE("member names are cleaned or refused") {
  CHECK(bundle::clean_member_name("./a//b/./c") == "a/b/c");
  CHECK(bundle::clean_member_name("/etc/passwd") == "etc/passwd");
  CHECK(bundle::clean_member_name("a/../b") == std::nullopt);
  CHECK(bundle::clean_member_name("..") == std::nullopt);
  CHECK(bundle::clean_member_name("a\nb\x1b[2J") == "a?b?[2J");
  CHECK(bundle::clean_member_name("") == "");
}

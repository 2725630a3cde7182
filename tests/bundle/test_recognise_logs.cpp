#include <doctest/doctest.h>

#include <string>

#include "bundle/input.hpp"

using namespace triage;
using evidence::Kind;

namespace {

struct LogCase {
  const char* what;
  Kind kind;
  const char* text;
};

/// Repeats a line: the vote of lines should not hang on one.
const LogCase k_cases[] = {
    {"dmesg raw", Kind::kernel_log,
     "[    0.000000] Linux version 6.5.0\n[ 8812.001122] nvidia 0000:17:00.0: enabling device\n"},
    {"dmesg of newer kernels with task ids", Kind::kernel_log,
     "[  130.456250] [   T1946] nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver\n"},
    {"dmesg -T", Kind::kernel_log, "[Tue Nov 18 09:01:44 2025] NVRM: loading NVIDIA UNIX x86_64\n"},
    {"dmesg -x with iso stamps", Kind::kernel_log,
     "kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: something\n"},
    {"dmesg --time-format=iso", Kind::kernel_log,
     "2025-11-18T09:01:44,100200+00:00 pcieport 0000:40:01.1: AER: Corrected error received\n"},
    {"dmesg with raw priorities", Kind::kernel_log, "<6>[   12.345678] EDAC MC: Ver: 3.0.0\n"},
    {"journalctl -k", Kind::kernel_log, "Nov 18 09:01:44 gpu-7 kernel: NVRM: loading\n"},
    {"journalctl -k -o short-precise", Kind::kernel_log,
     "Nov 18 09:01:44.123456 gpu-7 kernel: NVRM: loading\n"},
    {"journalctl -k -o short-iso-precise", Kind::kernel_log,
     "2025-11-18T09:01:44.123456+0100 gpu-7 kernel: NVRM: loading\n"},
    {"journalctl -k -o short-full", Kind::kernel_log,
     "Tue 2025-11-18 09:01:44 CET gpu-7 kernel: NVRM: loading\n"},
    {"journalctl -k -o short-unix", Kind::kernel_log,
     "1763456504.123456 gpu-7 kernel: NVRM: loading\n"},
    {"journalctl -k -o short-monotonic", Kind::kernel_log,
     "[ 1843.308145] gpu-7 kernel: NVRM: loading\n"},
    {"journalctl -k -o json", Kind::kernel_log,
     R"({"__REALTIME_TIMESTAMP":"1763456504123456","_TRANSPORT":"kernel","_HOSTNAME":"gpu-7","MESSAGE":"NVRM: loading"})"
     "\n"},
    {"journalctl -k -o export", Kind::kernel_log,
     "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1763456504123456\n_TRANSPORT=kernel\nMESSAGE=NVRM: x\n\n"
     "__CURSOR=s=2\n__REALTIME_TIMESTAMP=1763456504223456\n_TRANSPORT=kernel\nMESSAGE=NVRM: y\n"},
    {"dmesg --color=always", Kind::kernel_log,
     "\x1b[32m[42500.020000] \x1b[0m\x1b[33mNVRM: \x1b[0mloading NVIDIA UNIX x86_64\n"},
    {"Loki's export of kern.log", Kind::kernel_log,
     R"({"labels":{"filename":"/var/log/kern.log","job":"node"},"line":"Dec  1 03:41:40 gpu-7 kernel: [42500.02] NVRM: loading","timestamp":"2025-12-01T03:41:40Z"})"
     "\n"},
    {"Loki's export of a journal", Kind::kernel_log,
     R"({"labels":{"transport":"kernel"},"line":"NVRM: loading","timestamp":"2025-12-01T03:41:40Z"})"
     "\n"},
    {"a cloud's export of a node's journal", Kind::kernel_log,
     R"({"insertId":"a","jsonPayload":{"MESSAGE":"NVRM: loading","_TRANSPORT":"kernel"},"resource":{"type":"k8s_node"},"timestamp":"2025-12-01T03:41:40Z"})"
     "\n"},
    {"a virtual machine's serial console", Kind::kernel_log,
     R"({"textPayload":"[42500.02] NVRM: loading","logName":"projects/p/logs/serial_port_1_output","timestamp":"2025-12-01T03:41:40Z"})"
     "\n"},
    {"Vector's journald source", Kind::kernel_log,
     R"({"host":"gpu-7","message":"NVRM: loading","SYSLOG_IDENTIFIER":"kernel","timestamp":"2025-12-01T03:41:40Z"})"
     "\n"},
    {"a shipper's record of a container that quotes the kernel", Kind::container_log,
     R"({"log":"[42500.02] NVRM: Xid (PCI:0000:9b:00): 79","stream":"stderr","time":"2025-12-01T03:41:40Z"})"
     "\n"},
    {"an agent's own record that quotes the kernel", Kind::container_log,
     R"({"level":"info","msg":"saw kernel: [42500.02] NVRM: Xid (PCI:0000:9b:00): 79","time":"2025-12-01T03:41:40Z"})"
     "\n"},
    {"rsyslog kern.log with the kernel's own stamp", Kind::kernel_log,
     "Dec  2 10:43:35 gpu-7 kernel: [240314.528856] NVRM: loading\n"},
    {"Talos", Kind::kernel_log,
     "10.4.0.9: kern: warning: [2026-04-22T21:30:51.512Z]: NVRM: loading NVIDIA UNIX\n"},
    {"a kernel line pasted without its stamp", Kind::kernel_log,
     "NVRM: Xid (PCI:0000:21:00): 62, pid=81, name=python3, 2027(214b) 00000000 00000000\n"},
    {"a journal of many daemons", Kind::system_log,
     "Nov 18 09:01:44 gpu-7 kubelet[901]: E1118 09:01:44.1 kubelet.go:1] x\n"
     "Nov 18 09:01:45 gpu-7 kernel: NVRM: loading\n"
     "Nov 18 09:01:46 gpu-7 systemd[1]: Started Session 4 of user root.\n"},
    {"a journal of daemons as JSON", Kind::system_log,
     R"({"__REALTIME_TIMESTAMP":"1","_TRANSPORT":"syslog","SYSLOG_IDENTIFIER":"sshd","_HOSTNAME":"gpu-7","MESSAGE":"a"})"
     "\n"
     R"({"__REALTIME_TIMESTAMP":"2","_TRANSPORT":"kernel","_HOSTNAME":"gpu-7","MESSAGE":"b"})"
     "\n"},
    {"kubelet's own file", Kind::system_log,
     "I1118 09:01:44.100000    1201 pod_workers.go:1300] \"Error syncing pod, skipping\"\n"},
    {"an engine as a systemd unit", Kind::container_log,
     "Nov 18 09:01:44 edge-2 ollama[77]: llama_model_loader: loaded meta data\n"
     "Nov 18 09:01:45 edge-2 ollama[77]: ggml_cuda_init: found 1 CUDA devices\n"},
    {"vLLM V0", Kind::container_log, "INFO 01-30 03:18:12 llm_engine.py:848] Avg prompt\n"},
    {"vLLM V1", Kind::container_log,
     "(EngineCore_DP0 pid=210) ERROR 05-10 16:00:15 [core.py:710] EngineCore failed to start.\n"},
    {"SGLang", Kind::container_log, "[2025-09-18 05:41:10 DP1 TP0] max_total_num_tokens=1\n"},
    {"TGI", Kind::container_log,
     "2024-04-19T11:05:31.879405Z ERROR text_generation_launcher: Shard 0 failed to start\n"},
    {"TensorRT-LLM", Kind::container_log,
     "[11/24/2025-09:12:33] [TRT-LLM] [RANK 0] [E] something\n[TensorRT-LLM][ERROR] other\n"},
    {"Triton", Kind::container_log,
     "E0305 19:29:57.373556 116 model_lifecycle.cc:654] failed to load 'x' version 1\n"},
    {"llama.cpp", Kind::container_log,
     "llama_kv_cache_init: CUDA0 KV buffer size = 2048.00 MiB\nsrv  log_server_r: request\n"},
    {"LMDeploy", Kind::container_log, "[TM][ERROR] CUDA runtime error: out of memory a.cc:1\n"},
    {"torchrun", Kind::container_log,
     "[rank1]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught\n"},
    {"Ray", Kind::container_log,
     "(raylet) A worker died or was killed while executing a task by an unexpected system "
     "error.\n"},
    {"raylet's own file", Kind::container_log,
     "[2026-06-03 05:10:00,418 I 311 311] (raylet) main.cc:226: Setting cluster ID\n"},
    {"NCCL chatter", Kind::container_log,
     "pod-x-0:40:40 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"},
    {"a bare Python traceback", Kind::container_log,
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: x\n"},
    {"docker's JSON log file", Kind::container_log,
     R"({"log":"INFO 01-30 03:18:12 [core.py:1] x\n","stream":"stderr","time":"2026-01-30T03:18:12.1Z"})"
     "\n"
     R"({"log":"INFO 01-30 03:18:13 [core.py:1] y\n","stream":"stderr","time":"2026-01-30T03:18:13.1Z"})"
     "\n"},
    {"CRI log file of an engine", Kind::container_log,
     "2026-01-30T03:18:12.123456789Z stderr F INFO 01-30 03:18:12 [core.py:1] vLLM engine\n"},
    {"an application with stamps nobody knows", Kind::container_log,
     "2026-01-30 03:18:12,101 | INFO | embedder | ready\n2026-01-30 03:18:13,101 | WARNING | x\n"},
    {"NVIDIA device plugin", Kind::device_plugin_log,
     "I0810 15:36:05.551834       1 main.go:356] Retrieving plugins.\n"
     "I0810 15:36:06.551834       1 server.go:197] Starting GRPC server for 'nvidia.com/gpu'\n"},
    {"NVIDIA device plugin before klog", Kind::device_plugin_log,
     "2023/02/05 02:20:00 Starting FS watcher.\n2023/02/05 02:20:00 Starting OS watcher.\n"},
    {"AMD device plugin under kubectl --timestamps", Kind::device_plugin_log,
     "2026-01-30T03:18:12.123456789Z I0303 09:58:01.0 1 main.go:305] AMD GPU device plugin for "
     "Kubernetes\n"},
    {"driver container", Kind::driver_log,
     "DRIVER_ARCH is x86_64\nCreating directory NVIDIA-Linux-x86_64-570.1\n"
     "Installing NVIDIA driver kernel modules...\n"},
    {"container toolkit", Kind::driver_log,
     "time=\"2026-01-12T08:00:00Z\" level=info msg=\"Starting nvidia-toolkit\"\n"},
    {"fabric manager", Kind::fabric_log,
     "[Jul 23 2024 07:53:55] [INFO] [tid 841] Received an inband message\n"},
    {"fabric manager in the journal", Kind::fabric_log,
     "Jul 23 07:53:55 dgx-1 nv-fabricmanager[841]: detected NVSwitch fatal error 20034\n"},
    {"nginx access", Kind::gateway_log,
     "10.1.2.3 - - [06/May/2026:02:10:10 +0000] \"POST /v1/completions HTTP/1.1\" 502 157\n"},
    {"nginx error", Kind::gateway_log,
     "2026/05/06 02:10:10 [error] 31#31: *9 connect() failed (111: Connection refused) while "
     "connecting to upstream\n"},
    {"Envoy access", Kind::gateway_log,
     "[2026-03-05T13:11:04.148Z] \"POST /v1/chat/completions HTTP/1.1\" 503 UF "
     "upstream_reset_before_response_started{connection_failure} - \"-\" 0 91\n"},
    {"an AWS load balancer's access log", Kind::gateway_log,
     "https 2026-03-24T09:45:00.121000Z app/llm/50dc6c495c0c9188 10.0.4.7:40000 10.3.7.31:8000 "
     "0.001 4.812 0.000 200 200 812 9120 \"POST https://llm.corp:443/v1/x HTTP/2.0\" \"curl\"\n"},
    {"Traefik access as JSON", Kind::gateway_log,
     R"({"ClientAddr":"10.0.4.7:50000","DownstreamStatus":200,"RequestMethod":"POST","RequestPath":"/v1/x","level":"info","msg":"","time":"2026-03-24T09:45:00Z"})"
     "\n"},
    {"Envoy access as JSON", Kind::gateway_log,
     R"({"start_time":"2026-03-05T13:11:04.148Z","method":"POST","path":"/v1/x","response_code":503,"response_flags":"UF"})"
     "\n"},
    {"a router's logfmt", Kind::gateway_log,
     "time=2026-06-18T20:02:33.463Z level=WARN msg=\"upstream failed\" backend=10.1.1.1 "
     "upstream=chat status=502\n"},
    {"controller-runtime JSON", Kind::controller_log,
     R"({"level":"info","ts":"2026-07-02T17:45:00Z","msg":"x","controller":"model","reconcileID":"a"})"
     "\n"},
    {"controller-runtime console", Kind::controller_log,
     "2026-07-02T17:45:00Z\tERROR\tReconciler error\t{\"controller\": \"clusterpolicy\"}\n"},
    {"scheduler klog", Kind::controller_log,
     "I0810 15:36:05.551834       1 schedule_one.go:1003] \"Unable to schedule pod; waiting\"\n"},
    {"prose", Kind::unknown_text, "We saw the service go down on Monday.\nNobody knows why.\n"},
};

}  // namespace

TEST_CASE("log files are recognised by content alone") {
  for (const LogCase& log : k_cases) {
    CAPTURE(std::string(log.what));
    const auto seen = bundle::recognise(log.text, "part-07");
    CHECK(std::string(evidence::to_string(seen.kind)) == evidence::to_string(log.kind));
    CHECK((seen.format == evidence::Format::lines || seen.format == evidence::Format::json_lines));
  }
}

TEST_CASE("CRLF line ends and a byte order mark do not change what a log is") {
  for (const LogCase& log : k_cases) {
    CAPTURE(std::string(log.what));
    std::string text = "\xef\xbb\xbf";
    for (const char* c = log.text; *c != '\0'; ++c)
      text += *c == '\n' ? "\r\n" : std::string(1, *c);
    CHECK(std::string(evidence::to_string(bundle::recognise(text, "x").kind)) ==
          evidence::to_string(log.kind));
  }
}

TEST_CASE("a log that is cut in the middle of a line stays what it is") {
  for (const LogCase& log : k_cases) {
    CAPTURE(std::string(log.what));
    std::string text = log.text;
    text += text.substr(0, text.size() / 3);
    CHECK(std::string(evidence::to_string(bundle::recognise(text, "x").kind)) ==
          evidence::to_string(log.kind));
  }
}

TEST_CASE("the one host of a journal is its node") {
  CHECK(bundle::recognise("Nov 18 09:01:44 gpu-7 kernel: NVRM: loading\n", "x").place.node ==
        "gpu-7");
  CHECK(bundle::recognise("Nov 18 09:01:44 gpu-7 kernel: a\nNov 18 09:01:44 gpu-8 kernel: a\n", "x")
            .place.node.empty());
  CHECK(bundle::recognise("2025-11-18T09:01:44.123456+0100 n1 kernel: NVRM: loading\n", "x")
            .place.node == "n1");
}

TEST_CASE("the host of NCCL lines is a pod when it is named like one, else a node") {
  CHECK(bundle::recognise("chat-tp-3:40:41 [0] NCCL INFO x\n", "x").place.pod == "chat-tp-3");
  CHECK(bundle::recognise("gpu-a04:40:41 [0] NCCL INFO x\n", "x").place.node == "gpu-a04");
  const auto two =
      bundle::recognise("chat-tp-3:40:41 [0] NCCL INFO x\nchat-tp-4:9:9 [0] NCCL INFO x\n", "x");
  CHECK(two.place.pod.empty());
}

TEST_CASE("a launcher's line names the rank of the file") {
  CHECK(bundle::recognise("+ run RANK=5 WORLD_SIZE=8 python t.py\nNCCL INFO x\n", "x").place.rank ==
        "5");
}

TEST_CASE("kubectl logs --prefix of one pod names pod and container") {
  const auto one = bundle::recognise(
      "[pod/chat-0/vllm] INFO 01-30 03:18:12 [core.py:1] vLLM\n[pod/chat-0/vllm] more\n", "x");
  CHECK(one.kind == Kind::container_log);
  CHECK(one.place.pod == "chat-0");
  CHECK(one.place.container == "vllm");
  const auto two = bundle::recognise(
      "[pod/chat-0/vllm] INFO 01-30 03:18:12 [core.py:1] vLLM\n[pod/chat-1/vllm] more\n", "x");
  CHECK(two.place.pod.empty());
}

TEST_CASE("binary data is told from text with stray bytes") {
  std::string noise(4096, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 131 % 251);
  CHECK(bundle::recognise(noise, "x").binary);
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "[   12.345678] NVRM: loading \x1b[31mred\x1b[0m \xc3\xa9\n";
  text[10] = '\0';
  const auto seen = bundle::recognise(text, "x");
  CHECK_FALSE(seen.binary);
  CHECK(seen.kind == Kind::kernel_log);
}

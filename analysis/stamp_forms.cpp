#include "analysis/stamp_forms.hpp"

#include <array>

#include "analysis/stamp_form_readers.hpp"
#include "base/text.hpp"

namespace triage::analysis {
namespace {

constexpr auto k_kernel = evidence::Kind::kernel_log;
constexpr auto k_system = evidence::Kind::system_log;
constexpr auto k_gateway = evidence::Kind::gateway_log;

// --- Samples, one table for each form -----------------------------------------------------------

constexpr StampSample k_priority[] = {
    {"<6>[ 1843.308145] NVRM: loading", "monotonic 1843.308145", "NVRM: loading", "", "info",
     k_kernel},
    {"<3>Feb  9 12:00:01 node-a kernel: NVRM: x", "no_year 1972-02-09T12:00:01Z", "NVRM: x",
     "node=node-a", "error", k_system},
    {"<34>1 2025-10-11T22:14:15.003Z node-a kubelet 811 - - probe failed",
     "utc 2025-10-11T22:14:15.003Z", "probe failed", "node=node-a pid=811", "critical", k_system},
    {"<165>1 2025-10-11T22:14:15Z node-a app - ID47 [ex@1 a=\"b]\"] text",
     "utc 2025-10-11T22:14:15Z", "text", "node=node-a", "info", k_system},
};

constexpr StampSample k_kubectl_prefix[] = {
    {"[pod/vllm-0/vllm] 2026-01-12T08:41:07.123456789Z ready", "utc 2026-01-12T08:41:07.123456Z",
     "ready", "pod=vllm-0 container=vllm"},
    {"[pod/gpu-operator-x7k2p/driver] plain text", "", "plain text",
     "pod=gpu-operator-x7k2p container=driver"},
};

constexpr StampSample k_compose[] = {
    {"vllm-1  | INFO 05-10 16:00:15 [api_server.py:12] up", "no_year 1972-05-10T16:00:15Z", "up",
     "container=vllm-1", "info"},
    {"server_1 | Killed", "", "Killed", "container=server_1"},
    {"ensemble | 9 | READY", "", "ensemble | 9 | READY"},
};

constexpr StampSample k_monotonic[] = {
    {"[ 1234.567890] NVRM: Xid (PCI:0000:3b:00): 79", "monotonic 1234.567890",
     "NVRM: Xid (PCI:0000:3b:00): 79", "", "", k_kernel},
    {"[    0.000000] Linux version 6.8.0", "monotonic 0.000000", "Linux version 6.8.0", "", "",
     k_kernel},
    {"[  130.456250] [ T1946] nvidia 0000:3b:00.0: up", "monotonic 130.456250",
     "nvidia 0000:3b:00.0: up", "", "", k_kernel},
    {"[812203.577340][   C12] [drm] ring timeout", "monotonic 812203.577340", "[drm] ring timeout",
     "", "", k_kernel},
    {"[  130.456250]  show_stack+0x52/0x5c", "monotonic 130.456250", " show_stack+0x52/0x5c", "",
     "", k_kernel},
    {"[  130.456250] node-a kernel: NVRM: x", "monotonic 130.456250", "NVRM: x", "node=node-a", "",
     k_system},
    {"[   30.000000] systemd[1]: Inserted module 'autofs4'", "monotonic 30.000000",
     "systemd[1]: Inserted module 'autofs4'", "", "", k_kernel},
};

constexpr StampSample k_kmsg[] = {
    {"4,1234,567890123,-;NVRM: Xid (PCI:0000:3b:00): 79", "monotonic 567.890123",
     "NVRM: Xid (PCI:0000:3b:00): 79", "", "warning", k_kernel},
    {"6,339,5140900,-,caller=T1;NET: Registered", "monotonic 5.140900", "NET: Registered", "",
     "info", k_kernel},
};

constexpr StampSample k_facility[] = {
    {"kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: Xid", "utc 2025-01-21T04:41:44.283302Z",
     "NVRM: Xid", "", "warning", k_kernel},
    {"kern  :err   : [  130.456250] NVRM: Xid", "monotonic 130.456250", "NVRM: Xid", "", "error",
     k_kernel},
    {"user  :notice: [Sun Feb 23 16:24:18 2025] hello", "no_zone 2025-02-23T16:24:18Z", "hello", "",
     "info", k_kernel},
    {"kern  :info  : Call Trace: x", "", "Call Trace: x", "", "info", k_kernel},
};

constexpr StampSample k_talos[] = {
    {"10.5.0.2: kern: warning: [2026-04-22T21:30:51.5Z]: NVRM: Xid", "utc 2026-04-22T21:30:51.500Z",
     "NVRM: Xid", "node=10.5.0.2", "warning", k_kernel},
    {"10.5.0.2: user: warning: [2026-04-22T21:30:51.579890395Z]: [talos] task",
     "utc 2026-04-22T21:30:51.579890Z", "[talos] task", "node=10.5.0.2", "warning", k_kernel},
};

constexpr StampSample k_asctime[] = {
    {"[Sun Feb 23 16:24:18 2025] NVRM: Xid", "no_zone 2025-02-23T16:24:18Z", "NVRM: Xid", "", "",
     k_kernel},
    {"[Thu Feb  6 01:02:03 2025]  </TASK>", "no_zone 2025-02-06T01:02:03Z", " </TASK>", "", "",
     k_kernel},
    {"Tue May 12 10:15:02 UTC 2026 health check failed", "utc 2026-05-12T10:15:02Z",
     "health check failed"},
};

constexpr StampSample k_bracket_month[] = {
    {"[Jul 23 2024 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error",
     "no_zone 2024-07-23T07:53:55Z", "detected NVSwitch fatal error", "", "error",
     evidence::Kind::fabric_log},
    {"[Jul  3 2024 07:53:55] [INFO] [tid 9] up", "no_zone 2024-07-03T07:53:55Z", "up", "", "info",
     evidence::Kind::fabric_log},
};

constexpr StampSample k_trtllm[] = {
    {"[01/30/2025-03:18:12] [TRT-LLM] [RANK 3] [E] out of memory", "no_zone 2025-01-30T03:18:12Z",
     "out of memory", "rank=3", "error"},
    {"[01/30/2025-03:18:12] [TRT-LLM] [I] up", "no_zone 2025-01-30T03:18:12Z", "up", "", "info"},
    {"[01/30/2025-03:18:12] [TRT] [W] slow", "no_zone 2025-01-30T03:18:12Z", "slow", "", "warning"},
};

constexpr StampSample k_torch[] = {
    {"[rank3]:[E512 10:23:42.408271257 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog",
     "no_year 1972-05-12T10:23:42.408271Z", "[Rank 3] Watchdog", "rank=3", "error"},
    {"[W1130 02:07:08.5 socket.cpp:752] [c9d] timed out", "no_year 1972-11-30T02:07:08.500Z",
     "[c9d] timed out", "", "warning"},
    {"[E ProcessGroupNCCL.cpp:737] [Rank 7] Watchdog", "", "[Rank 7] Watchdog", "", "error"},
    {"[E629 11:03:22 SomeFile.cpp:1] x", "no_year 1972-06-29T11:03:22Z", "x", "", "error"},
};

constexpr StampSample k_rank[] = {
    {"[rank5]: RuntimeError: CUDA error", "", "RuntimeError: CUDA error", "rank=5"},
    {"[rank5]:   File \"x.py\"", "", "  File \"x.py\"", "rank=5"},
    {"[default2]:Traceback (most recent call last):", "",
     "Traceback (most recent call last):", "rank=2"},
    {"[1,3]<stderr>:Segmentation fault", "", "Segmentation fault", "rank=3"},
    {"[rank0]:W0902 15:10:49.013000 1234 torch/x.py:7] [0/0] hit",
     "no_year 1972-09-02T15:10:49.013Z", "[0/0] hit", "pid=1234 rank=0", "warning"},
};

constexpr StampSample k_bracket_iso[] = {
    {"[2025-09-18 05:41:10 TP1] Scheduler hit an exception", "no_zone 2025-09-18T05:41:10Z",
     "Scheduler hit an exception", "rank=1"},
    {"[2025-09-18 05:41:10 DP0 TP3 EP3] Decode batch.", "no_zone 2025-09-18T05:41:10Z",
     "Decode batch.", "rank=3"},
    {"[2025-09-18 05:41:10] INFO:     10.0.0.1:4242 - \"POST /generate HTTP/1.1\" 200 OK",
     "no_zone 2025-09-18T05:41:10Z", "INFO:     10.0.0.1:4242 - \"POST /generate HTTP/1.1\" 200 OK",
     "", "info"},
    {"[2026-03-05T13:11:00.037Z] \"POST /v1/completions HTTP/1.1\" 504 UT",
     "utc 2026-03-05T13:11:00.037Z", "\"POST /v1/completions HTTP/1.1\" 504 UT", "", "", k_gateway},
    {"[2025-01-02 15:04:05.123][12][warning][upstream] [source/common/x.cc:12] no host",
     "no_zone 2025-01-02T15:04:05.123Z", "no host", "", "warning", k_gateway},
    {"[2025-01-02 15:04:05 +0000] [31] [CRITICAL] WORKER TIMEOUT", "utc 2025-01-02T15:04:05Z",
     "WORKER TIMEOUT", "pid=31", "critical"},
    {"[2025-01-02 15:04:05,123 E 410 455] (raylet) node_manager.cc:3223: killed",
     "no_zone 2025-01-02T15:04:05.123Z", "node_manager.cc:3223: killed", "pid=410", "error"},
    {"[2025-01-02 15:04:05,123: WARNING/MainProcess] slow", "no_zone 2025-01-02T15:04:05.123Z",
     "slow", "", "warning"},
    {"[2025-06-30 11:22:00,123] LMCache WARNING: lost", "no_zone 2025-06-30T11:22:00.123Z",
     "LMCache WARNING: lost"},
    {" [2026-03-14 08:30:22] iteration       10/  500", "no_zone 2026-03-14T08:30:22Z",
     "iteration       10/  500"},
    {"[2026-05-02 10:11:12] node-a:4120:4477 [0] misc/socket.cc:50 NCCL WARN x",
     "no_zone 2026-05-02T10:11:12Z", "misc/socket.cc:50 NCCL WARN x", "pid=4120"},
    {"[2025-01-02 15:04:05] [0] = 5", "no_zone 2025-01-02T15:04:05Z", "[0] = 5"},
};

constexpr StampSample k_process_tag[] = {
    {"(EngineCore_0 pid=41) ERROR 05-10 16:00:15 [core.py:1138] EngineCore failed",
     "no_year 1972-05-10T16:00:15Z", "EngineCore failed", "pid=41", "error"},
    {"(Worker_TP3 pid=216)   File \"x.py\"", "", "  File \"x.py\"", "pid=216 rank=3"},
    {"(VllmWorker rank=1 pid=77) INFO 05-10 16:00:15 [x.py:1] up", "no_year 1972-05-10T16:00:15Z",
     "up", "pid=77 rank=1", "info"},
    {"(RayWorkerWrapper pid=1977, ip=10.41.0.7) [rank9]:[E512 10:23:42.1 P.cpp:1] x",
     "no_year 1972-05-12T10:23:42.100Z", "x", "pid=1977 rank=9", "error"},
    {"(EngineCore_DP1 pid=9) (Worker_DP1_TP2 pid=11) x", "", "x", "pid=11 rank=dp1-tp2"},
    {"\x1b[36m(WorkerDict pid=2012)\x1b[0m 2026-04-15 08:41:24 INFO: Flash",
     "no_zone 2026-04-15T08:41:24Z", "Flash", "pid=2012", "info"},
    {"(raylet) node is low on memory", "", "node is low on memory"},
    {"(raylet, ip=10.0.0.7) Task was killed", "", "Task was killed"},
    {"(see pid=the manual) x", "", "(see pid=the manual) x"},
};

constexpr StampSample k_json[] = {
    {R"({"log":"CUDA error\n","stream":"stderr","time":"2025-05-10T16:00:15.123456789Z"})",
     "utc 2025-05-10T16:00:15.123456Z",
     R"({"log":"CUDA error\n","stream":"stderr","time":"2025-05-10T16:00:15.123456789Z"})"},
    {R"({"level":"error","ts":1767225600.25,"msg":"x"})", "utc 2026-01-01T00:00:00.250Z",
     R"({"level":"error","ts":1767225600.25,"msg":"x"})", "", "error"},
    {R"({"@timestamp":"2025-05-10T16:00:15Z","msg":"x"})", "utc 2025-05-10T16:00:15Z",
     R"({"@timestamp":"2025-05-10T16:00:15Z","msg":"x"})"},
    {R"({"__REALTIME_TIMESTAMP":"1767225600000001","MESSAGE":"x"})",
     "utc 2026-01-01T00:00:00.000001Z",
     R"({"__REALTIME_TIMESTAMP":"1767225600000001","MESSAGE":"x"})", "", "", k_system},
    {R"({"timestamp": 1767225600250, "severity":"WARN"})", "utc 2026-01-01T00:00:00.250Z",
     R"({"timestamp": 1767225600250, "severity":"WARN"})", "", "warning"},
};

constexpr StampSample k_klog[] = {
    {"I0810 15:36:05.551834       1 health.go:169] XidCriticalError: Xid=48",
     "no_year 1972-08-10T15:36:05.551834Z", "XidCriticalError: Xid=48", "pid=1", "info"},
    {"E0305 19:29:57.373556 116 model_lifecycle.cc:654] failed to load",
     "no_year 1972-03-05T19:29:57.373556Z", "failed to load", "pid=116", "error"},
    {"W20250810 15:36:05.551834 41 transfer.cpp:12] slow", "no_zone 2025-08-10T15:36:05.551834Z",
     "slow", "pid=41", "warning"},
    {"F0305 19:29:57.373556 x", "", "F0305 19:29:57.373556 x"},
};

constexpr StampSample k_level_first[] = {
    {"INFO 01-30 03:18:12 engine.py:848] Starting", "no_year 1972-01-30T03:18:12Z", "Starting", "",
     "info"},
    {"ERROR 05-10 16:00:15 [v1/engine/core.py:1138]   File \"x\"", "no_year 1972-05-10T16:00:15Z",
     "  File \"x\"", "", "error"},
    {"WARNING 05-10 16:00:15.250 [x.py:1] y", "no_year 1972-05-10T16:00:15.250Z", "y", "",
     "warning"},
    {"INFO:     2025-01-02 15:04:05,123 - \"GET /health HTTP/1.1\" 200",
     "no_zone 2025-01-02T15:04:05.123Z", "\"GET /health HTTP/1.1\" 200", "", "info"},
    {"[INFO] 2025-01-02 15:04:05 up", "no_zone 2025-01-02T15:04:05Z", "up", "", "info"},
    {"INFO:     Application startup complete.", "", "INFO:     Application startup complete.", "",
     "info"},
    {"ERROR:torch.distributed.elastic:failed (exitcode: -9)", "",
     "ERROR:torch.distributed.elastic:failed (exitcode: -9)", "", "error"},
    {"[TensorRT-LLM][ERROR] CUDA runtime error", "", "[TensorRT-LLM][ERROR] CUDA runtime error", "",
     "error"},
};

constexpr StampSample k_syslog[] = {
    {"Dec  2 10:43:35 host-1 kernel: [240314.528856] NVRM: Xid", "no_year 1972-12-02T10:43:35Z",
     "NVRM: Xid", "node=host-1", "", k_system},
    {"Feb 09 12:00:01.123456 gpu-1 kubelet[811]: E0209 12:00:01.120000     811 x.go:1] bad",
     "no_year 1972-02-09T12:00:01.123456Z", "bad", "node=gpu-1 pid=811", "error", k_system},
    {"Feb  9 2025 12:00:01 gpu-1 (udev-worker)[33]: x", "no_zone 2025-02-09T12:00:01Z", "x",
     "node=gpu-1 pid=33", "", k_system},
    {"Feb 29 12:00:01 gpu-1 systemd[1]: Started kubelet.", "no_year 1972-02-29T12:00:01Z",
     "Started kubelet.", "node=gpu-1 pid=1", "", k_system},
    {"Feb  9 12:00:01 gpu-1 ollama[712]: time=2025-02-09T12:00:01.000Z level=ERROR msg=\"x\"",
     "utc 2025-02-09T12:00:01Z", "msg=\"x\"", "node=gpu-1 pid=712", "error", k_system},
    {"Feb  9 12:00:01 NVRM: without a host", "no_year 1972-02-09T12:00:01Z", "NVRM: without a host",
     "", "", k_system},
    {"Sun 2025-02-09 12:00:01 UTC gpu-1 kernel: NVRM: x", "utc 2025-02-09T12:00:01Z", "NVRM: x",
     "node=gpu-1", "", k_system},
    {"May we suggest a restart", "", "May we suggest a restart"},
};

constexpr StampSample k_iso[] = {
    {"2025-08-14T03:12:07.250Z plain text", "utc 2025-08-14T03:12:07.250Z", "plain text"},
    {"2026-01-12T08:41:07.123456789Z stderr F (EngineCore_0 pid=41) ERROR 05-10 16:00:15 "
     "[core.py:1138] msg",
     "utc 2026-01-12T08:41:07.123456Z", "msg", "pid=41", "error"},
    {"2026-01-12T08:41:07.123456789+00:00 stdout P half a line", "utc 2026-01-12T08:41:07.123456Z",
     "half a line"},
    {"2026-06-01T01:00:00.100000+00:00 mi-n12 kernel: amdgpu: x", "utc 2026-06-01T01:00:00.100Z",
     "amdgpu: x", "node=mi-n12", "", k_system},
    {"2025-02-09T12:00:01+0100 gpu-1 kubelet[811]: x", "utc 2025-02-09T11:00:01Z", "x",
     "node=gpu-1 pid=811", "", k_system},
    {"2025-02-09T12:00:01,283302+00:00 Call Trace: x", "utc 2025-02-09T12:00:01.283302Z",
     "Call Trace: x", "", "", k_kernel},
    {"2025-02-09T12:00:01Z Worker failed: x", "utc 2025-02-09T12:00:01Z", "Worker failed: x"},
    {"2025-02-09T12:00:01.000Z INFO:     Application startup complete.", "utc 2025-02-09T12:00:01Z",
     "INFO:     Application startup complete.", "", "info"},
    {"\x1b[2m2026-01-02T15:04:05.123456Z\x1b[0m \x1b[32m INFO\x1b[0m "
     "\x1b[2mtext_generation_launcher\x1b[0m\x1b[2m:\x1b[0m Shard ready",
     "utc 2026-01-02T15:04:05.123456Z",
     "INFO\x1b[0m \x1b[2mtext_generation_launcher\x1b[0m\x1b[2m:\x1b[0m Shard ready", "", "info"},
    {"2025-01-02T15:04:05.000Z\tERROR\tsetup\tunable to start", "utc 2025-01-02T15:04:05Z",
     "setup\tunable to start", "", "error"},
    {"2025-09-18 05:41:10,123 - vllm.engine - ERROR - lost", "no_zone 2025-09-18T05:41:10.123Z",
     "lost", "", "error"},
    {"2025-09-18 05:41:10,123 | INFO    | embed_server | batch 12",
     "no_zone 2025-09-18T05:41:10.123Z", "batch 12", "", "info"},
    {"2025-09-18 05:41:10.123 | ERROR    | app.main:run:12 - lost",
     "no_zone 2025-09-18T05:41:10.123Z", "lost", "", "error"},
    {"2025-09-18 05:41:10,201\tINFO worker.py:1841 -- Connecting",
     "no_zone 2025-09-18T05:41:10.201Z", "Connecting", "", "info"},
    {"2025-09-18 05:41:10 ERROR lost", "no_zone 2025-09-18T05:41:10Z", "lost", "", "error"},
    {"2025-09-18 05:41:10 UTC [31] ERROR: lost", "utc 2025-09-18T05:41:10Z", "[31] ERROR: lost"},
    {"2025-09-18 05:41:10.123 ERROR [4120:4130] nvml failed", "no_zone 2025-09-18T05:41:10.123Z",
     "[4120:4130] nvml failed", "", "error"},
    {"2026-01-12T08:41:07.1Z /app/ggml-cuda.cu:84: CUDA error", "utc 2026-01-12T08:41:07.100Z",
     "/app/ggml-cuda.cu:84: CUDA error"},
    {"2025-09-18 05:41:10 RuntimeError: CUDA error", "no_zone 2025-09-18T05:41:10Z",
     "RuntimeError: CUDA error"},
    {"2025-13-18 05:41:10 no such month", "", "2025-13-18 05:41:10 no such month"},
};

constexpr StampSample k_slash[] = {
    {"2025/01/02 15:04:05 Starting FS watcher.", "no_zone 2025-01-02T15:04:05Z",
     "Starting FS watcher."},
    {"2025/01/02 15:04:05.123456 server.go:12: up", "no_zone 2025-01-02T15:04:05.123456Z", "up"},
    {"2025/01/02 15:04:05 [error] 31#31: *5 connect() failed", "no_zone 2025-01-02T15:04:05Z",
     "connect() failed", "pid=31", "error", k_gateway},
};

constexpr StampSample k_access[] = {
    {"10.20.4.18 - - [22/Apr/2026:15:01:11 +0000] \"POST /v1 HTTP/1.1\" 200",
     "utc 2026-04-22T15:01:11Z",
     "10.20.4.18 - - [22/Apr/2026:15:01:11 +0000] \"POST /v1 HTTP/1.1\" 200", "", "", k_gateway},
    {"chat.llm 10.20.4.18 - m.o [22/Apr/2026:15:01:11 +0200] \"GET / HTTP/1.1\" 200",
     "utc 2026-04-22T13:01:11Z",
     "chat.llm 10.20.4.18 - m.o [22/Apr/2026:15:01:11 +0200] \"GET / HTTP/1.1\" 200", "", "",
     k_gateway},
    {"[GIN] 2025/02/09 - 12:00:01 | 500 |  1.2s | 10.0.0.1 | POST \"/api/chat\"",
     "no_zone 2025-02-09T12:00:01Z",
     "[GIN] 2025/02/09 - 12:00:01 | 500 |  1.2s | 10.0.0.1 | POST \"/api/chat\""},
};

constexpr StampSample k_logfmt[] = {
    {"time=2026-06-18T20:02:33.463Z level=WARN msg=\"model failed\" model=q",
     "utc 2026-06-18T20:02:33.463Z", "msg=\"model failed\" model=q", "", "warning"},
    {"ts=2026-05-12T10:40:01Z caller=main.go:12 level=info msg=up", "utc 2026-05-12T10:40:01Z",
     "msg=up", "", "info"},
    {"level=error ts=1767225600.25 msg=\"x\"", "utc 2026-01-01T00:00:00.250Z", "msg=\"x\"", "",
     "error"},
    {"time=\"2026-05-12T10:40:01+02:00\" level=fatal msg=x", "utc 2026-05-12T08:40:01Z", "msg=x",
     "", "critical"},
    {"time=5 seconds", "", "time=5 seconds"},
};

constexpr StampSample k_nccl[] = {
    {"gpu-a03:4120:4477 [0] NCCL INFO comm 0x22b5 rank 0 nRanks 16", "",
     "NCCL INFO comm 0x22b5 rank 0 nRanks 16", "pid=4120"},
    {"vllm-0:41:90 [3] misc/shmutils.cc:72 NCCL WARN Error", "",
     "misc/shmutils.cc:72 NCCL WARN Error", "pid=41"},
    {"host:12 is not one", "", "host:12 is not one"},
};

constexpr StampSample k_epoch[] = {
    {"1767225600.250 worker lost", "utc 2026-01-01T00:00:00.250Z", "worker lost"},
    {"1767225600.123456 gpu-1 kernel: NVRM: x", "utc 2026-01-01T00:00:00.123456Z", "NVRM: x",
     "node=gpu-1", "", k_system},
    {"1767225600250 worker lost", "utc 2026-01-01T00:00:00.250Z", "worker lost"},
    {"1767225600 bytes copied", "", "1767225600 bytes copied"},
};

constexpr StampSample k_clock[] = {
    {"10:30:01 - LiteLLM Proxy:DEBUG: x", "no_date 37801", "LiteLLM Proxy:DEBUG: x"},
    {"10:30:01.250 E lost", "no_date 37801.250", "E lost"},
    {"00:15<00:02, 1.92s/it", "", "00:15<00:02, 1.92s/it"},
};

constexpr StampSample k_trail[] = {
    {"2025-09-18 05:41:10 [ERROR] [x.py:12] lost", "no_zone 2025-09-18T05:41:10Z", "lost", "",
     "error"},
    {"2026-01-12T08:41:07.1Z [core.py:12] lost", "utc 2026-01-12T08:41:07.100Z", "lost"},
};

// --- The table ----------------------------------------------------------------------------------

constexpr StampForm k_forms[] = {
    {"syslog priority", k_other, forms::priority, k_priority},
    {"kubectl logs --prefix", k_bracket, forms::kubectl_prefix, k_kubectl_prefix},
    {"docker compose name", k_digit | k_upper | k_lower, forms::compose_name, k_compose},
    {"kernel monotonic", k_bracket, forms::monotonic, k_monotonic},
    {"/dev/kmsg", k_digit, forms::kmsg, k_kmsg},
    {"dmesg --decode", k_lower, forms::facility, k_facility},
    {"Talos", k_digit | k_upper | k_lower, forms::talos, k_talos},
    {"dmesg -T", k_bracket | k_upper, forms::asctime, k_asctime},
    {"fabric manager", k_bracket, forms::bracket_month_day, k_bracket_month},
    {"TensorRT-LLM", k_bracket, forms::trtllm, k_trtllm},
    {"torch", k_bracket, forms::torch_location, k_torch},
    {"rank", k_bracket, forms::rank, k_rank},
    {"bracketed ISO", k_bracket, forms::bracket_iso, k_bracket_iso},
    {"process tag", k_paren, forms::process_tag, k_process_tag},
    {"JSON", k_other, forms::json_fields, k_json},
    {"klog", k_upper, forms::klog, k_klog},
    {"level first", k_upper | k_bracket, forms::level_first, k_level_first},
    {"syslog", k_upper, forms::syslog, k_syslog},
    {"ISO", k_digit, forms::iso, k_iso},
    {"slash date", k_digit, forms::slash_date, k_slash},
    {"access log", k_digit | k_upper | k_lower | k_bracket | k_other, forms::access_log, k_access},
    {"logfmt", k_lower, forms::logfmt, k_logfmt},
    {"NCCL", k_digit | k_upper | k_lower, forms::nccl, k_nccl},
    {"epoch", k_digit, forms::epoch, k_epoch},
    {"time of day", k_digit, forms::time_of_day, k_clock},
    {"level and location", k_any, forms::trail, k_trail},
};

}  // namespace

std::span<const StampForm> stamp_forms() {
  return k_forms;
}

}  // namespace triage::analysis

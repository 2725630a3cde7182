#include <doctest/doctest.h>

#include <string>

#include "bundle/input.hpp"

using namespace triage;
using evidence::Format;
using evidence::Kind;

namespace {

struct FormCase {
  const char* what;
  Kind kind;
  Format format;
  std::string text;
};

std::string long_list() {
  std::string text = "{\n \"apiVersion\": \"v1\",\n \"items\": [\n";
  for (int i = 0; i < 2000; ++i)
    text += "  {\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n" +
            std::to_string(i) + "\"}},\n";
  return text.substr(0, 64 * 1024);
}

std::vector<FormCase> cases() {
  return {
      {"pod", Kind::pod, Format::k8s_json,
       R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})"},
      {"typed pod list", Kind::pod, Format::k8s_json,
       R"({"kind": "PodList", "apiVersion": "v1", "items": []})"},
      {"list of events", Kind::event, Format::k8s_json,
       R"({"apiVersion": "v1", "items": [{"apiVersion": "v1", "involvedObject": {"kind": "Pod"}, "kind": "Event"}], "kind": "List"})"},
      {"list cut before its kind", Kind::node, Format::k8s_json, long_list()},
      {"deployment", Kind::workload, Format::k8s_json,
       R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"annotations": {"ai.flexinfer/model": "m"}}})"},
      {"model resource", Kind::model, Format::k8s_json,
       R"({"apiVersion": "ai.flexinfer/v1alpha2", "kind": "ModelCache", "status": {}})"},
      {"several objects glued together", Kind::pod, Format::k8s_json,
       "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}\n{\"apiVersion\": \"v1\", \"kind\": "
       "\"Pod\"}\n"},
      {"pod in YAML", Kind::pod, Format::k8s_yaml,
       "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"},
      {"list in YAML", Kind::event, Format::k8s_yaml,
       "---\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Event\n  message: x\nkind: List\n"},
      {"describe pod", Kind::pod, Format::k8s_describe,
       "Name:         chat-0\nNamespace:    llm\nContainers:\n  vllm:\n    State: Waiting\n"},
      {"describe node behind a prompt", Kind::node, Format::k8s_describe,
       "$ kubectl describe node gpu-3\nName:               gpu-3\nRoles:              <none>\n"},
      {"event table", Kind::event, Format::k8s_table,
       "LAST SEEN   TYPE      REASON   OBJECT       MESSAGE\n5m          Warning   BackOff  pod/a  "
       "x\n"},
      {"event table of all namespaces", Kind::event, Format::k8s_table,
       "NAMESPACE   LAST SEEN   TYPE      REASON   OBJECT       MESSAGE\nllm 5m Warning x pod/a "
       "y\n"},
      {"pod table", Kind::pod, Format::k8s_table,
       "NAME   READY   STATUS    RESTARTS   AGE\na      1/1     Running   0          2d\n"},
      {"node table", Kind::node, Format::k8s_table,
       "NAME    STATUS   ROLES    AGE   VERSION\ngpu-1   Ready    <none>   2d    v1.31.1\n"},
      {"nvidia-smi", Kind::gpu_state, Format::smi_table,
       "Tue Sep  2 15:05:24 2025\n+-----+\n| NVIDIA-SMI 570.1   Driver Version: 570.1   CUDA "
       "Version: "
       "12.8 |\n"},
      {"nvidia-smi that fails", Kind::gpu_state, Format::smi_table,
       "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure\n"},
      {"nvidia-smi -L", Kind::gpu_state, Format::smi_table,
       "GPU 0: NVIDIA L4 (UUID: GPU-0d2f8a46-1111-2222-3333-444455556666)\n"},
      {"nvidia-smi -q", Kind::gpu_state, Format::smi_query,
       "\n==============NVSMI LOG==============\n\nTimestamp : x\n"},
      {"nvidia-smi csv", Kind::gpu_state, Format::smi_csv,
       "index, uuid, memory.used [MiB]\n0, GPU-1, 12 MiB\n"},
      {"nvidia-smi csv of remapped rows", Kind::gpu_state, Format::smi_csv,
       "gpu_bus_id, gpu_uuid, remapped_rows.correctable, remapped_rows.pending\n"},
      {"nvidia-smi -q -x", Kind::gpu_state, Format::smi_xml,
       "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n"
       "<nvidia_smi_log>\n"},
      {"topo -m", Kind::gpu_state, Format::smi_topology,
       "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-47\t0\n"},
      {"nvlink --status", Kind::gpu_state, Format::smi_topology,
       "GPU 0: NVIDIA H100 (UUID: GPU-0d2f8a46-1111-2222-3333-444455556666)\n\t Link 0: 26.562 "
       "GB/s\n\t Link 1: <inactive>\n"},
      {"rocm-smi", Kind::gpu_state, Format::amd_smi_text,
       "\n\n========= ROCm System Management Interface =========\n"},
      {"amd-smi text", Kind::gpu_state, Format::amd_smi_text, "GPU: 0\n    ASIC:\n        X: y\n"},
      {"amd-smi json", Kind::gpu_state, Format::amd_smi_json,
       R"([{"gpu": 0, "asic": {"market_name": "x"}}])"},
      {"rocm-smi json", Kind::gpu_state, Format::amd_smi_json,
       R"({"card0": {"VRAM Total Used": "1"}})"},
      {"rocminfo", Kind::gpu_state, Format::rocminfo,
       "ROCk module is loaded\n=====================\nHSA System Attributes\n"},
      {"metrics", Kind::metrics, Format::prometheus,
       "# HELP a b\n# TYPE vllm:x gauge\nvllm:x{model=\"a b\"} 1.0\n"},
      {"metrics whose labels name GPUs", Kind::metrics, Format::prometheus,
       "# HELP gpu_ecc_uncorrect_total x\n# TYPE gpu_ecc_uncorrect_total counter\n"
       "gpu_ecc_uncorrect_total{gpu_id=\"4\",gpu_uuid=\"72ff\",serial_number=\"69\"} 2\n"},
      {"metrics without comments", Kind::metrics, Format::prometheus,
       "vllm:num_requests_running{m=\"a\"} 1\nvllm:num_requests_waiting{m=\"a\"} 2\nup_x 1\n"},
      {"Envoy stats", Kind::gateway_stats, Format::gateway_stats,
       "cluster.chat.upstream_rq_503: 17\ncluster.chat.upstream_cx_total: 20\n"},
      {"dcgmi diag", Kind::dcgm_diag, Format::dcgm_json,
       R"({"DCGM Diagnostic": {"test_categories": []}})"},
      {"meminfo", Kind::host_memory, Format::host_memory,
       "MemTotal:       1056768000 kB\nMemFree:         1 kB\n"},
      {"free", Kind::host_memory, Format::host_memory,
       "               total        used        free      shared  buff/cache   available\nMem: "
       "1\n"},
      {"df", Kind::host_memory, Format::host_memory,
       "Filesystem     1B-blocks  Used Available Use% Mounted on\nshm  67108864 67108864 0 100% "
       "/dev/shm\n"},
      {"memory.events", Kind::host_memory, Format::host_memory,
       "low 0\nhigh 0\nmax 1200\noom 3\noom_kill 3\noom_group_kill 0\n"},
      {"collect_env", Kind::environment, Format::collect_env,
       "Collecting environment information...\nPyTorch version: 2.9.0\nIs debug build: False\n"},
      {"environment variables", Kind::environment, Format::key_value,
       "NCCL_DEBUG=INFO\nCUDA_VISIBLE_DEVICES=0,1\nHOME=/root\nLD_LIBRARY_PATH=/usr/lib\n"},
      {"/proc/stat", Kind::environment, Format::key_value,
       "cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 5 0\nctxt 7\nbtime 1755129600\nprocesses 7\n"},
      {"uptime -s", Kind::environment, Format::key_value, "2025-08-14 00:00:00\n"},
      {"clock of a bundle", Kind::environment, Format::clock,
       R"({"boot_id": "x", "boot_time": "2026-01-01T00:00:00Z", "uptime_s": 1})"},
  };
}

}  // namespace

TEST_CASE("structured evidence is recognised by content alone") {
  for (const FormCase& form : cases()) {
    CAPTURE(std::string(form.what));
    const auto seen = bundle::recognise(form.text, "part-07");
    CHECK(std::string(evidence::to_string(seen.kind)) == evidence::to_string(form.kind));
    CHECK(std::string(evidence::to_string(seen.format)) == evidence::to_string(form.format));
  }
}

TEST_CASE("every prefix of a structured file is recognised without harm") {
  for (const FormCase& form : cases()) {
    for (std::size_t length = 0; length <= std::min<std::size_t>(form.text.size(), 200); ++length) {
      const auto seen = bundle::recognise(std::string_view(form.text).substr(0, length), "x");
      CHECK_FALSE(evidence::is_derived(seen.kind));
    }
  }
}

TEST_CASE("a log that shows a tool's output among other things is still a log") {
  const std::string text =
      "+ id\nuid=1000(app)\n+ ls -l /dev/dri\ntotal 0\n+ rocm-smi\n\n"
      "===== ROCm System Management Interface =====\n+ python3 -m "
      "vllm.entrypoints.openai.api_server\n"
      "Traceback (most recent call last):\n  File \"a.py\", line 1\nRuntimeError: No HIP GPUs\n";
  CHECK(bundle::recognise(text, "x").kind == Kind::container_log);
  const std::string log =
      "INFO 03-04 10:00:00 [worker.py:1] starting vLLM\nWARNING 03-04 10:00:00 [x.py:1] y\n"
      "Failed to initialize NVML: Unknown Error\n";
  CHECK(bundle::recognise(log + log + log, "x").kind == Kind::container_log);
}

TEST_CASE("describe names its object") {
  CHECK(bundle::recognise("Name: gpu-3\nRoles: <none>\nTaints: <none>\n", "x").place.node ==
        "gpu-3");
  CHECK(bundle::recognise("Name: chat-0\nNamespace: llm\nContainers:\n", "x").place.pod ==
        "chat-0");
}

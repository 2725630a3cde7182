#pragma once

#include <array>
#include <string_view>

namespace triage::rules {

/// Lines that healthy systems write all day, in lower case, one of each common form: a literal that
/// stands in one of them finds nothing out. They stand for forms, not for any one log; numbers are
/// examples.
inline constexpr std::array<std::string_view, 56> k_ordinary_lines{
    // engines
    R"(info:     10.1.2.3:51234 - "post /v1/chat/completions http/1.1" 200 ok)",
    R"(info:     10.1.2.3:51234 - "post /v1/completions http/1.1" 200 ok)",
    R"(info:     10.1.2.3:51234 - "post /v1/embeddings http/1.1" 200 ok)",
    R"(info:     10.1.2.3:51234 - "post /generate http/1.1" 200 ok)",
    R"(info:     10.1.2.3:51234 - "post /generate_stream http/1.0" 200 ok)",
    R"(info:     10.1.2.3:51234 - "get /health http/1.1" 200 ok)",
    R"(info:     10.1.2.3:51234 - "get /metrics http/1.1" 200 ok)",
    R"(info:     10.1.2.3:51234 - "get /v1/models http/1.1" 200 ok)",
    R"(info 10-14 08:04:31 [loggers.py:127] engine 000: avg prompt throughput: 5171.8 tokens/s, avg generation throughput: 148.5 tokens/s, running: 9 reqs, waiting: 0 reqs, gpu kv cache usage: 12.4%, prefix cache hit rate: 13.5%)",
    R"(info 09-29 18:20:43 metrics.py:351] avg prompt throughput: 0.0 tokens/s, avg generation throughput: 0.0 tokens/s, running: 0 reqs, swapped: 0 reqs, pending: 0 reqs, gpu kv cache usage: 0.0%, cpu kv cache usage: 0.0%.)",
    R"([2025-05-19 23:20:02 tp0] decode batch. #running-req: 1, #token: 40202, token usage: 0.05, cuda graph: true, gen throughput (token/s): 168.44, #queue-req: 0)",
    R"([2025-05-19 23:20:02 tp0] decode batch, #running-req: 2, #full token: 40202, full token usage: 0.05, gen throughput (token/s): 268.44, #queue-req: 0, )",
    R"([2025-05-19 23:20:02 tp0] prefill batch. #new-seq: 1, #new-token: 512, #cached-token: 0, token usage: 0.05, #running-req: 3, #queue-req: 0, )",
    R"(info 10-14 08:04:31 [logger.py:42] received request chatcmpl-ab12: prompt: 'hello', params: samplingparams(n=1, temperature=0.7), prompt_token_ids: none, lora_request: none.)",
    R"(info 10-14 08:04:31 [async_llm.py:261] added request chatcmpl-ab12.)",
    R"(info 10-14 08:04:31 [engine.py:310] finished request chatcmpl-ab12.)",
    R"(debug 10-14 08:04:31 [scheduler.py:412] scheduled 12 sequences with 512 tokens, waiting queue is empty)",
    R"(2025-02-11t10:00:00.000000z  info generate{parameters=generateparameters total_time="1.2s" validation_time="1ms" queue_time="50us" inference_time="1.2s" time_per_token="20ms"}: text_generation_router::server: success)",
    R"([tensorrt-llm][info] {"active request count":1,"iteration counter":100,"max request count":64,"runtime memory usage gpu":"2 gb"})",
    R"(slot update_slots: id  0 | task 12 | prompt processing progress, n_past = 512, n_tokens = 512, progress = 1.0)",
    R"(prompt eval time =     120.00 ms /   512 tokens (    0.23 ms per token,  4266.67 tokens per second))",
    R"(srv  log_server_r: request: post /v1/chat/completions 10.2.0.33 200)",
    R"(loading safetensors checkpoint shards:  12% completed | 1/8 [00:02<00:14,  2.03s/it])",
    R"(fetching 30 files:  12%|#2        | 4/30 [00:02<00:14,  2.03s/it])",
    R"(capturing cuda graphs (decode, full): 100%|##########| 35/35 [00:02<00:00, 14.02it/s])",
    R"(pod-0:402:402 [0] nccl info channel 02/0 : 0[0] -> 1[1] via p2p/cumem)",
    R"(pod-0:402:402 [0] nccl info net/ib : using [0]mlx5_0:1/ib [1]mlx5_1:1/ib [ro]; oob eth0:10.1.2.3<0>)",
    R"(pod-0:402:402 [0] nccl info comm 0x55d0 rank 0 nranks 8 cudadev 0 busid 1b000 - init complete)",
    R"(/usr/local/lib/python3.12/site-packages/torch/utils.py:12: userwarning: value of the argument is ignored)",
    R"(warning 10-14 08:04:31 [cache.py:20] the model is configured with a smaller value than the default)",
    // JSON and access logs of gateways and services
    R"({"level":"info","ts":"2025-05-19t23:20:02.123z","logger":"controller","msg":"reconciling","name":"llm","namespace":"default","request_id":"ab12"})",
    R"({"start_time":"2025-05-19t23:20:02.123z","method":"post","path":"/v1/completions","protocol":"http/1.1","response_code":200,"response_flags":"-","bytes_received":512,"duration":120,"upstream_host":"10.1.2.3:8000","user_agent":"python/3.12","request_id":"ab12"})",
    R"({"log":"message\n","stream":"stderr","time":"2025-05-19t23:20:02.123456789z"})",
    R"(10.1.2.3 - - [19/may/2025:23:20:02 +0000] "post /v1/chat/completions http/1.1" 200 512 "-" "openai/python 1.0" "-")",
    R"([2025-05-19t23:20:02.123z] "post /v1/chat/completions http/2" 200 - via_upstream - "-" 512 1024 120 119 "10.1.2.3" "python" "ab12" "llm.local" "10.1.2.3:8000" outbound|8000||llm)",
    R"(time="2025-05-19t23:20:02z" level=info msg="request completed" method=post path=/api/generate status=200 duration=1.2s)",
    R"([gin] 2025/05/19 - 23:20:02 | 200 |  1.234567s |       10.1.2.3 | post     "/api/chat")",
    // Kubernetes and system daemons
    R"(i0519 23:20:02.123456       1 reconciler.go:30] "operation completed" volume="token" pod="default/llm-0")",
    R"(e0519 23:20:02.123456       1 leaderelection.go:330] "retrying after error" err="context")",
    R"(may 19 23:20:02 node-1 kubelet[1234]: i0519 23:20:02.123456 1234 kubelet.go:2100] "syncloop update" source="api" pods=["default/llm-0"])",
    R"(may 19 23:20:02 node-1 containerd[999]: time="2025-05-19t23:20:02z" level=info msg="createcontainer within sandbox for container name:server attempt:0 returns container id")",
    R"(may 19 23:20:02 node-1 systemd[1]: started session 12 of user operator.)",
    R"(may 19 23:20:02 node-1 sshd[12]: accepted publickey for operator from 10.1.2.3 port 51234 ssh2)",
    R"(may 19 23:20:02 node-1 cron[12]: (root) cmd (run-parts /etc/cron.hourly))",
    R"(may 19 23:20:02 node-1 kernel: ipv6: addrconf(netdev_change): veth01: link becomes ready)",
    // kernel
    R"([ 1234.567890] cni0: port 3(veth01) entered blocking state)",
    R"([ 1234.567890] usb 1-1: new high-speed usb device number 4 using xhci_hcd)",
    R"([ 1234.567890] audit: type=1400 audit(1747690000.123:45): apparmor="status" operation="profile_replace" profile="unconfined" name="runc" pid=1234 comm="apparmor_parser")",
    R"([ 1234.567890] tcp: request_sock_tcp: possible syn flooding on port 8000. sending cookies.)",
    R"([ 1234.567890] perf: interrupt took too long (2500 > 2400), lowering kernel.perf_event_max_sample_rate to 79750)",
    R"([ 1234.567890] ext4-fs (nvme0n1p1): mounted filesystem with ordered data mode. quota mode: none.)",
    R"([ 1234.567890] nvidia 0000:1b:00.0: enabling device (0000 -> 0002))",
    R"([ 1234.567890] pci 0000:1b:00.0: bar 1: assigned [mem 0x380000000000-0x381fffffffff 64bit pref])",
    R"([ 1234.567890] device eth0 entered promiscuous mode)",
    // what models write about
    R"(the quick answer to your question is that people often ask for a summary of the story, a list of steps or an example in code, and then continue with another request about the same content)",
    R"(completion, prompt, input, output, text, system, user, assistant, content, message, error, failed, memory, time, out of, number)",
};

}  // namespace triage::rules

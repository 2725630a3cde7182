#include "bench/log_lines.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>

namespace triage::bench {
namespace {

template <class... Args>
void put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

struct Clock {
  unsigned day, hour, minute, second, ms;
};

Clock clock_of(std::uint64_t ms) {
  return {static_cast<unsigned>(3 + ms / 86'400'000 % 25),
          static_cast<unsigned>(ms / 3'600'000 % 24), static_cast<unsigned>(ms / 60'000 % 60),
          static_cast<unsigned>(ms / 1000 % 60), static_cast<unsigned>(ms % 1000)};
}

constexpr std::array<std::string_view, 48> k_words{
    "the",      "model",   "answers",  "questions", "about",    "weather",  "travel",  "history",
    "of",       "rivers",  "and",      "mountains", "because",  "people",   "often",   "ask",
    "for",      "a",       "summary",  "with",      "numbers",  "tables",   "or",      "code",
    "examples", "in",      "several",  "languages", "while",    "others",   "prefer",  "short",
    "replies",  "without", "headings", "please",    "continue", "writing",  "another", "paragraph",
    "on",       "gardens", "kitchens", "engines",   "memory",   "training", "lessons", "music"};

constexpr std::array<std::string_view, 6> k_paths{
    "/v1/chat/completions", "/v1/completions", "/v1/embeddings",
    "/v1/models",           "/generate",       "/tokenize"};

void access_line(std::string& out, Random& random) {
  const auto kind = random.below(100);
  const std::string_view path = kind < 8    ? "/health"
                                : kind < 12 ? "/metrics"
                                            : k_paths.at(random.below(k_paths.size()));
  put(out, "INFO:     10.{}.{}.{}:{} - \"{} {} HTTP/1.1\" {}\n", random.below(4), random.below(256),
      random.below(256), 32768 + random.below(28000), kind < 12 ? "GET" : "POST", path,
      random.below(400) == 0 ? "422 Unprocessable Entity" : "200 OK");
}

}  // namespace

void LineWriter::engine(std::string& out) {
  tick(40);
  const Clock t = clock_of(now_ms_);
  const auto kind = random_.below(1000);
  if (kind < 520) return access_line(out, random_);
  if (kind < 640)
    return put(out,
               "(APIServer pid=1) INFO 06-{:02} {:02}:{:02}:{:02} [loggers.py:123] Engine 000: Avg "
               "prompt throughput: {}.{} tokens/s, Avg generation throughput: {}.{} tokens/s, "
               "Running: {} reqs, Waiting: {} reqs, GPU KV cache usage: {}.{}%, Prefix cache hit "
               "rate: {}.{}%\n",
               t.day, t.hour, t.minute, t.second, random_.below(9000), random_.below(10),
               random_.below(3000), random_.below(10), random_.below(64), random_.below(9),
               random_.below(97), random_.below(10), random_.below(80), random_.below(10));
  if (kind < 760)
    return put(out,
               "[2025-06-{:02} {:02}:{:02}:{:02} TP0] Decode batch, #running-req: {}, #token: {}, "
               "token usage: 0.{:02}, cuda graph: True, gen throughput (token/s): {}.{:02}, "
               "#queue-req: 0,\n",
               t.day, t.hour, t.minute, t.second, random_.below(64), random_.below(400000),
               random_.below(90), random_.below(4000), random_.below(100));
  if (kind < 830)
    return put(out,
               "[2025-06-{:02} {:02}:{:02}:{:02} TP0] Prefill batch, #new-seq: {}, #new-token: {}, "
               "#cached-token: {}, token usage: 0.{:02}, #running-req: {}, #queue-req: 0,\n",
               t.day, t.hour, t.minute, t.second, 1 + random_.below(4), random_.below(8192),
               random_.below(4096), random_.below(90), random_.below(64));
  if (kind < 900)
    return put(out,
               "(EngineCore_0 pid=214) DEBUG 06-{:02} {:02}:{:02}:{:02}.{:03} [scheduler.py:412] "
               "scheduled {} of {} sequences, {} tokens, step {} took {}.{:02} ms\n",
               t.day, t.hour, t.minute, t.second, t.ms, random_.below(64), random_.below(64),
               random_.below(8192), random_.next() % 10'000'000, random_.below(90),
               random_.below(100));
  if (kind < 940) {
    put(out, "INFO 06-{:02} {:02}:{:02}:{:02} [async_llm.py:270] Added request chatcmpl-{:016x}. ",
        t.day, t.hour, t.minute, t.second, random_.next());
    words(out, 40 + random_.below(120));
    out += '\n';
    return;
  }
  if (kind < 965)
    return put(out,
               "llm-7c9d:{}:{} [{}] NCCL INFO Channel {:02}/0 : {}[{}] -> {}[{}] via P2P/CUMEM\n",
               200 + random_.below(8), 600 + random_.below(99), random_.below(8), random_.below(24),
               random_.below(8), random_.below(8), random_.below(8), random_.below(8));
  if (kind < 985)
    return put(out,
               "Loading safetensors checkpoint shards: {:3}% Completed | {}/{} [{:02}:{:02}<"
               "{:02}:{:02}, {}.{:02}s/it]\n",
               random_.below(100), random_.below(30), 30, random_.below(3), random_.below(60),
               random_.below(3), random_.below(60), random_.below(5), random_.below(100));
  if (kind < 995)
    return put(out,
               "WARNING 06-{:02} {:02}:{:02}:{:02} [serving_chat.py:155] The client closed its "
               "stream after {} tokens; the sequence was finished early\n",
               t.day, t.hour, t.minute, t.second, random_.below(2000));
  put(out,
      "/opt/venv/lib/python3.12/site-packages/engine/util.py:{}: UserWarning: the value of "
      "'stop' is not a list of strings\n  warnings.warn(\n",
      random_.below(900));
}

void LineWriter::kernel(std::string& out) {
  tick(900);
  const auto seconds = now_ms_ / 1000;
  const auto micros = now_ms_ % 1000 * 1000 + random_.below(1000);
  put(out, "[{:5}.{:06}] ", seconds, micros);
  switch (random_.below(10)) {
    case 0:
      return put(out, "usb 1-{}: new high-speed USB device number {} using xhci_hcd\n",
                 random_.below(9), random_.below(90));
    case 1:
      return put(out, "IPv6: ADDRCONF(NETDEV_CHANGE): veth{:08x}: link becomes ready\n",
                 random_.next() & 0xffffffffU);
    case 2:
      return put(out, "cni0: port {}(veth{:08x}) entered forwarding state\n", random_.below(60),
                 random_.next() & 0xffffffffU);
    case 3:
      return put(out,
                 "audit: type=1400 audit(17{}.{:03}:{}): apparmor=\"STATUS\" "
                 "operation=\"profile_replace\" profile=\"unconfined\" name=\"runc\" pid={}\n",
                 random_.below(99'999'999), random_.below(1000), random_.below(9999),
                 random_.below(99999));
    case 4:
      return put(out, "systemd[1]: Started Session {} of User operator.\n", random_.below(9999));
    case 5:
      return put(out, "nvme nvme{}: {}/0/0 default/read/poll queues\n", random_.below(8),
                 random_.below(96));
    case 6:
      return put(out, "perf: interrupt took too long ({} > {}), lowering kernel rate to {}\n",
                 random_.below(9000), random_.below(9000), random_.below(99000));
    case 7:
      return put(out, "eth0: renamed from tmp{:05x}\n", random_.next() & 0xfffffU);
    case 8:
      return put(out, "TCP: request_sock_TCP: Possible SYN flooding on port {}. Sending cookies.\n",
                 random_.below(65535));
    default:
      return put(out, "EXT4-fs (nvme{}n1p1): mounted filesystem with ordered data mode\n",
                 random_.below(8));
  }
}

void LineWriter::gateway(std::string& out) {
  tick(15);
  const Clock t = clock_of(now_ms_);
  put(out,
      "{{\"start_time\":\"2025-06-{:02}T{:02}:{:02}:{:02}.{:03}Z\",\"method\":\"POST\",\"path\":"
      "\"{}\",\"response_code\":200,\"response_flags\":\"-\",\"duration\":{},\"upstream_host\":"
      "\"10.0.{}.{}:8000\",\"request_id\":\"{:016x}\"}}\n",
      t.day, t.hour, t.minute, t.second, t.ms, k_paths.at(random_.below(k_paths.size())),
      random_.below(9000), random_.below(256), random_.below(256), random_.next());
}

void LineWriter::words(std::string& out, std::size_t bytes) {
  const std::size_t stop = out.size() + bytes;
  while (out.size() < stop) {
    out += k_words.at(random_.below(k_words.size()));
    out += ' ';
  }
}

}  // namespace triage::bench

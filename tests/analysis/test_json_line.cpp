#include <string>

#include <doctest/doctest.h>

#include "analysis/json_line.hpp"
#include "evidence/time.hpp"

using namespace triage;
using evidence::Kind;

namespace {

analysis::JsonLine decode(std::string_view line, Kind kind = Kind::container_log) {
  auto out = analysis::decode_json_line(line, kind);
  CHECK(analysis::decode_json_text(line, kind) == (out ? std::optional(out->text) : std::nullopt));
  REQUIRE(out);
  return std::move(*out);
}

std::string message_of(const analysis::JsonLine& line) {
  return line.text.substr(line.prefix.message);
}

std::string time_of(const analysis::JsonLine& line) {
  REQUIRE(line.prefix.stamp);
  return evidence::to_rfc3339({line.prefix.stamp->ns, line.prefix.stamp->resolution_ns});
}

}  // namespace

TEST_CASE("json line: a docker line gives the engine's line, its place and docker's time") {
  const auto line = decode(
      R"({"log":"(Worker_TP3 pid=216) ERROR 05-10 16:00:15 [core.py:1] it \"broke\"\n","stream":"stderr","time":"2025-05-10T16:00:15.123456789Z"})");
  CHECK(message_of(line) == "it \"broke\"");
  CHECK(line.prefix.place.pid == "216");
  CHECK(line.prefix.place.rank == "3");
  CHECK(line.prefix.level == "error");
  CHECK(line.prefix.stamp->base == evidence::Stamp::Base::utc);
  CHECK(time_of(line) == "2025-05-10T16:00:15.123456Z");
}

TEST_CASE("json line: a journal entry gives node, program and pid, and byte arrays are decoded") {
  const auto line = decode(
      R"({"__REALTIME_TIMESTAMP":"1767225600000001","_HOSTNAME":"gpu-1","SYSLOG_IDENTIFIER":"kernel","PRIORITY":"3","MESSAGE":"NVRM: Xid (PCI:0000:3b:00): 79"})",
      Kind::system_log);
  CHECK(line.text == "NVRM: Xid (PCI:0000:3b:00): 79");
  CHECK(line.prefix.place.node == "gpu-1");
  CHECK(line.prefix.program == "kernel");
  CHECK(line.prefix.level == "error");
  CHECK(time_of(line) == "2026-01-01T00:00:00.000001Z");
  const auto bytes = decode(R"({"MESSAGE":[27,91,51,49,109,104,105,255],"_PID":"77"})");
  CHECK(bytes.text == "\x1b[31mhi\xff");
  CHECK(bytes.prefix.place.pid == "77");
}

TEST_CASE("json line: fields of a structured logger follow the message as in logfmt") {
  const auto line = decode(
      R"({"level":"error","ts":"2026-07-02T17:45:00Z","caller":"x.go:1","msg":"load failed","model":"q","error":"no \"route\" to host","attempt":3})",
      Kind::controller_log);
  CHECK(line.text == R"(load failed model=q error="no \"route\" to host" attempt=3)");
  CHECK(line.prefix.level == "error");
  const auto tracing = decode(
      R"({"timestamp":"2026-01-02T15:04:05.1Z","level":"WARN","fields":{"message":"shard lost","rank":2},"target":"router"})");
  CHECK(tracing.text == "shard lost rank=2 target=router");
  CHECK(tracing.prefix.level == "warning");
}

TEST_CASE("json line: exporters' labels name pod, namespace, container and node") {
  const auto line = decode(
      R"({"log":"boom\n","kubernetes":{"pod_name":"vllm-0","namespace_name":"llm","container_name":"vllm","host":"gpu-1"},"@timestamp":"2026-01-02T15:04:05Z"})");
  CHECK(line.text == "boom");
  CHECK(line.prefix.place.pod == "vllm-0");
  CHECK(line.prefix.place.name_space == "llm");
  CHECK(line.prefix.place.container == "vllm");
  CHECK(line.prefix.place.node == "gpu-1");
}

TEST_CASE("json line: an object behind a collector's stamp is decoded too") {
  const auto line =
      decode(R"(2026-01-02T15:04:05.1Z stderr F {"level":"info","msg":"ready","port":8000})");
  CHECK(line.text == "ready port=8000");
  CHECK(time_of(line) == "2026-01-02T15:04:05.100Z");
}

TEST_CASE("json line: unicode escapes become UTF-8") {
  CHECK(decode(R"({"msg":"\u00e9\ud83d\ude00\ud800"})").text ==
        "\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST_CASE("json line: what is no JSON message is refused and damage gives the sound part") {
  CHECK_FALSE(analysis::decode_json_line("plain", Kind::container_log));
  CHECK_FALSE(analysis::decode_json_line(R"({"a":1})", Kind::container_log));
  CHECK_FALSE(analysis::decode_json_line("{not json", Kind::container_log));
  CHECK_FALSE(analysis::decode_json_line("", Kind::container_log));
  const std::string whole =
      R"({"time":"2026-01-02T15:04:05Z","log":"CUDA error: an illegal memory access\n","x":{"y":[1,{"z":"\"}"}]}})";
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const auto line = analysis::decode_json_line(whole.substr(0, cut), Kind::container_log);
    if (cut > whole.find("illegal") + 7) {
      REQUIRE(line);
      CHECK(line->text.substr(0, 11) == "CUDA error:");
    }
  }
  std::string deep = R"({"msg":"x","a":)";
  for (int i = 0; i < 100000; ++i) deep += R"({"a":)";
  CHECK(decode(deep).text.substr(0, 1) == "x");
}

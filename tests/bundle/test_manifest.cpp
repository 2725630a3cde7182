#include <doctest/doctest.h>

#include "bundle/manifest.hpp"
#include "scratch.hpp"

using namespace triage;
using evidence::Kind;
using scratch::Directory;
using scratch::Reading;

namespace {

bundle::Manifest example() {
  bundle::Manifest manifest;
  manifest.tool_version = "1";
  manifest.bundle_id = "triage-x";
  manifest.incident = "4711";
  manifest.labels["team"] = "inference";
  manifest.created_at = "2026-01-12T08:41:07Z";
  manifest.cmdline = {"triage", "collect", "chat-0"};
  manifest.cluster["server"] = "v1.31";
  manifest.targets.push_back({"llm", "chat-0", "uid", "gpu-3"});
  bundle::ManifestNode node;
  node.name = "gpu-3";
  node.boot_time_ns = 1'768'000'000'250'000'000;
  node.clock_skew_ns = -1'500'000'000;
  node.smi_state = "hung";
  node.gpus.push_back({"0", "GPU-1", "0000:17:00.0", "H100", "s", "570.1", "96.00"});
  manifest.nodes.push_back(node);
  bundle::ManifestItem log;
  log.id = "dmesg";
  log.kind = Kind::kernel_log;
  log.path = "nodes/gpu-3/kernel/dmesg.txt";
  log.place.node = "gpu-3";
  log.argv = {"dmesg"};
  log.status = "ok";
  log.exit_code = 0;
  log.cut = bundle::Cut{10, 20, 30};
  log.sha256 = "ab";
  manifest.items.push_back(log);
  bundle::ManifestItem absent;
  absent.id = "smi-q";
  absent.kind = Kind::gpu_state;
  absent.place.node = "gpu-3";
  absent.argv = {"nvidia-smi", "-q"};
  absent.status = "timeout";
  absent.reason = "did not answer in 10 s";
  manifest.items.push_back(absent);
  return manifest;
}

}  // namespace

TEST_CASE("a manifest written and read again is the same") {
  const std::string text = bundle::to_json(example());
  const auto again = bundle::parse_manifest(text);
  REQUIRE(again.ok());
  CHECK(bundle::to_json(*again) == text);
  CHECK(again->nodes[0].clock_skew_ns == -1'500'000'000);
  CHECK(again->nodes[0].boot_time_ns == 1'768'000'000'250'000'000);
  CHECK(again->items[1].reason == "did not answer in 10 s");
  CHECK(again->items[0].cut->dropped == 30);
}

TEST_CASE("a manifest of any other form is refused with words, never with a crash") {
  for (const char* text :
       {"", "[]", "{", "{\"format\": 3}", "{\"format\": \"triage-bundle\", \"format_version\": 99}",
        "null", "{\"format\": \"other\"}"}) {
    CAPTURE(std::string(text));
    const auto result = bundle::parse_manifest(text);
    REQUIRE_FALSE(result.ok());
    CHECK_FALSE(result.problem().message.empty());
  }
}

TEST_CASE("wrong types in a manifest count as absent") {
  const auto result = bundle::parse_manifest(
      R"({"format": "triage-bundle", "format_version": 1, "items": [3, {"role": [], "path": 9,
          "bytes_seen": -4, "exit_code": 1e99, "cut": []}, {"subject": "x"}], "nodes": {"a": 1},
          "labels": [1], "complete": "no", "redaction": 7, "duration_ms": 18446744073709551615})");
  REQUIRE(result.ok());
  CHECK(result->items.size() == 2);
  CHECK(result->items[0].bytes_seen == 0);
  CHECK(result->complete);
}

TEST_CASE("a bundle reads the same from its archive as from its directory, by its manifest") {
  const Directory dir;
  const std::string kernel = "worker text that says nothing of a kernel\n";
  const scratch::Members members{{"triage-x/manifest.json", bundle::to_json(example())},
                                 {"triage-x/README.txt", "about"},
                                 {"triage-x/nodes/gpu-3/kernel/dmesg.txt", kernel},
                                 {"triage-x/SHA256SUMS", "ab  x\n"}};
  for (const auto& [name, text] : members) dir.write("tree/" + name, text);
  const auto archive = dir.write("x.tar.gz", scratch::pack("gzip", "pax", members));
  for (const auto& input : {archive, dir.path("tree/triage-x")}) {
    CAPTURE(input);
    const Reading reading = scratch::read({input});
    CHECK(reading.paths() == "nodes/gpu-3/kernel/dmesg.txt");
    REQUIRE(reading.files.size() == 1);
    const auto& file = reading.files[0].file;
    CHECK(file.kind == Kind::kernel_log);
    CHECK(file.layout == "triage");
    CHECK(file.place.node == "gpu-3");
    CHECK(file.sha256 == "ab");
    CHECK(file.boot_time_ns == 1'768'000'000'250'000'000);
    CHECK(file.clock_skew_ns == -1'500'000'000);
    CHECK(reading.summary.nodes.at("gpu-3").smi_state == "hung");
    REQUIRE(reading.summary.absent.size() == 1);
    CHECK(reading.summary.absent[0].kind == Kind::gpu_state);
    CHECK(reading.summary.absent[0].command == "nvidia-smi -q");
  }
  // One directory above, the bundle is still found, and paths show where it lies.
  const Reading above = scratch::read({dir.path("tree")});
  CHECK(above.paths() == "triage-x/nodes/gpu-3/kernel/dmesg.txt");
  CHECK(above.files[0].file.layout == "triage");
}

TEST_CASE("a manifest.json of another tool is ordinary evidence") {
  const Directory dir;
  dir.write("manifest.json", "{\"components\": {}}");
  dir.write("dmesg.txt", "[    1.000000] NVRM: loading\n");
  const Reading reading = scratch::read({dir.path()});
  CHECK(reading.paths() == "manifest.json dmesg.txt");
}

TEST_CASE("an incomplete bundle says so") {
  const Directory dir;
  auto manifest = example();
  manifest.complete = false;
  dir.write("manifest.json", bundle::to_json(manifest));
  dir.write("nodes/gpu-3/kernel/dmesg.txt", "[    1.000000] NVRM: loading\n");
  CHECK(scratch::read({dir.path()}).says("manifest.json", "incomplete"));
}

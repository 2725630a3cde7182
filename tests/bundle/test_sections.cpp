#include <doctest/doctest.h>

#include "base/text.hpp"
#include "scratch.hpp"

using namespace triage;
using evidence::Kind;
using scratch::Directory;
using scratch::Reading;

namespace {

const std::string k_ruler(44, '_');

/// As nvidia-bug-report.sh writes it, each part of it a gzip member of its own.
std::vector<std::string> bug_report_parts() {
  return {k_ruler +
              "\n\nStart of NVIDIA bug report log file.  Please include this file, along\n"
              "nvidia-bug-report.sh Version: 1\n\n",
          k_ruler +
              "\n\n*** /proc/driver/nvidia/version\n*** ls: -r--r--r-- 1 root root 0 x\n"
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.1\nGCC version: 12\n",
          k_ruler +
              "\n\n/usr/bin/nvidia-smi --query\n\n==============NVSMI LOG==============\n\n"
              "Timestamp : x\n",
          k_ruler +
              "\n\ndmesg:\n[ 1843.308145] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off\n"
              "[ 1843.308146] NVRM: more\n",
          k_ruler + "\n\nEnd of NVIDIA bug report log file.\n"};
}

const scratch::Seen* section(const Reading& reading, const std::string& title) {
  for (const auto& seen : reading.files)
    if (base::contains(seen.file.section, title)) return &seen;
  return nullptr;
}

}  // namespace

TEST_CASE("an nvidia-bug-report of many gzip members is shown section by section") {
  const Directory dir;
  std::string packed;
  std::string whole;
  for (const auto& part : bug_report_parts()) {
    packed += scratch::compress("gzip", part);
    whole += part;
  }
  const Reading reading = scratch::read({dir.write("nvidia-bug-report.log.gz", packed)});
  const auto* query = section(reading, "nvidia-smi --query");
  REQUIRE(query != nullptr);
  CHECK(query->file.format == evidence::Format::smi_query);
  const auto* kernel = section(reading, "dmesg");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->file.kind == Kind::kernel_log);
  CHECK(kernel->file.path == "nvidia-bug-report.log.gz");
  // The line of a section's first line is its line in the whole file.
  const auto lines = base::split_lines(whole);
  for (const auto& seen : reading.files) {
    CAPTURE(seen.file.section);
    REQUIRE(seen.file.first_line <= lines.size());
    CHECK(lines[seen.file.first_line - 1] == base::split_lines(seen.text)[0]);
  }
  CHECK(kernel->text ==
        "[ 1843.308145] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off\n"
        "[ 1843.308146] NVRM: more\n");
}

TEST_CASE("a section is found wherever the borders of reads fall") {
  const Directory dir;
  std::string text = k_ruler + "\n\nStart of NVIDIA bug report log file.\n";
  std::vector<std::uint64_t> starts;
  const auto count_lines = [&] {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  };
  for (int i = 0; i < 40; ++i) {
    text += k_ruler + "\n\ndmesg:\n";
    starts.push_back(count_lines() + 1);
    // Lines longer than the splitter's block, and sections of every size around it.
    if (i % 7 == 3) text += "[    1.000000] " + std::string(300'000, 'x') + "\n";
    for (int line = 0; line < i * 131; ++line)
      text +=
          "[    1.000000] line " + std::to_string(line) + " of section " + std::to_string(i) + "\n";
    text += "[    2.000000] end of section " + std::to_string(i) + "\n";
  }
  const Reading reading = scratch::read({dir.write("report.log", text)});
  std::size_t found = 0;
  for (const auto& seen : reading.files) {
    if (seen.file.section != "dmesg:") continue;
    CHECK(seen.file.first_line == starts[found]);
    CHECK(base::contains(seen.text, "end of section " + std::to_string(found) + "\n"));
    ++found;
  }
  CHECK(found == 40);
}

TEST_CASE("cluster-info dump on stdout is split into objects and container logs") {
  const Directory dir;
  const std::string text =
      "{\n    \"kind\": \"NodeList\",\n    \"apiVersion\": \"v1\",\n    \"items\": []\n}\n"
      "{\n    \"kind\": \"EventList\",\n    \"apiVersion\": \"v1\",\n    \"items\": []\n}\n"
      "==== START logs for container vllm of pod llm/chat-0 ====\n"
      "INFO 03-04 10:00:00 [core.py:1] vLLM\n"
      "==== END logs for container vllm of pod llm/chat-0 ====\n"
      "==== START logs for container side of pod llm/chat-1 ====\n"
      "==== END logs for container side of pod llm/chat-1 ====\n";
  const Reading reading = scratch::read({dir.write("dump.txt", text)});
  REQUIRE(reading.files.size() == 2);
  CHECK(reading.files[0].file.format == evidence::Format::k8s_json);
  CHECK(reading.files[1].file.kind == Kind::container_log);
  CHECK(reading.files[1].file.place.pod == "chat-0");
  CHECK(reading.files[1].file.place.container == "vllm");
  CHECK(reading.files[1].file.first_line == 12);
  CHECK(reading.files[1].text == "INFO 03-04 10:00:00 [core.py:1] vLLM\n");
}

TEST_CASE("rocm_techsupport is split at its section lines") {
  const Directory dir;
  const std::string text =
      "=== ROCm TechSupport Log Collection Utility: V1.41 ===\n"
      "===== Section: dmesg boot                ===============\n"
      "[    1.000000] amdgpu 0000:23:00.0: amdgpu: ready\n"
      "===== Section: rocminfo                  ===============\n"
      "ROCk module is loaded\n=====================\nHSA System Attributes\n";
  const Reading reading = scratch::read({dir.write("t.log", text)});
  const auto* kernel = section(reading, "dmesg boot");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->file.kind == Kind::kernel_log);
  CHECK(kernel->file.first_line == 3);
  const auto* info = section(reading, "rocminfo");
  REQUIRE(info != nullptr);
  CHECK(info->file.format == evidence::Format::rocminfo);
}

TEST_CASE("sections can be left whole, for showing the original") {
  const Directory dir;
  std::string whole;
  for (const auto& part : bug_report_parts()) whole += part;
  bundle::InputOptions options;
  options.split_sections = false;
  const Reading reading = scratch::read({dir.write("report.log", whole)}, options);
  REQUIRE(reading.files.size() == 1);
  CHECK(reading.files[0].text == whole);
}

TEST_CASE("a text of PowerShell in UTF-16 is read as UTF-8") {
  const Directory dir;
  const std::string line = "[    1.000000] NVRM: loading\r\n";
  std::string little = "\xff\xfe";
  std::string big = "\xfe\xff";
  for (const char c : line) {
    little += c;
    little += '\0';
    big += '\0';
    big += c;
  }
  little += std::string("\x3d\xd8\x00\xde", 4);  // a surrogate pair: U+1F600
  const Reading from_little = scratch::read({dir.write("a.txt", little)});
  REQUIRE(from_little.files.size() == 1);
  CHECK(from_little.files[0].text == line + "\xf0\x9f\x98\x80");
  CHECK(from_little.files[0].file.kind == Kind::kernel_log);
  const Reading from_big = scratch::read({dir.write("b.txt", big)});
  REQUIRE(from_big.files.size() == 1);
  CHECK(from_big.files[0].text == line);
}

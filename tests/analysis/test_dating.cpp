#include <string>

#include <doctest/doctest.h>

#include "analysis/dating.hpp"
#include "analysis/line_prefix.hpp"

using namespace triage;
using analysis::Observation;
using evidence::Kind;

namespace {

constexpr std::int64_t k_second = 1'000'000'000;

/// Evidence made of log lines, dated.
struct Case {
  std::vector<Observation> observations;
  std::vector<evidence::Fact> facts;
  std::vector<std::optional<evidence::Time>> fact_times;
  std::vector<analysis::StreamInfo> streams;
  analysis::DatingOptions options;
  std::vector<std::string> warnings;

  std::uint32_t stream(Kind kind, std::string node = "") {
    analysis::StreamInfo info;
    info.file = static_cast<std::uint32_t>(streams.size());
    info.kind = kind;
    info.place.node = std::move(node);
    info.path = "file-" + std::to_string(info.file);
    streams.push_back(info);
    return info.file;
  }
  std::size_t line(std::uint32_t file, const std::string& text) {
    const auto prefix = analysis::read_prefix(text, streams[file].kind);
    Observation o;
    o.file = file;
    o.line = static_cast<std::uint32_t>(observations.size() + 1);
    o.text = text.substr(prefix.message);
    o.stamp = prefix.stamp;
    o.place = streams[file].place;
    observations.push_back(o);
    return observations.size() - 1;
  }
  void date() {
    warnings = analysis::date_evidence(observations, facts, fact_times, streams, options);
  }
  std::string at(std::size_t index) const {
    const auto& time = observations[index].time;
    return time ? evidence::to_words(*time) : "";
  }
};

std::int64_t epoch(const std::string& rfc3339) {
  return evidence::parse_rfc3339(rfc3339)->ns;
}

}  // namespace

TEST_CASE("dating: a stamp with zone is its own time, as exact as it is written") {
  Case c;
  const auto file = c.stream(Kind::container_log);
  const auto at = c.line(file, "2025-08-14T03:12:07.250Z the worker is lost");
  c.date();
  CHECK(c.at(at) == "2025-08-14T03:12:07.250Z");
  CHECK(c.observations[at].time->uncertainty_ns == 1'000'000);
  CHECK(c.warnings.empty());
}

TEST_CASE("dating: a stamp without zone is UTC, less certain, and --tz moves it") {
  for (const bool told : {false, true}) {
    Case c;
    const auto file = c.stream(Kind::container_log);
    const auto at = c.line(file, "[2025-08-14 03:12:07 TP1] the worker is lost");
    if (told) c.options.zone = [](std::int64_t) { return 2 * 3600 * k_second; };
    c.date();
    CHECK(c.at(at) == (told ? "2025-08-14T01:12:07Z" : "2025-08-14T03:12:07Z"));
    CHECK((c.observations[at].time->uncertainty_ns > k_second) == !told);
  }
}

TEST_CASE("dating: a stamp without year takes the year of the nearest dated evidence") {
  Case c;
  const auto dated = c.stream(Kind::system_log);
  c.line(dated, "2023-02-01T00:00:00Z host x[1]: long ago");
  c.line(dated, "2025-08-14T03:00:00Z host x[1]: now");
  const auto yearless = c.stream(Kind::container_log);
  const auto at = c.line(yearless, "INFO 08-14 03:12:07 [core.py:1] the worker is lost");
  c.date();
  CHECK(c.at(at) == "2025-08-14T03:12:07Z");
  CHECK(c.observations[at].time->uncertainty_ns > k_second);
}

TEST_CASE("dating: the year turns inside a stream, in line order") {
  Case c;
  const auto dated = c.stream(Kind::system_log);
  c.line(dated, "2026-01-01T00:10:00Z host x[1]: after midnight");
  const auto yearless = c.stream(Kind::system_log);
  const auto before = c.line(yearless, "Dec 31 23:59:58 host x[1]: before midnight");
  const auto after = c.line(yearless, "Jan  1 00:00:02 host x[1]: after midnight");
  const auto stray = c.line(yearless, "Dec 31 23:59:59 host x[1]: written late");
  c.date();
  CHECK(c.at(before) == "2025-12-31T23:59:58Z");
  CHECK(c.at(after) == "2026-01-01T00:00:02Z");
  CHECK(c.at(stray) == "2025-12-31T23:59:59Z");
}

TEST_CASE("dating: evidence of last year's December dates a stream that ends in January") {
  Case c;
  const auto dated = c.stream(Kind::system_log);
  c.line(dated, "2025-12-31T23:50:00Z host x[1]: before midnight");
  const auto yearless = c.stream(Kind::container_log);
  const auto at = c.line(yearless, "INFO 01-01 00:12:07 [core.py:1] the worker is lost");
  c.date();
  CHECK(c.at(at) == "2026-01-01T00:12:07Z");
}

TEST_CASE("dating: 29 February is only dated in leap years") {
  Case c;
  const auto dated = c.stream(Kind::system_log);
  c.line(dated, "2025-02-10T00:00:00Z host x[1]: near, but a common year");
  const auto yearless = c.stream(Kind::container_log);
  const auto at = c.line(yearless, "INFO 02-29 00:12:07 [core.py:1] the worker is lost");
  c.date();
  CHECK(c.at(at) == "2024-02-29T00:12:07Z");
}

TEST_CASE("dating: the start time in an engine's metrics gives the year") {
  Case c;
  evidence::Fact fact;
  fact.kind = Kind::metrics;
  fact.set("name", "process_start_time_seconds", 1);
  fact.set("value", "1756100000", 1);
  c.facts.push_back(fact);
  const auto file = c.stream(Kind::container_log);
  const auto at = c.line(file, "INFO 08-25 06:12:07 [core.py:1] the worker is lost");
  c.date();
  CHECK(c.at(at) == "2025-08-25T06:12:07Z");
}

TEST_CASE("dating: --year dates what nothing else does") {
  Case c;
  c.options.year = 2024;
  const auto file = c.stream(Kind::container_log);
  const auto at = c.line(file, "INFO 08-14 03:12:07 [core.py:1] the worker is lost");
  c.date();
  CHECK(c.at(at) == "2024-08-14T03:12:07Z");
  CHECK(c.warnings.empty());
}

TEST_CASE("dating: with no year anywhere streams are comparable, but no date is claimed") {
  Case c;
  const auto one = c.stream(Kind::container_log);
  const auto early = c.line(one, "INFO 12-31 23:59:50 [core.py:1] the first of all");
  const auto two = c.stream(Kind::container_log);
  const auto late = c.line(two, "INFO 01-01 00:00:10 [core.py:1] twenty seconds later");
  c.date();
  CHECK(c.at(early) == "12-31 23:59:50");
  CHECK(evidence::to_rfc3339(*c.observations[early].time).empty());
  CHECK(c.observations[late].time->ns - c.observations[early].time->ns == 20 * k_second);
  REQUIRE(c.warnings.size() == 1);
  CHECK(c.warnings[0].find("--year") != std::string::npos);
}

TEST_CASE("dating: a time of day takes the day of the nearest dated evidence, over midnight too") {
  Case c;
  const auto dated = c.stream(Kind::system_log);
  c.line(dated, "2025-08-15T00:05:00Z host x[1]: something else");
  const auto file = c.stream(Kind::container_log);
  const auto before = c.line(file, "23:59:58 - proxy: before midnight");
  const auto after = c.line(file, "00:00:02 - proxy: after midnight");
  c.date();
  CHECK(c.at(before) == "2025-08-14T23:59:58Z");
  CHECK(c.at(after) == "2025-08-15T00:00:02Z");
}

TEST_CASE("dating: a time of day alone stays without a time") {
  Case c;
  const auto file = c.stream(Kind::container_log);
  const auto at = c.line(file, "23:59:58 - proxy: alone");
  c.date();
  CHECK(c.at(at).empty());
  CHECK(c.warnings.size() == 1);
}

TEST_CASE("dating: a monotonic stamp is dated by the manifest's boot time, and --boot-time wins") {
  for (const bool told : {false, true}) {
    Case c;
    const auto file = c.stream(Kind::kernel_log, "node-a");
    c.streams[file].boot_time_ns = epoch("2025-08-14T00:00:00Z");
    if (told) c.options.boot_time_ns = epoch("2025-08-13T00:00:00Z");
    const auto at = c.line(file, "[11527.250000] NVRM: Xid (PCI:0000:3b:00): 79");
    c.date();
    CHECK(c.at(at) == (told ? "2025-08-13T03:12:07Z" : "2025-08-14T03:12:07Z"));
  }
}

TEST_CASE("dating: a boot time in the environment dates the kernel log of its node only") {
  Case c;
  evidence::Fact fact;
  fact.kind = Kind::environment;
  fact.place.node = "node-a";
  fact.set("key", "boot_time", 1);
  fact.set("value", "2025-08-14 00:00:00", 1);
  c.facts.push_back(fact);
  const auto a = c.stream(Kind::kernel_log, "node-a");
  const auto b = c.stream(Kind::kernel_log, "node-b");
  const auto dated = c.line(a, "[   60.000000] NVRM: loading");
  const auto undated = c.line(b, "[   60.000000] NVRM: loading");
  c.date();
  CHECK(c.at(dated) == "2025-08-14T00:01:00Z");
  CHECK(c.at(undated).empty());
  REQUIRE(c.warnings.size() == 1);
  CHECK(c.warnings[0].find("file-1") != std::string::npos);
}

TEST_CASE("dating: the same message in a dated stream of the node gives the boot time") {
  Case c;
  const auto journal = c.stream(Kind::system_log);
  c.line(journal, "2025-08-14T03:12:07.500Z gpu-1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, lost");
  const auto dmesg = c.stream(Kind::kernel_log);
  const auto earlier = c.line(dmesg, "[11500.000000] NVRM: something else happened");
  c.line(dmesg, "[11527.500000] NVRM: Xid (PCI:0000:3b:00): 79, lost");
  c.date();
  CHECK(c.at(earlier) == "2025-08-14T03:11:40Z");
  CHECK(c.warnings.empty());
}

TEST_CASE("dating: repeats of a message pair up by what most pairs agree on") {
  Case c;
  const auto journal = c.stream(Kind::system_log);
  const auto dmesg = c.stream(Kind::kernel_log);
  for (const int second : {10, 13, 47, 50}) {
    const std::string text = "NVRM: Xid (PCI:0000:3b:00): 31, again";
    c.line(journal, "2025-08-14T03:12:" + std::to_string(second) + "Z gpu-1 kernel: " + text);
    c.line(dmesg, "[115" + std::to_string(second) + ".000000] " + text);
  }
  const auto at = c.line(dmesg, "[11560.000000] NVRM: something else happened");
  c.date();
  CHECK(c.at(at) == "2025-08-14T03:13:00Z");
}

TEST_CASE("dating: the device plugin's Xid dates a kernel log that nothing else dates, roughly") {
  Case c;
  const auto plugin = c.stream(Kind::device_plugin_log);
  c.observations[c.line(plugin, "2025-08-14T03:12:07Z XidCriticalError: Xid=79 on Device=GPU-1")]
      .captures["xid"] = "79";
  const auto dmesg = c.stream(Kind::kernel_log);
  const auto at = c.line(dmesg, "[11527.500000] NVRM: Xid (PCI:0000:3b:00): 79, lost");
  c.observations[at].captures["xid"] = "79";
  c.date();
  CHECK(c.at(at) == "2025-08-14T03:12:07Z");
  CHECK(c.observations[at].time->uncertainty_ns >= 30 * k_second);
}

TEST_CASE("dating: the same message in a zoned stream tells how far local time lies from UTC") {
  Case c;
  const auto journal = c.stream(Kind::system_log);
  c.line(journal, "2025-08-14T03:12:07.500Z gpu-1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, lost");
  const auto dmesg = c.stream(Kind::kernel_log);
  const auto twin =
      c.line(dmesg, "[Thu Aug 14 05:12:06 2025] NVRM: Xid (PCI:0000:3b:00): 79, lost");
  c.date();
  CHECK(c.at(twin) == "2025-08-14T03:12:06Z");
  REQUIRE(c.warnings.size() == 1);
  CHECK(c.warnings[0].find("+02:00") != std::string::npos);
}

TEST_CASE("dating: a great clock skew is taken off, a small one is uncertainty") {
  Case c;
  const auto ahead = c.stream(Kind::system_log, "node-a");
  c.streams[ahead].clock_skew_ns = 37 * k_second;
  const auto near = c.stream(Kind::system_log, "node-b");
  c.streams[near].clock_skew_ns = -k_second / 5;
  const auto a = c.line(ahead, "2025-08-14T03:12:37.000Z node-a x[1]: lost");
  const auto b = c.line(near, "2025-08-14T03:12:00.000Z node-b x[1]: lost");
  c.date();
  CHECK(c.at(a) == "2025-08-14T03:12:00Z");
  CHECK(c.at(b) == "2025-08-14T03:12:00Z");
  CHECK(c.observations[b].time->uncertainty_ns == k_second / 5 + 1'000'000);
  REQUIRE(c.warnings.size() == 1);
  CHECK(c.warnings[0].find("node-a") != std::string::npos);
}

TEST_CASE("dating: stamps that go back in a file keep their own time") {
  Case c;
  const auto file = c.stream(Kind::container_log);
  const auto first = c.line(file, "2025-08-14T03:12:07Z rank 0 says");
  const auto second = c.line(file, "2025-08-14T03:12:05Z rank 1 says");
  c.date();
  CHECK(c.at(first) == "2025-08-14T03:12:07Z");
  CHECK(c.at(second) == "2025-08-14T03:12:05Z");
}

TEST_CASE("dating: a borrowed stamp is less certain than its own") {
  Case c;
  const auto file = c.stream(Kind::container_log);
  const auto own = c.line(file, "2025-08-14T03:12:07Z a line");
  const auto borrowed = c.line(file, "2025-08-14T03:12:07Z a line without a stamp");
  c.observations[borrowed].stamp_is_own = false;
  c.date();
  CHECK(c.observations[borrowed].time->uncertainty_ns > c.observations[own].time->uncertainty_ns);
}

TEST_CASE("dating: facts and the ends of streams are dated like lines") {
  Case c;
  const auto file = c.stream(Kind::kernel_log, "node-a");
  c.streams[file].boot_time_ns = epoch("2025-08-14T00:00:00Z");
  c.streams[file].first = analysis::read_prefix("[    1.000000] x", Kind::kernel_log).stamp;
  evidence::Fact fact;
  fact.kind = Kind::gpu_state;
  fact.stamp = evidence::parse_rfc3339("2025-08-14T03:00:00Z");
  c.facts.push_back(fact);
  c.facts.emplace_back();
  c.date();
  REQUIRE(c.streams[file].first_time);
  CHECK(evidence::to_rfc3339(*c.streams[file].first_time) == "2025-08-14T00:00:01Z");
  REQUIRE(c.fact_times.size() == 2);
  CHECK(evidence::to_rfc3339(*c.fact_times[0]) == "2025-08-14T03:00:00Z");
  CHECK_FALSE(c.fact_times[1]);
}

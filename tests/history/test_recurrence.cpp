#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>

#include "history/recurrence.hpp"

namespace triage::history {
namespace {

constexpr std::int64_t k_day = 86'400'000'000'000;
constexpr std::int64_t k_now = 1'755'141'127'000'000'000;

class Memory {
 public:
  Memory() {
    std::string name = (std::filesystem::temp_directory_path() / "triage-recur-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Memory() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Store store() {
    return Store::open((folder_ / "h.db").string(), Store::Mode::read_write).value();
  }

 private:
  std::filesystem::path folder_;
};

analysis::Report report_at(std::int64_t ns, const std::string& node, const std::string& uuid) {
  analysis::Report report;
  auto& verdict = report.verdict;
  verdict.class_ = "hardware";
  verdict.cause = "xid-48";
  verdict.severity = "critical";
  verdict.first_error = analysis::Cited{
      "dmesg.txt", 4, evidence::Time{ns, 0},
      "NVRM: Xid (PCI:0000:52:00): 48, pid=" + std::to_string(ns % 9973) + ", DBE at 0x7f3a", ""};
  verdict.entities.nodes = {node};
  if (!uuid.empty()) verdict.entities.gpus = {{uuid, "0000:52:00.0", "5", node, ""}};
  report.quarantine.target = "gpu";
  report.quarantine.action = "drain-and-reset";
  report.environment.images = {"vllm:1"};
  return report;
}

void record(Store& store, const analysis::Report& report) {
  REQUIRE(store.record(run_of(report, "{}", k_now)).ok());
}

}  // namespace

TEST_CASE("fingerprint: two occurrences of one fault agree, two faults do not") {
  auto a = report_at(k_now, "n1", "GPU-1").verdict;
  auto b = report_at(k_now + 5 * k_day, "n2", "GPU-2").verdict;
  CHECK(fingerprint_of(a) == fingerprint_of(b));
  b.cause = "xid-79";
  CHECK(fingerprint_of(a) != fingerprint_of(b));
  b.cause = a.cause;
  b.first_error->text = "NVRM: GPU has fallen off the bus";
  CHECK(fingerprint_of(a) != fingerprint_of(b));
}

TEST_CASE("fingerprint: numbers, addresses and identities are left out, words are kept") {
  CHECK(normalise_error("Tried to allocate 594.00 MiB on cuda:3") ==
        normalise_error("Tried to  allocate 2.5 MiB on cuda:0"));
  CHECK(normalise_error("rank13 at 0000:52:00.0 GPU-1018f3f9-a408-4b6c-9d3e-0d1f2a3b4c5d") ==
        normalise_error("rank7 at 0000:3b:00.1 GPU-99ffee00-1111-2222-3333-444455556666"));
  CHECK(normalise_error("connection refused") != normalise_error("connection reset"));
  CHECK(normalise_error(std::string(100'000, 'a')).size() <= 200);
}

TEST_CASE("recurrence: critical faults of a GPU count for 30 days, remediations for 7") {
  Memory memory;
  Store store = memory.store();
  record(store, report_at(k_now - 40 * k_day, "n1", "GPU-1"));
  record(store, report_at(k_now - 20 * k_day, "n1", "GPU-1"));
  record(store, report_at(k_now - 2 * k_day, "n1", "GPU-1"));
  record(store, report_at(k_now - 2 * k_day, "n1", "GPU-9"));
  record(store, report_at(k_now + 2 * k_day, "n1", "GPU-1"));
  const auto prior = prior_incidents(store, run_of(report_at(k_now, "n1", "GPU-1"), "", k_now));
  REQUIRE(prior.ok());
  CHECK(prior->gpu_critical_30d.at("GPU-1") == 2);
  CHECK(prior->gpu_remediations_7d.at("GPU-1") == 1);
}

TEST_CASE("recurrence: looking at one incident three times does not make it recur") {
  Memory memory;
  Store store = memory.store();
  const auto report = report_at(k_now, "n1", "GPU-1");
  for (int i = 0; i < 3; ++i) record(store, report);
  const auto prior = prior_incidents(store, run_of(report, "", k_now));
  REQUIRE(prior.ok());
  CHECK(prior->same_fingerprint == 0);
  CHECK(prior->gpu_critical_30d.empty());
  record(store, report_at(k_now - k_day, "n1", "GPU-1"));
  record(store, report_at(k_now - k_day, "n1", "GPU-1"));
  CHECK(prior_incidents(store, run_of(report, "", k_now))->same_fingerprint == 1);
}

TEST_CASE("recurrence: a PCI address without UUID is that of its node only") {
  Memory memory;
  Store store = memory.store();
  auto earlier = report_at(k_now - k_day, "n2", "");
  earlier.verdict.entities.gpus = {{"", "0000:52:00.0", "", "n2", ""}};
  record(store, earlier);
  auto now = report_at(k_now, "n1", "");
  now.verdict.entities.gpus = {{"", "0000:52:00.0", "", "n1", ""}};
  CHECK(prior_incidents(store, run_of(now, "", k_now))->gpu_critical_30d.empty());
  earlier.verdict.entities.gpus[0].node = "n1";
  record(store, earlier);
  CHECK(prior_incidents(store, run_of(now, "", k_now))->gpu_critical_30d.size() == 1);
}

TEST_CASE("recurrence: faults that began with an image follow that change") {
  Memory memory;
  Store store = memory.store();
  auto sound = report_at(k_now - 9 * k_day, "n1", "");
  sound.verdict.class_ = "none";
  sound.verdict.first_error.reset();
  REQUIRE(store.record(run_of(sound, "{}", k_now - 9 * k_day)).ok());
  for (int i = 2; i <= 4; ++i) {
    auto broken = report_at(k_now - i * k_day / 10, "n" + std::to_string(i), "");
    broken.environment.images = {"vllm:2"};
    record(store, broken);
  }
  auto now = report_at(k_now, "n5", "");
  now.environment.images = {"vllm:2"};
  auto prior = prior_incidents(store, run_of(now, "", k_now));
  REQUIRE(prior.ok());
  CHECK(prior->same_fingerprint_nodes == 3);
  CHECK(prior->fingerprint_follows_change);
  CHECK(prior->change == "vllm:2");
  // The same fault under the old image as well: the change is not what did it.
  record(store, report_at(k_now - 8 * k_day, "n7", ""));
  CHECK_FALSE(prior_incidents(store, run_of(now, "", k_now))->fingerprint_follows_change);
}

TEST_CASE("recurrence: without a time before the change nothing can be said to follow it") {
  Memory memory;
  Store store = memory.store();
  for (int i = 2; i <= 4; ++i)
    record(store, report_at(k_now - i * k_day / 10, "n" + std::to_string(i), ""));
  const auto prior = prior_incidents(store, run_of(report_at(k_now, "n5", ""), "", k_now));
  CHECK(prior->same_fingerprint_nodes == 3);
  CHECK_FALSE(prior->fingerprint_follows_change);
}

TEST_CASE("similar: the same failure comes first, another cause with the same words after it") {
  Memory memory;
  Store store = memory.store();
  auto other = report_at(k_now - 3 * k_day, "n3", "GPU-3");
  other.verdict.cause = "xid-63";
  record(store, other);
  record(store, report_at(k_now - 5 * k_day, "n4", "GPU-4"));
  auto foreign = report_at(k_now - 5 * k_day, "n9", "GPU-9");
  foreign.verdict.class_ = "loading";
  foreign.verdict.cause = "tokenizer-missing";
  foreign.verdict.first_error->text = "OSError: no tokenizer";
  foreign.environment.images.clear();
  record(store, foreign);
  const auto similar = similar_runs(store, run_of(report_at(k_now, "n1", "GPU-1"), "", k_now), 10);
  REQUIRE(similar.ok());
  REQUIRE(similar->size() == 2);
  CHECK(similar->at(0).run.nodes[0] == "n4");
  CHECK(similar->at(0).score > similar->at(1).score);
  CHECK_FALSE(similar->at(0).why.empty());
}

}  // namespace triage::history

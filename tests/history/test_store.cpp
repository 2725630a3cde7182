#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "history/schema.hpp"
#include "history/store.hpp"

namespace triage::history {
namespace {

/// A folder that is gone with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "triage-history-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file() const { return (path_ / "history.db").string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Run run_number(int number, std::size_t report_size = 2000) {
  Run run;
  run.recorded_ns = 1'755'141'127'000'000'000 + number;
  run.incident = "incident-" + std::to_string(number);
  run.fingerprint = "f" + std::to_string(number % 3);
  run.class_ = number % 2 == 0 ? "hardware" : "loading";
  run.cause = "xid-79";
  run.title = "GPU fell off the bus";
  run.severity = "critical";
  run.quarantine_target = "gpu";
  run.quarantine_action = "drain-and-reset";
  run.first_error_text = std::string("a\0b", 3) + "\xFF";
  run.nodes = {"node-" + std::to_string(number % 4)};
  run.images = {"registry.example/vllm:0.9.1@sha256:0f1e"};
  run.gpus = {{"GPU-" + std::to_string(number % 2), "0000:52:00.0", "5", run.nodes[0], "H100"}};
  run.report_json = std::string(report_size, 'x');
  return run;
}

Store open_or_fail(const std::string& path) {
  auto store = Store::open(path, Store::Mode::read_write);
  REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.problem().to_string()));
  return std::move(store).value();
}

std::size_t count_runs(const std::string& path) {
  return open_or_fail(path).find({}).value().size();
}

/// `ok`, or what SQLite finds wrong in the file.
std::string integrity(const std::string& path) {
  auto database = Database::open(path, Database::Mode::read_write);
  auto statement = database->prepare("PRAGMA integrity_check");
  (void)statement->step();
  return statement->text(0);
}

/// Runs `work` in a child; gives its pid.
template <class Work>
pid_t in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

int exit_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("history: what was recorded comes back whole, whatever the bytes") {
  const Folder folder;
  Store store = open_or_fail(folder.file());
  const Run run = run_number(1);
  const auto id = store.record(run);
  REQUIRE(id.ok());
  const auto back = store.get(std::to_string(id.value()));
  REQUIRE(back.ok());
  REQUIRE(back->has_value());
  CHECK((*back)->first_error_text == run.first_error_text);
  CHECK((*back)->report_json == run.report_json);
  CHECK((*back)->nodes == run.nodes);
  CHECK((*back)->gpus == run.gpus);
  CHECK((*back)->uid.size() == 32);
  CHECK_FALSE((*back)->first_error_ns.has_value());
  CHECK_FALSE(store.get("4711").value().has_value());
  CHECK(store.get((*back)->uid.substr(0, 10)).value()->id == id.value());
  CHECK(store.get("incident-1").value()->id == id.value());
}

TEST_CASE("history: runs are found by class, GPU, node, image and time, newest first") {
  const Folder folder;
  Store store = open_or_fail(folder.file());
  for (int i = 0; i < 12; ++i) REQUIRE(store.record(run_number(i)).ok());
  Filter filter;
  CHECK(store.find(filter)->front().incident == "incident-11");
  filter.class_ = "hardware";
  CHECK(store.find(filter)->size() == 6);
  filter.node = "node-2";
  CHECK(store.find(filter)->size() == 3);
  filter = {};
  filter.gpu = "GPU-1";
  CHECK(store.find(filter)->size() == 6);
  filter.gpu = "0000:52:00.0";
  CHECK(store.find(filter)->size() == 12);
  filter = {};
  filter.image = "vllm:0.9.1";
  CHECK(store.find(filter)->size() == 12);
  filter.image = "' OR 1 --";
  CHECK(store.find(filter)->empty());
  filter = {};
  filter.since_ns = run_number(4).recorded_ns;
  filter.until_ns = run_number(7).recorded_ns;
  CHECK(store.find(filter)->size() == 3);
  filter.limit = 1;
  CHECK(store.find(filter)->size() == 1);
}

TEST_CASE("history: the file and its folder are its owner's alone") {
  const Folder folder;
  const std::string path = (folder.path() / "a" / "b" / "history.db").string();
  open_or_fail(path);
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  REQUIRE(::stat((folder.path() / "a" / "b").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("history: 16 processes record at once and no row is lost") {
  const Folder folder;
  constexpr int k_processes = 16;
  constexpr int k_rows = 8;
  std::vector<pid_t> children;
  for (int p = 0; p < k_processes; ++p)
    children.push_back(in_child([&folder, p] {
      for (int i = 0; i < k_rows; ++i) {
        // Each row through a store of its own, as separate runs of triage would.
        auto store = Store::open(folder.file(), Store::Mode::read_write);
        if (!store || !store->record(run_number(p * k_rows + i))) return 1;
      }
      return 0;
    }));
  for (const pid_t child : children) CHECK(exit_of(child) == 0);
  Store store = open_or_fail(folder.file());
  std::set<std::string> incidents;
  const auto runs = store.find({});
  REQUIRE(runs.ok());
  for (const Run& run : runs.value()) incidents.insert(run.incident);
  CHECK(incidents.size() == k_processes * k_rows);
  CHECK(store.find({})->size() == k_processes * k_rows);
  CHECK(integrity(folder.file()) == "ok");
}

TEST_CASE("history: a recorder killed at any moment loses no row that it said was recorded") {
  const Folder folder;
  open_or_fail(folder.file());
  std::size_t said = 0;
  for (int round = 0; round < 8; ++round) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = in_child([&] {
      ::close(ends[0]);
      auto store = Store::open(folder.file(), Store::Mode::read_write);
      for (int i = 0; store.ok(); ++i) {
        if (!store->record(run_number(i, 20'000))) return 1;
        if (::write(ends[1], "+", 1) != 1) return 1;
      }
      return 1;
    });
    ::close(ends[1]);
    char byte = 0;
    // The child dies in the middle of a later row, each round at another point.
    for (int i = 0; i <= round && ::read(ends[0], &byte, 1) == 1; ++i) ++said;
    ::usleep(static_cast<useconds_t>(400 * round));
    ::kill(child, SIGKILL);
    (void)exit_of(child);
    while (::read(ends[0], &byte, 1) == 1) ++said;
    ::close(ends[0]);
  }
  const std::size_t there = count_runs(folder.file());
  CHECK(there >= said);
  CHECK(there <= said + 8);  // a row may be there whose message died with its recorder
  CHECK(integrity(folder.file()) == "ok");
}

TEST_CASE("history: a full disk is said, and what was recorded before stays") {
  const Folder folder;
  REQUIRE(open_or_fail(folder.file()).record(run_number(0)).ok());
  // A limit on file size stands in for the disk: writes beyond it fail in the middle of a row.
  const int status = exit_of(in_child([&folder] {
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit {};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 300'000;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto store = Store::open(folder.file(), Store::Mode::read_write);
    if (!store) return 3;
    const auto id = store->record(run_number(1, 2'000'000));
    if (id) return 4;
    return id.problem().message.empty() ? 5 : 0;
  }));
  CHECK(status == 0);
  CHECK(count_runs(folder.file()) == 1);
  CHECK(integrity(folder.file()) == "ok");
  CHECK(open_or_fail(folder.file()).record(run_number(2)).ok());
  CHECK(count_runs(folder.file()) == 2);
}

TEST_CASE("history: a store of every earlier version is brought up to date and keeps its rows") {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    const Folder folder;
    {
      auto database = Database::open(folder.file(), Database::Mode::read_write);
      for (std::size_t step = 0; step < version; ++step)
        REQUIRE(database->execute(std::string(migrations()[step])).ok());
      REQUIRE(database->execute("PRAGMA user_version = " + std::to_string(version)).ok());
      REQUIRE(database
                  ->execute("INSERT INTO runs (recorded_ns, fingerprint, class, cause, title, "
                            "severity, confidence, scope, pattern, fault_domain, "
                            "quarantine_target, quarantine_action, first_error_file, "
                            "first_error_line, first_error_text, driver, cuda, engine, "
                            "engine_version, tool_version, rules_digest, report) VALUES (5, 'f', "
                            "'hardware', 'xid-79', 't', 'critical', 'high', 'local', '', 'gpu', "
                            "'gpu', 'reset-gpu', 'a.log', 7, 'x', '', '', '', '', '', '', '{}'), "
                            "(6, 'f', 'hardware', 'xid-79', 't', 'critical', 'high', 'local', '', "
                            "'gpu', 'gpu', 'reset-gpu', 'a.log', 7, 'x', '', '', '', '', '', '', "
                            "'{}')")
                  .ok());
    }
    Store store = open_or_fail(folder.file());
    const auto runs = store.find({});
    REQUIRE(runs.ok());
    REQUIRE(runs->size() == 2);
    CHECK(runs->at(0).uid != runs->at(1).uid);
    CHECK(runs->at(0).incident != runs->at(1).incident);
    CHECK(runs->at(0).first_error_line == 7);
    CHECK(store.record(run_number(3)).ok());
  }
}

TEST_CASE("history: a store of a later version, a folder and a file of another kind are refused") {
  const Folder folder;
  {
    auto database = Database::open(folder.file(), Database::Mode::read_write);
    REQUIRE(database->execute("PRAGMA user_version = 99").ok());
  }
  const auto newer = Store::open(folder.file(), Store::Mode::read_write);
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.problem().mend == "use the newer triage");
  const auto other = (folder.path() / "notes.txt").string();
  std::ofstream(other) << std::string(5000, 'n');
  const auto text = Store::open(other, Store::Mode::read_write);
  REQUIRE_FALSE(text.ok());
  CHECK_FALSE(text.problem().mend.empty());
  CHECK_FALSE(Store::open(folder.path().string(), Store::Mode::read_write).ok());
  const auto missing = Store::open((folder.path() / "none.db").string(), Store::Mode::read_only);
  CHECK_FALSE(missing.ok());
}

TEST_CASE("history: only prune removes, and it keeps the newest") {
  const Folder folder;
  Store store = open_or_fail(folder.file());
  for (int i = 0; i < 10; ++i) REQUIRE(store.record(run_number(i)).ok());
  const std::int64_t before = run_number(8).recorded_ns;
  CHECK(store.prune(before, 5, Store::Dry::yes).value() == 5);
  CHECK(store.find({})->size() == 10);
  CHECK(store.prune(before, 5, Store::Dry::no).value() == 5);
  CHECK(store.find({})->size() == 5);
  CHECK(store.prune(before, 0, Store::Dry::no).value() == 3);
  Filter gone;
  gone.node = "node-1";
  CHECK(store.find(gone)->size() == 1);  // the names went with their runs
}

TEST_CASE("history: importing the same rows twice adds them once") {
  const Folder folder;
  Store store = open_or_fail(folder.file());
  REQUIRE(store.record(run_number(1)).ok());
  std::vector<Run> all;
  REQUIRE(store.for_each([&](const Run& run) { all.push_back(run); }).ok());
  const Folder second;
  Store other = open_or_fail(second.file());
  CHECK(other.import(all[0]).value());
  CHECK_FALSE(other.import(all[0]).value());
  CHECK(other.find({})->size() == 1);
  CHECK(other.get(all[0].uid).value()->report_json == all[0].report_json);
}

}  // namespace triage::history

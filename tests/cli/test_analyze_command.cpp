#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "run.hpp"

namespace triage::tests {
namespace {

const std::string k_two_nodes = "distributed/nccl-timeout-two-nodes-xid79-on-peer";
const std::string k_healthy = "amd/mi300x-healthy-correctable-ecc";

nlohmann::json json_of(const std::string& text) {
  return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::json verdict_of(const Workplace& at, const std::string& arguments) {
  const Ran ran = at.sh("triage analyze -f json " + arguments);
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  return json_of(ran.out)["verdict"];
}

/// A command that must fail: its status, one line on standard error that says this, and no report.
void fails(const Workplace& at, const std::string& command, int status, const std::string& says) {
  const Ran ran = at.sh(command);
  CHECK_MESSAGE(ran.status == status, command);
  CHECK_MESSAGE(base::contains(ran.err, says), ran.err);
  CHECK(ran.out.empty());
}

std::string manual(const std::string& page) {
  std::ifstream in(std::string(TRIAGE_SOURCE_DIR) + "/man/triage-" + page);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool names(const std::string& page, const std::string& option) {
  return base::contains(page, option + " ") || base::contains(page, option + "\n");
}

constexpr const char* k_xid_line =
    "NVRM: Xid (PCI:0000:52:00): 79, pid=4711, name=python3, GPU has fallen off the bus.\n";

}  // namespace

TEST_CASE("analyze: input that cannot be read gets one message and status 3") {
  const Workplace at;
  at.write("empty.txt", "");
  REQUIRE(
      at.sh("mkdir folder; head -c 100000 /dev/urandom > random.bin; head -c 3000 /dev/urandom > "
            "random.tar.gz")
          .status == 0);
  fails(at, "triage analyze missing.txt", 3, "missing.txt: not found");
  fails(at, "triage analyze empty.txt", 3, "empty.txt: is empty");
  fails(at, "triage analyze folder", 3, "folder: the directory holds no file");
  fails(at, "triage analyze random.bin", 3, "random.bin: is binary data");
  fails(at, "triage analyze random.tar.gz", 3, "random.tar.gz: is binary data");
  fails(at, "triage analyze - < /dev/null", 3, "is empty");
}

TEST_CASE("analyze: one unreadable input of several is said, the others are judged") {
  const Workplace at;
  at.write("dmesg.txt", std::string("[ 100.000000] ") + k_xid_line);
  (void)at.sh("head -c 100000 /dev/urandom > core.bin");
  const Ran ran = at.sh("triage analyze dmesg.txt core.bin missing.log -f json");
  CHECK(ran.status == 0);
  CHECK(base::contains(ran.err, "missing.log"));
  CHECK(base::contains(ran.err, "core.bin"));
  CHECK(json_of(ran.out)["verdict"]["cause"] == "xid-79");
}

TEST_CASE("analyze: a truncated archive is judged as far as it goes") {
  const Workplace at;
  REQUIRE(at.sh("tar -C " + fixture(k_two_nodes) +
                " --sort=name -cf - . | gzip > whole.tar.gz; head -c $(( $(stat -c %s whole.tar.gz)"
                " * 8 / 10 )) whole.tar.gz > cut.tar.gz")
              .status == 0);
  const Ran ran = at.sh("triage analyze cut.tar.gz -f json");
  CHECK(ran.status == 0);
  CHECK(base::contains(ran.err, "truncated"));
  CHECK(json_of(ran.out)["schema"] == "triage.report/v1");
}

TEST_CASE("analyze: text that nothing recognises is unknown, not healthy") {
  const Workplace at;
  at.write("note.txt", "hello world\nnothing to see here\n");
  CHECK(verdict_of(at, "note.txt")["class"] == "unknown");
  CHECK(verdict_of(at, fixture(k_healthy))["class"] == "none");
}

TEST_CASE("analyze: a mistake on the command line is status 2 and names the mend") {
  const Workplace at;
  at.write("dmesg.txt", k_xid_line);
  fails(at, "triage analyze", 2, "INPUT is required");
  fails(at, "triage analyze dmesg.txt -f yaml", 2, "unknown format 'yaml': text, json");
  fails(at, "triage analyze dmesg.txt --tz Mars/Olympus", 2, "'Mars/Olympus' is not understood");
  fails(at, "triage analyze dmesg.txt --since yesterday", 2, "write a time as 2025-");
  fails(at, "triage analyze dmesg.txt --place dmesg.txt", 2, "FILE=NODE");
  fails(at, "triage analyze dmesg.txt --year 3000", 2, "--year");
  fails(at, "triage analyze dmesg.txt --no-such-flag", 2, "--no-such-flag");
  fails(at, "triage frobnicate", 2, "no command 'frobnicate'");
  fails(at, "triage --color never analyse x", 2, "did you mean analyze?");
  fails(at, "triage -q", 2, "subcommand is required");
}

TEST_CASE("analyze: --tz takes an offset or a name with its summer time") {
  const Workplace at;
  at.write(
      "worker.log",
      "2025-07-14 03:12:07,250 ERROR torch.OutOfMemoryError: CUDA out of memory. Tried to "
      "allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.00 GiB is free.\n");
  const auto time = [&](const std::string& zone) {
    const std::string said = zone.empty() ? zone : " --tz " + zone;
    return verdict_of(at, "worker.log" + said)["first_error"]["time"].get<std::string>();
  };
  CHECK(time("").starts_with("2025-07-14T03:12:07"));
  CHECK(time("+02:00").starts_with("2025-07-14T01:12:07"));
  CHECK(time("-0530").starts_with("2025-07-14T08:42:07"));
  if (std::filesystem::exists("/usr/share/zoneinfo/Europe/Berlin"))
    CHECK(time("Europe/Berlin").starts_with("2025-07-14T01:12:07"));
  else
    MESSAGE("no time zone database here: names of zones are not tested");
}

TEST_CASE("analyze: what --node, --gpu, --since and --until leave out is not judged") {
  const Workplace at;
  at.write("dmesg.txt", std::string("2025-08-14T03:12:07Z ") + k_xid_line);
  CHECK(verdict_of(at, "dmesg.txt --place dmesg.txt=gpu-07")["first_error"]["line"] == 1);
  CHECK(verdict_of(at, "dmesg.txt --place dmesg.txt=gpu-07 --node gpu-08")["class"] != "hardware");
  CHECK(verdict_of(at, "dmesg.txt --gpu 0000:52:00.0")["class"] == "hardware");
  CHECK(verdict_of(at, "dmesg.txt --gpu 0000:99:00.0")["class"] != "hardware");
  CHECK(verdict_of(at, "dmesg.txt --since 2025-08-14T04:00:00Z")["class"] != "hardware");
  CHECK(verdict_of(at, "dmesg.txt --until 2025-08-14T04:00:00Z")["class"] == "hardware");
}

TEST_CASE("analyze: the same bytes give the same report, with any number of jobs") {
  const Workplace at;
  const std::string command = "triage analyze -f json " + fixture(k_two_nodes);
  const std::string report = at.sh(command).out;
  REQUIRE_FALSE(report.empty());
  CHECK(at.sh(command + " --jobs 1").out == report);
  CHECK(at.sh(command + " --jobs 7").out == report);
}

#if !defined(__SANITIZE_ADDRESS__)  // which needs more address space than the test leaves
TEST_CASE("analyze: a machine that gives no thread any more gives the same report") {
  const Workplace at;
  std::string quiet;
  while (quiet.size() < 3'000'000) quiet += "INFO 08-14 03:00:00 [loggers.py:123] Engine 000\n";
  std::filesystem::create_directory(at.path() / "evidence");
  at.write("evidence/engine.log", quiet);
  at.write("evidence/other.log", quiet);
  at.write("evidence/dmesg.txt", std::string("2025-08-14T03:12:07Z ") + k_xid_line);
  // Stacks that no address space has room for: no thread can begin.
  const std::string starved = "ulimit -v 4000000 && ulimit -s 8000000 && ";
  if (at.sh(starved + "true").status != 0) {
    MESSAGE("the size of stacks cannot be set here: not tested");
    return;
  }
  const std::string command = "triage analyze -f json --jobs 4 evidence";
  const Ran ran = at.sh(starved + command);
  CHECK(ran.status == 0);
  CHECK(base::contains(ran.out, "xid-79"));
  CHECK(ran.out == at.sh(command).out);
}
#endif

TEST_CASE("analyze: text for a person has no colour in a pipe, and colour when asked for") {
  const Workplace at;
  const std::string command = "triage analyze " + fixture(k_two_nodes);
  CHECK_FALSE(base::contains(at.sh(command).out, "\x1b["));
  CHECK(
      base::contains(at.sh("triage --color always analyze " + fixture(k_two_nodes)).out, "\x1b["));
}

TEST_CASE("analyze: --why-not tells what speaks against a cause") {
  const Workplace at;
  const Ran ran = at.sh("triage analyze " + fixture(k_two_nodes) + " --why-not collective-timeout");
  CHECK(ran.status == 0);
  CHECK(base::contains(ran.out, "xid-79"));
  fails(at, "triage analyze " + fixture(k_two_nodes) + " --why-not xid-7x", 2, "did you mean xid-");
  CHECK(base::contains(at.sh("triage analyze " + fixture(k_two_nodes) + " --why-not xid-31").out,
                       "No line shows xid-31"));
}

TEST_CASE("analyze: a user's rule joins the built-in ones, a broken pack is left out or fatal") {
  const Workplace at;
  at.write(
      "mine.yaml",
      "pack: mine\nrules:\n  - id: flux-lost\n    title: \"The flux is lost\"\n    class: "
      "runtime\n    role: root\n    fault_domain: process\n    match: ['flux capacitor lost']\n"
      "    quarantine: {target: worker, action: replace-worker}\n    next_steps:\n      "
      "recover: [\"Replace it\"]\n    samples:\n      match: ['flux capacitor lost']\n      "
      "reject: ['flux capacitor found']\n");
  at.write("broken.yaml", "pack: broken\nrules:\n  - id: a\n    match: ['(']\n");
  at.write("worker.log", "2025-08-14T03:12:07Z flux capacitor lost\n");
  CHECK(verdict_of(at, "worker.log --rules mine.yaml")["cause"] == "flux-lost");
  const Ran left_out = at.sh("triage analyze worker.log --rules mine.yaml --rules broken.yaml");
  CHECK(left_out.status == 0);
  CHECK(base::contains(left_out.err, "broken.yaml"));
  std::string many = "pack: many\nrules:\n";
  for (int i = 0; i < 40; ++i) many += "  - id: rule-" + std::to_string(i) + "\n    titel: x\n";
  at.write("many.yaml", many);
  const Ran flood = at.sh("triage analyze worker.log --rules many.yaml");
  CHECK(flood.status == 0);
  CHECK_MESSAGE(base::contains(flood.err, "more: `triage rules lint many.yaml` names them all"),
                flood.err);
  CHECK(std::count(flood.err.begin(), flood.err.end(), '\n') < 80);
  const Ran strict = at.sh("triage analyze worker.log --rules broken.yaml --strict-rules");
  CHECK(strict.status != 0);
  CHECK(base::contains(strict.err, "broken.yaml:4"));
}

TEST_CASE("analyze: --timings names every part of the work, on standard error") {
  const Workplace at;
  at.write("dmesg.txt", k_xid_line);
  const Ran ran = at.sh("triage analyze --timings -f json dmesg.txt");
  CHECK(ran.status == 0);
  for (const char* part : {"load rules", "read and scan", "filter", "confirm", "parse",
                           "date and derive", "verdict", "render"})
    CHECK_MESSAGE(base::contains(ran.err, part), ran.err);
  CHECK(json_of(ran.out)["verdict"]["class"] == "hardware");
}

TEST_CASE("show and ls: a cited line with its neighbours, and what is in the input") {
  const Workplace at;
  REQUIRE(at.sh("tar -C " + fixture(k_two_nodes) + " -czf b.tar.gz .").status == 0);
  const auto first = verdict_of(at, "b.tar.gz")["first_error"];
  const std::string place =
      first["file"].get<std::string>() + ":" + std::to_string(first["line"].get<int>());
  const Ran shown = at.sh("triage show b.tar.gz " + place + " -C 1");
  CHECK(shown.status == 0);
  CHECK(base::contains(shown.out, "79"));
  CHECK(base::split_lines(shown.out).size() <= 4);
  fails(at, "triage show b.tar.gz " + first["file"].get<std::string>() + ":99999999", 2,
        "fewer lines");
  fails(at, "triage show b.tar.gz dmseg.txt:1", 2, "triage ls shows the files");
  fails(at, "triage show b.tar.gz dmesg.txt", 2, "FILE:LINE");
  fails(at, "triage show missing.tar.gz a:1", 3, "not found");
  const Ran listed = at.sh("triage ls b.tar.gz");
  CHECK(listed.status == 0);
  CHECK(base::contains(listed.out, "kernel-log"));
  CHECK(base::contains(listed.out, first["file"].get<std::string>()));
}

TEST_CASE("every command has an example in its help, and every option stands in its man page") {
  const Workplace at;
  struct Command {
    std::string name;
    std::string page;
  };
  const Command commands[] = {
      {"analyze", "analyze.1"},
      {"show", "analyze.1"},
      {"ls", "analyze.1"},
      {"redact", "redact.1"},
      {"collect", "collect.1"},
      {"verify", "verify.1"},
      {"report", "report.1"},
      {"postmortem", "postmortem.1"},
      {"diff", "diff.1"},
      {"history list", "history.1"},
      {"history show", "history.1"},
      {"history similar", "history.1"},
      {"history export", "history.1"},
      {"history import", "history.1"},
      {"history prune", "history.1"},
      {"explain", "explain.1"},
      {"rules list", "rules.1"},
      {"rules show", "rules.1"},
      {"rules new", "rules.1"},
      {"rules lint", "rules.1"},
      {"rules test", "rules.1"},
      {"rules schema", "rules.1"},
      {"rules coverage", "rules.1"},
      {"rules diff", "rules.1"},
  };
  const std::string analyze_page = manual("analyze.1");
  for (const auto& [name, page] : commands) {
    CAPTURE(name);
    const Ran help = at.sh("triage " + name + " --help");
    CHECK(help.status == 0);
    const std::string own = manual(page);
    REQUIRE_FALSE(own.empty());
    const bool refers = base::contains(own, "Xr triage-analyze 1");
    for (const std::string_view line : base::split_lines(help.out)) {
      const auto words = base::split_blanks(line);
      if (!line.starts_with("  -") || words.empty()) continue;
      bool said = false;
      for (const std::string_view option : base::split(words.front(), ',')) {
        const std::string name_there = "Fl " + std::string(option.substr(1));
        said = said || option == "--help" || names(own, name_there) ||
               (refers && names(analyze_page, name_there));
      }
      CHECK_MESSAGE(said, (name + " " + std::string(words.front())));
    }
  }
}

}  // namespace triage::tests

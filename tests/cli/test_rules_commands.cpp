#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Run {
  int status = -1;
  std::string out, err;
};

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "triage-cli-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Runs `triage ARGUMENTS` through a shell, alone with its own caches and configuration.
  [[nodiscard]] Run triage(const std::string& arguments) const {
    const std::string command = "export HOME=" + path_ + " XDG_CONFIG_HOME=" + path_ +
                                "/config XDG_CACHE_HOME=" + path_ + "/cache; '" TRIAGE_BINARY "' " +
                                arguments + " >" + path_ + "/out 2>" + path_ + "/err";
    Run run;
    const int status = std::system(command.c_str());
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run.out = read("out");
    run.err = read("err");
    return run;
  }

 private:
  std::string path_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string k_pack =
    "pack: site\n"
    "rules:\n"
    "  - id: site-lost\n"
    "    title: 'The site lost {what}'\n"
    "    class: loading\n"
    "    role: root\n"
    "    fault_domain: storage\n"
    "    evidence: [container-log, unknown-text]\n"
    "    match: ['sitedaemon: lost its (?P<what>\\w+) for good']\n"
    "    quarantine: {target: worker, action: replace-worker}\n"
    "    next_steps: {contain: [Replace it], diagnose: [Look], verify: [Ask it], avoid: [Wait]}\n"
    "    samples: {match: ['sitedaemon: lost its way for good'], reject: ['sitedaemon: lost']}\n";

}  // namespace

TEST_CASE("rules: an SRE writes a rule from a pasted line, and it works at once") {
  const Folder folder;
  const std::string line = "2025-08-14T03:12:07Z ERROR mydrv 0000:3b:00.0: lost link 3 for good";
  const Run made = folder.triage("rules new '" + line + "' -o $HOME/my.yaml");
  CHECK(made.status == 0);
  const std::string pack = folder.read("my.yaml");
  CHECK(has(pack, "(?P<pci>"));
  CHECK_FALSE(has(pack, "2025-08-14"));
  CHECK(folder.triage("rules lint $HOME/my.yaml").status == 0);
  const Run tested = folder.triage("rules test $HOME/my.yaml");
  CHECK(tested.status == 0);
  CHECK(has(tested.out, "2 passed, 0 failed"));
  const Run explained = folder.triage("explain --rules $HOME/my.yaml '" + line + "'");
  CHECK(explained.status == 0);
  CHECK(has(explained.out, "pci = 0000:3b:00.0"));
}

TEST_CASE("rules: a verdict comes of a user's rule, with its quarantine and steps") {
  const Folder folder;
  folder.write("site.yaml", k_pack);
  folder.write("worker.log", "INFO up\nERROR sitedaemon: lost its mind for good\nINFO bye\n");
  const Run run = folder.triage("analyze $HOME/worker.log --rules $HOME/site.yaml -f json");
  REQUIRE(run.status == 0);
  const auto report = nlohmann::json::parse(run.out);
  CHECK(report.at("verdict").at("cause") == "site-lost");
  CHECK(report.at("verdict").at("title") == "The site lost mind");
  CHECK(report.at("verdict").at("first_error").at("line") == 2);
  CHECK(report.at("quarantine").at("target") == "worker");
  CHECK(report.at("next_steps").size() == 4);
}

TEST_CASE("rules lint: mistakes go to standard output with their places, the status is 5") {
  const Folder folder;
  folder.write("bad.yaml", "pack: p\nrules:\n  - id: a\n    titel: x\n");
  const Run run = folder.triage("rules lint $HOME/bad.yaml");
  CHECK(run.status == 5);
  CHECK(has(run.out, "bad.yaml:4:5: error: `titel` is no key of `rule` [unknown-key]"));
  CHECK(has(run.out, "did you mean `title`?"));
  const Run json = folder.triage("rules lint -f json $HOME/bad.yaml");
  CHECK(json.status == 5);
  const auto diagnostics = nlohmann::json::parse(json.out).at("diagnostics");
  CHECK(std::any_of(diagnostics.begin(), diagnostics.end(), [](const auto& d) {
    return d.at("line") == 4 && d.at("code") == "unknown-key";
  }));
  CHECK(folder.triage("rules lint $HOME/none.yaml").status == 3);
  CHECK(folder.triage("rules lint").status == 2);
}

TEST_CASE("rules test: a failing sample is named with its place and written as JUnit") {
  const Folder folder;
  std::string pack = k_pack;
  pack.replace(pack.find("lost its way for good"), 21, "lost its & <way>     ");
  folder.write("site.yaml", pack);
  const Run run = folder.triage("rules test $HOME/site.yaml --junit $HOME/out.xml");
  CHECK(run.status == 5);
  CHECK(has(run.out, "site.yaml:12:"));
  CHECK(has(run.out, "this sample must match and does not"));
  const std::string xml = folder.read("out.xml");
  CHECK(has(xml, "<testsuites tests=\"2\" failures=\"1\">"));
  CHECK(has(xml, "&lt;way&gt;"));
}

TEST_CASE("rules test: labelled incidents below a folder are held to their labels") {
  const Folder folder;
  folder.write("site.yaml", k_pack);
  folder.write("incidents/one/worker.log", "ERROR sitedaemon: lost its mind for good\n");
  folder.write("incidents/one/case.json",
               R"({"id": "one", "expect": {"class": "loading", "cause": "site-lost",
                   "first_error": {"file": "worker.log", "line": 1}, "quarantine": "worker"}})");
  const Run good = folder.triage("rules test $HOME/site.yaml $HOME/incidents");
  CAPTURE(good.out);
  CHECK(good.status == 0);
  CHECK(has(good.out, "3 passed, 0 failed"));
  const Run bad = folder.triage("rules test $HOME/incidents");
  CHECK(bad.status == 5);
  CHECK(has(bad.out, "expected loading"));
}

TEST_CASE("rules diff: says which verdicts change, and how") {
  const Folder folder;
  folder.write("site.yaml", k_pack);
  folder.write("worker.log", "ERROR sitedaemon: lost its mind for good\n");
  const Run run = folder.triage("rules diff built-in $HOME/site.yaml $HOME/worker.log");
  CHECK(run.status == 0);
  CHECK(has(run.out, "1 of 1 verdicts change"));
  CHECK(has(run.out, "-> site-lost"));
  const Run same = folder.triage("rules diff built-in built-in $HOME/worker.log");
  CHECK(has(same.out, "0 of 1 verdicts change"));
}

TEST_CASE("rules coverage: names what no input shows and error lines that no rule explains") {
  const Folder folder;
  folder.write("site.yaml", k_pack);
  folder.write("worker.log",
               "ERROR sitedaemon: lost its mind for good\nERROR frobnicator exploded at dawn\n");
  const Run run = folder.triage("rules coverage --rules $HOME/site.yaml -f json $HOME/worker.log");
  REQUIRE(run.status == 0);
  const auto json = nlohmann::json::parse(run.out);
  const auto silent = json.at("rules_without_incident").dump();
  CHECK_FALSE(has(silent, "\"site-lost\""));
  CHECK(has(json.at("unmatched_errors").dump(), "frobnicator"));
}

TEST_CASE("rules list and show: filters, formats and layers") {
  const Folder folder;
  const Run all = folder.triage("rules list -f names");
  CHECK(all.status == 0);
  const Run some = folder.triage("rules list -f names --class gpu-oom --role root");
  CHECK(some.out.size() < all.out.size());
  CHECK_FALSE(some.out.empty());
  const Run json = folder.triage("rules list -f json --kind gpu-state");
  CHECK(nlohmann::json::parse(json.out).at("rules").size() > 0);
  CHECK(folder.triage("rules list --kind nonsense").status == 2);
  // The person's own layer is found without being named.
  folder.write("config/triage/rules.d/site.yaml", k_pack);
  const Run shown = folder.triage("rules show site-lost");
  CHECK(shown.status == 0);
  CHECK(has(shown.out, "config/triage/rules.d/site.yaml:3"));
  const Run missing = folder.triage("rules show site-losst");
  CHECK(missing.status == 3);
  CHECK(has(missing.err, "did you mean site-lost?"));
}

TEST_CASE("rules: a broken pack of the person is reported and left out, or fatal") {
  const Folder folder;
  folder.write("config/triage/rules.d/bad.yaml", "pack: bad\nrules: [{id: x}]\n");
  const Run run = folder.triage("rules list -f names");
  CHECK(run.status == 0);
  CHECK(has(run.err, "bad.yaml:2:"));
  CHECK_FALSE(run.out.empty());
  const Run strict = folder.triage("rules list -f names --strict-rules");
  CHECK(strict.status == 5);
  CHECK(strict.out.empty());
}

TEST_CASE("explain: text for people, JSON for programs, a clear no for what nothing knows") {
  const Folder folder;
  const Run text = folder.triage("explain xid 79");
  CHECK(text.status == 0);
  CHECK(has(text.out, "Xid 79"));
  const Run json = folder.triage("explain cuda 700 -f json");
  const auto parsed = nlohmann::json::parse(json.out);
  CHECK(parsed.at("schema") == "triage.explain/v1");
  CHECK(parsed.at("explanations").at(0).at("cause") == "cuda-illegal-memory-access");
  CHECK(folder.triage("explain xid 99999").status == 3);
  CHECK(folder.triage("explain").status == 2);
  const Run piped = folder.triage("explain - < /dev/null");
  CHECK(piped.status == 3);
}

TEST_CASE("every command answers --help with status 0, and a wrong one with status 2") {
  const Folder folder;
  for (const char* command :
       {"rules", "rules list", "rules show", "rules lint", "rules test", "rules new",
        "rules schema", "rules kinds", "rules fields", "rules coverage", "rules diff", "explain"}) {
    CAPTURE(std::string(command));
    const Run run = folder.triage(std::string(command) + " --help");
    CHECK(run.status == 0);
    CHECK(has(run.out, "Usage"));
    CHECK(run.err.empty());
  }
  CHECK(folder.triage("rules nonsense").status == 2);
  CHECK(folder.triage("nonsense").status == 2);
  CHECK(folder.triage("").status == 2);
}

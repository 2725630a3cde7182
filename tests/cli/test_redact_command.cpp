#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace {

/// A directory of its own for one test, removed at its end.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "triage-redact-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  fs::path path_;
};

struct Ran {
  int status = -1;
  std::string out;
};

Ran run(const std::string& command) {
  Ran ran;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  std::size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) ran.out.append(buffer, count);
  const int status = ::pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

/// `triage redact ARGUMENTS`, with standard error in the output.
Ran redact(const std::string& arguments) {
  return run(std::string("'") + TRIAGE_BINARY + "' redact " + arguments + " 2>&1");
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string quoted(const fs::path& path) {
  return "'" + path.string() + "'";
}

unsigned mode_of(const fs::path& file) {
  struct stat info {};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  return info.st_mode & 0777U;
}

// Shaped like the real thing, put together here so that no scanner of repositories takes it for
// one.
const std::string k_secret = std::string("acme-Zr7") + "Kq2Lm9Xw4Tn8Vb5";

}  // namespace

TEST_CASE("redact: as a filter it masks standard input and keeps everything else") {
  const Ran ran = run("printf 'api_key=" + k_secret + "\\nGPU has fallen off the bus\\n' | '" +
                      TRIAGE_BINARY + "' redact --salt s");
  CHECK(ran.status == 0);
  CHECK(ran.out.find(k_secret) == std::string::npos);
  CHECK(ran.out.find("\nGPU has fallen off the bus\n") != std::string::npos);
  CHECK(ran.out.starts_with("api_key=<token:"));
}

TEST_CASE("redact: of a log that is followed, lines come out as they come in") {
  const Scratch scratch;
  const Ran ran = run("cd " + quoted(scratch / "") + " && mkfifo pipe && { '" + TRIAGE_BINARY +
                      "' redact < pipe > out & } && exec 3> pipe && echo 'password=hunter2xx9' >&3 "
                      "&& for i in $(seq 200); do grep -q password out && break; sleep 0.1; done; "
                      "cat out; echo '--'; echo second >&3; exec 3>&-; wait; cat out");
  const auto first = ran.out.substr(0, ran.out.find("--"));
  CHECK(first.find("password=<password:") == 0);
  CHECK(ran.out.find("second\n") != std::string::npos);
}

TEST_CASE("redact: an empty input gives an empty output") {
  const Ran ran = redact("< /dev/null");
  CHECK(ran.status == 0);
  CHECK(ran.out.empty());
}

TEST_CASE(
    "redact: files of a directory keep their names, and a value known from one goes from all") {
  const Scratch scratch;
  scratch.write("in/a/echo.log", "WARN unknown key " + k_secret + " for route x\n");
  scratch.write("in/b.log", "master_key=" + k_secret + "\n");
  scratch.write("in/empty.log", "");
  const fs::path out = scratch / "out";
  CHECK(redact("-o " + quoted(out) + " " + quoted(scratch / "in")).status == 0);
  CHECK(read(out / "a/echo.log").find(k_secret) == std::string::npos);
  CHECK(read(out / "a/echo.log").find(" for route x\n") != std::string::npos);
  CHECK(read(out / "b.log").find(k_secret) == std::string::npos);
  CHECK(fs::exists(out / "empty.log"));
  CHECK(mode_of(out / "b.log") == 0600U);
  CHECK(mode_of(out / "redaction.json") == 0600U);
  const auto report = nlohmann::json::parse(read(out / "redaction.json"));
  CHECK(report["total"].get<int>() >= 1);
  CHECK(report.dump().find(k_secret) == std::string::npos);
}

TEST_CASE("redact: the same salt gives the same output, another salt another") {
  const Scratch scratch;
  const fs::path file = scratch.write("x.log", "peer 10.1.2.3 token=" + k_secret + "\n");
  const auto with = [&](const std::string& salt) {
    return redact("--salt " + salt + " " + quoted(file)).out;
  };
  CHECK(with("one") == with("one"));
  CHECK(with("one") != with("two"));
  CHECK(with("one").find("10.1.2.3") == std::string::npos);
}

TEST_CASE("redact: members of an archive are written by their names") {
  const Scratch scratch;
  scratch.write("pack/logs/w.log", "password=" + k_secret + "\n");
  scratch.write("pack/version.yaml", "kind: SupportBundle\n");
  REQUIRE(run("tar czf " + quoted(scratch / "p.tar.gz") + " -C " + quoted(scratch / "pack") + " .")
              .status == 0);
  const fs::path out = scratch / "out";
  CHECK(redact("-o " + quoted(out) + " " + quoted(scratch / "p.tar.gz")).status == 0);
  CHECK(read(out / "logs/w.log").starts_with("password=<password:"));
  CHECK(read(out / "version.yaml") == "kind: SupportBundle\n");
}

TEST_CASE("redact: a binary file is left out, named, and the status says so") {
  const Scratch scratch;
  scratch.write("in/core.bin", "\x7f" + std::string("ELF") + std::string(4096, '\0'));
  scratch.write("in/w.log", "all is well\n");
  const fs::path out = scratch / "out";
  const Ran ran = redact("-o " + quoted(out) + " " + quoted(scratch / "in"));
  CHECK(ran.status == 4);
  CHECK(ran.out.find("core.bin") != std::string::npos);
  CHECK(ran.out.find("core.bin") == ran.out.rfind("core.bin"));
  CHECK_FALSE(fs::exists(out / "core.bin"));
  CHECK(read(out / "w.log") == "all is well\n");
}

TEST_CASE("redact: --check finds, names the line, quotes nothing and writes nothing") {
  const Scratch scratch;
  const fs::path bad = scratch.write("bad.log", "fine\npassword=" + k_secret + "\n");
  const fs::path good = scratch.write("good.log", "max_tokens=4096 tokenizer_mode=auto 10.0.0.7\n");
  const Ran found = redact("--check " + quoted(bad));
  CHECK(found.status == 5);
  CHECK(found.out.find("bad.log:2: password") != std::string::npos);
  CHECK(found.out.find(k_secret) == std::string::npos);
  CHECK(redact("--check " + quoted(good)).status == 0);
}

TEST_CASE("redact: what was redacted passes the check") {
  const Scratch scratch;
  const fs::path file = scratch.write(
      "x.log", "hf_token='" + k_secret + "' prompt: 'tell me about the plan of Ines', n=1\n");
  const fs::path out = scratch / "out";
  REQUIRE(redact("-o " + quoted(out) + " " + quoted(file)).status == 0);
  CHECK(redact("--check " + quoted(out / "x.log")).status == 0);
}

TEST_CASE("redact: rules of the person are run, and a broken file is refused with its place") {
  const Scratch scratch;
  const fs::path rules =
      scratch.write("r.yaml",
                    "redactions:\n"
                    "  - id: badge\n"
                    "    pattern: 'badge (?P<value>E-\\d{6})'\n"
                    "    samples: {match: ['badge E-123456'], reject: ['badge E-1']}\n"
                    "keys: {secret: [zug], keep: [build_token]}\n");
  const fs::path file = scratch.write(
      "x.log", "badge E-654321 denied zug=kleineslicht build_token=" + k_secret + "\n");
  const Ran ran = redact("--redactions " + quoted(rules) + " " + quoted(file));
  CHECK(ran.status == 0);
  CHECK(ran.out.find("E-654321") == std::string::npos);
  CHECK(ran.out.find("<x-badge:") != std::string::npos);
  CHECK(ran.out.find("kleineslicht") == std::string::npos);
  CHECK(ran.out.find(k_secret) != std::string::npos);
  const fs::path broken = scratch.write("b.yaml", "redactions:\n  - id: badge\n    patern: 'x'\n");
  const Ran refused = redact("--redactions " + quoted(broken) + " " + quoted(file));
  CHECK(refused.status == 2);
  CHECK(refused.out.find("b.yaml:3:") != std::string::npos);
  CHECK(refused.out.find("'pattern'") != std::string::npos);
}

TEST_CASE("redact: the map stands outside the output, for its owner only, and undoes it") {
  const Scratch scratch;
  const fs::path file = scratch.write("x.log", "password=" + k_secret + "\n");
  const fs::path out = scratch / "out";
  const fs::path map = scratch / "map.json";
  REQUIRE(redact("--map " + quoted(map) + " -o " + quoted(out) + " " + quoted(file)).status == 0);
  CHECK(mode_of(map) == 0600U);
  const auto json = nlohmann::json::parse(read(map));
  const std::string text = read(out / "x.log");
  CHECK(json[text.substr(9, text.size() - 10)] == k_secret);
  CHECK(redact("--map " + quoted(out / "m.json") + " -o " + quoted(out) + " " + quoted(file))
            .status == 2);
  // Neither in the place of evidence, nor of placeholders that tell nothing apart.
  CHECK(redact("--map " + quoted(file) + " " + quoted(file)).status == 2);
  CHECK(read(file) == "password=" + k_secret + "\n");
  CHECK(redact("--fixed --map " + quoted(map) + " " + quoted(file)).status == 2);
}

TEST_CASE("redact: an output that cannot be written is said, and is no matter of the input") {
  const Scratch scratch;
  const fs::path file = scratch.write("x.log", "all is well\n");
  const Ran full = redact(quoted(file) + " > /dev/full");
  CHECK(full.status == 4);
  const Ran nowhere = redact("-o /proc/nowhere " + quoted(file));
  CHECK(nowhere.status == 4);
  CHECK(nowhere.out.find("/proc/nowhere") != std::string::npos);
}

TEST_CASE("redact: several files without a directory are refused before anything is printed") {
  const Scratch scratch;
  scratch.write("pack/a.log", "all is well\n");
  scratch.write("pack/b.log", "all is well here\n");
  const fs::path pack = scratch / "p.tar.gz";
  REQUIRE(run("tar czf " + quoted(pack) + " -C " + quoted(scratch / "pack") + " .").status == 0);
  for (const fs::path& input : {pack, scratch / "pack"}) {
    const Ran ran = redact(quoted(input));
    CHECK(ran.status == 2);
    CHECK(ran.out.find("all is well") == std::string::npos);
    CHECK(ran.out.find("-o DIR") != std::string::npos);
  }
  REQUIRE(run("gzip -k " + quoted(scratch / "pack/a.log")).status == 0);
  CHECK(redact(quoted(scratch / "pack/a.log.gz")).out == "all is well\n");
}

TEST_CASE("redact: an input that is missing is named, wherever it stands among the others") {
  const Scratch scratch;
  const fs::path file = scratch.write("x.log", "all is well\n");
  const std::string both = quoted(file) + " " + quoted(scratch / "nowhere.log");
  const Ran into = redact("-o " + quoted(scratch / "out") + " " + both);
  CHECK(into.status == 4);
  CHECK(into.out.find("nowhere.log") != std::string::npos);
  const Ran checked = redact("--check " + both);
  CHECK(checked.status == 4);
  CHECK(checked.out.find("nowhere.log") != std::string::npos);
  CHECK(redact("--check " + quoted(scratch / "nowhere.log")).status == 3);
}

TEST_CASE("redact: --strict drops texts that default mode takes for messages, and whole hosts") {
  const Scratch scratch;
  const fs::path file = scratch.write(
      "x.log",
      "{\"text\": \"NCCL error while I asked about the plan\"} on gpu-7.prod.example.net\n");
  const Ran plain = redact(quoted(file));
  CHECK(plain.out.find("asked about the plan") != std::string::npos);
  CHECK(plain.out.find(" on gpu-7.d-") != std::string::npos);
  const Ran strict = redact("--strict " + quoted(file));
  CHECK(strict.status == 0);
  CHECK(strict.out.find("asked about") == std::string::npos);
  CHECK(strict.out.find("gpu-7") == std::string::npos);
  CHECK(redact("--check " + quoted(file)).status == 0);
  CHECK(redact("--check --strict " + quoted(file)).status == 5);
}

TEST_CASE("redact: --fixed names kinds only, and a second run as a filter changes nothing") {
  const Scratch scratch;
  const fs::path file =
      scratch.write("x.log", "password=" + k_secret + " prompt: 'tell me about the plan' n=1\n");
  const Ran once = redact("--fixed " + quoted(file));
  CHECK(once.out == "password=<redacted:password> prompt: '<redacted:prompt>' n=1\n");
  const fs::path again = scratch.write("y.log", once.out);
  CHECK(redact("--fixed " + quoted(again)).out == once.out);
  CHECK(redact("--salt s " + quoted(again)).out == once.out);
}

TEST_CASE("verify: a bundle that holds a credential is refused by the file, not by its text") {
  const Scratch scratch;
  const fs::path bundle = scratch / "triage-x-20260512T100211Z-ab12cd";
  scratch.write("plain/w.log", "all is well\n");
  scratch.write("bad/w.log", "password=" + k_secret + "\n");
  const auto bundle_of = [&](const std::string& folder) {
    fs::create_directories(bundle);
    fs::copy(scratch / folder / "w.log", bundle / "w.log", fs::copy_options::overwrite_existing);
    return run("cd " + quoted(bundle) + " && printf '{\"format\": \"triage-bundle\", " +
               "\"format_version\": 1, \"items\": []}' > manifest.json && " +
               "sha256sum manifest.json w.log > SHA256SUMS && '" + TRIAGE_BINARY + "' verify " +
               quoted(bundle) + " 2>&1");
  };
  CHECK(bundle_of("plain").out.find("credentials") == std::string::npos);
  const Ran bad = bundle_of("bad");
  CHECK(bad.status == 5);
  CHECK(bad.out.find("w.log: holds 1 credentials or texts of users") != std::string::npos);
  CHECK(bad.out.find(k_secret) == std::string::npos);
}

TEST_CASE("redact: mistakes have one clear message and their status") {
  const Scratch scratch;
  const fs::path a = scratch.write("a.log", "x\n");
  const fs::path b = scratch.write("b.log", "y\n");
  CHECK(redact(quoted(a) + " " + quoted(b)).status == 2);
  CHECK(redact(quoted(scratch / "none.log")).status == 3);
  CHECK(redact("-o " + quoted(scratch / "o") + " " + quoted(scratch / "none")).status == 3);
  CHECK(redact("--check -o x " + quoted(a)).status == 2);
  CHECK(read(a) == "x\n");
}

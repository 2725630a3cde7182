#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.hpp"

using namespace triage;
using scratch::Directory;
using scratch::Reading;

namespace {

const std::string k_kernel =
    "[    1.000000] Linux version 6.1.0\n"
    "[   12.345678] NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus.\n";
const std::string k_worker =
    "INFO 03-04 10:00:00 [api_server.py:9] vLLM API server version 0.9.9\n";

scratch::Members two_files() {
  return {{"top/dmesg.txt", k_kernel}, {"top/deep/worker.log", k_worker}};
}

}  // namespace

TEST_CASE("every archive form gives the same files with the same bytes") {
  const Directory dir;
  struct Form {
    const char* name;
    const char* filter;
    const char* format;
  };
  for (const Form form : {Form{"a.tar", "none", "pax"}, Form{"a.tar.gz", "gzip", "gnutar"},
                          Form{"a.tar.zst", "zstd", "ustar"}, Form{"a.tar.xz", "xz", "pax"},
                          Form{"a.tar.bz2", "bzip2", "pax"}, Form{"a.tar.lz4", "lz4", "pax"},
                          Form{"a.zip", "none", "zip"}, Form{"no-name", "gzip", "pax"}}) {
    CAPTURE(std::string(form.name));
    const auto path = dir.write(form.name, scratch::pack(form.filter, form.format, two_files()));
    const Reading reading = scratch::read({path});
    REQUIRE(reading.paths() == "top/dmesg.txt top/deep/worker.log");
    CHECK(reading.files[0].text == k_kernel);
    CHECK(reading.files[1].text == k_worker);
    CHECK(reading.files[0].file.kind == evidence::Kind::kernel_log);
    CHECK(reading.files[1].file.kind == evidence::Kind::container_log);
    CHECK(reading.files[0].head == k_kernel);
    CHECK(reading.files[0].file.local_path.empty());
    CHECK(reading.summary.omissions.empty());
    CHECK(reading.summary.warnings.empty());
  }
}

TEST_CASE("a single compressed file of several members is read to its end") {
  const Directory dir;
  for (const char* filter : {"gzip", "zstd", "xz", "bzip2", "lz4"}) {
    CAPTURE(std::string(filter));
    const auto bytes = scratch::compress(filter, k_kernel) + scratch::compress(filter, k_worker);
    const Reading reading = scratch::read({dir.write("log", bytes)});
    REQUIRE(reading.files.size() == 1);
    CHECK(reading.files[0].text == k_kernel + k_worker);
    CHECK(reading.files[0].file.path == "log");
    CHECK(reading.summary.warnings.empty());
  }
}

TEST_CASE("a truncated compressed file gives what is there and a warning") {
  const Directory dir;
  const std::string text = scratch::lines_of_log(4000);
  // lz4 decodes blocks of 4 MiB as one, bzip2 of 900 kB: of this text nothing would be left.
  for (const char* filter : {"gzip", "zstd", "xz"}) {
    CAPTURE(std::string(filter));
    auto bytes = scratch::compress(filter, text);
    bytes.resize(bytes.size() * 9 / 10);
    const Reading reading = scratch::read({dir.write("log", bytes)});
    REQUIRE(reading.files.size() == 1);
    const std::string& got = reading.files[0].text;
    CHECK(got == text.substr(0, got.size()));
    // zstd decodes whole blocks, gzip and xz to the byte.
    CHECK(got.size() > text.size() / 4);
    CHECK(got.size() < text.size());
    CHECK(reading.says("log", "early"));
  }
}

TEST_CASE(
    "a truncated archive gives its whole files, the cut one as far as it goes, and a warning") {
  const Directory dir;
  const std::string text = scratch::lines_of_log(4000);
  auto bytes = scratch::pack("gzip", "pax", {{"dmesg.txt", k_kernel}, {"worker.log", text}});
  bytes.resize(bytes.size() / 2);
  const Reading reading = scratch::read({dir.write("a.tar.gz", bytes)});
  REQUIRE(reading.files.size() == 2);
  CHECK(reading.files[0].text == k_kernel);
  CHECK(reading.files[1].text.size() > text.size() / 4);
  CHECK(reading.files[1].text == text.substr(0, reading.files[1].text.size()));
  CHECK(reading.says("a.tar.gz", "early"));
}

TEST_CASE("damage in the middle of a file ends it with a warning and never the program") {
  const Directory dir;
  const std::string text = scratch::lines_of_log(4000);
  for (const char* filter : {"gzip", "zstd", "xz", "bzip2", "lz4"}) {
    for (std::size_t at = 1; at < 10; ++at) {
      CAPTURE(std::string(filter));
      CAPTURE(at);
      auto bytes = scratch::pack(filter, "pax", {{"worker.log", text}, {"dmesg.txt", k_kernel}});
      for (std::size_t i = 0; i < 16; ++i)
        bytes[bytes.size() * at / 10 + i] = static_cast<char>(0x5a + i * at);
      const Reading reading = scratch::read({dir.write("a", bytes)});
      // zstd and lz4 as libarchive writes them have no checksum over their literals.
      const bool checked = filter != std::string("zstd") && filter != std::string("lz4");
      if (checked && reading.problem.empty()) CHECK_FALSE(reading.summary.warnings.empty());
    }
  }
}

TEST_CASE("a directory is read in sorted order with paths relative to it") {
  const Directory dir;
  dir.write("b/worker.log", k_worker);
  dir.write("a/dmesg.txt", k_kernel);
  dir.write("a.log", k_worker);
  const Reading reading = scratch::read({dir.path()});
  CHECK(reading.paths() == "a/dmesg.txt a.log b/worker.log");
  CHECK(reading.files[0].file.local_path == dir.path("a/dmesg.txt"));
}

TEST_CASE("several inputs are told apart by their own names") {
  const Directory dir;
  const auto archive = dir.write("one.tar.gz", scratch::pack("gzip", "pax", two_files()));
  dir.write("two/dmesg.txt", k_kernel);
  const auto loose = dir.write("loose.log", k_worker);
  const Reading reading = scratch::read({archive, dir.path("two"), loose});
  CHECK(reading.paths() ==
        "one.tar.gz/top/dmesg.txt one.tar.gz/top/deep/worker.log two/dmesg.txt loose.log");
}

TEST_CASE("loose files of the same name keep what was typed") {
  const Directory dir;
  dir.write("node-a/dmesg.txt", k_kernel);
  dir.write("node-b/dmesg.txt", k_kernel);
  REQUIRE(::chdir(dir.path().c_str()) == 0);
  const Reading reading = scratch::read({"node-a/dmesg.txt", "./node-b/dmesg.txt"});
  REQUIRE(::chdir("/") == 0);
  CHECK(reading.paths() == "node-a/dmesg.txt node-b/dmesg.txt");
  CHECK(reading.files[1].file.place.node == "node-b");
}

TEST_CASE("archives inside archives are read down to the depth limit") {
  const Directory dir;
  std::string bytes = scratch::pack("gzip", "pax", {{"dmesg.txt", k_kernel}});
  for (int level = 0; level < 3; ++level)
    bytes = scratch::pack("gzip", "pax", {{"in.tar.gz", bytes}, {"x.log", k_worker}});
  const auto path = dir.write("out.tar.gz", bytes);
  const Reading deep = scratch::read({path});
  CHECK(deep.find("in.tar.gz!in.tar.gz!in.tar.gz!dmesg.txt") != nullptr);
  bundle::InputOptions options;
  options.limits.max_depth = 2;
  const Reading shallow = scratch::read({path}, options);
  CHECK(shallow.find("in.tar.gz!in.tar.gz!in.tar.gz!dmesg.txt") == nullptr);
  CHECK(shallow.find("in.tar.gz!x.log") != nullptr);
  CHECK(shallow.says("in.tar.gz!in.tar.gz", "too deep"));
}

TEST_CASE("limits on bytes and members stop the reading and say so") {
  const Directory dir;
  dir.write("a.log", scratch::lines_of_log(1000));
  dir.write("b.log", scratch::lines_of_log(1000));
  bundle::InputOptions options;
  options.limits.max_expanded_bytes = 10'000;
  const Reading bytes = scratch::read({dir.path()}, options);
  REQUIRE(bytes.files.size() == 1);
  CHECK(bytes.files[0].text.size() == 10'000);
  CHECK(bytes.says("a.log", "limit"));
  options = {};
  options.limits.max_members = 1;
  const Reading members = scratch::read({dir.path()}, options);
  CHECK(members.files.size() == 1);
  CHECK(members.says("b.log", "limit on members"));
}

TEST_CASE("a compression bomb is stopped by its ratio") {
  const Directory dir;
  const auto path = dir.write("bomb.gz", scratch::compress("gzip", std::string(8'000'000, 'a')));
  bundle::InputOptions options;
  options.limits.ratio_check_from = 100'000;
  options.limits.max_ratio = 100;
  const Reading reading = scratch::read({path}, options);
  REQUIRE(reading.files.size() == 1);
  CHECK(reading.files[0].text.size() < 8'000'000);
  CHECK(reading.says("bomb.gz", "ratio"));
}

TEST_CASE("unsafe member names are refused or made harmless") {
  const Directory dir;
  const auto path = dir.write(
      "a.tar", scratch::pack("none", "ustar",
                             {{"../../etc/evil.log", k_worker}, {"/abs/dmesg.txt", k_kernel}}));
  const Reading reading = scratch::read({path});
  CHECK(reading.paths() == "abs/dmesg.txt");
  CHECK(reading.says("evil.log", "unsafe"));
}

TEST_CASE("symbolic links in a directory are named and not followed") {
  const Directory dir;
  const Directory outside;
  outside.write("secret.log", k_worker);
  dir.write("dmesg.txt", k_kernel);
  std::filesystem::create_symlink(outside.path("secret.log"), dir.path("link.log"));
  std::filesystem::create_directory_symlink(dir.path(), dir.path("loop"));
  const Reading reading = scratch::read({dir.path()});
  CHECK(reading.paths() == "dmesg.txt");
  CHECK(reading.says("link.log", "symbolic link"));
}

TEST_CASE("encrypted files are refused with the way out") {
  const Directory dir;
  dir.write("sosreport.tar.xz.gpg", "\x85\x01\x0c rest");
  dir.write("notes.asc", "-----BEGIN PGP MESSAGE-----\nabc\n");
  dir.write("dmesg.txt", k_kernel);
  const Reading reading = scratch::read({dir.path()});
  CHECK(reading.paths() == "dmesg.txt");
  CHECK(reading.says("sosreport.tar.xz.gpg", "gpg -d"));
  CHECK(reading.says("notes.asc", "PGP"));
}

TEST_CASE("nothing usable is one clear problem") {
  const Directory dir;
  CHECK(scratch::read({dir.path("absent")}).problem == dir.path("absent") + ": not found");
  CHECK(scratch::read({dir.write("void", "")}).problem.find("is empty") != std::string::npos);
  CHECK(scratch::read({dir.write("bin", std::string("\x00\x01\x02\x03\x00\x01\x7f\x45", 8))})
            .problem.find("binary") != std::string::npos);
  const Directory hollow;
  CHECK(scratch::read({hollow.path()}).problem.find("holds no file") != std::string::npos);
  CHECK_FALSE(scratch::read({}).problem.empty());
}

TEST_CASE("one unreadable input among good ones is named and does not stop the others") {
  const Directory dir;
  const auto good = dir.write("dmesg.txt", k_kernel);
  const Reading reading = scratch::read({dir.path("absent"), good});
  CHECK(reading.files.size() == 1);
  CHECK(reading.says("absent", "not found"));
}

TEST_CASE("what the person says of a file's place wins over its path and content") {
  const Directory dir;
  dir.write("node-a/journal.txt", "Jan  2 06:00:00 host-9 kernel: NVRM: loading\n");
  bundle::InputOptions options;
  options.places["node-a/journal.txt"].node = "gpu-77";
  const Reading said = scratch::read({dir.path()}, options);
  REQUIRE(said.files.size() == 1);
  CHECK(said.files[0].file.place.node == "gpu-77");
  CHECK(scratch::read({dir.path()}).files[0].file.place.node == "node-a");
}

TEST_CASE("the visitor can stop, and unread files are skipped soundly") {
  const Directory dir;
  const auto path = dir.write(
      "a.tar.gz",
      scratch::pack("gzip", "pax", {{"a", scratch::lines_of_log(9000)}, {"b", k_kernel}}));
  std::vector<std::string> seen;
  auto result = bundle::read_inputs({path}, {}, [&](const bundle::EvidenceFile& file, auto, auto&) {
    seen.push_back(file.path);
    return true;
  });
  CHECK(result.ok());
  CHECK(seen == std::vector<std::string>{"a", "b"});
  seen.clear();
  result = bundle::read_inputs({path}, {}, [&](const bundle::EvidenceFile& file, auto, auto&) {
    seen.push_back(file.path);
    return false;
  });
  CHECK(result.ok());
  CHECK(seen.size() == 1);
}

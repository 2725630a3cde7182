#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/digest.hpp"
#include "bundle/spool.hpp"
#include "bundle/verify.hpp"
#include "bundle/writer.hpp"
#include "scratch.hpp"

using namespace triage;
using scratch::Directory;

namespace {

const std::string k_text = "[    1.000000] NVRM: loading\n";

bundle::Spool filled_spool(const Directory& dir) {
  auto made = bundle::Spool::create(dir.path(), "triage-t");
  REQUIRE(made.ok());
  bundle::Spool spool = std::move(*made);
  bundle::Manifest manifest;
  bundle::ManifestItem item;
  item.path = "nodes/n/kernel/dmesg.txt";
  item.kind = evidence::Kind::kernel_log;
  item.status = "ok";
  item.sha256 = *spool.write(item.path, k_text);
  manifest.items.push_back(item);
  REQUIRE(spool.write("README.txt", "what this is\n").ok());
  REQUIRE(spool.save_manifest(manifest).ok());
  return spool;
}

std::string all_findings(const bundle::Verification& checked) {
  std::string text;
  for (const auto& finding : checked.findings) text += finding.path + ": " + finding.message + "\n";
  return text;
}

}  // namespace

TEST_CASE("a bundle that was written is sound and reads as what went in") {
  const Directory dir;
  const auto spool = filled_spool(dir);
  for (const char* name : {"x.tar.gz", "x.tar.zst"}) {
    CAPTURE(std::string(name));
    const auto written = bundle::write_bundle(spool, {dir.path(name), "triage-t", 1'768'000'000});
    REQUIRE(written.ok());
    CHECK(written->members == 4);
    CHECK(written->sha256 == base::to_hex(base::sha256(scratch::read_file(dir.path(name)))));
    const auto checked = bundle::verify_bundle(dir.path(name));
    REQUIRE(checked.ok());
    CHECK(all_findings(*checked) == "");
    CHECK(checked->archive_digest_checked);
    const auto reading = scratch::read({dir.path(name)});
    REQUIRE(reading.files.size() == 1);
    CHECK(reading.files[0].text == k_text);
    struct stat info {};
    REQUIRE(::stat(dir.path(name).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600);
  }
}

TEST_CASE("the same spool gives the same bytes") {
  const Directory dir;
  const auto spool = filled_spool(dir);
  for (const char* end : {".tar.gz", ".tar.zst"}) {
    const auto a = bundle::write_bundle(spool, {dir.path(std::string("a") + end), "t", 5});
    const auto b = bundle::write_bundle(spool, {dir.path(std::string("b") + end), "t", 5});
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    CHECK(a->sha256 == b->sha256);
  }
}

TEST_CASE("a target that cannot be written gives a problem with a mend and leaves nothing behind") {
  const Directory dir;
  const auto spool = filled_spool(dir);
  const auto nowhere = bundle::write_bundle(spool, {dir.path("no/such/x.tar.gz"), "t", 5});
  REQUIRE_FALSE(nowhere.ok());
  CHECK_FALSE(nowhere.problem().mend.empty());
  // /dev/full is a disk that is always full, but only files beside it can be renamed: its
  // directory takes no temporary file, or the write fails.
  const auto full = bundle::write_bundle(spool, {"/dev/full/x.tar.gz", "t", 5});
  CHECK_FALSE(full.ok());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    files += entry.is_regular_file() ? 1 : 0;
  CHECK(files == 0);
}

TEST_CASE("verify names what was changed, added, removed or cut") {
  const Directory dir;
  const auto spool = filled_spool(dir);
  const auto path = dir.path("x.tar.gz");
  REQUIRE(bundle::write_bundle(spool, {path, "triage-t", 5}).ok());
  const std::string good = scratch::read_file(path);

  auto cut = good;
  cut.resize(cut.size() - 200);
  const auto truncated = bundle::verify_bundle(dir.write("cut.tar.gz", cut));
  REQUIRE(truncated.ok());
  CHECK(all_findings(*truncated).find("SHA256SUMS") != std::string::npos);

  // An unpacked bundle, in which a person can change things.
  const auto root = spool.directory();
  dir.write("tree/manifest.json", scratch::read_file(root + "/manifest.json"));
  dir.write("tree/README.txt", "what this is\n");
  dir.write("tree/nodes/n/kernel/dmesg.txt", k_text);
  std::string sums;
  for (const char* file : {"manifest.json", "README.txt", "nodes/n/kernel/dmesg.txt"})
    sums += base::to_hex(base::sha256(scratch::read_file(dir.path(std::string("tree/") + file)))) +
            "  " + file + "\n";
  dir.write("tree/SHA256SUMS", sums);
  CHECK(all_findings(*bundle::verify_bundle(dir.path("tree/"))) == "");

  dir.write("tree/nodes/n/kernel/dmesg.txt", k_text + "one more line\n");
  const auto changed = all_findings(*bundle::verify_bundle(dir.path("tree")));
  CHECK(changed.find("dmesg.txt: differs from its digest in SHA256SUMS") != std::string::npos);
  CHECK(changed.find("dmesg.txt: differs from its digest in the manifest") != std::string::npos);

  dir.write("tree/nodes/n/kernel/dmesg.txt", k_text);
  dir.write("tree/added.txt", "x");
  CHECK(all_findings(*bundle::verify_bundle(dir.path("tree"))) ==
        "added.txt: is not listed in SHA256SUMS\n");
  std::filesystem::remove(dir.path("tree/added.txt"));
  std::filesystem::remove(dir.path("tree/README.txt"));
  CHECK(all_findings(*bundle::verify_bundle(dir.path("tree"))) ==
        "README.txt: is listed in SHA256SUMS and not there\n");
}

TEST_CASE("verify refuses what is no bundle, and names a layout that no bundle has") {
  const Directory dir;
  CHECK_FALSE(bundle::verify_bundle(dir.path("absent")).ok());
  CHECK_FALSE(bundle::verify_bundle(dir.write("a.log", "text\n")).ok());
  CHECK_FALSE(bundle::verify_bundle(
                  dir.write("a.tar.gz", scratch::pack("gzip", "pax", {{"t/dmesg.txt", k_text}})))
                  .ok());
  const auto strange = bundle::verify_bundle(
      dir.write("b.tar", scratch::pack("none", "pax",
                                       {{"t/z.txt", "z"},
                                        {"t/manifest.json", bundle::to_json(bundle::Manifest{})},
                                        {"other/a.txt", "a"}})));
  REQUIRE(strange.ok());
  const auto findings = all_findings(*strange);
  CHECK(findings.find("z.txt: comes before the manifest") != std::string::npos);
  CHECK(findings.find("other/a.txt: lies outside") != std::string::npos);
}

TEST_CASE("a spool file that was not kept leaves nothing, and a resumed spool drops halves") {
  const Directory dir;
  auto made = bundle::Spool::create(dir.path(), "t");
  REQUIRE(made.ok());
  const std::string directory = made->directory();
  {
    auto file = made->open("a/b.txt");
    REQUIRE(file.ok());
    REQUIRE(file->write("half").ok());
    CHECK(made->files().size() == 1);
  }
  CHECK(made->files().empty());
  REQUIRE(made->write("a/whole.txt", "x").ok());
  CHECK_FALSE(bundle::Spool::resume(directory).ok());  // in use
  { const bundle::Spool gone = std::move(*made); }
  dir.write(directory.substr(dir.path().size() + 1) + "/a/c.txt.partial", "half");
  auto again = bundle::Spool::resume(directory);
  REQUIRE(again.ok());
  CHECK(again->files() == std::vector<std::string>{"a/whole.txt"});
  CHECK_FALSE(again->load_manifest().ok());
  again->remove();
  CHECK_FALSE(std::filesystem::exists(directory));
}

TEST_CASE("names from a cluster cannot leave the spool") {
  CHECK(bundle::safe_path("../../etc/passwd") == "_./_./etc/passwd");
  CHECK(bundle::safe_path("/a//b") == "a/b");
  CHECK(bundle::safe_path("k8s/ns/pods/po d:1/x.log") == "k8s/ns/pods/po_d_1/x.log");
  CHECK(bundle::safe_path(".hidden") == "_hidden");
  CHECK(bundle::safe_path(std::string("a\0b\nc", 5)) == "a_b_c");
}

#include "bundle/verify.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "bundle/archive.hpp"
#include "bundle/decoders.hpp"
#include "bundle/layout.hpp"
#include "bundle/streams.hpp"

namespace triage::bundle {
namespace {

constexpr std::string_view k_sums = "SHA256SUMS";
constexpr std::string_view k_manifest = "manifest.json";
constexpr std::size_t k_text_limit = 64 * 1024 * 1024;
constexpr std::size_t k_max_findings = 200;

struct Checked {
  std::map<std::string, std::string> digests;  ///< by path in the bundle
  std::optional<Manifest> manifest;
  std::string manifest_problem;
  std::string sums;
  bool has_sums = false;
};

class Check {
 public:
  explicit Check(MemberInspector* inspector) : inspector_(inspector) {}

  void say(const std::string& path, std::string message) {
    if (result.findings.size() < k_max_findings)
      result.findings.push_back({path, std::move(message)});
  }

  /// One member's bytes: its digest, and its text when it is one that this code reads.
  void take(const std::string& path, ByteStream& content) {
    base::Sha256 digest;
    std::string text;
    const bool keep = path == k_manifest || path == k_sums;
    std::vector<char> buffer(256 * 1024);
    if (inspector_ != nullptr) inspector_->begin(path, kind_of(path));
    while (const std::size_t got = content.read(buffer)) {
      digest.update({buffer.data(), got});
      if (inspector_ != nullptr) inspector_->feed({buffer.data(), got});
      result.bytes += got;
      if (keep && text.size() < k_text_limit) text.append(buffer.data(), got);
    }
    if (inspector_ != nullptr) inspector_->end();
    ++result.members;
    if (content.damage()) say(path, *content.damage());
    if (!checked.digests.emplace(path, base::to_hex(digest.finish())).second)
      say(path, "stands twice in the bundle");
    if (path == k_sums) {
      checked.sums = std::move(text);
      checked.has_sums = true;
    } else if (path == k_manifest) {
      auto parsed = parse_manifest(text);
      if (parsed) {
        checked.manifest = std::move(*parsed);
      } else {
        checked.manifest_problem = parsed.problem().message;
      }
    }
  }

  void compare_sums() {
    if (!checked.has_sums) {
      say("", "has no SHA256SUMS: it is truncated, or was packed again");
      return;
    }
    std::map<std::string, std::string> listed;
    for (const auto line : base::split_lines(checked.sums)) {
      constexpr std::size_t k_hex = 64;
      if (line.size() <= k_hex + 2) continue;
      listed.emplace(line.substr(k_hex + 2), line.substr(0, k_hex));
    }
    for (const auto& [path, digest] : checked.digests) {
      if (path == k_sums) continue;
      const auto it = listed.find(path);
      if (it == listed.end()) {
        say(path, "is not listed in SHA256SUMS");
      } else if (it->second != digest) {
        say(path, "differs from its digest in SHA256SUMS");
      }
    }
    for (const auto& [path, digest] : listed)
      if (checked.digests.count(path) == 0) say(path, "is listed in SHA256SUMS and not there");
  }

  void compare_manifest() {
    for (const auto& item : checked.manifest->items) {
      if (item.path.empty()) continue;
      const auto it = checked.digests.find(item.path);
      if (it == checked.digests.end()) {
        say(item.path, "is in the manifest and not there");
      } else if (!item.sha256.empty() && it->second != item.sha256) {
        say(item.path, "differs from its digest in the manifest");
      }
    }
    for (const auto& residual : checked.manifest->redaction.residual)
      say(residual, "was left by redaction, as the manifest says");
  }

  Verification result;
  Checked checked;

 private:
  [[nodiscard]] evidence::Kind kind_of(const std::string& path) const {
    if (checked.manifest)
      for (const auto& item : checked.manifest->items)
        if (item.path == path) return item.kind;
    return evidence::Kind::environment;
  }
  MemberInspector* inspector_;
};

void check_layout(Check& check, const Member& member, const std::string& path) {
  constexpr unsigned k_file = 0600;
  if (member.type == Member::Type::link) check.say(path, "is a link; bundles hold none");
  if (member.type == Member::Type::other) check.say(path, "is neither a file nor a directory");
  if (member.type == Member::Type::file && member.mode != k_file)
    check.say(path, "has other permissions than 0600");
  if (member.uid != 0 || member.gid != 0) check.say(path, "belongs to another user than 0");
}

void read_archive(Check& check, ArchiveFormat format, ByteStream& stream) {
  const auto archive = ArchiveReader::open(format, stream, nullptr);
  std::string top;
  std::string last;
  std::string before_last;
  std::uint64_t files = 0;
  while (const auto member = archive->next()) {
    const auto name = clean_member_name(member->name);
    if (!name || name->empty() || *name != base::trim(*name)) {
      check.say(member->name, "has an unsafe name");
      continue;
    }
    const auto slash = name->find('/');
    const std::string first = name->substr(0, slash);
    if (top.empty()) top = first;
    if (first != top) check.say(*name, "lies outside the bundle's top directory");
    if (member->type == Member::Type::directory) continue;
    if (slash == std::string::npos) continue;
    const std::string path = name->substr(slash + 1);
    check_layout(check, *member, path);
    if (files++ == 0 && path != k_manifest)
      check.say(path, "comes before the manifest, which must be first");
    if (files > 2 && path != k_sums && path < last) check.say(path, "is out of order");
    if (last == k_sums) check.say(path, "comes after SHA256SUMS, which must be last");
    last = path;
    check.take(path, archive->content());
  }
  if (archive->damage() && !stream.damage()) check.say("", *archive->damage());
}

void read_directory(Check& check, const std::string& directory) {
  // First, because it says what the others are.
  if (auto manifest = FileStream::open(directory + "/" + std::string(k_manifest)))
    check.take(std::string(k_manifest), **manifest);
  std::error_code error;
  std::filesystem::recursive_directory_iterator it(directory, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    const std::string path = it->path().string().substr(directory.size() + 1);
    if (it->is_symlink(ignored)) {
      check.say(path, "is a link; bundles hold none");
    } else if (path != k_manifest && it->is_regular_file(ignored)) {
      auto file = FileStream::open(it->path().string());
      if (file) {
        check.take(path, **file);
      } else {
        check.say(path, file.problem().message);
      }
    }
  }
  std::sort(check.result.findings.begin(), check.result.findings.end(),
            [](const Finding& a, const Finding& b) { return a.path < b.path; });
}

std::string digest_of_file(const std::string& path) {
  auto file = FileStream::open(path);
  if (!file) return {};
  base::Sha256 digest;
  std::vector<char> buffer(256 * 1024);
  while (const std::size_t got = (*file)->read(buffer)) digest.update({buffer.data(), got});
  return base::to_hex(digest.finish());
}

}  // namespace

base::Result<Verification> verify_bundle(const std::string& given, MemberInspector* inspector) {
  Check check(inspector);
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return base::Problem{"not found", path, ""};
  if (S_ISDIR(info.st_mode)) {
    read_directory(check, path);
  } else {
    auto file = FileStream::open(path);
    if (!file) return base::Problem{file.problem().message, path, ""};
    PeekStream raw(**file);
    const Compression compression = sniff_compression(raw.peek(1024));
    std::unique_ptr<ByteStream> decoder;
    if (compression != Compression::none) decoder = make_decoder(compression, raw, {});
    PeekStream stream(decoder ? *decoder : static_cast<ByteStream&>(raw));
    const ArchiveFormat format = sniff_archive(stream.peek(1024));
    if (format == ArchiveFormat::none)
      return base::Problem{"is no bundle: neither a tar nor a zip archive", path, ""};
    read_archive(check, format, stream);
    if (stream.damage()) check.say("", *stream.damage());
    if (auto sidecar = FileStream::open(path + ".sha256")) {
      check.result.archive_digest_checked = true;
      const std::string line = read_all(**sidecar, 4096);
      if (line.substr(0, 64) != digest_of_file(path))
        check.say("", "differs from the digest in " + path + ".sha256");
    }
  }
  if (!check.checked.manifest) {
    if (check.checked.manifest_problem.empty())
      return base::Problem{"is no triage bundle: it has no manifest.json", path, ""};
    check.say(std::string(k_manifest), check.checked.manifest_problem);
  } else {
    check.compare_manifest();
    check.result.manifest = std::move(*check.checked.manifest);
  }
  check.compare_sums();
  return std::move(check.result);
}

}  // namespace triage::bundle

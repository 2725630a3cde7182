#include "collectors/finish.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "bundle/input.hpp"
#include "bundle/streams.hpp"
#include "evidence/time.hpp"

namespace triage::collectors {
namespace {

constexpr std::size_t k_head = 64 * 1024;

/// Files that the program writes about the bundle, not evidence.
bool is_own(const std::string& path) {
  static const std::set<std::string> k_own{"manifest.json", "README.txt", "redaction.json"};
  return k_own.count(path) > 0;
}

class Scrub {
 public:
  Scrub(Session& session, bundle::Manifest& manifest) : session_(session), manifest_(manifest) {}

  base::Status run(std::vector<std::string>& notes) {
    for (const auto& path : session_.spool().files()) {
      if (is_own(path)) continue;
      if (is_clean(path)) continue;
      // A secret that was learnt after this file was written: once more with all that is known.
      if (auto again = redact_again(path); !again) return again;
      if (is_clean(path)) continue;
      session_.spool().remove_file(path);
      manifest_.redaction.residual.push_back(std::string(evidence::to_string(role_of(path))) + " " +
                                             path);
      notes.push_back(path + ": could not be made free of secrets and was left out");
      for (auto& row : manifest_.items)
        if (row.path == path) {
          row.status = "error";
          row.reason = "could not be made free of secrets and was left out";
          row.path.clear();
          row.sha256.clear();
          row.bytes_kept = 0;
        }
    }
    manifest_.redaction.verified = true;
    return base::Done{};
  }

 private:
  [[nodiscard]] evidence::Kind role_of(const std::string& path) const {
    for (const auto& row : manifest_.items)
      if (row.path == path) return row.kind;
    return evidence::Kind::environment;
  }
  [[nodiscard]] std::string full(const std::string& path) const {
    return session_.spool().directory() + "/" + path;
  }

  /// Runs a file of the spool through a redaction stream.
  bool pass(const std::string& path, bool check, const redact::Sink& sink, redact::Counts& counts) {
    auto file = bundle::FileStream::open(full(path));
    if (!file) return false;
    bundle::PeekStream text(**file);
    const redact::Source source{
        path, role_of(path), bundle::recognise(text.peek(k_head).substr(0, k_head), path).format};
    redact::Stream stream =
        check ? session_.redactor().check(source) : session_.redactor().open(source);
    std::vector<char> buffer(k_head * 4);
    while (const std::size_t got = text.read(buffer)) stream.feed({buffer.data(), got}, sink);
    stream.finish(sink);
    counts = stream.counts();
    return true;
  }

  bool is_clean(const std::string& path) {
    redact::Counts counts;
    return pass(
               path, true, [](std::string_view) {}, counts) &&
           counts.tier1() == 0;
  }

  base::Status redact_again(const std::string& path) {
    auto out = session_.spool().open(path);
    if (!out) return out.problem();
    std::optional<base::Problem> problem;
    redact::Counts counts;
    pass(
        path, false,
        [&](std::string_view text) {
          if (problem) return;
          if (auto wrote = out->write(text); !wrote) problem = wrote.problem();
        },
        counts);
    if (problem) return *problem;
    auto digest = out->keep();
    if (!digest) return digest.problem();
    for (auto& row : manifest_.items)
      if (row.path == path) {
        row.sha256 = *digest;
        row.redactions += counts.total();
      }
    return base::Done{};
  }

  Session& session_;
  bundle::Manifest& manifest_;
};

std::string readme(const bundle::Manifest& manifest) {
  std::size_t had = 0;
  for (const auto& row : manifest.items) had += row.path.empty() ? 0 : 1;
  std::string text = "Evidence of a GPU inference incident, collected by triage " +
                     manifest.tool_version + ".\n\n";
  text += "bundle     " + manifest.bundle_id + "\n";
  if (!manifest.incident.empty()) text += "incident   " + manifest.incident + "\n";
  text += "collected  " + manifest.created_at + " to " + manifest.finished_at + "\n";
  text += "holds      " + std::to_string(had) + " pieces of evidence of " +
          std::to_string(manifest.items.size()) +
          " wanted; manifest.json says what is missing and why\n";
  text += "\nTo see what broke first:\n\n  triage analyze " + manifest.bundle_id + ".tar.gz\n\n";
  text +=
      "Credentials, prompts, model outputs and personal identifiers were replaced before anything "
      "was\n"
      "written; addresses and hosts became pseudonyms that are the same throughout this bundle.\n"
      "redaction.json counts what was replaced. GPU UUIDs, PCI addresses, Xid lines, digests, "
      "versions,\n"
      "pod names and stack frames are as they were.\n\n"
      "SHA256SUMS lists the digests: triage verify, or sha256sum -c SHA256SUMS in this "
      "directory.\n";
  return text;
}

/// The private map from placeholders to what they stand for: outside the bundle, for its owner
/// only.
base::Status write_map(const std::string& path,
                       const std::vector<std::pair<std::string, std::string>>& map) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [placeholder, original] : map)
    out[base::to_valid_utf8(placeholder)] = base::to_valid_utf8(original);
  const std::string text = out.dump(1) + "\n";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool good = fd >= 0 && ::fchmod(fd, 0600) == 0;
  std::string_view rest = text;
  while (good && !rest.empty()) {
    const ssize_t wrote = ::write(fd, rest.data(), rest.size());
    if (wrote > 0) rest.remove_prefix(static_cast<std::size_t>(wrote));
    good = wrote > 0 || errno == EINTR;
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (good) return base::Done{};
  return base::Problem{std::string("the map cannot be written: ") + std::strerror(error), path, ""};
}

}  // namespace

base::Result<Finished> finish(Session& session, const CollectOptions& options, int exit_code) {
  Finished finished;
  bundle::Manifest& manifest = finished.manifest;
  manifest = session.manifest();
  std::stable_sort(manifest.items.begin(), manifest.items.end(), [](const auto& a, const auto& b) {
    return std::tie(a.path, a.id, a.place.node, a.place.pod, a.place.container, a.argv) <
           std::tie(b.path, b.id, b.place.node, b.place.pod, b.place.container, b.argv);
  });
  std::sort(manifest.nodes.begin(), manifest.nodes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const bundle::Spool& spool = session.spool();
  // What an interrupted run left and this one did not want.
  std::set<std::string> listed;
  for (const auto& row : manifest.items) listed.insert(row.path);
  for (const auto& path : spool.files())
    if (listed.count(path) == 0 && !is_own(path)) spool.remove_file(path);

  if (auto wrote = spool.write("collect.log", session.log_text()); !wrote) return wrote.problem();
  if (auto clean = Scrub(session, manifest).run(finished.notes); !clean) return clean.problem();
  const auto totals = session.redactor().totals();
  for (std::size_t i = 0; i < redact::k_what_count; ++i)
    if (totals.by_what[i] > 0)
      manifest.redaction.totals[std::string(to_string(static_cast<redact::What>(i)))] =
          totals.by_what[i];
  for (const auto& [rule, count] : totals.by_rule)
    manifest.redaction.totals["rule " + rule] = count;
  manifest.exit_code = exit_code;
  if (!options.map_file.empty()) {
    if (auto wrote = write_map(options.map_file, session.redactor().reverse_map()); wrote) {
      manifest.redaction.map_written = true;
    } else {
      finished.notes.push_back(wrote.problem().to_string());
      finished.map_failed = true;
      if (manifest.exit_code == 0) manifest.exit_code = 4;
    }
  }
  if (auto wrote = spool.write("README.txt", readme(manifest)); !wrote) return wrote.problem();
  if (auto wrote = spool.write("redaction.json", session.redactor().report_json()); !wrote)
    return wrote.problem();
  if (auto saved = spool.save_manifest(manifest); !saved) return saved.problem();

  bundle::WriteOptions writing;
  writing.output = options.output.empty() ? manifest.bundle_id + ".tar.gz" : options.output;
  writing.top = manifest.bundle_id;
  writing.time_s =
      evidence::parse_rfc3339(manifest.created_at).value_or(evidence::Stamp{}).ns / 1'000'000'000;
  auto written = bundle::write_bundle(spool, writing);
  if (!written) return written.problem();
  if (options.add_report) {
    const auto report = options.add_report(written->path);
    for (const auto& [path, text] : report)
      if (auto wrote = spool.write(path, text); !wrote) return wrote.problem();
    if (!report.empty()) written = bundle::write_bundle(spool, writing);
    if (!written) return written.problem();
  }
  finished.bundle = std::move(*written);
  if (!finished.bundle.sidecar_problem.empty())
    finished.notes.push_back(finished.bundle.sidecar_problem);
  return finished;
}

}  // namespace triage::collectors

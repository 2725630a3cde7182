#include "collectors/collect.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "bundle/spool.hpp"
#include "collectors/finish.hpp"
#include "collectors/host.hpp"
#include "collectors/kubernetes.hpp"
#include "collectors/session.hpp"
#include "evidence/time.hpp"

namespace triage::collectors {
namespace {

constexpr std::int64_t k_second = 1'000'000'000;
const redact::Source k_own_words{"manifest", evidence::Kind::environment, evidence::Format::lines};

std::string compact_time(std::int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / k_second);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

/// What the incident is called when nobody named it.
std::string default_incident(const Request& request) {
  if (!request.names.empty()) return request.names.front();
  if (!request.nodes.empty()) return request.nodes.front();
  if (!request.selector.empty()) return request.selector;
  return "local";
}

/// What a person typed may hold what they pasted by mistake.
std::string harmless(const std::string& words) {
  redact::Options fixed;
  fixed.placeholders = redact::Options::Placeholders::fixed;
  return redact::Redactor(fixed).redact(words, k_own_words);
}

std::string make_bundle_id(const CollectOptions& options, const WallClock& clock) {
  const std::string incident =
      harmless(options.request.incident.empty() ? default_incident(options.request)
                                                : options.request.incident);
  std::string name =
      base::replace_all(bundle::safe_path(base::replace_all(incident, "/", "-")), "=", "-");
  constexpr std::size_t k_longest = 48;
  name = name.substr(0, k_longest);
  // Six hex digits, so that two bundles of one second differ; with a fixed salt they are its own.
  const std::string seed = options.redaction.salt.empty()
                               ? base::random_bytes(3)
                               : base::to_hex(base::sha256("bundle id" + options.redaction.salt));
  const std::string hex =
      options.redaction.salt.empty()
          ? base::to_hex({reinterpret_cast<const std::uint8_t*>(seed.data()), seed.size()})
          : seed.substr(0, 6);
  return "triage-" + name + "-" + compact_time(clock.now_ns()) + "-" + hex;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The name of this host, for `--local`.
std::string host_name() {
  utsname info{};
  return ::uname(&info) == 0 ? std::string(info.nodename) : "localhost";
}

/// How much may be gathered, expanded: logs pack to a quarter and better. Never more than half of
/// what is free: the host may be ill because its disk is full.
base::Result<std::uint64_t> size_budget(const Request& request, const bundle::Spool& spool) {
  constexpr std::uint64_t k_packing = 4;
  constexpr std::uint64_t k_least = 16ULL << 20U;
  const std::uint64_t wanted = request.max_size * k_packing;
  const auto free = spool.free_bytes();
  if (free && *free < k_least)
    return base::Problem{
        "only " + base::format_bytes(static_cast<std::int64_t>(*free)) + " are free",
        spool.directory(), "choose another place with -o"};
  return free ? std::min(wanted, *free / 2) : wanted;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The salt of a run lives in its spool while that exists, so that a resumed run gives the same
/// pseudonyms. It is never part of the bundle.
constexpr std::string_view k_salt_file = ".lock";

std::string load_salt(const std::string& spool) {
  return read_text(spool + "/" + std::string(k_salt_file));
}
void save_salt(const std::string& spool, const std::string& salt) {
  std::ofstream(spool + "/" + std::string(k_salt_file), std::ios::binary) << salt;
}

bundle::Manifest first_manifest(const CollectOptions& options, const std::string& id,
                                const WallClock& clock, redact::Redactor& redactor) {
  const Request& request = options.request;
  bundle::Manifest manifest;
  manifest.tool_version = options.tool_version;
  manifest.rules_version = options.rules_version;
  manifest.bundle_id = id;
  manifest.incident = harmless(request.incident);
  manifest.created_at = evidence::to_rfc3339({clock.now_ns() / k_second * k_second, 0});
  manifest.labels = options.labels;
  for (auto& [name, value] : manifest.labels) value = redactor.redact(value, k_own_words);
  bool salt = false;
  for (const auto& word : options.command_line) {
    // Who has the salt can test what a pseudonym stands for.
    if (salt)
      manifest.cmdline.emplace_back("(not kept)");
    else if (word.starts_with("--salt="))
      manifest.cmdline.emplace_back("--salt=(not kept)");
    else
      manifest.cmdline.push_back(redactor.redact(word, k_own_words));
    salt = word == "--salt";
  }
  manifest.tier = to_string(request.tier);
  manifest.since = base::format_duration_ns(
      std::chrono::duration_cast<std::chrono::nanoseconds>(request.since).count());
  manifest.deadline_ms = request.deadline.count();
  manifest.complete = false;
  utsname info{};
  if (::uname(&info) == 0)
    manifest.collector_os = std::string(info.sysname) + " " + info.release + " " + info.machine;
  manifest.redaction.mode = options.redaction.strict ? "strict" : "default";
  manifest.redaction.salt_id = redactor.salt_id();
  return manifest;
}

/// Everything that a run does between its first and its last question.
struct Gathered {
  std::optional<base::Problem> no_cluster;
  std::vector<std::string> notes;
};

Gathered gather(Session& session, const CollectOptions& options) {
  Gathered gathered;
  HostSide hosts(session, options.plan);
  Kubernetes cluster(session, options.plan, hosts);
  const Request& request = options.request;
  if (!request.names.empty() || !request.selector.empty() || !request.nodes.empty()) {
    if (auto resolved = cluster.resolve(); resolved) {
      cluster.add_jobs();
    } else {
      gathered.no_cluster = resolved.problem();
    }
  }
  if (request.local) {
    Channel channel;
    channel.node = host_name();
    channel.local = true;
    hosts.add_node(channel, {});
    hosts.add_local_engines();
  }
  session.run(request.jobs);
  gathered.notes = cluster.clean_up();
  return gathered;
}

}  // namespace

std::vector<bundle::ManifestItem> Outcome::failures() const {
  std::vector<bundle::ManifestItem> failed;
  for (const auto& row : manifest.items) {
    const bool bad = row.status == "error" || row.status == "timeout" || row.status == "denied";
    const bool optional =
        std::find(optional_items.begin(), optional_items.end(), row.id) != optional_items.end();
    if (bad && !(optional && row.status == "denied")) failed.push_back(row);
    if (row.id == "target" && !bad) failed.push_back(row);
  }
  return failed;
}

base::Result<Outcome> collect(const CollectOptions& options, const std::atomic<bool>& interrupted,
                              const Progress& progress) {
  const WallClock clock(options.fixed_time_s);
  std::string id = make_bundle_id(options, clock);
  const std::string parent = options.output.empty() ? "." : directory_of(options.output);
  auto opened = options.resume.empty() ? bundle::Spool::create(parent, id)
                                       : bundle::Spool::resume(options.resume);
  if (!opened) return opened.problem();
  bundle::Spool spool = std::move(*opened);
  // Until there is something worth keeping, a failure leaves nothing.
  const auto give_up = [&](base::Problem problem) {
    if (options.resume.empty()) spool.remove();
    return problem;
  };

  redact::Options redaction = options.redaction;
  std::optional<bundle::Manifest> before;
  if (!options.resume.empty()) {
    auto loaded = spool.load_manifest();
    if (!loaded) return loaded.problem();
    before = std::move(*loaded);
    id = before->bundle_id;
    if (const auto salt = load_salt(spool.directory()); !salt.empty()) redaction.salt = salt;
  }
  if (redaction.salt.empty()) {
    constexpr std::size_t k_salt = 32;
    redaction.salt = base::random_bytes(k_salt);
  }
  save_salt(spool.directory(), redaction.salt);
  redact::Redactor redactor(redaction);

  const auto budget = size_budget(options.request, spool);
  if (!budget) return give_up(budget.problem());
  const auto started = std::chrono::steady_clock::now();
  Session session(options.request, spool, redactor, clock, *budget, interrupted, progress);
  session.edit_manifest([&](bundle::Manifest& manifest) {
    manifest = first_manifest(options, id, clock, redactor);
    if (before) manifest.created_at = before->created_at;
  });
  if (before) session.resume(*before);

  const Gathered gathered = gather(session, options);
  if (auto fatal = session.fatal()) return give_up(*fatal);
  const auto rows = session.manifest().items;
  const bool anything =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row.path.empty(); });
  if (gathered.no_cluster && !anything) return give_up(*gathered.no_cluster);
  if (!anything && !session.interrupted()) {
    const auto first =
        std::find_if(rows.begin(), rows.end(), [](const auto& row) { return !row.reason.empty(); });
    return give_up(
        {"nothing could be collected" + (first == rows.end() ? "" : ": " + first->reason), "", ""});
  }

  Outcome outcome;
  for (const PlanItem& item : options.plan.items)
    if (item.optional) outcome.optional_items.push_back(item.id);
  outcome.notes = gathered.notes;
  if (gathered.no_cluster) outcome.notes.push_back(gathered.no_cluster->to_string());
  outcome.interrupted = session.interrupted();
  session.edit_manifest([&](bundle::Manifest& manifest) {
    manifest.deadline_hit =
        session.deadline_hit() && std::any_of(rows.begin(), rows.end(), [](const auto& row) {
          return row.status == "skipped" || row.status == "timeout";
        });
    manifest.complete = !manifest.deadline_hit && !outcome.interrupted && !gathered.no_cluster;
    manifest.finished_at = evidence::to_rfc3339({clock.now_ns() / k_second * k_second, 0});
    manifest.duration_ms = clock.milliseconds(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - started));
    outcome.manifest = manifest;
  });
  const int exit_code = outcome.interrupted                                       ? 130
                        : outcome.failures().empty() && outcome.manifest.complete ? 0
                                                                                  : 4;
  auto finished = finish(session, options, exit_code);
  if (!finished) return give_up(finished.problem());
  outcome.manifest = std::move(finished->manifest);
  outcome.bundle = std::move(finished->bundle);
  outcome.map_failed = finished->map_failed;
  outcome.notes.insert(outcome.notes.end(), finished->notes.begin(), finished->notes.end());
  if (outcome.manifest.complete) {
    spool.remove();
  } else {
    outcome.spool = spool.directory();
  }
  return outcome;
}

}  // namespace triage::collectors

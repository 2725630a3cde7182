#include "collectors/session.hpp"

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "bundle/input.hpp"
#include "collectors/http.hpp"
#include "collectors/intake.hpp"
#include "evidence/time.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;
using Ended = base::Ended;

/// A command as a person wants to see it go by: what is run inside a pod, without the way there.
std::string shown_command(const Job& job) {
  if (job.argv.empty()) return job.url.empty() ? job.id : job.url;
  std::vector<std::string> words;
  for (const auto& word : job.argv) {
    if (word == "--" && std::find(words.begin(), words.end(), "exec") != words.end()) {
      words.clear();
    } else if (word.rfind("--request-timeout=", 0) != 0) {
      words.push_back(word);
    }
  }
  return base::shell_words(words);
}

std::string where_of(const evidence::Place& place) {
  if (!place.pod.empty())
    return place.name_space + "/" + place.pod +
           (place.container.empty() ? "" : "/" + place.container);
  if (!place.node.empty()) return "nodes/" + place.node;
  return place.name_space.empty() ? "cluster" : place.name_space;
}

}  // namespace

std::int64_t WallClock::now_ns() const {
  if (fixed_s_) return *fixed_s_ * 1'000'000'000;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

Session::Session(const Request& request, bundle::Spool& spool, redact::Redactor& redactor,
                 WallClock clock, std::uint64_t size_budget, const std::atomic<bool>& interrupted,
                 const Progress& progress)
    : request_(request),
      spool_(spool),
      redactor_(redactor),
      clock_(clock),
      interrupted_(interrupted),
      progress_(progress),
      size_left_(size_budget) {}

milliseconds Session::left() const {
  return std::chrono::duration_cast<milliseconds>(started_ + request_.deadline -
                                                  std::chrono::steady_clock::now());
}

std::optional<base::Problem> Session::fatal() {
  const std::lock_guard lock(mutex_);
  return fatal_;
}

std::string Session::shown_host(const std::string& host) {
  const bool address = !host.empty() &&
                       host.find_first_not_of("0123456789.") == std::string::npos &&
                       std::count(host.begin(), host.end(), '.') == 3;
  return address ? redactor_.pseudonym_of_ip(host) : redactor_.pseudonym_of_host(host);
}

void Session::add(Job job, Queue::Clock::time_point not_before) {
  {
    const std::lock_guard lock(progress_mutex_);
    ++total_;
  }
  const int order = job.order;
  queue_.push(
      order, [this, job = std::move(job)] { execute(job); }, not_before);
}

void Session::add_absent(const Job& job, const std::string& status, const std::string& reason) {
  {
    const std::lock_guard lock(progress_mutex_);
    ++total_;
  }
  Result result;
  result.row = start_row(job);
  result.row.status = status;
  result.row.reason = reason;
  result.row.path.clear();
  report(job, nullptr, milliseconds{0});
  record(job, result);
}

void Session::add_text(const Job& job, const std::string& text) {
  {
    const std::lock_guard lock(progress_mutex_);
    ++total_;
  }
  report(job, nullptr, milliseconds{0});
  Result result;
  result.row = start_row(job);
  const std::string redacted =
      redactor_.redact(text, {job.path, job.role, bundle::recognise(text, job.path).format});
  result.row.path = claim_path(result.row.path);
  const auto digest = spool_.write(result.row.path, redacted);
  if (digest) {
    TextFacts facts;
    facts.feed(redacted);
    facts.describe(result.row);
    result.row.status = "ok";
    result.row.reason = job.note;
    result.row.sha256 = *digest;
    result.row.bytes_seen = result.row.bytes_kept = redacted.size();
  } else {
    const std::lock_guard lock(mutex_);
    fatal_ = digest.problem();
  }
  record(job, result);
}

Ended Session::ask(const std::vector<std::string>& argv, milliseconds deadline, std::string& output,
                   std::size_t limit) {
  base::Command command;
  command.argv = argv;
  command.deadline = std::max(milliseconds{1}, std::min(deadline, left()));
  command.environment = {{"LC_ALL", "C"}};
  auto ended = base::run(
      command,
      [&](std::string_view piece) {
        output.append(piece.substr(0, limit - std::min(limit, output.size())));
        return output.size() < limit;
      },
      &interrupted_);
  log(base::shell_words(argv) + ": " + read_failure(ended, {}).status);
  return ended;
}

void Session::run(int workers) {
  queue_.run(workers, [this] { return over(); });
  save_manifest_now_and_then(true);
}

void Session::resume(const bundle::Manifest& manifest) {
  for (const auto& row : manifest.items)
    if (!row.path.empty() && (row.status == "ok" || row.status == "empty"))
      resumed_[row.path] = row;
}

bundle::ManifestItem Session::start_row(const Job& job) {
  bundle::ManifestItem row;
  row.id = job.id;
  row.kind = job.role;
  row.path = bundle::safe_path(job.path);
  row.place = job.place;
  if (!row.place.node.empty()) row.place.node = shown_host(row.place.node);
  const redact::Source source{"manifest", evidence::Kind::environment, evidence::Format::lines};
  for (const auto& word : job.argv) row.argv.push_back(redactor_.redact(word, source));
  if (!job.url.empty()) row.url = redactor_.redact(job.url, source);
  row.started_at = evidence::to_rfc3339({clock_.now_ns() / 1'000'000 * 1'000'000, 0});
  return row;
}

std::string Session::claim_path(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::string name = path;
  for (int i = 2; !claimed_.insert(name).second; ++i) name = path + "-" + std::to_string(i);
  return name;
}

void Session::execute(const Job& job) {
  Result result;
  result.row = start_row(job);
  if (job.capture == 0) {
    if (const auto it = resumed_.find(result.row.path); it != resumed_.end()) {
      result.row = it->second;
      (void)claim_path(result.row.path);
      report(job, nullptr, milliseconds{0});
      record(job, result);
      return;
    }
  }
  report(job, nullptr, milliseconds{0});
  constexpr std::uint64_t k_smallest = 64 * 1024;
  const std::uint64_t room = size_left_.load();
  std::string skip;
  if (interrupted())
    skip = "interrupted";
  else if (deadline_hit())
    skip = "the deadline of the whole run was reached";
  else if (fatal())
    skip = "the bundle cannot be written";
  else if (room < k_smallest && job.cap > k_smallest)
    skip = "the size limit of the bundle was reached";
  else if (job.skip)
    skip = job.skip();
  if (!skip.empty()) {
    result.row.status = "skipped";
    result.row.reason = skip;
    result.row.path.clear();
    record(job, result);
    return;
  }
  result.row.path = claim_path(result.row.path);
  auto file = spool_.open(result.row.path);
  if (!file) {
    const std::lock_guard lock(mutex_);
    fatal_ = file.problem();
    return;
  }
  Intake intake(job, std::min(job.cap, std::max(room, k_smallest)), redactor_, std::move(*file));
  const milliseconds deadline = std::max(milliseconds{1}, std::min(job.deadline, left()));
  const auto take = [&](std::string_view piece) { return intake.feed(piece); };
  // The head of an answer comes after its body: of kubectl on another output.
  std::string body;
  const auto take_body = [&](std::string_view piece) {
    body.append(piece.substr(0, job.cap - std::min<std::uint64_t>(job.cap, body.size())));
    return body.size() < job.cap;
  };
  const base::TakeOutput output =
      job.whole_answer ? base::TakeOutput(take_body) : base::TakeOutput(take);
  HttpHead head;
  if (!job.url.empty()) {
    result.ended = http_get(job.url, deadline, output, &interrupted_, &head);
  } else {
    base::Command command;
    command.argv = job.argv;
    command.deadline = deadline;
    command.environment = {{"LC_ALL", "C"}};
    result.ended = base::run(command, output, &interrupted_);
    if (job.whole_answer) head = read_http_head(result.ended.error_text, body);
  }
  if (!head.status.empty() && job.whole_answer)
    body.insert(0, head.status + "\n" + head.fields + "\n");
  if (!body.empty()) (void)intake.feed(body);
  const bool from_errors = job.keep_error_text && result.ended.bytes == 0 &&
                           result.ended.how != Ended::How::not_found &&
                           !result.ended.error_text.empty();
  if (from_errors) (void)intake.feed(result.ended.error_text);
  intake.finish();
  result.row.bytes_seen = intake.capped().seen();
  result.row.bytes_kept = intake.file().size();
  result.row.cut = intake.capped().cut();
  result.row.redactions = intake.redactions();
  result.raw = std::move(intake.raw());
  result.redacted = std::move(intake.redacted());
  judge(job, result);
  const bool answered = job.whole_answer && !head.status.empty();
  if (answered && result.row.status != "ok") {
    result.row.status = "ok";
    result.row.reason = head.status;
  }
  if (result.row.status == "ok" && result.row.reason.empty()) result.row.reason = job.note;
  if (result.row.status == "ok" && says_nothing(intake.sample(), job.absent)) {
    result.row.status = "empty";
    result.row.reason = first_line(intake.sample());
  }
  const bool failed = result.row.status != "ok" && result.row.status != "timeout";
  const bool keep = result.row.bytes_kept > 0 && result.row.status != "missing" &&
                    result.row.status != "empty" &&
                    (!failed || job.keep_failed_output || from_errors);
  if (job.error_is_answer && failed && !keep && result.row.status == "error")
    result.row.status = "missing";
  if (intake.problem()) {
    const std::lock_guard lock(mutex_);
    fatal_ = intake.problem();
    return;
  }
  if (keep) {
    auto digest = intake.file().keep();
    if (!digest) {
      const std::lock_guard lock(mutex_);
      fatal_ = digest.problem();
      return;
    }
    result.row.sha256 = *digest;
    intake.facts().describe(result.row);
    std::uint64_t before = size_left_.load();
    while (!size_left_.compare_exchange_weak(before,
                                             before - std::min(before, result.row.bytes_kept))) {
    }
  } else {
    {
      const std::lock_guard lock(mutex_);
      claimed_.erase(result.row.path);
    }
    result.row.path.clear();
    result.row.bytes_kept = 0;
    result.row.cut.reset();
    if (result.row.status == "ok") result.row.status = "empty";
  }
  record(job, result);
}

void Session::judge(const Job& job, Result& result) const {
  const auto failure = read_failure(result.ended, job.absent);
  auto& row = result.row;
  row.status = failure.status;
  row.reason = redactor_.redact(failure.reason,
                                {"manifest", evidence::Kind::environment, evidence::Format::lines});
  row.duration_ms = clock_.milliseconds(result.ended.duration);
  if (result.ended.how == Ended::How::exited) row.exit_code = result.ended.exit_code;
  if (result.ended.signal != 0) row.signal = result.ended.signal;
  if (result.ended.how == Ended::How::timed_out && deadline_hit())
    row.reason = "the deadline of the whole run was reached";
}

void Session::record(const Job& job, Result& result) {
  {
    const std::lock_guard lock(mutex_);
    manifest_.items.push_back(result.row);
  }
  report(job, &result.row, result.ended.duration);
  log((job.argv.empty() ? job.url : base::shell_words(job.argv)) + ": " + result.row.status +
      (result.row.reason.empty() ? "" : " (" + result.row.reason + ")"));
  save_manifest_now_and_then(false);
  if (job.then) job.then(result);
}

void Session::report(const Job& job, const bundle::ManifestItem* finished, milliseconds duration) {
  if (!progress_) return;
  const std::lock_guard lock(progress_mutex_);
  Step step;
  // Several run at a time: a step's number is its place among those that have ended.
  if (finished != nullptr) ++ended_;
  step.number = finished != nullptr ? ended_ : ended_ + 1;
  step.total = total_;
  step.where = where_of(job.place);
  step.what = shown_command(job);
  step.duration = duration;
  if (finished != nullptr) {
    step.finished = true;
    step.status = finished->status;
    step.reason = finished->reason;
  }
  progress_(step);
}

void Session::log(const std::string& line) {
  const std::string redacted =
      redactor_.redact(line, {"collect.log", evidence::Kind::environment, evidence::Format::lines});
  const std::string stamp = evidence::to_rfc3339({clock_.now_ns() / 1'000'000 * 1'000'000, 0});
  const std::lock_guard lock(mutex_);
  log_ += stamp + " " + base::replace_all(redacted, "\n", " ") + "\n";
}

void Session::edit_manifest(const std::function<void(bundle::Manifest&)>& edit) {
  const std::lock_guard lock(mutex_);
  edit(manifest_);
}

bundle::Manifest Session::manifest() {
  const std::lock_guard lock(mutex_);
  return manifest_;
}

std::string Session::log_text() {
  const std::lock_guard lock(mutex_);
  if (!clock_.fixed()) return log_;
  // Commands run side by side: of the same evidence the same log, in whatever order they ended.
  auto lines = base::split_lines(log_);
  std::stable_sort(lines.begin(), lines.end());
  std::string sorted;
  for (const auto line : lines) sorted.append(line).push_back('\n');
  return sorted;
}

void Session::save_manifest_now_and_then(bool now) {
  // After every item would be quadratic in thousands of them; what a crash loses is gathered again.
  constexpr milliseconds k_pause{500};
  const std::lock_guard lock(mutex_);
  const auto at = std::chrono::steady_clock::now();
  if (fatal_ || (!now && at - saved_ < k_pause)) return;
  saved_ = at;
  bundle::Manifest copy = manifest_;
  copy.complete = false;
  if (auto saved = spool_.save_manifest(copy); !saved) fatal_ = saved.problem();
}

}  // namespace triage::collectors

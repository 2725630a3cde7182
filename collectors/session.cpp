#include "collectors/session.hpp"

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "bundle/decoders.hpp"
#include "bundle/input.hpp"
#include "bundle/streams.hpp"
#include "collectors/http.hpp"
#include "collectors/text_facts.hpp"
#include "evidence/time.hpp"

namespace triage::collectors {
namespace {

using std::chrono::milliseconds;
using Ended = base::Ended;

constexpr std::size_t k_head = 64 * 1024;
constexpr std::size_t k_sample = 512;

/// Raw output of a program on its way to the spool: decompressed when it is compressed (rotated
/// logs), redacted, capped. The format is taken from the first bytes, since redaction reads JSON
/// otherwise than lines.
class Intake {
 public:
  Intake(const Job& job, std::uint64_t cap, redact::Redactor& redactor, bundle::SpoolFile file)
      : job_(job), redactor_(redactor), file_(std::move(file)), capped_(cap, job.keep) {}

  /// False when the spool can take no more, or nothing more is wanted.
  bool feed(std::string_view bytes) {
    if (raw_.size() < job_.capture) raw_.append(bytes.substr(0, job_.capture - raw_.size()));
    if (packed_ || stream_) {
      pass(bytes);
    } else {
      held_.append(bytes);
      if (held_.size() >= k_head) open();
    }
    // A head that is full needs no more; the rest would only be redacted for nothing.
    const bool full = job_.keep == Keep::head && capped_.seen() > capped_.kept();
    return !problem_ && !full;
  }

  void finish() {
    if (!packed_ && !stream_) open();
    if (packed_) unpack();
    if (stream_) stream_->finish([&](std::string_view text) { take(text); });
    capped_.finish([&](std::string_view text) { write(text); });
  }

  [[nodiscard]] const std::optional<base::Problem>& problem() const { return problem_; }
  [[nodiscard]] const CappedText& capped() const { return capped_; }
  [[nodiscard]] std::uint64_t redactions() const { return stream_ ? stream_->counts().total() : 0; }
  [[nodiscard]] bundle::SpoolFile& file() { return file_; }
  [[nodiscard]] std::string& raw() { return raw_; }
  /// The whole output when it is short.
  [[nodiscard]] std::string_view sample() const {
    return capped_.seen() <= k_sample ? std::string_view(sample_) : std::string_view();
  }
  [[nodiscard]] const TextFacts& facts() const { return facts_; }
  [[nodiscard]] std::string& redacted() { return redacted_; }

 private:
  void open() {
    if (bundle::sniff_compression(held_) != bundle::Compression::none) {
      packed_ = true;
      return;
    }
    open_stream(held_);
    const std::string first = std::exchange(held_, {});
    pass(first);
  }
  void open_stream(std::string_view head) {
    const auto seen = bundle::recognise(head.substr(0, k_head), job_.path);
    stream_.emplace(redactor_.open({job_.path, job_.role, seen.format}));
  }
  void pass(std::string_view bytes) {
    if (packed_) {
      constexpr std::size_t k_packed_limit = 64U << 20U;
      if (held_.size() < k_packed_limit)
        held_.append(bytes.substr(0, k_packed_limit - held_.size()));
      return;
    }
    stream_->feed(bytes, [&](std::string_view text) { take(text); });
  }
  void unpack() {
    const auto compression = bundle::sniff_compression(held_);
    bundle::MemoryStream packed(std::move(held_));
    const auto decoder = bundle::make_decoder(compression, packed, {});
    bundle::PeekStream text(*decoder);
    open_stream(text.peek(k_head));
    std::vector<char> buffer(k_head);
    constexpr std::uint64_t k_unpacked_limit = 1ULL << 30U;
    std::uint64_t total = 0;
    while (const std::size_t got = text.read(buffer)) {
      total += got;
      if (total > k_unpacked_limit || problem_) break;
      stream_->feed({buffer.data(), got}, [&](std::string_view piece) { take(piece); });
    }
  }
  void take(std::string_view text) {
    if (sample_.size() < k_sample) sample_.append(text.substr(0, k_sample - sample_.size()));
    if (redacted_.size() < job_.capture)
      redacted_.append(text.substr(0, job_.capture - redacted_.size()));
    capped_.feed(text, [&](std::string_view piece) { write(piece); });
  }
  void write(std::string_view text) {
    if (problem_) return;
    facts_.feed(text);
    if (auto wrote = file_.write(text); !wrote) problem_ = wrote.problem();
  }

  const Job& job_;
  redact::Redactor& redactor_;
  bundle::SpoolFile file_;
  CappedText capped_;
  std::optional<redact::Stream> stream_;
  std::string held_;
  bool packed_ = false;
  std::string raw_;
  std::string redacted_;
  std::string sample_;
  TextFacts facts_;
  std::optional<base::Problem> problem_;
};

/// Whether an output says nothing but that there is nothing (`-- No entries --`).
bool says_nothing(std::string_view output, const std::vector<std::string>& absent) {
  output = base::trim(output);
  return !output.empty() && std::any_of(absent.begin(), absent.end(), [&](const auto& words) {
    return base::icontains(output, words);
  });
}

std::string first_line(std::string_view text) {
  for (const auto line : base::split_lines(text))
    if (!base::trim(line).empty()) return base::shorten(base::trim(line), 300);
  return {};
}

/// The line that says why kubectl failed. What its libraries log (`E1130 08:02:21 ... memcache.go`:
/// an aggregated API that is down, say) stands before it and is seldom the reason.
std::string telling_line(std::string_view text) {
  const auto is_log = [](std::string_view line) {
    constexpr std::size_t k_prefix = 5;
    return line.size() > k_prefix && std::string_view("IWEF").find(line[0]) != std::string::npos &&
           std::all_of(line.begin() + 1, line.begin() + k_prefix,
                       [](char c) { return c >= '0' && c <= '9'; }) &&
           line[k_prefix] == ' ';
  };
  std::string_view other;
  for (const auto line : base::split_lines(text)) {
    const auto words = base::trim(line);
    if (words.empty() || is_log(words)) continue;
    if (words.starts_with("Error from server") || words.starts_with("error: "))
      return base::shorten(words, 300);
    if (other.empty()) other = words;
  }
  return other.empty() ? first_line(text) : base::shorten(other, 300);
}

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

Failure read_failure(const Ended& ended, const std::vector<std::string>& absent) {
  const std::string said = telling_line(ended.error_text);
  const auto has = [&](std::string_view words) { return base::icontains(ended.error_text, words); };
  switch (ended.how) {
    case Ended::How::not_found:
      return {"missing", "the program is not installed"};
    case Ended::How::not_started:
      return {"error", "could not be started: " + said};
    case Ended::How::timed_out:
      return {"timeout", "did not end in time and was killed"};
    case Ended::How::unkillable:
      return {"timeout", "hangs inside the kernel and cannot be killed; it was left alone"};
    case Ended::How::cancelled:
      return {"skipped", "interrupted"};
    case Ended::How::stopped:
      return {"ok", ""};
    case Ended::How::signalled:
      return {"error",
              "died of signal " + std::to_string(ended.signal) + (said.empty() ? "" : ": " + said)};
    case Ended::How::exited:
      break;
  }
  if (ended.exit_code == 0) return {"ok", ""};
  for (const auto& words : absent)
    if (has(words)) return {"missing", said};
  if (has("(Forbidden)") || has("(Unauthorized)") || has("You must be logged in") ||
      has("permission denied") || has("Operation not permitted") || has("are you root") ||
      has("not permitted to read"))
    return {"denied", said};
  if (has("executable file not found"))
    return {"missing", "the program is not in the container that was entered"};
  if (has("(NotFound)") || has("command not found") || has("No such file or directory") ||
      ended.exit_code == 127)
    return {"missing", said};
  if (has("i/o timeout") || has("context deadline exceeded") || has("Client.Timeout exceeded") ||
      has("the server was unable to return a response in the time allotted"))
    return {"timeout", said};
  return {"error", said.empty() ? "exit code " + std::to_string(ended.exit_code) : said};
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
  if (job.whole_answer && !head.status.empty())
    (void)intake.feed(head.status + "\n" + head.fields + "\n" + body);
  else if (job.whole_answer)
    (void)intake.feed(body);
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

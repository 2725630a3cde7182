#include "redact/redactor.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "redact/identifiers.hpp"
#include "redact/known_values.hpp"
#include "redact/line_machine.hpp"
#include "redact/namer.hpp"
#include "redact/profiles.hpp"
#include "redact/user_text_spans.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

/// A line is looked at as a whole: where it is cut, what is open around the cut (a quote, a key
/// before its value) would be lost. Of a line longer than this the rest is masked unseen; what
/// remains is shorter by some, so that a second run leaves it alone.
constexpr std::size_t k_longest_line = 64U << 20U;
constexpr std::size_t k_longest_head = k_longest_line - (k_longest_line >> 3U);
/// Lines that wait for the kind of their object: no Kubernetes object is larger than 1.5 MiB.
constexpr std::size_t k_most_held = 2U << 20U;
constexpr std::size_t k_cut_search = 64U << 10U;
/// Bytes that may stand around a line in its buffer: a byte-order mark, a carriage return.
constexpr std::size_t k_around_line = 8;
/// Lines longer than this are looked at one at a time, whichever streams they stand in, as each
/// takes some times its size.
constexpr std::size_t k_long_line = 2U << 20U;
/// Entries of a private map: enough for a bundle, bounded for a hostile one.
constexpr std::size_t k_most_map_entries = 1'000'000;
/// How often a redacted line is looked at again until nothing changes any more; two are common.
constexpr int k_most_rounds = 4;
/// Files that a report lists one by one.
constexpr std::size_t k_most_report_files = 20'000;

/// How much of a line that is too long is looked at: up to a place where few values are cut.
std::size_t head_length(std::string_view line) {
  const std::string_view head = line.substr(0, k_longest_head);
  const auto cut = head.find_last_of(" ,]}>\t");
  return cut == std::string_view::npos || cut + k_cut_search < head.size() ? head.size() : cut + 1;
}

bool ends_in_placeholder(std::string_view text) {
  const std::string_view tail = text.substr(text.size() - std::min<std::size_t>(text.size(), 48));
  const auto open = tail.find_last_of("<[");
  return open != std::string_view::npos &&
         placeholder_length(tail.substr(open)) == tail.size() - open;
}

/// Whether an object is called like a known user: `deployment/model-server`, `gpuadmin-01`. Homes
/// and addresses of mail are the user's.
bool is_part_of_name(std::string_view line, std::size_t begin, std::size_t end) {
  const char after = end < line.size() ? line[end] : ' ';
  if (after == '-' || after == '/') return !line.substr(0, begin).ends_with("home/");
  if (begin == 0) return false;
  const std::string_view before = line.substr(0, begin);
  return before.back() == '-' ||
         (before.back() == '/' && !before.ends_with("home/") && !before.ends_with("Users/"));
}

/// Appends without the doubling by which a string grows: of a long line that would be twice as much
/// again.
void append(std::string& text, std::string_view more) {
  const std::size_t size = text.size() + more.size();
  if (size > k_long_line && size > text.capacity()) text.reserve(size + size / 8);
  text += more;
}

/// Other spellings of a value that should be masked as well.
std::vector<std::string> spellings(std::string_view value) {
  std::vector<std::string> all;
  std::string escaped;
  std::string percent;
  static constexpr char k_hex[] = "0123456789ABCDEF";
  bool plain = true;
  for (const char c : value) {
    if (c == '\n' || c == '\t' || c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c == '\n' ? 'n' : c == '\t' ? 't' : c;
    } else {
      escaped += c;
    }
    const bool unreserved = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                            (c >= 'A' && c <= 'Z') || std::strchr("-_.~", c) != nullptr;
    if (unreserved) {
      percent += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      percent += '%';
      percent += k_hex[byte >> 4U];
      percent += k_hex[byte & 15U];
      plain = false;
    }
  }
  if (escaped.size() != value.size()) all.push_back(std::move(escaped));
  if (!plain) all.push_back(std::move(percent));
  return all;
}

}  // namespace

std::uint64_t Counts::total() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : by_what) sum += n;
  return sum;
}

std::uint64_t Counts::tier1() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < by_what.size(); ++i)
    if (is_credential(static_cast<What>(i)) || is_content(static_cast<What>(i))) sum += by_what[i];
  return sum;
}

void Counts::add(const Counts& other) {
  for (std::size_t i = 0; i < by_what.size(); ++i) by_what[i] += other.by_what[i];
  for (const auto& [rule, n] : other.by_rule) by_rule[rule] += n;
}

struct Redactor::Shared {
  explicit Shared(Options given)
      : options(std::move(given)),
        namer(options.placeholders == Options::Placeholders::fixed ? Namer::Style::fixed
                                                                   : Namer::Style::pseudonyms,
              options.salt.empty() ? base::random_bytes(32) : options.salt),
        spans(options.user_text) {
    for (const auto& [key, result] : options.custom.keys) classifier.add(key, result);
  }

  Options options;
  Namer namer;
  KeyClassifier classifier;
  UserTextSpans spans;
  KnownValues known;

  mutable std::mutex mutex;
  std::mutex long_lines;  ///< one at a time
  Counts totals;
  std::vector<std::pair<std::string, Counts>> files;
  std::map<std::string, std::string> reverse;
};

struct Stream::State {
  State(Redactor::Shared& run, Source of, bool checking)
      : shared(run),
        source(std::move(of)),
        check(checking),
        keys(run.classifier),
        env{run.namer, keys, checking ? nullptr : &run.known,
            profile_of(source.kind, source.format)},
        machine(env, 0),
        finder(run.known),
        tracker(run.spans, source.kind) {
    env.profile.strict = run.options.strict;
  }

  void line(std::string_view text, std::string& out);
  void whole_line(std::string_view text, std::string& out);
  void settle(std::size_t begin, std::string& out);
  void end_overlong(std::string& out);
  void whole_lines(std::string_view text, bool last, std::string& out);
  [[nodiscard]] std::size_t lines(std::string_view text, bool last, std::string& out);
  [[nodiscard]] std::optional<ObjectKind> kind_behind(const DataKey& data, std::string_view text,
                                                      std::size_t begin, bool last);
  void beyond_structure(std::string_view line);
  void span_of_user_text(std::string_view line, const UserTextTracker::Part& part);
  void mask_text(std::string_view line, std::size_t begin, std::size_t end);
  [[nodiscard]] const Edit* edit_behind(std::size_t begin) const;
  [[nodiscard]] bool touches_edit(std::size_t begin, std::size_t end) const;
  [[nodiscard]] bool covered_by_edit(std::size_t begin, std::size_t end) const;

  Redactor::Shared& shared;
  Source source;
  bool check;
  bool finished = false;
  KeyCache keys;
  Env env;
  LineMachine machine;
  KnownValueFinder finder;
  UserTextTracker tracker;
  Counts counts;
  std::string carry;  ///< the start of a line whose end did not come yet
  std::string held;   ///< whole lines from a `data` key on whose object's kind did not come yet
  std::optional<KindAhead> ahead;  ///< looks for it
  std::size_t looked_at = 0;       ///< bytes behind the line of the key where it was not found
  std::string output;              ///< kept for its capacity
  std::string redacted;            ///< likewise
  bool first_line = true;
  bool overlong = false;  ///< the line in `carry` grew too long: its start went out, the rest goes
  Edits edits;
  std::size_t structural = 0;  ///< of the edits, those that the structure of the line gave
  std::vector<KnownValueFinder::Hit> hits;
  std::vector<UserTextTracker::Part> parts;
  std::vector<CustomHit> custom;
};

/// The first of the edits that structure gave (sorted, apart) which ends behind `begin`.
const Edit* Stream::State::edit_behind(std::size_t begin) const {
  const auto last = edits.begin() + static_cast<std::ptrdiff_t>(structural);
  const auto found = std::partition_point(edits.begin(), last,
                                          [&](const Edit& edit) { return edit.end <= begin; });
  return found == last ? nullptr : &*found;
}
bool Stream::State::touches_edit(std::size_t begin, std::size_t end) const {
  const Edit* edit = edit_behind(begin);
  return edit != nullptr && edit->begin < end;
}
bool Stream::State::covered_by_edit(std::size_t begin, std::size_t end) const {
  const Edit* edit = edit_behind(begin);
  return edit != nullptr && edit->begin <= begin && end <= edit->end;
}

void Stream::State::mask_text(std::string_view line, std::size_t begin, std::size_t end) {
  const std::string_view text = line.substr(begin, end - begin);
  if (touches_edit(begin, end) || is_masked(text) || is_technical(text)) return;
  edits.push_back({begin, end, What::text, shared.namer.name(What::text, text)});
  if (env.known != nullptr) env.known->add(text, What::text);
}

/// Packs mark where user text may stand, often a whole request object to the end of the line. What
/// reads like prose in it is masked: quoted texts, or all of it when it has no structure. Ids,
/// parameters and counts beside it are evidence, and brackets keep JSON what it is.
void Stream::State::span_of_user_text(std::string_view line, const UserTextTracker::Part& part) {
  const std::string_view text = line.substr(part.begin, part.end - part.begin);
  if (text.find_first_of("\"'{[=") == std::string_view::npos) {
    const std::string_view words = base::trim(text);
    if (!is_prose(words, 3)) return;
    const auto begin = static_cast<std::size_t>(words.data() - line.data());
    return mask_text(line, begin, begin + words.size());
  }
  // One text between quotes and nothing else, as short as it may be.
  const char first = text.front();
  if ((first == '"' || first == '\'') && text.size() > 3 && text.back() == first &&
      text.substr(1, text.size() - 2).find(first) == std::string_view::npos)
    return mask_text(line, part.begin + 1, part.end - 1);
  for (std::size_t at = part.begin; at < part.end; ++at) {
    if (const Edit* edit = edit_behind(at); edit != nullptr && edit->begin <= at) {
      at = edit->end;  // the quote behind a masked text ends it and begins none
      continue;
    }
    const char quote = line[at];
    if (quote != '"' && quote != '\'') continue;
    const bool inside_word =
        at > 0 && (std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0);
    if (inside_word) continue;
    std::size_t close = at + 1;
    while (close < part.end && line[close] != quote) close += line[close] == '\\' ? 2 : 1;
    close = std::min(close, part.end);
    if (is_prose(line.substr(at + 1, close - at - 1), 3)) mask_text(line, at + 1, close);
    at = close;
  }
}

/// What is masked wherever it stands: spans of rule packs, rules of the user, values known from
/// elsewhere.
void Stream::State::beyond_structure(std::string_view line) {
  parts.clear();
  tracker.line(line, parts);
  for (const UserTextTracker::Part& part : parts) span_of_user_text(line, part);
  if (!shared.options.custom.rules.empty()) {
    custom.clear();
    find_custom(shared.options.custom, source.kind, line, custom);
    for (const CustomHit& hit : custom) {
      const std::string_view text = line.substr(hit.begin, hit.end - hit.begin);
      edits.push_back({hit.begin, hit.end, What::custom,
                       shared.namer.name(What::custom, text, "x-" + hit.rule->label)});
      ++counts.by_rule[hit.rule->id];
    }
  }
  hits.clear();
  finder.find(line, hits);
  for (const KnownValueFinder::Hit& hit : hits) {
    if (covered_by_edit(hit.begin, hit.end)) continue;
    // Where the structure of the line showed the text, it knows better where it ends.
    // Kernels and drivers write no texts after a template.
    if (hit.other && (!env.profile.free_text || covered_by_edit(hit.begin, hit.begin + 1)))
      continue;
    const KnownValues::Value& value = *hit.value;
    if (value.what == What::user && is_part_of_name(line, hit.begin, hit.end)) continue;
    const std::string_view text =
        hit.other ? line.substr(hit.begin, hit.end - hit.begin) : std::string_view(value.text);
    std::string name = value.what != What::host ? shared.namer.name(value.what, text)
                       : env.profile.strict     ? shared.namer.name_of_whole_host(value.text)
                                                : shared.namer.name_of_host(value.text);
    edits.push_back({hit.begin, hit.end, value.what, std::move(name)});
  }
}

void Stream::State::line(std::string_view text, std::string& out) {
  if (text.size() <= k_long_line) return whole_line(text, out);
  const std::lock_guard one_at_a_time(shared.long_lines);
  out.reserve(out.size() + text.size() + text.size() / 16);
  if (text.size() <= k_longest_line + 1) {
    whole_line(text, out);
  } else {
    whole_line(text.substr(0, head_length(text)), out);
    end_overlong(out);
  }
  // What was kept for its capacity would stay as large as the largest line.
  edits = {};
  hits = {};
  redacted = {};
}

/// Instead of what follows the head of a line that is too long.
void Stream::State::end_overlong(std::string& out) {
  if (ends_in_placeholder(out)) return;
  out += env.profile.xml ? "[text]" : "<text>";
  ++counts.by_what[static_cast<std::size_t>(What::text)];
}

void Stream::State::whole_line(std::string_view text, std::string& out) {
  edits.clear();
  const std::size_t learnt = shared.known.size();
  machine.remember();
  machine.line(text, edits);
  if (env.known != nullptr) {
    // What this line taught is learnt in its other spellings too.
    for (std::size_t i = learnt, n = shared.known.size(); i < n && i < learnt + 64; ++i) {
      const KnownValues::Value& value = shared.known.at(i);
      for (const std::string& spelling : spellings(value.text))
        shared.known.add(spelling, value.what);
    }
  }
  normalise(edits);
  structural = edits.size();
  beyond_structure(text);
  if (edits.empty()) return append(out, text);
  normalise(edits);
  for (const Edit& edit : edits) ++counts.by_what[static_cast<std::size_t>(edit.what)];
  if (shared.options.keep_reverse_map && !check) {
    const std::lock_guard lock(shared.mutex);
    for (const Edit& edit : edits)
      if (shared.reverse.size() < k_most_map_entries)
        shared.reverse.try_emplace(edit.replacement,
                                   text.substr(edit.begin, edit.end - edit.begin));
  }
  const bool settled = std::all_of(edits.begin(), edits.end(),
                                   [](const Edit& edit) { return is_address(edit.what); });
  const std::size_t begin = out.size();
  apply(text, edits, out);
  if (!settled) settle(begin, out);
}

/// Placeholders read differently from what they stand for: a sentence may have become a word, or
/// a quote have found its end. Whatever a second run would still mask is masked now.
void Stream::State::settle(std::size_t begin, std::string& out) {
  KnownValues* const known = env.known;
  env.known = nullptr;  // what holds placeholders is not worth knowing
  for (int round = 0; round < k_most_rounds; ++round) {
    edits.clear();
    machine.again(std::string_view(out).substr(begin), edits);
    if (edits.empty()) break;
    normalise(edits);
    redacted.clear();
    apply(std::string_view(out).substr(begin), edits, redacted);
    out.replace(begin, std::string::npos, redacted);
  }
  env.known = known;
}

/// Takes whole lines. Those that must wait for the kind of their object are kept; `last`: nothing
/// will come that they could wait for.
void Stream::State::whole_lines(std::string_view text, bool last, std::string& out) {
  if (held.empty()) {
    held = text.substr(lines(text, last, out));
    return;
  }
  held += text;
  held.erase(0, lines(held, last, out));
}

/// The kind of the object whose `data` key is the line at `begin`, or nothing when the lines that
/// would tell did not come yet.
std::optional<ObjectKind> Stream::State::kind_behind(const DataKey& data, std::string_view text,
                                                     std::size_t begin, bool last) {
  if (!ahead) {
    ahead.emplace(data);
    looked_at = 0;
  }
  const std::size_t behind = std::min(text.find('\n', begin), text.size() - 1) + 1;
  std::size_t at = behind + looked_at;
  bool decided = false;
  while (at < text.size() && !decided) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    decided = end - begin > k_most_held || ahead->line(text.substr(at, end - at));
    at = end + 1;
  }
  if (!decided && !last) {
    looked_at = at - behind;
    return std::nullopt;
  }
  const ObjectKind kind = ahead->kind();
  ahead.reset();
  return kind;
}

/// How much of `text` was read: all of it, unless a line must wait.
std::size_t Stream::State::lines(std::string_view text, bool last, std::string& out) {
  tracker.block(text);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto newline = text.find('\n', begin);
    const bool ended = newline != std::string_view::npos;
    std::string_view line = text.substr(begin, (ended ? newline : text.size()) - begin);
    if (const DataKey data = machine.asks_for_kind(line); data.found) {
      const auto kind = kind_behind(data, text, begin, last);
      if (!kind) break;
      machine.kind_ahead(*kind);
    }
    begin = ended ? newline + 1 : text.size();
    if (first_line) {
      first_line = false;
      if (line.starts_with("\xEF\xBB\xBF")) out += line.substr(0, 3), line.remove_prefix(3);
      if (line.starts_with("<?xml") || line.starts_with("<!DOCTYPE")) env.profile.xml = true;
    }
    const bool carriage = line.size() <= k_longest_line + 1 && line.ends_with('\r');
    if (carriage) line.remove_suffix(1);
    this->line(line, out);
    machine.kind_ahead(ObjectKind::unknown);
    if (carriage) out += '\r';
    if (ended) out += '\n';
  }
  tracker.block({});
  return std::min(begin, text.size());
}

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

const Counts& Stream::counts() const {
  return state_->counts;
}

void Stream::feed(std::string_view chunk, const Sink& sink) {
  State& s = *state_;
  s.output.clear();
  if (s.output.capacity() > k_long_line) s.output.shrink_to_fit();
  if (s.overlong) {
    const auto newline = chunk.find('\n');
    if (newline == std::string_view::npos) return;
    s.overlong = false;
    s.output += '\n';
    chunk.remove_prefix(newline + 1);
  }
  const auto last = chunk.rfind('\n');
  if (last == std::string_view::npos) {
    append(s.carry, chunk);
  } else {
    if (s.carry.empty()) {
      s.whole_lines(chunk.substr(0, last + 1), false, s.output);
    } else {
      const auto first = chunk.find('\n');
      append(s.carry, chunk.substr(0, first + 1));
      s.whole_lines(s.carry, false, s.output);
      s.carry.clear();
      if (s.carry.capacity() > k_long_line) s.carry.shrink_to_fit();
      s.whole_lines(chunk.substr(first + 1, last - first), false, s.output);
    }
    append(s.carry, chunk.substr(last + 1));
  }
  // Nothing waits for a line of this size.
  if (s.carry.size() > k_most_held && !s.held.empty()) s.whole_lines({}, true, s.output);
  // A line without end must not grow without bound.
  if (s.carry.size() > k_longest_line + k_around_line) {
    s.whole_lines(s.carry, true, s.output);
    s.carry = {};
    s.overlong = true;
  }
  if (!s.output.empty()) sink(s.output);
}

void Stream::finish(const Sink& sink) {
  State& s = *state_;
  if (s.finished) return;
  s.finished = true;
  s.output.clear();
  s.whole_lines(s.carry, true, s.output);
  s.carry.clear();
  if (!s.output.empty()) sink(s.output);
  if (s.check) return;
  const std::lock_guard lock(s.shared.mutex);
  s.shared.totals.add(s.counts);
  if (s.shared.files.size() < k_most_report_files)
    s.shared.files.emplace_back(s.source.name, s.counts);
}

Redactor::Redactor(Options options) : shared_(std::make_unique<Shared>(std::move(options))) {}
Redactor::~Redactor() = default;

Stream Redactor::open(const Source& source) {
  return Stream(std::make_unique<Stream::State>(*shared_, source, false));
}

Stream Redactor::check(const Source& source) {
  return Stream(std::make_unique<Stream::State>(*shared_, source, true));
}

std::string Redactor::redact(std::string_view text, const Source& source) {
  std::string out;
  Stream stream = open(source);
  const Sink sink = [&out](std::string_view part) { out += part; };
  stream.feed(text, sink);
  stream.finish(sink);
  return out;
}

std::string Redactor::pseudonym_of_host(std::string_view host) {
  if (shared_->options.strict) {
    if (host.empty() || host == "localhost") return std::string(host);
    shared_->known.add(host, What::host);
    return shared_->namer.name_of_whole_host(host);
  }
  return is_private_host(host, true) ? shared_->namer.name_of_host(host) : std::string(host);
}

std::string Redactor::pseudonym_of_ip(std::string_view address) {
  return shared_->namer.name_of_ip(address);
}

Counts Redactor::totals() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->totals;
}

std::size_t Redactor::known_values() const {
  return shared_->known.size();
}

std::string Redactor::salt_id() const {
  return shared_->namer.salt_id();
}

bool Redactor::strict() const {
  return shared_->options.strict;
}

std::string Redactor::report_json() const {
  using nlohmann::ordered_json;
  const auto counts_json = [](const Counts& counts) {
    ordered_json json = ordered_json::object();
    for (std::size_t i = 0; i < counts.by_what.size(); ++i)
      if (counts.by_what[i] > 0)
        json[std::string(to_string(static_cast<What>(i)))] = counts.by_what[i];
    return json;
  };
  const std::lock_guard lock(shared_->mutex);
  ordered_json report;
  report["schema"] = "triage.redaction/v1";
  report["mode"] = shared_->options.strict ? "strict" : "default";
  report["placeholders"] =
      shared_->options.placeholders == Options::Placeholders::fixed ? "fixed" : "pseudonyms";
  report["salt_id"] = shared_->options.placeholders == Options::Placeholders::fixed
                          ? ordered_json(nullptr)
                          : ordered_json(shared_->namer.salt_id());
  report["total"] = shared_->totals.total();
  report["by_kind"] = counts_json(shared_->totals);
  report["by_rule"] = shared_->totals.by_rule;
  auto files = shared_->files;
  std::stable_sort(files.begin(), files.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  report["files"] = ordered_json::array();
  for (const auto& [name, counts] : files) {
    if (counts.total() == 0) continue;
    report["files"].push_back({{"file", base::to_valid_utf8(name)},
                               {"total", counts.total()},
                               {"by_kind", counts_json(counts)}});
  }
  return report.dump(1) + "\n";
}

std::vector<std::pair<std::string, std::string>> Redactor::reverse_map() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->reverse.begin(), shared_->reverse.end()};
}

}  // namespace triage::redact

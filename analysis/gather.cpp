#include "analysis/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "analysis/derive/derive.hpp"
#include "analysis/formats/parsers.hpp"
#include "analysis/named_place.hpp"
#include "analysis/read_ahead.hpp"
#include "analysis/scan_crew.hpp"
#include "base/digest.hpp"
#include "base/stopwatch.hpp"
#include "bundle/documentation.hpp"
#include "bundle/streams.hpp"

namespace triage::analysis {

using evidence::Fact;

namespace {

/// Structured evidence is read whole; what is longer is cut and said so.
constexpr std::size_t k_most_structured = 64U << 20U;
constexpr std::size_t k_most_facts = 400'000;
/// A log of this size waits in memory until a thread is free for it.
constexpr std::size_t k_small_log = 2U << 20U;

/// Hashes what passes through.
class Digesting final : public bundle::ByteStream {
 public:
  explicit Digesting(bundle::ByteStream& source) : source_(source) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t got = source_.read(buffer);
    sha_.update({buffer.data(), got});
    return got;
  }
  std::optional<std::string_view> take_held() override {
    const auto held = source_.take_held();
    if (held) sha_.update(*held);
    return held;
  }
  const std::optional<std::string>& damage() const override { return source_.damage(); }
  /// Of everything, also what nobody asked for.
  std::string finish() {
    std::vector<char> rest(64U << 10U);
    while (read(rest) > 0) {
    }
    return base::to_hex(sha_.finish());
  }

 private:
  bundle::ByteStream& source_;
  base::Sha256 sha_;
};

/// What one file gave. Files are read side by side and put together in their order.
struct Gathered {
  std::vector<Fact> facts;
  ScanResult scanned;
  std::string digest;
  std::optional<std::string> damage;
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  bool cut = false;  ///< structured evidence beyond the limit
  bool binary = false;
  bool documentation = false;
};

/// What captures name is nearest, then what the file's path or manifest says, then the line's
/// prefix.
evidence::Place merged_place(const Observation& o, const evidence::Place& file) {
  evidence::Place place = named_place(o.captures);
  const auto capture = [&](const char* name) {
    const auto it = o.captures.find(name);
    return it == o.captures.end() ? std::string() : it->second;
  };
  place.rank = capture("rank");
  if (const std::string pid = capture("pid");
      !pid.empty() && pid.find_first_not_of("0123456789") == std::string::npos)
    place.pid = pid;
  place.fill_from(file);
  place.fill_from(o.place);
  return place;
}

class Gatherer {
 public:
  Gatherer(Matching& matching, const AnalyzeOptions& options, Timings& timings)
      : options_(options),
        timings_(timings),
        crew_(matching.lines, *matching.filter, options.jobs) {}

  base::Result<EvidenceModel> run(const std::vector<std::string>& inputs) {
    base::Stopwatch watch;
    const std::int64_t parsed_before = timings_.parse;
    auto summary = bundle::read_inputs(inputs, options_.input,
                                       [this](const bundle::EvidenceFile& file,
                                              std::string_view head, bundle::ByteStream& stream) {
                                         take(file, head, stream);
                                         return true;
                                       });
    crew_.finish();
    if (!summary) return summary.problem();
    drop_documentation();
    for (std::uint32_t index = 0; index < gathered_.size(); ++index) put_together(index);
    for (const bundle::Omission& omission : summary->omissions) {
      model_.unread.push_back(omission.path + ": " + omission.reason);
      model_.warnings.push_back("left out " + omission.path + ": " + omission.reason);
    }
    for (const std::string& warning : summary->warnings) model_.warnings.push_back(warning);
    timings_.read_and_scan += watch.lap() - (timings_.parse - parsed_before);
    return std::move(model_);
  }

 private:
  void take(const bundle::EvidenceFile& file, std::string_view head, bundle::ByteStream& stream) {
    const auto index = static_cast<std::uint32_t>(gathered_.size());
    model_.files.push_back(file);
    Gathered& into = gathered_.emplace_back();
    if (file.format == evidence::Format::binary) {
      into.binary = true;
      if (options_.digest) into.digest = Digesting(stream).finish();
      into.damage = stream.damage();
    } else if (const formats::Parser parser = formats::parser_for(file.format); parser != nullptr) {
      parse(parser, file, stream, into);
    } else {
      into.documentation = bundle::reads_as_documentation(head);
      scan(file, index, stream, into);
    }
  }

  void parse(formats::Parser parser, const bundle::EvidenceFile& file, bundle::ByteStream& stream,
             Gathered& into) {
    base::Stopwatch watch;
    Digesting digesting(stream);
    bundle::ByteStream& source = options_.digest ? digesting : stream;
    std::string text;
    std::vector<char> buffer(256U << 10U);
    while (const std::size_t got = source.read(buffer)) {
      into.bytes += got;
      if (text.size() < k_most_structured)
        text.append(buffer.data(), std::min(got, k_most_structured - text.size()));
    }
    into.cut = into.bytes > text.size();
    parser(text, {file.kind, file.place}, [&](Fact&& fact) {
      if (parsed_facts_ > k_most_facts) return;
      ++parsed_facts_;
      into.facts.push_back(std::move(fact));
    });
    into.lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    if (options_.digest) into.digest = digesting.finish();
    into.damage = stream.damage();
    timings_.parse += watch.lap();
  }

  /// Small logs wait in memory for a free thread and plain files on disk are opened by it, so that
  /// files are scanned side by side; what is left, a large member of an archive, is scanned here
  /// while a thread of its own decompresses.
  void scan(const bundle::EvidenceFile& file, std::uint32_t index, bundle::ByteStream& stream,
            Gathered& into) {
    if (!crew_.parallel()) return scan_stream(crew_.own_scanner(), file, index, stream, into);
    const bool whole_file = !file.local_path.empty() && file.section.empty();
    if (whole_file && file.size.value_or(0) > k_small_log)
      return crew_.submit(0, [this, file, index, &into](Scanner& scanner) {
        auto opened = bundle::FileStream::open(file.local_path);
        if (opened) return scan_stream(scanner, file, index, **opened, into);
        into.damage = opened.problem().message;
      });
    auto head = std::make_shared<bundle::HeadStream>(stream, k_small_log, file.size.value_or(0));
    into.damage = stream.damage();
    if (head->whole())
      return crew_.submit(head->held(), [this, file, index, head, &into](Scanner& scanner) {
        scan_stream(scanner, file, index, *head, into);
      });
    ReadAhead ahead(*head, read_ahead_);
    scan_stream(crew_.own_scanner(), file, index, ahead, into);
    into.damage = stream.damage();
  }

  void scan_stream(Scanner& scanner, const bundle::EvidenceFile& file, std::uint32_t index,
                   bundle::ByteStream& stream, Gathered& into) const {
    Digesting digesting(stream);
    bundle::ByteStream& source = options_.digest ? digesting : stream;
    const auto meter = derive::meter_for(file.kind, file.format, file.place);
    into.scanned = scanner.scan(file, index, source, meter.get(), file.first_line);
    if (meter != nullptr)
      meter->finish([&](Fact&& fact) { into.facts.push_back(std::move(fact)); });
    into.bytes = into.scanned.bytes;
    into.lines = into.scanned.lines;
    if (options_.digest) into.digest = digesting.finish();
    if (!into.damage) into.damage = stream.damage();
  }

  /// A runbook beside the evidence quotes faults that did not happen. A text that is all there is
  /// stays evidence: somebody pasted it.
  void drop_documentation() {
    const bool evidence = std::any_of(gathered_.begin(), gathered_.end(), [](const Gathered& g) {
      return !g.documentation && !g.binary;
    });
    for (std::size_t index = 0; evidence && index < gathered_.size(); ++index) {
      if (!gathered_[index].documentation) continue;
      gathered_[index].scanned.observations.clear();
      gathered_[index].scanned.unmatched.clear();
      model_.warnings.push_back(model_.files[index].path +
                                ": reads as documentation; what it quotes is no evidence");
    }
  }

  void put_together(std::uint32_t index) {
    const bundle::EvidenceFile& file = model_.files[index];
    Gathered& from = gathered_[index];
    ScanResult& scanned = from.scanned;
    note_file(file, index, from);
    const std::size_t before = model_.facts.size();
    for (Fact& fact : from.facts) {
      if (model_.facts.size() >= k_most_facts) break;
      fact.file = index;
      fact.place.fill_from(file.place);
      model_.kinds.insert(fact.kind);
      model_.facts.push_back(std::move(fact));
    }
    if (model_.facts.size() - before < from.facts.size())
      model_.warnings.push_back(fmt::format("{}: too many objects; the first {} of all files count",
                                            file.path, k_most_facts));
    for (Observation& o : scanned.observations) {
      o.place = merged_place(o, file.place);
      model_.observations.push_back(std::move(o));
    }
    for (UnmatchedCluster& cluster : scanned.unmatched)
      model_.unmatched.push_back(std::move(cluster));
    timings_.filter += scanned.filter_ns;
    timings_.confirm += scanned.confirm_ns;
    from = {};
  }

  void note_file(const bundle::EvidenceFile& file, std::uint32_t index, Gathered& from) {
    model_.kinds.insert(file.kind);
    InputEntry entry;
    entry.path = file.path;
    entry.kind = std::string(evidence::to_string(file.kind));
    entry.format = std::string(evidence::to_string(file.format));
    entry.sha256 = file.sha256.value_or(from.digest);
    entry.node = file.place.node;
    entry.pod = file.place.pod;
    entry.container = file.place.container;
    entry.bytes = from.bytes;
    entry.lines = from.lines;
    model_.inputs.push_back(std::move(entry));
    StreamInfo info;
    info.file = index;
    info.kind = file.kind;
    info.place = file.place;
    info.boot_time_ns = file.boot_time_ns;
    info.clock_skew_ns = file.clock_skew_ns;
    info.path = file.path;
    info.first = from.scanned.first;
    info.last = from.scanned.last;
    model_.streams.push_back(std::move(info));
    model_.hosts.push_back(std::move(from.scanned.hosts));
    if (from.binary) model_.unread.push_back(file.path + ": not text");
    if (from.cut)
      model_.warnings.push_back(
          fmt::format("{}: only the first {} MiB were read", file.path, k_most_structured >> 20U));
    if (from.scanned.cut_lines > 0)
      model_.warnings.push_back(
          fmt::format("{}: lines longer than 1 MiB were read in pieces", file.path));
    if (from.damage)
      model_.warnings.push_back(file.path + ": " + *from.damage + "; read as far as it goes");
  }

  const AnalyzeOptions& options_;
  Timings& timings_;
  EvidenceModel model_;
  std::deque<Gathered> gathered_;  ///< by file; a deque, so that threads can hold on to theirs
  std::size_t parsed_facts_ = 0;
  ReadAhead::Pool read_ahead_;
  ScanCrew crew_;  ///< last: its threads write into what stands above
};

}  // namespace

Matching::Matching(const rules::RuleSet& set)
    : rules(set), lines(set), filter(make_literal_filter(lines)) {}

base::Result<EvidenceModel> gather(const std::vector<std::string>& inputs, Matching& matching,
                                   const AnalyzeOptions& options, Timings& timings) {
  return Gatherer(matching, options, timings).run(inputs);
}

}  // namespace triage::analysis

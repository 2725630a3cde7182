#include "analysis/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "analysis/derive/derive.hpp"
#include "analysis/formats/parsers.hpp"
#include "analysis/read_ahead.hpp"
#include "analysis/scanner.hpp"
#include "base/digest.hpp"
#include "bundle/documentation.hpp"
#include "rules/where.hpp"

namespace triage::analysis {

using evidence::Fact;
using evidence::Kind;

namespace {

/// Structured evidence is read whole; what is longer is cut and said so.
constexpr std::size_t k_most_structured = 64U << 20U;
constexpr std::size_t k_most_facts = 400'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Hashes what passes through.
class Digesting final : public bundle::ByteStream {
 public:
  explicit Digesting(bundle::ByteStream& source) : source_(source) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t got = source_.read(buffer);
    sha_.update({buffer.data(), got});
    return got;
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

class Gatherer {
 public:
  Gatherer(Matching& matching, const AnalyzeOptions& options, Timings& timings)
      : matching_(matching),
        scanner_(matching.lines, *matching.filter),
        options_(options),
        timings_(timings) {}

  base::Result<EvidenceModel> run(const std::vector<std::string>& inputs) {
    const std::int64_t start = now_ns();
    auto summary = bundle::read_inputs(inputs, options_.input,
                                       [this](const bundle::EvidenceFile& file,
                                              std::string_view head, bundle::ByteStream& stream) {
                                         take(file, head, stream);
                                         return true;
                                       });
    if (!summary) return summary.problem();
    for (const bundle::Omission& omission : summary->omissions) {
      model_.unread.push_back(omission.path + ": " + omission.reason);
      model_.warnings.push_back("left out " + omission.path + ": " + omission.reason);
    }
    for (const std::string& warning : summary->warnings) model_.warnings.push_back(warning);
    drop_documentation();
    timings_.read_and_scan = now_ns() - start - timings_.parse;
    return std::move(model_);
  }

 private:
  void take(const bundle::EvidenceFile& file, std::string_view head, bundle::ByteStream& stream) {
    const auto index = static_cast<std::uint32_t>(model_.files.size());
    model_.files.push_back(file);
    model_.kinds.insert(file.kind);
    InputEntry entry;
    entry.path = file.path;
    entry.kind = std::string(evidence::to_string(file.kind));
    entry.format = std::string(evidence::to_string(file.format));
    entry.sha256 = file.sha256.value_or("");
    entry.node = file.place.node;
    entry.pod = file.place.pod;
    entry.container = file.place.container;
    StreamInfo info;
    info.file = index;
    info.kind = file.kind;
    info.place = file.place;
    info.boot_time_ns = file.boot_time_ns;
    info.clock_skew_ns = file.clock_skew_ns;
    info.path = file.path;
    model_.inputs.push_back(std::move(entry));
    model_.streams.push_back(std::move(info));
    model_.hosts.emplace_back();
    Digesting digesting(stream);
    bundle::ByteStream& source = options_.digest ? digesting : stream;
    if (file.format == evidence::Format::binary) {
      model_.unread.push_back(file.path + ": not text");
    } else if (const formats::Parser parser = formats::parser_for(file.format); parser != nullptr) {
      parse(parser, index, source);
    } else {
      if (bundle::reads_as_documentation(head)) documents_.insert(index);
      scan(index, source);
    }
    if (options_.digest && !file.sha256) model_.inputs[index].sha256 = digesting.finish();
    if (stream.damage())
      model_.warnings.push_back(file.path + ": " + *stream.damage() + "; read as far as it goes");
  }

  /// A runbook beside the evidence quotes faults that did not happen. A text that is all there is
  /// stays evidence: somebody pasted it.
  void drop_documentation() {
    if (documents_.empty()) return;
    bool evidence = false;
    for (std::uint32_t i = 0; i < model_.files.size(); ++i)
      evidence = evidence ||
                 (documents_.count(i) == 0 && model_.files[i].format != evidence::Format::binary);
    if (!evidence) return;
    auto& seen = model_.observations;
    const auto quoted = [&](const Observation& o) { return documents_.count(o.file) > 0; };
    seen.erase(std::remove_if(seen.begin(), seen.end(), quoted), seen.end());
    auto& rest = model_.unmatched;
    for (const std::uint32_t i : documents_)
      rest.erase(
          std::remove_if(rest.begin(), rest.end(),
                         [&](const UnmatchedCluster& c) { return c.file == model_.files[i].path; }),
          rest.end());
    for (const std::uint32_t i : documents_)
      model_.warnings.push_back(model_.files[i].path +
                                ": reads as documentation; what it quotes is no evidence");
  }

  void parse(formats::Parser parser, std::uint32_t index, bundle::ByteStream& stream) {
    const std::int64_t start = now_ns();
    std::string text;
    std::vector<char> buffer(256U << 10U);
    std::uint64_t bytes = 0;
    while (const std::size_t got = stream.read(buffer)) {
      bytes += got;
      if (text.size() < k_most_structured)
        text.append(buffer.data(), std::min(got, k_most_structured - text.size()));
    }
    const bundle::EvidenceFile& file = model_.files[index];
    if (bytes > text.size())
      model_.warnings.push_back(
          fmt::format("{}: only the first {} MiB were read", file.path, k_most_structured >> 20U));
    parser(text, {file.kind, file.place}, [&](Fact&& fact) {
      if (model_.facts.size() >= k_most_facts) return;
      fact.file = index;
      fact.place.fill_from(file.place);
      model_.kinds.insert(fact.kind);
      model_.facts.push_back(std::move(fact));
    });
    if (model_.facts.size() >= k_most_facts)
      model_.warnings.push_back(fmt::format("{}: too many objects; the first {} of all files count",
                                            file.path, k_most_facts));
    model_.inputs[index].bytes = bytes;
    model_.inputs[index].lines =
        static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    timings_.parse += now_ns() - start;
  }

  void scan(std::uint32_t index, bundle::ByteStream& stream) {
    const bundle::EvidenceFile& file = model_.files[index];
    const auto meter = derive::meter_for(file.kind, file.format, file.place);
    ScanResult result = read_and_scan(index, stream, meter.get());
    timings_.filter += result.filter_ns;
    timings_.confirm += result.confirm_ns;
    if (meter != nullptr)
      meter->finish([&](Fact&& fact) {
        fact.file = index;
        fact.place.fill_from(file.place);
        model_.kinds.insert(fact.kind);
        model_.facts.push_back(std::move(fact));
      });
    for (Observation& o : result.observations) {
      o.place = merged_place(o, file.place);
      model_.observations.push_back(std::move(o));
    }
    for (UnmatchedCluster& cluster : result.unmatched)
      model_.unmatched.push_back(std::move(cluster));
    model_.streams[index].first = result.first;
    model_.streams[index].last = result.last;
    model_.hosts[index] = std::move(result.hosts);
    model_.inputs[index].bytes = result.bytes;
    model_.inputs[index].lines = result.lines;
    if (result.cut_lines > 0)
      model_.warnings.push_back(
          fmt::format("{}: lines longer than 1 MiB were read in pieces", file.path));
  }

  /// With one job everything happens on this thread.
  ScanResult read_and_scan(std::uint32_t index, bundle::ByteStream& stream,
                           derive::LineMeter* meter) {
    const bundle::EvidenceFile& file = model_.files[index];
    if (options_.jobs == 1) return scanner_.scan(file, index, stream, meter, file.first_line);
    ReadAhead ahead(stream, read_ahead_);
    return scanner_.scan(file, index, ahead, meter, file.first_line);
  }

  /// What captures name is nearest, then what the file's path or manifest says, then the line's
  /// prefix.
  static evidence::Place merged_place(const Observation& o, const evidence::Place& file) {
    evidence::Place place;
    const auto capture = [&](const char* name) {
      const auto it = o.captures.find(name);
      return it == o.captures.end() ? std::string() : it->second;
    };
    place.pci = evidence::normalise_pci(capture("pci"));
    place.gpu_uuid = evidence::normalise_gpu_uuid(capture("gpu_uuid"));
    place.gpu_index = capture("gpu_index");
    place.rank = capture("rank");
    place.pod = capture("pod");
    place.container = capture("container");
    if (const std::string pid = capture("pid");
        !pid.empty() && pid.find_first_not_of("0123456789") == std::string::npos)
      place.pid = pid;
    place.node = capture("node");
    place.fill_from(file);
    evidence::Place prefix = o.place;
    place.fill_from(prefix);
    return place;
  }

  Matching& matching_;
  Scanner scanner_;
  ReadAhead::Pool read_ahead_;
  const AnalyzeOptions& options_;
  Timings& timings_;
  EvidenceModel model_;
  std::set<std::uint32_t> documents_;  ///< files that read as documentation
};

/// Rules that read facts, by kind; those on metrics by the metric's name too, since a scrape has
/// thousands of samples.
class FactRules {
 public:
  explicit FactRules(const rules::RuleSet& set) {
    for (const rules::Rule& rule : set.rules) {
      if (rule.matcher != rules::Rule::Matcher::where) continue;
      for (const Kind kind : rule.evidence) by_kind_[kind].push_back(&rule);
    }
  }

  template <class Visit>
  void for_each(const Fact& fact, const Visit& visit) const {
    const auto it = by_kind_.find(fact.kind);
    if (it == by_kind_.end()) return;
    const std::string name = fact.kind == Kind::metrics ? fact.get("name") : std::string();
    for (const rules::Rule* rule : it->second)
      if (name.empty() || may_name(*rule, name)) visit(*rule);
  }

 private:
  static bool may_name(const rules::Rule& rule, const std::string& name) {
    for (const rules::Test& test : rule.where.tests)
      if (test.field == "name" && test.op == rules::Test::Op::equal)
        return test.values.at(0) == name;
    return true;
  }
  std::map<Kind, std::vector<const rules::Rule*>> by_kind_;
};

class FactObserver {
 public:
  FactObserver(EvidenceModel& model, Matching& matching)
      : model_(model), matching_(matching), fact_rules_(matching.rules) {}

  void run(std::size_t from) {
    model_.fact_times.resize(model_.facts.size());
    const rules::FactSet set{model_.facts, model_.fact_times, model_.end};
    for (std::size_t i = from; i < model_.facts.size(); ++i) {
      if (!model_.facts[i].text.empty()) match_text(i);
      fact_rules_.for_each(model_.facts[i], [&](const rules::Rule& rule) {
        if (rules::holds(rule.where, set, i)) observe_where(rule, i);
      });
    }
  }

 private:
  Observation start(const rules::Rule& rule, std::size_t index) {
    const Fact& fact = model_.facts[index];
    Observation o;
    o.rule = &rule;
    o.file = fact.file;
    o.line = fact.line;
    o.place = fact.place;
    o.stamp = fact.stamp;
    o.time = model_.fact_times[index];
    o.fact = static_cast<int>(index);
    return o;
  }

  /// `match` rules see the fact's text, decoded, line by line.
  void match_text(std::size_t index) {
    const Fact& fact = model_.facts[index];
    std::string block = fact.text;
    block += '\n';
    candidates_.clear();
    matching_.filter->find(block, fact.kind, {}, candidates_);
    for (const Candidate& candidate : candidates_.lines) {
      const std::string_view line =
          std::string_view(block).substr(candidate.begin, candidate.end - candidate.begin);
      std::uint32_t last = ~0U;
      for (const std::uint32_t id : candidates_.patterns(candidate)) {
        const LineRules::Pattern& pattern = matching_.lines.patterns()[id];
        if (pattern.use != LineRules::Use::rule || pattern.owner == last) continue;
        if (match_rule(pattern.owner, id, line, index)) last = pattern.owner;
      }
    }
  }

  bool match_rule(std::uint32_t owner, std::uint32_t pattern, std::string_view line,
                  std::size_t index) {
    const LineRules::LineRule& rule = matching_.lines.rules()[owner];
    std::map<std::string, std::string> captures;
    const bool hit = matching_.lines.patterns()[pattern].regex.capture(line, captures);
    const bool refused = hit && std::any_of(rule.unless.begin(), rule.unless.end(),
                                            [&](const LazyPattern& p) { return p.matches(line); });
    if (!hit || refused || !rule.continued.empty()) return false;
    Observation o = start(*rule.rule, index);
    o.text = std::string(line.substr(0, 4096));
    place_from(captures, o.place);
    o.captures = std::move(captures);
    add_fact_captures(o, model_.facts[index]);
    add(std::move(o));
    return true;
  }

  static void place_from(const std::map<std::string, std::string>& captures,
                         evidence::Place& place) {
    const auto get = [&](const char* name) {
      const auto it = captures.find(name);
      return it == captures.end() ? std::string() : it->second;
    };
    evidence::Place named;
    named.pci = evidence::normalise_pci(get("pci"));
    named.gpu_uuid = evidence::normalise_gpu_uuid(get("gpu_uuid"));
    named.gpu_index = get("gpu_index");
    named.container = get("container");
    named.node = get("node");
    named.pod = get("pod");
    place.fill_from(named);
  }

  void observe_where(const rules::Rule& rule, std::size_t index) {
    const Fact& fact = model_.facts[index];
    Observation o = start(rule, index);
    o.line = rules::deciding_line(rule.where, fact);
    std::string text;
    for (const rules::Test& test : rule.where.tests)
      if (const evidence::Value* value = fact.find(test.field))
        text += (text.empty() ? "" : ", ") + test.field + ": " + value->text;
    o.text = text.empty() ? fact.text : text;
    for (const rules::Test& test : rule.where.tests)
      if (const evidence::Value* value = fact.find(test.field))
        o.captures[test.field] = value->text;
    add_fact_captures(o, fact);
    add(std::move(o));
  }

  /// Every field of a small fact may be named in titles and steps.
  static void add_fact_captures(Observation& o, const Fact& fact) {
    if (fact.kind == Kind::metrics || fact.fields.size() > 400) return;
    for (const auto& [name, value] : fact.fields)
      if (value.text.size() <= 200 && name.rfind("labels.", 0) != 0 &&
          name.rfind("annotations.", 0) != 0)
        o.captures.emplace(name, value.text);
  }

  /// One rule at one line is one observation: a pod's and its container's fact say the same.
  void add(Observation o) {
    for (auto it = model_.observations.rbegin(); it != model_.observations.rend() && it->fact >= 0;
         ++it) {
      if (it->file != o.file) break;
      if (it->rule == o.rule && it->line == o.line && it->text == o.text) return;
      if (std::distance(model_.observations.rbegin(), it) > 64) break;
    }
    model_.observations.push_back(std::move(o));
  }

  EvidenceModel& model_;
  Matching& matching_;
  FactRules fact_rules_;
  Candidates candidates_;
};

}  // namespace

Matching::Matching(const rules::RuleSet& set)
    : rules(set), lines(set), filter(make_literal_filter(lines)) {}

base::Result<EvidenceModel> gather(const std::vector<std::string>& inputs, Matching& matching,
                                   const AnalyzeOptions& options, Timings& timings) {
  return Gatherer(matching, options, timings).run(inputs);
}

void observe_facts(EvidenceModel& model, Matching& matching, std::size_t from) {
  FactObserver(model, matching).run(from);
}

}  // namespace triage::analysis

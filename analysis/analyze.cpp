#include "analysis/analyze.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/causality.hpp"
#include "analysis/composite.hpp"
#include "analysis/derive/derive.hpp"
#include "analysis/gather.hpp"
#include "analysis/history.hpp"
#include "analysis/pipeline.hpp"
#include "analysis/roles.hpp"
#include "analysis/scan_crew.hpp"
#include "analysis/sections.hpp"
#include "analysis/verdict.hpp"
#include "base/stopwatch.hpp"

namespace triage::analysis {
namespace {

void find_end(EvidenceModel& model) {
  const auto take = [&](const std::optional<evidence::Time>& time) {
    if (time && (!model.end || time->ns > model.end->ns)) model.end = time;
  };
  for (const StreamInfo& stream : model.streams) take(stream.last_time);
  for (const Observation& o : model.observations) take(o.last_time ? o.last_time : o.time);
  for (const auto& time : model.fact_times) take(time);
}

void complete_places(EvidenceModel& model) {
  for (evidence::Fact& fact : model.facts) model.entities.complete(fact.place, fact.kind);
  for (Observation& o : model.observations) model.entities.complete(o.place, kind_of(model, o));
}

/// `--pod`, `--node`, `--gpu`, `--since`, `--until`: what is certainly elsewhere goes.
void narrow(EvidenceModel& model, const AnalyzeOptions& options) {
  const auto outside = [&](const Observation& o) {
    if (options.since && o.time && o.time->ns + o.time->uncertainty_ns < options.since->ns)
      return true;
    if (options.until && o.time && o.time->ns - o.time->uncertainty_ns > options.until->ns)
      return true;
    if (!options.pod.empty() && !o.place.pod.empty() && o.place.pod != options.pod) return true;
    if (!options.node.empty() && !o.place.node.empty() && o.place.node != options.node) return true;
    if (options.gpu.empty()) return false;
    // What the person gave is one of three names; of the others nothing is known.
    const bool named =
        !o.place.pci.empty() || !o.place.gpu_uuid.empty() || !o.place.gpu_index.empty();
    const auto is = [](const std::string& name, const std::string& wanted) {
      return !name.empty() && name == wanted;
    };
    return named && !is(o.place.pci, evidence::normalise_pci(options.gpu)) &&
           !is(o.place.gpu_uuid, evidence::normalise_gpu_uuid(options.gpu)) &&
           !is(o.place.gpu_index, options.gpu);
  };
  model.observations.erase(
      std::remove_if(model.observations.begin(), model.observations.end(), outside),
      model.observations.end());
}

/// Archives hold their members in any order; scrapes of one thing follow one another by name.
void sort_facts(EvidenceModel& model) {
  std::stable_sort(model.facts.begin(), model.facts.end(),
                   [&](const evidence::Fact& a, const evidence::Fact& b) {
                     return model.inputs[a.file].path < model.inputs[b.file].path;
                   });
}

void date(EvidenceModel& model, const AnalyzeOptions& options) {
  model.fact_times.resize(model.facts.size());
  for (std::string& warning : date_evidence(model.observations, model.facts, model.fact_times,
                                            model.streams, options.dating))
    model.warnings.push_back(std::move(warning));
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    model.inputs[i].first = model.streams[i].first_time;
    model.inputs[i].last = model.streams[i].last_time;
  }
  for (Observation& o : model.observations) {
    o.first_time = o.time;
    if (!o.last_time) o.last_time = o.time;
  }
  find_end(model);
}

}  // namespace

base::Result<Analysed> run_pipeline(const std::vector<std::string>& inputs, Matching& matching,
                                    const AnalyzeOptions& options, Timings& timings) {
  auto gathered = gather(inputs, matching, options, timings);
  if (!gathered) return gathered.problem();
  Analysed result;
  EvidenceModel& model = result.model;
  model = std::move(gathered).value();
  sort_facts(model);
  base::Stopwatch watch;
  date(model, options);
  observe_facts(model, matching, 0);
  model.entities.learn(model.facts, model.observations, model.streams, model.hosts);
  complete_places(model);
  const std::size_t parsed = model.facts.size();
  std::vector<evidence::Fact> derived;
  derive::derive_all({model.observations, model.facts, model.fact_times, model.end},
                     [&](evidence::Fact&& fact) { derived.push_back(std::move(fact)); });
  for (evidence::Fact& fact : derived) {
    model.kinds.insert(fact.kind);
    // A derived fact carries the dated moment of what it was derived from.
    model.fact_times.push_back(
        fact.stamp
            ? std::optional<evidence::Time>({fact.stamp->ns, fact.stamp->resolution_ns,
                                             fact.stamp->base != evidence::Stamp::Base::no_year})
            : std::nullopt);
    model.facts.push_back(std::move(fact));
  }
  observe_facts(model, matching, parsed);
  complete_places(model);
  narrow(model, options);
  timings.date_and_derive += watch.lap();
  settle_roles(model, matching.rules);
  set_strangers_aside(model);
  set_history_aside(model);
  result.lifts = run_composites(model, matching.rules);
  result.causality = explain(model);
  timings.verdict += watch.lap();
  return result;
}

Engine::Engine(const rules::RuleSet& rules) : matching_(std::make_unique<Matching>(rules)) {}
Engine::~Engine() = default;

base::Result<Report> Engine::analyze(const std::vector<std::string>& inputs,
                                     const AnalyzeOptions& options, Timings* timings) {
  Timings own;
  Timings& time = timings == nullptr ? own : *timings;
  analysed_.reset();
  auto analysed = run_pipeline(inputs, *matching_, options, time);
  if (!analysed) return analysed.problem();
  analysed_ = std::make_unique<Analysed>(std::move(analysed).value());
  base::Stopwatch watch;
  Report report = make_report(analysed_->model, analysed_->causality, analysed_->lifts,
                              matching_->rules, jobs_of(options.jobs));
  report.tool_version = options.tool_version;
  add_sections(report, analysed_->model);
  time.verdict += watch.lap();
  return report;
}

base::Result<Report> analyze(const std::vector<std::string>& inputs, const rules::RuleSet& rules,
                             const AnalyzeOptions& options, Timings* timings) {
  return Engine(rules).analyze(inputs, options, timings);
}

}  // namespace triage::analysis

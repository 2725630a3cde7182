#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/gather.hpp"
#include "analysis/named_place.hpp"
#include "analysis/unmatched_lines.hpp"
#include "base/text.hpp"
#include "evidence/fact.hpp"
#include "rules/where.hpp"

namespace triage::analysis {

using evidence::Fact;
using evidence::Kind;

namespace {

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
    find_unsorted(from);
    for (std::size_t i = from; i < model_.facts.size(); ++i) {
      explained_ = false;
      if (!model_.facts[i].text.empty()) match_text(i);
      fact_rules_.for_each(model_.facts[i], [&](const rules::Rule& rule) {
        if (rules::holds(rule.where, set, i)) observe_where(rule, i);
      });
      if (!explained_) note_unexplained(model_.facts[i]);
    }
    for (auto& [file, lines] : unmatched_)
      for (UnmatchedCluster& cluster : lines.take()) model_.unmatched.push_back(std::move(cluster));
  }

 private:
  /// Seconds of an age column; nothing for what has none.
  static std::optional<std::int64_t> age_of(const Fact& fact, const char* which) {
    const evidence::Value* value = fact.find(which);
    return value == nullptr ? std::nullopt : base::parse_int(value->text);
  }

  /// `kubectl describe` sorts events by age, `kubectl get events` by name unless asked.
  void find_unsorted(std::size_t from) {
    std::map<std::uint32_t, std::int64_t> newest;
    for (std::size_t i = from; i < model_.facts.size(); ++i) {
      const Fact& fact = model_.facts[i];
      const auto age = fact.kind == Kind::event ? age_of(fact, "age.last") : std::nullopt;
      if (!age) continue;
      const auto [it, first] = newest.try_emplace(fact.file, *age);
      if (*age > it->second) unsorted_.insert(fact.file);
      if (*age < it->second) ages_differ_.insert(fact.file);
      it->second = *age;
    }
  }

  /// A warning that no rule knows is as telling as an error line that none knows.
  void note_unexplained(const Fact& fact) {
    if (fact.kind != Kind::event || fact.text.empty() || fact.get("type") != "Warning") return;
    const auto [it, first] = unmatched_.try_emplace(fact.file, model_.inputs[fact.file].path);
    if (!it->second.full()) it->second.add(fact.text, fact.line);
  }

  void put_age(Observation& o, const Fact& fact) const {
    if (fact.kind != Kind::event || o.time) return;
    const auto last = age_of(fact, "age.last");
    if (!last) return;
    const bool sorted = unsorted_.count(fact.file) == 0 && ages_differ_.count(fact.file) > 0;
    o.age = Age{std::max(age_of(fact, "age.first").value_or(*last), *last), *last, sorted};
  }

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
    put_age(o, fact);
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
    o.place.fill_from(named_place(captures));
    o.captures = std::move(captures);
    add_fact_captures(o, model_.facts[index]);
    add(std::move(o));
    return true;
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
    explained_ = true;
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
  bool explained_ = false;  ///< some rule spoke of the fact that is looked at
  std::map<std::uint32_t, UnmatchedLines> unmatched_;  ///< by file
  std::set<std::uint32_t> unsorted_, ages_differ_;     ///< files, by the ages of their events
};

}  // namespace

void observe_facts(EvidenceModel& model, Matching& matching, std::size_t from) {
  FactObserver(model, matching).run(from);
}

}  // namespace triage::analysis

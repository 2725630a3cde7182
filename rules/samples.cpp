#include "rules/samples.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "rules/patterns.hpp"
#include "rules/when.hpp"
#include "rules/where.hpp"

namespace triage::rules {
namespace {

using Patterns = std::vector<std::unique_ptr<re2::RE2>>;

Patterns compile_all(const std::vector<std::string>& sources) {
  Patterns patterns;
  for (const std::string& source : sources)
    if (auto pattern = compile_pattern(source)) patterns.push_back(std::move(pattern));
  return patterns;
}

bool search(const re2::RE2& pattern, std::string_view line,
            std::map<std::string, std::string>* captures) {
  const re2::StringPiece text(line.data(), line.size());
  if (captures == nullptr) return re2::RE2::PartialMatch(text, pattern);
  const int groups = pattern.NumberOfCapturingGroups();
  std::vector<re2::StringPiece> found(static_cast<std::size_t>(groups) + 1);
  if (!pattern.Match(text, 0, text.size(), re2::RE2::UNANCHORED, found.data(), groups + 1))
    return false;
  for (const auto& [index, name] : pattern.CapturingGroupNames()) {
    const re2::StringPiece& part = found[static_cast<std::size_t>(index)];
    if (part.data() != nullptr) (*captures)[name] = std::string(part.data(), part.size());
  }
  return true;
}

bool any_of(const Patterns& patterns, std::string_view line,
            std::map<std::string, std::string>* captures) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& p) { return search(*p, line, captures); });
}

/// Lines of a sample; `#012` is how syslog writes a line end.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::string_view line : base::split_lines(text)) {
    for (auto at = line.find("#012"); at != std::string_view::npos; at = line.find("#012")) {
      lines.push_back(line.substr(0, at));
      line.remove_prefix(at + 4);
    }
    lines.push_back(line);
  }
  return lines;
}

std::string one_line(const std::string& text) {
  return base::shorten(base::replace_all(text, "\n", " | "), 160);
}

// --- where ---

/// `10 -> 25` in a sample stands for two scrapes.
std::string scrape(const std::string& value, bool newest) {
  const auto arrow = value.find(" -> ");
  if (arrow == std::string::npos) return value;
  return newest ? value.substr(arrow + 4) : value.substr(0, arrow);
}

evidence::Fact fact_of(const Rule& rule, const Sample& sample, bool newest) {
  evidence::Fact fact;
  if (!rule.evidence.empty()) fact.kind = rule.evidence.front();
  for (const auto& [field, value] : sample.fields) {
    if (field == "text")
      fact.text = scrape(value, newest);
    else if (field != "evidence_end")
      fact.set(field, scrape(value, newest), newest ? 2 : 1);
  }
  return fact;
}

bool match_fact(const Rule& rule, const Sample& sample) {
  const std::vector<evidence::Fact> facts{fact_of(rule, sample, false),
                                          fact_of(rule, sample, true)};
  FactSet set;
  set.facts = facts;
  if (const auto end = sample.fields.find("evidence_end"); end != sample.fields.end())
    if (const auto stamp = evidence::parse_rfc3339(end->second))
      set.end = evidence::Time{stamp->ns, 0};
  return holds(rule.where, set, 1);
}

std::string show_fact(const Sample& sample) {
  std::vector<std::string> parts;
  for (const auto& [field, value] : sample.fields) parts.push_back(field + ": " + value);
  return "{" + base::join(parts, ", ") + "}";
}

// --- when ---

struct Actor {
  std::string rule, cause, class_;
  Role role = Role::root;
  std::vector<std::string> tags;
  std::map<std::string, std::string> values;
};

Actor actor_of(const SampleObservation& sample, const RuleSet& rules) {
  Actor actor;
  actor.rule = sample.rule;
  if (const Rule* rule = rules.find(sample.rule)) {
    actor.cause = rule->cause;
    actor.class_ = rule->class_;
    actor.role = rule->role;
    actor.tags = rule->tags;
  }
  actor.values = sample.place;
  const auto take = [&](const char* key, std::string& field) {
    if (const auto it = actor.values.find(key); it != actor.values.end()) field = it->second;
  };
  take("cause", actor.cause);
  take("class", actor.class_);
  if (const auto it = actor.values.find("role"); it != actor.values.end())
    actor.role = role_from(it->second).value_or(actor.role);
  if (const auto it = actor.values.find("tag"); it != actor.values.end())
    for (std::string_view tag : base::split(it->second, ','))
      actor.tags.emplace_back(base::trim(tag));
  return actor;
}

/// The actors of a sample as the world of a `when`: told in order, in one file, unless `at` gives
/// moments; a part that an actor does not name agrees with any.
class Stage {
 public:
  Stage(const Sample& sample, const RuleSet& rules) {
    for (const SampleObservation& one : sample.observations) {
      const auto kind = one.place.find("kind");
      if (one.rule.empty() && kind != one.place.end()) {
        if (const auto known = evidence::kind_from(kind->second)) world_.kinds.insert(*known);
        continue;
      }
      actors_.push_back(actor_of(one, rules));
    }
    for (std::size_t i = 0; i < actors_.size(); ++i) add(i);
    world_.observations = NamedObservations(observations_);
    world_.agrees = [this](std::size_t a, std::size_t b, Same same) {
      const std::string x = part(a, std::string(to_string(same)));
      const std::string y = part(b, std::string(to_string(same)));
      return same == Same::any || x.empty() || y.empty() || x == y;
    };
    world_.order = [](std::size_t a, std::size_t b) { return a < b ? -1 : a > b ? 1 : 0; };
    world_.end_order = world_.order;
    world_.part = [this](std::size_t i, const std::string& name) { return part(i, name); };
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] const WhenWorld& world() const { return world_; }

 private:
  [[nodiscard]] std::string part(std::size_t i, const std::string& name) const {
    const auto it = actors_[i].values.find(name);
    return it == actors_[i].values.end() ? std::string() : it->second;
  }

  void add(std::size_t i) {
    const Actor& actor = actors_[i];
    WhenObservation o;
    o.rule = actor.rule;
    o.cause = actor.cause;
    o.class_ = actor.class_;
    o.role = actor.role;
    o.tags = actor.tags;
    o.index = i;
    if (const std::string at = part(i, "at"); !at.empty()) o.time_ns = base::parse_duration_ns(at);
    if (const auto count = base::parse_int(part(i, "count")); count && *count > 0)
      o.count = static_cast<std::uint64_t>(*count);
    observations_.push_back(o);
  }

  std::vector<Actor> actors_;
  std::vector<WhenObservation> observations_;
  WhenWorld world_;
};

bool match_observations(const Rule& rule, const Sample& sample, const RuleSet& rules) {
  const Stage stage(sample, rules);
  return evaluate(rule.when, stage.world()).has_value();
}

std::string show_observations(const Sample& sample) {
  std::vector<std::string> parts;
  for (const SampleObservation& one : sample.observations) {
    std::string part = one.rule;
    for (const auto& [name, value] : one.place)
      part += (part.empty() ? "" : " ") + name + "=" + value;
    parts.push_back(part);
  }
  return "[" + base::join(parts, "; ") + "]";
}

}  // namespace

bool match_line(const Rule& rule, std::string_view line,
                std::map<std::string, std::string>* captures) {
  return any_of(compile_all(rule.patterns), line, captures) &&
         !any_of(compile_all(rule.unless), line, nullptr);
}

std::optional<std::size_t> match_sequence(const Rule& rule,
                                          const std::vector<std::string_view>& lines,
                                          std::map<std::string, std::string>* captures) {
  const Patterns patterns = compile_all(rule.patterns);
  const Patterns unless = compile_all(rule.unless);
  if (patterns.empty()) return std::nullopt;
  for (std::size_t start = 0; start < lines.size(); ++start) {
    std::map<std::string, std::string> found;
    if (!search(*patterns.front(), lines[start], &found) || any_of(unless, lines[start], nullptr))
      continue;
    std::size_t next = 1;
    int foreign = 0;
    for (std::size_t i = start + 1;
         next < patterns.size() && i < lines.size() && foreign <= rule.gap; ++i) {
      if (search(*patterns[next], lines[i], &found)) {
        ++next;
        foreign = 0;
      } else {
        ++foreign;
      }
    }
    if (next < patterns.size()) continue;
    if (captures != nullptr) *captures = std::move(found);
    return start;
  }
  return std::nullopt;
}

std::vector<SampleResult> test_samples(const Rule& rule, const RuleSet& rules) {
  std::vector<SampleResult> results;
  const Patterns patterns = compile_all(rule.patterns);
  const Patterns unless = compile_all(rule.unless);
  const auto matches = [&](const Sample& sample) {
    switch (rule.matcher) {
      case Rule::Matcher::match: {
        const auto lines = base::split_lines(sample.lines);
        return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
          return any_of(patterns, line, nullptr) && !any_of(unless, line, nullptr);
        });
      }
      case Rule::Matcher::sequence:
        return match_sequence(rule, lines_of(sample.lines), nullptr).has_value();
      case Rule::Matcher::where:
        return match_fact(rule, sample);
      default:
        return match_observations(rule, sample, rules);
    }
  };
  const auto show = [&](const Sample& sample) {
    if (rule.matcher == Rule::Matcher::where) return show_fact(sample);
    if (rule.matcher == Rule::Matcher::when) return show_observations(sample);
    return one_line(sample.lines);
  };
  const auto run = [&](const std::vector<Sample>& samples, bool must_match) {
    for (const Sample& sample : samples) {
      SampleResult result;
      result.must_match = must_match;
      result.passed = matches(sample) == must_match;
      result.place = sample.place;
      result.shown = show(sample);
      if (!result.passed)
        result.reason = must_match ? "this sample must match and does not"
                                   : "this look-alike must not match and does";
      results.push_back(std::move(result));
    }
  };
  run(rule.samples->match, true);
  run(rule.samples->reject, false);
  return results;
}

std::vector<std::string> unsampled_patterns(const Rule& rule) {
  std::vector<std::string> found;
  if (rule.matcher != Rule::Matcher::match) return found;
  for (const std::string& source : rule.patterns) {
    const auto pattern = compile_pattern(source);
    const bool hit = std::any_of(
        rule.samples->match.begin(), rule.samples->match.end(), [&](const Sample& sample) {
          const auto lines = base::split_lines(sample.lines);
          return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
            return pattern != nullptr && search(*pattern, line, nullptr);
          });
        });
    if (!hit) found.push_back(source);
  }
  return found;
}

}  // namespace triage::rules

#include "rules/rule_reader.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "base/text.hpp"
#include "rules/patterns.hpp"

namespace triage::rules {
namespace {

using Id = YamlReader::Id;

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Kind kind : evidence::all_kinds()) all.emplace_back(to_string(kind));
    return all;
  }();
  return names;
}

std::vector<std::string> read_patterns(YamlReader& reader, Id node) {
  std::vector<std::string> patterns = reader.texts(node);
  for (const Id item : reader.items(node))
    if (reader.type(item) == YamlTree::Type::scalar)
      check_pattern(reader, item, reader.tree().at(item).text);
  return patterns;
}

/// Sets the kinds a rule reads before anything that is judged by them.
void read_evidence_first(YamlReader& reader, Id node, Rule& rule) {
  const Id evidence = reader.tree().find(node, "evidence");
  if (evidence != YamlTree::k_none) rule.evidence = read_kinds(reader, evidence);
}

/// Sets the matcher before the samples are read: their shape follows from it.
void read_matcher_first(const YamlReader& reader, Id node, Rule& rule) {
  const auto has = [&](std::string_view key) {
    return reader.tree().find(node, key) != YamlTree::k_none;
  };
  if (has("match")) rule.matcher = Rule::Matcher::match;
  if (has("sequence")) rule.matcher = Rule::Matcher::sequence;
  if (has("where")) rule.matcher = Rule::Matcher::where;
  if (has("when")) rule.matcher = Rule::Matcher::when;
}

}  // namespace

std::vector<Kind> read_kinds(YamlReader& reader, Id node) {
  std::vector<Kind> kinds;
  for (const Id item : reader.items(node))
    if (const auto name = reader.one_of(item, "kind", kind_names()))
      kinds.push_back(*evidence::kind_from(*name));
  return kinds;
}

void check_pattern(YamlReader& reader, Id node, const std::string& pattern) {
  PatternError error;
  if (compile_pattern(pattern, &error) != nullptr) return;
  std::string mend = "RE2 syntax: no lookaround, no backreferences";
  if (base::contains(error.message, "missing )") || base::contains(error.message, "unexpected )"))
    mend = "write \\( and \\) for literal brackets";
  else if (base::contains(error.message, "escape"))
    mend = "remove the backslash, or write the character as \\x{..}";
  else if (base::contains(error.message, "repetition"))
    mend = "write \\* \\+ \\? \\{ for literal characters";
  else if (base::contains(error.message, "capture group") || base::contains(error.message, "named"))
    mend = "name a group (?P<name>...), letters, digits and _ only, each name once";
  else if (base::contains(error.message, "too large"))
    mend = "repeat less: {1,100} of a long part is too much";
  reader.error_at_fragment(node, error.fragment, "bad-regex",
                           "RE2 does not take this pattern: " + error.message +
                               (error.fragment.empty() ? "" : ": `" + error.fragment + "`"),
                           mend);
}

void read_rule_keys(YamlReader& reader, Id node, Rule& rule, std::set<std::string>& named) {
  read_evidence_first(reader, node, rule);
  read_matcher_first(reader, node, rule);
  Overlay overlay;
  std::vector<YamlReader::Key> keys = overlay_keys(reader, overlay);
  const auto patterns = [&](Id v) { rule.patterns = read_patterns(reader, v); };
  const std::vector<YamlReader::Key> own{
      {"id", [](Id) {}},
      {"override", [](Id) {}},
      {"evidence", [](Id) {}},
      {"match", patterns},
      {"sequence", patterns},
      {"unless", [&](Id v) { rule.unless = read_patterns(reader, v); }},
      {"gap",
       [&](Id v) {
         if (const auto gap = reader.integer(v, 0, 200)) rule.gap = static_cast<int>(*gap);
       }},
      {"where",
       [&](Id v) {
         const std::string at = rule.where.at;
         rule.where = read_where(reader, v, rule.evidence);
         if (rule.where.at.empty()) rule.where.at = at;
       }},
      {"at",
       [&](Id v) {
         if (auto at = reader.text(v)) rule.where.at = std::move(*at);
       }},
      {"when",
       [&](Id v) {
         const When::Effect effect = rule.when.effect;
         const Overlay set = rule.when.set;
         rule.when = read_when(reader, v);
         rule.when.effect = effect;
         rule.when.set = set;
       }},
      {"effect",
       [&](Id v) {
         const auto word = reader.one_of(v, "effect", {"root", "lift"});
         if (word) rule.when.effect = *word == "lift" ? When::Effect::lift : When::Effect::root;
       }},
      {"set",
       [&](Id v) {
         rule.when.set = {};
         reader.each_key(v, "set", overlay_keys(reader, rule.when.set));
       }},
      {"catalog", [&](Id v) { rule.catalog = read_catalog_use(reader, v); }},
      {"refine", [&](Id v) { rule.refine = read_refine(reader, v); }},
      {"explains", [&](Id v) { rule.explains = read_explains(reader, v, "explains"); }},
      {"explained_by", [&](Id v) { rule.explained_by = read_explains(reader, v, "explained_by"); }},
      {"cleared_by", [&](Id v) { rule.cleared_by = read_cleared_by(reader, v); }},
      {"settled_by", [&](Id v) { rule.settled_by = read_settled_by(reader, v); }},
      {"references", [&](Id v) { rule.references = reader.texts(v); }},
      {"samples", [&](Id v) { read_samples(reader, v, rule); }},
  };
  keys.insert(keys.end(), own.begin(), own.end());
  reader.each_key(node, "rule", keys);
  for (std::size_t i = 0; i + 1 < reader.tree().at(node).children.size(); i += 2)
    named.insert(reader.tree().at(reader.tree().at(node).children[i]).text);

  const auto take = [](auto& field, auto& value) {
    if (value) field = std::move(*value);
  };
  take(rule.title, overlay.title);
  take(rule.cause, overlay.cause);
  take(rule.class_, overlay.class_);
  take(rule.role, overlay.role);
  take(rule.severity, overlay.severity);
  take(rule.fault_domain, overlay.fault_domain);
  take(rule.quarantine, overlay.quarantine);
  take(rule.fatal, overlay.fatal);
  take(rule.stands_alone, overlay.stands_alone);
  if (overlay.confidence) rule.confidence_cap = overlay.confidence;
  if (overlay.pattern) rule.pattern = overlay.pattern;
  if (overlay.scope) rule.scope = overlay.scope;
  if (named.count("tags") > 0) rule.tags = overlay.tags;
  if (named.count("next_steps") > 0) rule.next_steps = overlay.next_steps;
}

namespace {

void check_matcher_count(YamlReader& reader, Id node, const std::set<std::string>& named) {
  int matchers = 0;
  for (const char* key : {"match", "sequence", "where", "when"})
    if (named.count(key) > 0) ++matchers;
  if (matchers == 0)
    reader.error(node, "missing-key", "this rule has no matcher",
                 "give exactly one of match, sequence, where and when");
  if (matchers > 1)
    reader.error(node, "two-matchers", "this rule has more than one matcher",
                 "keep one of match, sequence, where and when; write a rule for each, with the "
                 "same cause");
}

void check_key_fits(YamlReader& reader, Id node, const std::set<std::string>& named,
                    Rule::Matcher matcher) {
  struct Fit {
    const char* key;
    bool fits;
    const char* with;
  };
  using M = Rule::Matcher;
  const bool lines = matcher == M::match || matcher == M::sequence;
  const Fit fits[] = {{"unless", lines, "match or sequence"},
                      {"gap", matcher == M::sequence, "sequence"},
                      {"at", matcher == M::where, "where"},
                      {"effect", matcher == M::when, "when"},
                      {"set", matcher == M::when, "when and effect: lift"}};
  for (const Fit& fit : fits)
    if (named.count(fit.key) > 0 && !fit.fits)
      reader.error(reader.tree().find(node, fit.key), "unknown-key",
                   std::string("`") + fit.key + "` means nothing without " + fit.with, "remove it");
}

void check_evidence(YamlReader& reader, Id node, const Rule& rule,
                    const std::set<std::string>& named) {
  const Id at = named.count("evidence") > 0 ? reader.tree().find(node, "evidence") : node;
  const bool any_log = std::any_of(rule.evidence.begin(), rule.evidence.end(), evidence::is_log);
  if (rule.matcher == Rule::Matcher::where) {
    if (named.count("evidence") == 0)
      reader.error(node, "missing-key", "`where` reads facts, and this rule names no `evidence`",
                   "name the kind, such as evidence: [gpu-state]; triage rules kinds lists them");
    else if (any_log)
      reader.error(at, "bad-kind", "`where` reads facts, and a log kind has none",
                   "use match, or another kind");
  }
  if (rule.matcher == Rule::Matcher::sequence && !rule.evidence.empty() && !any_log)
    reader.error(at, "bad-kind", "`sequence` reads the lines of a log, and these kinds have none",
                 "use match or where, or name a log kind");
  if (rule.matcher == Rule::Matcher::when && named.count("evidence") > 0)
    reader.error(at, "unknown-key", "`when` reads observations, not evidence", "remove `evidence`");
}

void check_lift(YamlReader& reader, Id node, const Rule& rule, const std::set<std::string>& named) {
  if (rule.matcher != Rule::Matcher::when) return;
  const bool lift = rule.when.effect == When::Effect::lift;
  if (lift && named.count("set") == 0)
    reader.error(node, "missing-key", "effect: lift lacks `set`",
                 "name what the verdict becomes, such as set: {pattern: dead-rank}");
  if (!lift && named.count("set") > 0)
    reader.error(reader.tree().find(node, "set"), "unknown-key",
                 "`set` means nothing without effect: lift",
                 "add effect: lift, or set the rule's own keys");
}

void check_samples(YamlReader& reader, Id node, const Rule& rule,
                   const std::set<std::string>& named) {
  const Id at = named.count("samples") > 0 ? reader.tree().find(node, "samples") : node;
  if (rule.samples->match.empty())
    reader.error(at, "missing-sample", "`" + rule.id + "` has no sample that must match",
                 "add samples: {match: [...], reject: [...]}");
  if (rule.samples->reject.empty())
    reader.error(at, "missing-sample", "`" + rule.id + "` has no sample that must not match",
                 "add a look-alike under samples: reject");
}

bool good_id(std::string_view id) {
  return !id.empty() && id.size() <= 80 &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos &&
         id.front() != '-' && id.back() != '-';
}

}  // namespace

void check_rule(YamlReader& reader, Id node, const Rule& rule, const std::set<std::string>& named) {
  for (const char* key : {"id", "title", "class", "role"})
    if (named.count(key) == 0)
      reader.error(node, "missing-key",
                   "rule" + (rule.id.empty() ? std::string() : " `" + rule.id + "`") + " lacks `" +
                       key + "`",
                   std::string("add ") + key + ": ...");
  if (named.count("id") > 0 && !rule.id.empty() && !good_id(rule.id))
    reader.error(reader.tree().find(node, "id"), "bad-id",
                 "an id is words of a-z and 0-9 joined with -", "write torch-oom, say");
  check_matcher_count(reader, node, named);
  check_key_fits(reader, node, named, rule.matcher);
  check_evidence(reader, node, rule, named);
  check_lift(reader, node, rule, named);
  check_samples(reader, node, rule, named);
}

}  // namespace triage::rules

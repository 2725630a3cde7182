#include "redact/custom_rules.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/text.hpp"
#include "redact/values.hpp"

namespace triage::redact {
namespace {

base::Problem problem(const std::string& path, const YAML::Node& node, std::string message,
                      std::string mend = {}) {
  const YAML::Mark mark = node.Mark();
  std::string where = path;
  if (mark.line >= 0) where += fmt::format(":{}:{}", mark.line + 1, mark.column + 1);
  return {std::move(message), std::move(where), std::move(mend)};
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= 24 &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

base::Result<std::vector<std::string>> strings(const std::string& path, const YAML::Node& node,
                                               std::string_view what) {
  std::vector<std::string> all;
  if (!node.IsSequence())
    return problem(path, node, fmt::format("'{}' must be a list of texts", what));
  for (const YAML::Node& item : node) {
    if (!item.IsScalar())
      return problem(path, item, fmt::format("'{}' must be a list of texts", what));
    all.push_back(item.Scalar());
  }
  return all;
}

bool masks(const CustomRule& rule, std::string_view line) {
  CustomRules one;
  one.rules.push_back(rule);
  one.rules.back().kinds.clear();
  std::vector<CustomHit> hits;
  find_custom(one, evidence::Kind::unknown_text, line, hits);
  return !hits.empty();
}

base::Result<CustomRule> read_rule(const std::string& path, const YAML::Node& node) {
  if (!node.IsMap())
    return problem(path, node, "a redaction rule must be a map", "write `- id: name`");
  static const std::vector<std::string> k_keys{"id", "label", "pattern", "kinds", "samples"};
  for (const auto& entry : node) {
    const std::string key = entry.first.Scalar();
    if (std::find(k_keys.begin(), k_keys.end(), key) != k_keys.end()) continue;
    const std::string near = base::nearest(key, k_keys);
    return problem(path, entry.first, fmt::format("unknown key '{}'", key),
                   near.empty() ? "known: id, label, pattern, kinds, samples"
                                : "did you mean '" + near + "'?");
  }
  CustomRule rule;
  for (const char* key : {"id", "pattern"})
    if (!node[key] || !node[key].IsScalar() || node[key].Scalar().empty())
      return problem(path, node, fmt::format("a redaction rule needs '{}'", key));
  rule.id = node["id"].Scalar();
  rule.label = node["label"] ? node["label"].Scalar() : rule.id;
  if (!is_label(rule.label))
    return problem(path, node["label"] ? node["label"] : node["id"],
                   fmt::format("'{}' cannot be a label", rule.label),
                   "at most 24 lower-case letters and hyphens");
  rule.pattern = node["pattern"].Scalar();
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(8 << 20);
  auto compiled = std::make_shared<re2::RE2>(rule.pattern, options);
  if (!compiled->ok())
    return problem(path, node["pattern"], "the pattern is not valid: " + compiled->error(),
                   "RE2 syntax: no look-around, no back-references");
  if (re2::RE2::FullMatch("", *compiled))
    return problem(path, node["pattern"], "the pattern matches the empty text",
                   "ask for at least one character");
  const auto& groups = compiled->NamedCapturingGroups();
  if (const auto value = groups.find("value"); value != groups.end()) rule.group = value->second;
  rule.compiled = std::move(compiled);
  if (node["kinds"]) {
    auto names = strings(path, node["kinds"], "kinds");
    if (!names) return names.problem();
    for (const std::string& name : *names) {
      const auto kind = evidence::kind_from(name);
      if (!kind)
        return problem(path, node["kinds"], fmt::format("unknown kind '{}'", name),
                       "triage rules kinds lists them");
      rule.kinds.push_back(*kind);
    }
  }
  const YAML::Node samples = node["samples"];
  if (!samples || !samples.IsMap() || !samples["match"] || !samples["reject"])
    return problem(path, node, fmt::format("rule '{}' has no samples", rule.id),
                   "add samples: {match: [a line it masks], reject: [one it must leave alone]}");
  auto match = strings(path, samples["match"], "match");
  if (!match) return match.problem();
  auto reject = strings(path, samples["reject"], "reject");
  if (!reject) return reject.problem();
  if (match->empty() || reject->empty())
    return problem(path, samples, fmt::format("rule '{}' needs a sample of both", rule.id));
  for (const std::string& line : *match)
    if (!masks(rule, line))
      return problem(path, samples["match"],
                     fmt::format("rule '{}' does not mask its sample", rule.id),
                     "mend the pattern or the sample: " + base::shorten(line, 60));
  for (const std::string& line : *reject)
    if (masks(rule, line))
      return problem(path, samples["reject"],
                     fmt::format("rule '{}' masks a sample it must leave alone", rule.id),
                     "mend the pattern or the sample: " + base::shorten(line, 60));
  return rule;
}

base::Status read_keys(const std::string& path, const YAML::Node& node, CustomRules& into) {
  if (!node.IsMap())
    return problem(path, node, "'keys' must be a map",
                   "keys: {secret: [...], content: [...], keep: [...]}");
  for (const auto& entry : node) {
    const std::string kind = entry.first.Scalar();
    KeyClass result;
    if (kind == "secret") {
      result = {KeyKind::secret, What::secret};
    } else if (kind == "content") {
      result = {KeyKind::content, What::text};
    } else if (kind != "keep") {
      return problem(path, entry.first, fmt::format("unknown key '{}'", kind),
                     "known: secret, content, keep");
    }
    auto names = strings(path, entry.second, kind);
    if (!names) return names.problem();
    for (std::string& name : *names) into.keys.emplace_back(std::move(name), result);
  }
  return base::Done{};
}

}  // namespace

void CustomRules::append(CustomRules other) {
  std::move(other.rules.begin(), other.rules.end(), std::back_inserter(rules));
  std::move(other.keys.begin(), other.keys.end(), std::back_inserter(keys));
}

base::Result<CustomRules> read_custom_rules(std::string_view yaml, const std::string& path) {
  CustomRules rules;
  try {
    const YAML::Node root = YAML::Load(std::string(yaml));
    if (!root.IsMap())
      return base::Problem{"a file of redaction rules is a map", path,
                           "with the keys redactions and keys"};
    for (const auto& entry : root) {
      const std::string key = entry.first.Scalar();
      if (key == "keys") {
        if (auto status = read_keys(path, entry.second, rules); !status) return status.problem();
      } else if (key == "redactions") {
        if (!entry.second.IsSequence())
          return problem(path, entry.second, "'redactions' must be a list");
        for (const YAML::Node& node : entry.second) {
          auto rule = read_rule(path, node);
          if (!rule) return rule.problem();
          const bool twice = std::any_of(rules.rules.begin(), rules.rules.end(),
                                         [&](const CustomRule& r) { return r.id == rule->id; });
          if (twice)
            return problem(path, node, fmt::format("rule '{}' stands here twice", rule->id));
          rules.rules.push_back(std::move(*rule));
        }
      } else {
        return problem(path, entry.first, fmt::format("unknown key '{}'", key),
                       "known: redactions, keys");
      }
    }
  } catch (const YAML::Exception& error) {
    return base::Problem{"not valid YAML: " + error.msg,
                         fmt::format("{}:{}:{}", path, error.mark.line + 1, error.mark.column + 1),
                         {}};
  }
  return rules;
}

void find_custom(const CustomRules& rules, evidence::Kind kind, std::string_view line,
                 std::vector<CustomHit>& hits) {
  for (const CustomRule& rule : rules.rules) {
    if (!rule.kinds.empty() &&
        std::find(rule.kinds.begin(), rule.kinds.end(), kind) == rule.kinds.end())
      continue;
    std::size_t at = 0;
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(rule.group) + 1);
    while (at <= line.size() &&
           rule.compiled->Match({line.data(), line.size()}, at, line.size(), re2::RE2::UNANCHORED,
                                groups.data(), rule.group + 1)) {
      const re2::StringPiece whole = groups[0];
      const re2::StringPiece value = groups[static_cast<std::size_t>(rule.group)];
      const auto whole_end = static_cast<std::size_t>(whole.data() - line.data()) + whole.size();
      if (!value.empty()) {
        const auto begin = static_cast<std::size_t>(value.data() - line.data());
        if (placeholder_length(line.substr(begin, value.size())) != value.size())
          hits.push_back({begin, begin + value.size(), &rule});
      }
      at = std::max(whole_end, at + 1);
    }
  }
}

}  // namespace triage::redact

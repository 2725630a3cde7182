#include "rules/merge.hpp"

#include "rules/literals.hpp"

#include <algorithm>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "rules/serialise.hpp"

namespace triage::rules {
namespace {

bool is_error(const Diagnostic& d) {
  return d.level == Diagnostic::Level::error;
}

std::vector<std::string> ids_of(const RuleSet& rules) {
  std::vector<std::string> ids;
  for (const Rule& rule : rules.rules) ids.push_back(rule.id);
  return ids;
}

}  // namespace

Merger::Merger(RuleSet base) : rules_(std::move(base)) {
  for (const Rule& rule : rules_.rules) layer_of_[rule.id] = layer_;
}

void Merger::next_layer() {
  ++layer_;
}

void Merger::add_catalog(CatalogTable table) {
  rules_.catalogs[table.name] = std::move(table);
}

void Merger::lay(const Pack& pack, RuleSet& rules, std::vector<Diagnostic>& diagnostics) const {
  const auto report = [&](SourcePlace place, std::string code, std::string message,
                          std::string mend) {
    diagnostics.push_back(make_diagnostic(pack.text, std::move(place), Diagnostic::Level::error,
                                          std::move(code), std::move(message), std::move(mend)));
  };
  const auto unknown = [&](const std::string& id, const SourcePlace& place) {
    const std::string near = base::nearest(id, ids_of(rules));
    report(place, "unknown-rule", "there is no rule `" + id + "`",
           near.empty() ? "triage rules list shows the ids" : "did you mean `" + near + "`?");
  };
  for (const Disabled& disabled : pack.disabled) {
    const auto at = std::find_if(rules.rules.begin(), rules.rules.end(),
                                 [&](const Rule& rule) { return rule.id == disabled.id; });
    if (at == rules.rules.end())
      unknown(disabled.id, disabled.place);
    else
      rules.rules.erase(at);
  }
  for (const Rule& rule : pack.rules) {
    const auto known = layer_of_.find(rule.id);
    if (known != layer_of_.end() && rules.find(rule.id) != nullptr)
      report(rule.place, "duplicate-id", "there is a rule `" + rule.id + "` already",
             known->second == layer_
                 ? "give it another id"
                 : "write override: " + rule.id + " to change it, or give it another id");
    else
      rules.rules.push_back(rule);
  }
  for (const Override& override : pack.overrides) {
    const auto at = std::find_if(rules.rules.begin(), rules.rules.end(),
                                 [&](const Rule& rule) { return rule.id == override.id; });
    if (at == rules.rules.end())
      unknown(override.id, override.place);
    else
      apply_override(pack, override, *at, diagnostics);
  }
  for (const evidence::UserTextSpan& span : pack.user_text) rules.user_text.push_back(span);
  for (const PatternPage& page : pack.patterns) rules.patterns[page.id] = page;
}

void Merger::add(Pack pack) {
  std::vector<Diagnostic> diagnostics = pack.diagnostics;
  if (pack.sound()) {
    // Overrides and removals change existing rules: work on a copy only when there are any.
    const std::size_t before = rules_.rules.size();
    const std::size_t spans = rules_.user_text.size();
    if (pack.overrides.empty() && pack.disabled.empty() && pack.patterns.empty()) {
      lay(pack, rules_, diagnostics);
      if (std::any_of(diagnostics.begin(), diagnostics.end(), is_error)) {
        rules_.rules.resize(before);
        rules_.user_text.resize(spans);
      }
    } else {
      RuleSet changed = rules_;
      lay(pack, changed, diagnostics);
      if (std::none_of(diagnostics.begin(), diagnostics.end(), is_error))
        rules_ = std::move(changed);
    }
    if (std::none_of(diagnostics.begin(), diagnostics.end(), is_error)) {
      for (const Rule& rule : pack.rules) layer_of_[rule.id] = layer_;
      packs_.push_back(std::move(pack));
    }
  }
  diagnostics_.insert(diagnostics_.end(), diagnostics.begin(), diagnostics.end());
}

RuleSet Merger::take() {
  rules_.digest = digest_of(rules_);
  add_literals(rules_);
  return std::move(rules_);
}

std::string digest_of(const RuleSet& rules) {
  // Where a rule stands must not change what it means: places are left out.
  RuleSet plain = rules;
  plain.digest.clear();
  plain.literals.clear();
  for (Rule& rule : plain.rules) {
    rule.place = {};
    rule.overridden.clear();
    for (Sample& sample : rule.samples.edit().match) sample.place = {};
    for (Sample& sample : rule.samples.edit().reject) sample.place = {};
  }
  for (auto& [name, table] : plain.catalogs)
    for (CatalogRow& row : table.rows.edit()) row.line = 0;
  return base::to_hex(base::sha256(to_bytes(plain))).substr(0, 16);
}

}  // namespace triage::rules

#include "rules/explain.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "rules/samples.hpp"

namespace triage::rules {
namespace {

/// Letters and digits only, in lower case: `GPU Recovery Action` finds `gpu recovery action`.
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : base::to_lower(text))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out.push_back(c);
  return out;
}

bool cell_names(const std::string& cell, const std::string& wanted) {
  for (std::string_view spelling : base::split(cell, '|'))
    if (folded(spelling) == wanted) return true;
  return false;
}

bool row_names(const CatalogTable& table, const CatalogRow& row, const std::string& wanted) {
  for (std::size_t i = 0; i < row.key.size(); ++i)
    if (table.key_columns[i].rfind("mask:", 0) != 0 && cell_names(row.key[i], wanted)) return true;
  return std::any_of(row.facts.begin(), row.facts.end(), [&](const auto& fact) {
    if (fact.first != "name" && fact.first != "driver_name" && fact.first != "alias") return false;
    for (std::string_view one : base::split(fact.second, ','))
      if (folded(one) == wanted) return true;
    return false;
  });
}

std::string worded(const std::string& cell) {
  return std::string(base::trim(base::split(cell, '|').front()));
}

/// Steps of the rule that is the best witness of a cause: a root with steps before others.
const std::vector<Step>* steps_of_cause(const RuleSet& rules, const std::string& cause) {
  const std::vector<Step>* best = nullptr;
  for (const Rule& rule : rules.rules) {
    if (rule.cause == cause && !rule.next_steps->empty()) {
      if (rule.role == Role::root) return &*rule.next_steps;
      if (best == nullptr) best = &*rule.next_steps;
    }
    for (const Refine& refine : rule.refine)
      if (refine.overlay.cause == cause && best == nullptr)
        best = refine.overlay.next_steps.empty()
                   ? (rule.next_steps->empty() ? nullptr : &*rule.next_steps)
                   : &refine.overlay.next_steps;
  }
  return best;
}

bool leads_to(const Rule& rule, const std::string& cause) {
  return rule.cause == cause ||
         std::any_of(rule.refine.begin(), rule.refine.end(),
                     [&](const Refine& r) { return r.overlay.cause == cause; });
}

std::vector<std::string> rules_of_cause(const RuleSet& rules, const std::string& cause) {
  std::vector<std::string> ids;
  for (const Rule& rule : rules.rules)
    if (!cause.empty() && leads_to(rule, cause)) ids.push_back(rule.id);
  return ids;
}

void apply(const Overlay& overlay, Explanation& e) {
  if (overlay.cause) e.cause = *overlay.cause;
  if (overlay.class_) e.class_ = *overlay.class_;
  if (overlay.fault_domain) e.fault_domain = *overlay.fault_domain;
  if (overlay.role) e.role = to_string(*overlay.role);
  if (overlay.severity) e.severity = to_string(*overlay.severity);
  if (overlay.quarantine) e.quarantine = *overlay.quarantine;
  std::set<Phase> replaced;
  for (const Step& step : overlay.next_steps) replaced.insert(step.phase);
  e.steps.erase(std::remove_if(e.steps.begin(), e.steps.end(),
                               [&](const Step& s) { return replaced.count(s.phase) > 0; }),
                e.steps.end());
  e.steps.insert(e.steps.end(), overlay.next_steps.begin(), overlay.next_steps.end());
  std::stable_sort(e.steps.begin(), e.steps.end(),
                   [](const Step& a, const Step& b) { return a.phase < b.phase; });
}

void apply(const CatalogTable& table, const CatalogRow& row, Explanation& e) {
  apply(row.overlay, e);
  e.table = table.name;
  if (!row.title.empty()) e.title = row.title;
  e.meaning = row.meaning;
  e.notes = row.notes;
  e.sources_disagree = row.notes.rfind("DISAGREE", 0) == 0;
  if (e.sources_disagree) {
    const auto colon = e.notes.find(':');
    e.notes = std::string(base::trim(std::string_view(e.notes).substr(colon + 1)));
  }
  e.source = row.source;
  e.references.insert(e.references.end(), row.references.begin(), row.references.end());
  e.facts.insert(e.facts.end(), row.facts.begin(), row.facts.end());
}

/// Whether a sample of the catalog rule leads to this row.
bool reaches(const Rule& rule, const CatalogTable& table, const CatalogRow& row) {
  return std::any_of(rule.samples->match.begin(), rule.samples->match.end(), [&](const Sample& s) {
    std::map<std::string, std::string> captures;
    if (rule.matcher != Rule::Matcher::match || !match_line(rule, s.lines, &captures)) return false;
    std::vector<std::string> key;
    for (const std::string& name : rule.catalog->key) key.push_back(captures[name]);
    return table.find(key) == &row;
  });
}

Explanation explain_row(const RuleSet& rules, const CatalogTable& table, const CatalogRow& row,
                        const std::string& subject) {
  Explanation e;
  e.subject = subject;
  if (row.overlay.cause)
    if (const std::vector<Step>* steps = steps_of_cause(rules, *row.overlay.cause))
      e.steps = *steps;
  apply(table, row, e);
  e.rules = rules_of_cause(rules, e.cause);
  for (const Rule& rule : rules.rules)
    if (rule.catalog && rule.catalog->table == table.name && reaches(rule, table, row) &&
        std::find(e.rules.begin(), e.rules.end(), rule.id) == e.rules.end())
      e.rules.push_back(rule.id);
  return e;
}

Explanation explain_rule(const RuleSet& rules, const Rule& rule) {
  Explanation e;
  e.subject = "rule " + rule.id;
  e.title = rule.title;
  e.cause = rule.cause;
  e.class_ = rule.class_;
  e.role = to_string(rule.role);
  e.severity = to_string(rule.severity);
  e.fault_domain = rule.fault_domain;
  e.quarantine = rule.quarantine;
  e.steps = *rule.next_steps;
  e.references = rule.references;
  e.rules = {rule.id};
  static_cast<void>(rules);
  for (const Refine& refine : rule.refine) e.refinements.push_back(describe(refine));
  return e;
}

std::optional<Explanation> explain_cause(const RuleSet& rules, const std::string& cause) {
  const auto ids = rules_of_cause(rules, cause);
  if (ids.empty()) return std::nullopt;
  const Rule* best = nullptr;
  for (const std::string& id : ids) {
    const Rule* rule = rules.find(id);
    const auto worth = [&](const Rule& r) {
      return (r.cause == cause ? 4 : 0) + (r.role == Role::root ? 2 : 0) +
             (r.next_steps->empty() ? 0 : 1);
    };
    if (best == nullptr || worth(*rule) > worth(*best)) best = rule;
  }
  Explanation e = explain_rule(rules, *best);
  for (const Refine& refine : best->refine)
    if (best->cause != cause && refine.overlay.cause == cause) {
      apply(refine.overlay, e);
      if (refine.overlay.title) e.title = *refine.overlay.title;
    }
  e.subject = "cause " + cause;
  e.cause = cause;
  e.rules = ids;
  return e;
}

Explanation explain_pattern(const PatternPage& page) {
  Explanation e;
  e.subject = "pattern " + page.id;
  e.title = page.title;
  e.meaning = page.definition;
  const auto list = [&](const char* name, const std::vector<std::string>& items) {
    for (const std::string& item : items) e.facts.emplace_back(name, item);
  };
  list("signal", page.signals);
  list("because", page.conditions);
  list("impact", page.impacts);
  list("not", page.not_this);
  list("ask", page.questions);
  const auto steps = [&](Phase phase, const std::vector<std::string>& items) {
    for (const std::string& item : items) e.steps.push_back({phase, item, {}, {}});
  };
  steps(Phase::contain, page.containment);
  steps(Phase::recover, page.remediation);
  steps(Phase::prevent, page.prevention);
  return e;
}

std::string subject_of(const ExplainForm& form, const CatalogTable& table, const CatalogRow& row) {
  std::string subject = std::string(form.subject) + " " + worded(row.key.front());
  if (table.name == "kubernetes-signal" && row.key.size() > 1)
    subject = row.key[0] + " " + base::join({worded(row.key[1])}, "");
  if (table.name == "cudnn-status" && row.key.size() > 1)
    subject = std::string(form.subject) + " " + worded(row.key[1]) + " (cuDNN " + row.key[0] + ")";
  if (table.name == "exit-code" && row.key.size() > 1 && !row.key[1].empty())
    subject += ", reason " + row.key[1];
  if (table.name == "kubernetes-signal" && row.key.size() > 2 && !row.key[2].empty())
    subject += " (" + row.key[2] + ")";
  if (table.name == "smi-field" && row.key.size() > 1) subject += " (" + row.key[1] + ")";
  return subject;
}

const ExplainForm* form_of_table(std::string_view table) {
  for (const ExplainForm& form : explain_forms())
    for (std::string_view name : form.tables)
      if (name == table) return &form;
  return nullptr;
}

/// `0x...` words of `xid 149 0x004505c6 0x1`: the NVLink error words of the line. Every row that
/// some choice of two of them fits.
std::vector<Explanation> explain_words(const RuleSet& rules, const std::string& xid,
                                       const std::vector<std::string>& words) {
  std::vector<Explanation> found;
  const auto table = rules.catalogs.find("nvidia-xid-nvlink5-decode");
  if (table == rules.catalogs.end()) return found;
  std::set<std::uint32_t> seen;
  for (const std::string& intrinfo : words)
    for (const std::string& status : words) {
      if (&intrinfo == &status && words.size() > 1) continue;
      for (const CatalogRow& row : *table->second.rows) {
        CatalogTable one{table->second.name, table->second.key_columns,
                         std::vector<CatalogRow>{row}};
        if (one.find({xid, intrinfo, words.size() > 1 ? status : row.key[2]}) == nullptr) continue;
        if (!seen.insert(row.line).second) continue;
        Explanation e = explain_row(rules, table->second, row, "Xid " + xid + " " + intrinfo);
        e.facts.emplace_back("error status", row.key[2]);
        found.push_back(std::move(e));
      }
      if (!found.empty() && words.size() > 1) return found;
    }
  return found;
}

std::string argument_of(const std::vector<std::string>& words) {
  std::vector<std::string> rest(words.begin() + 1, words.end());
  return base::join(rest, " ");
}

base::Problem unknown(const RuleSet& rules, const ExplainForm& form, const std::string& argument) {
  std::vector<std::string> known;
  for (std::string_view name : form.tables)
    if (const auto table = rules.catalogs.find(std::string(name)); table != rules.catalogs.end())
      for (const CatalogRow& row : *table->second.rows)
        for (const std::string& cell : row.key)
          for (std::string_view spelling : base::split(cell, '|'))
            if (!spelling.empty()) known.emplace_back(spelling);
  const std::string near =
      base::parse_int(argument) ? std::string() : base::nearest(argument, known);
  return {"no catalog knows " + std::string(form.subject) + " " + argument,
          {},
          near.empty() ? "for example: triage explain " + std::string(form.example)
                       : "did you mean " + near + "?"};
}

base::Result<std::vector<Explanation>> explain_form(const RuleSet& rules, const ExplainForm& form,
                                                    const std::vector<std::string>& words) {
  std::string argument = argument_of(words);
  if (form.name == "xid" && words.size() > 2) {
    auto decoded = explain_words(rules, words[1], {words.begin() + 2, words.end()});
    if (!decoded.empty()) return decoded;
    return base::Problem{"no row of the NVLink table fits these words of Xid " + words[1],
                         {},
                         "give intrInfo and errorStatus as the kernel printed them, 0x..."};
  }
  if (form.name == "signal") {
    const auto number = base::parse_int(argument);
    if (number && *number > 0 && *number < 65) argument = std::to_string(128 + *number);
  }
  std::vector<Explanation> found;
  for (std::string_view name : form.tables) {
    const auto table = rules.catalogs.find(std::string(name));
    if (table == rules.catalogs.end()) continue;
    for (const CatalogRow& row : *table->second.rows)
      if (row_names(table->second, row, folded(argument)) && !folded(argument).empty() &&
          (table->second.name != "kubernetes-signal" || form.name == row.key[0]))
        found.push_back(
            explain_row(rules, table->second, row, subject_of(form, table->second, row)));
    // The decode table has many rows for one Xid: the plain table says what it is.
    if (!found.empty()) break;
  }
  if (found.empty() && (form.name == "xid" || form.name == "sxid") && base::parse_int(argument)) {
    const std::string cause = std::string(form.name) + "-" + argument;
    if (auto by_cause = explain_cause(rules, cause)) found.push_back(std::move(*by_cause));
  }
  if (found.empty()) return unknown(rules, form, argument);
  return found;
}

base::Result<std::vector<Explanation>> explain_name(const RuleSet& rules, const std::string& name,
                                                    std::string_view only) {
  std::vector<Explanation> found;
  if (only.empty() || only == "pattern")
    if (const auto page = rules.patterns.find(name); page != rules.patterns.end())
      found.push_back(explain_pattern(page->second));
  if (only.empty() || only == "rule")
    if (const Rule* rule = rules.find(name)) found.push_back(explain_rule(rules, *rule));
  if ((only.empty() && found.empty()) || only == "cause") {
    if (auto cause = explain_cause(rules, name)) found.push_back(std::move(*cause));
    for (const auto& [table_name, table] : rules.catalogs)
      if (found.empty())
        for (const CatalogRow& row : *table.rows)
          if (row.overlay.cause == name) {
            const ExplainForm* form = form_of_table(table_name);
            found.push_back(explain_row(rules, table, row,
                                        form == nullptr ? name : subject_of(*form, table, row)));
            break;
          }
  }
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const Rule& rule : rules.rules) {
    known.push_back(rule.id);
    known.push_back(rule.cause);
  }
  for (const auto& [id, page] : rules.patterns) known.push_back(id);
  const std::string near = base::nearest(name, known);
  return base::Problem{
      "nothing is called " + name,
      {},
      near.empty() ? "triage rules list shows rules and causes" : "did you mean " + near + "?"};
}

/// A single word of any catalog: `cudaErrorIllegalAddress`, `FailedScheduling`, `xid79`, `Xid: 79`.
std::vector<Explanation> explain_anything(const RuleSet& rules, const std::string& word) {
  std::vector<Explanation> found;
  const std::string wanted = folded(word);
  // A bare number is a code of a dozen tables: it says nothing.
  if (wanted.empty() || base::parse_int(wanted)) return found;
  for (const char* prefix : {"sxid", "xid"})
    if (wanted.rfind(prefix, 0) == 0 && base::parse_int(wanted.substr(std::string(prefix).size())))
      if (auto codes = explain(rules, {prefix, wanted.substr(std::string(prefix).size())}))
        return *codes;
  for (const auto& [name, table] : rules.catalogs) {
    const ExplainForm* form = form_of_table(name);
    if (form == nullptr) continue;
    for (const CatalogRow& row : *table.rows)
      if (row_names(table, row, wanted))
        found.push_back(explain_row(rules, table, row, subject_of(*form, table, row)));
  }
  return found;
}

}  // namespace

const std::vector<ExplainForm>& explain_forms() {
  static const std::vector<ExplainForm> forms{
      {"xid", {"nvidia-xid", "nvidia-xid-nvlink5-decode"}, "Xid", "xid 79"},
      {"sxid", {"nvidia-sxid"}, "SXid", "sxid 20034"},
      {"cuda", {"cuda-error"}, "CUDA error", "cuda 700"},
      {"cublas", {"cublas-status"}, "cuBLAS status", "cublas 13"},
      {"cudnn", {"cudnn-status"}, "cuDNN status", "cudnn 5000"},
      {"nccl", {"nccl-result"}, "NCCL result", "nccl 6"},
      {"rccl", {"nccl-result"}, "RCCL result", "rccl 6"},
      {"hip", {"hip-error"}, "HIP error", "hip 719"},
      {"exit", {"exit-code"}, "exit code", "exit 137"},
      {"signal", {"exit-code"}, "exit code", "signal 9"},
      {"event", {"kubernetes-signal"}, "event", "event FailedScheduling"},
      {"condition", {"kubernetes-signal"}, "condition", "condition Ready"},
      {"state", {"kubernetes-signal"}, "state", "state CrashLoopBackOff"},
      {"metric", {"metric"}, "metric", "metric DCGM_FI_DEV_XID_ERRORS"},
      {"smi", {"smi-field"}, "nvidia-smi field", "smi \"GPU Recovery Action\""},
      {"amd", {"amd-message"}, "amdgpu message", "amd ring-timeout"}};
  return forms;
}

bool has_form(const std::vector<std::string>& words) {
  if (words.size() < 2) return false;
  const std::string first = base::to_lower(words.front());
  return first == "rule" || first == "cause" || first == "pattern" ||
         std::any_of(explain_forms().begin(), explain_forms().end(),
                     [&](const ExplainForm& form) { return form.name == first; });
}

base::Result<std::vector<Explanation>> explain(const RuleSet& rules,
                                               const std::vector<std::string>& words) {
  if (words.empty()) return base::Problem{"nothing to explain", {}, "try: triage explain xid 79"};
  const std::string first = base::to_lower(words.front());
  if (words.size() > 1) {
    for (const ExplainForm& form : explain_forms())
      if (form.name == first) return explain_form(rules, form, words);
    if (first == "rule" || first == "cause" || first == "pattern")
      return explain_name(rules, argument_of(words), first);
  }
  if (words.size() == 1) {
    auto named = explain_name(rules, words.front(), {});
    if (named.ok()) return named;
    auto anything = explain_anything(rules, words.front());
    if (!anything.empty()) return anything;
    return named;
  }
  auto anything = explain_anything(rules, base::join(words, " "));
  if (!anything.empty()) return anything;
  return base::Problem{"nothing is called " + base::join(words, " "), {}, {}};
}

std::vector<Explanation> explain_line(const RuleSet& rules, const std::string& line,
                                      const std::string& raw) {
  std::vector<Explanation> found;
  const auto lines = base::split_lines(line);
  for (const Rule& rule : rules.rules) {
    std::map<std::string, std::string> captures;
    bool matches = false;
    if (rule.matcher == Rule::Matcher::match)
      matches = match_line(rule, line, &captures) || match_line(rule, raw, &captures);
    else if (rule.matcher == Rule::Matcher::sequence && lines.size() > 1)
      matches = match_sequence(rule, lines, &captures).has_value();
    if (!matches) continue;
    Explanation e = explain_rule(rules, rule);
    e.captures = std::move(captures);
    if (rule.catalog) {
      const auto table = rules.catalogs.find(rule.catalog->table);
      std::vector<std::string> key;
      for (const std::string& name : rule.catalog->key) key.push_back(e.captures[name]);
      const std::string title = e.title;
      if (table != rules.catalogs.end()) {
        if (const CatalogRow* row = table->second.find(key)) {
          apply(table->second, *row, e);
          e.captures["catalog.title"] = row->title;
        }
      }
      e.title = title;
    }
    found.push_back(std::move(e));
  }
  const auto weight = [](const Explanation& e) {
    return e.role == "root" ? 0 : e.role == "symptom" ? 1 : 2;
  };
  std::stable_sort(found.begin(), found.end(), [&](const Explanation& a, const Explanation& b) {
    return weight(a) < weight(b);
  });
  return found;
}

namespace {

std::string describe(const Ref& ref) {
  static constexpr const char* names[] = {"rule", "tag", "class", "cause", "kind", "kind"};
  return std::string(names[static_cast<std::size_t>(ref.by)]) + " " + ref.value;
}

std::string effect_of(const Overlay& o) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) parts.push_back(std::string(name) + " " + *value);
  };
  add("cause", o.cause);
  add("class", o.class_);
  add("fault domain", o.fault_domain);
  add("pattern", o.pattern);
  add("scope", o.scope);
  if (o.role) parts.push_back("role " + std::string(to_string(*o.role)));
  if (o.severity) parts.push_back("severity " + std::string(to_string(*o.severity)));
  if (o.confidence) parts.push_back("confidence " + std::string(to_string(*o.confidence)));
  if (o.quarantine) parts.push_back("quarantine " + o.quarantine->target);
  if (o.fatal) parts.emplace_back(*o.fatal ? "fatal" : "not fatal");
  if (!o.tags.empty()) parts.push_back("tags " + base::join(o.tags, ", "));
  if (!o.next_steps.empty()) parts.emplace_back("other steps");
  return base::join(parts, ", ");
}

}  // namespace

std::string describe(const Refine& refine) {
  std::vector<std::string> parts;
  for (const Near& near : refine.near) {
    static constexpr const char* sides[] = {"before", "after", "around"};
    parts.push_back("`" + base::shorten(near.patterns.empty() ? "" : near.patterns.front(), 40) +
                    "` stands within " + std::to_string(near.lines) + " lines " +
                    sides[static_cast<std::size_t>(near.side)] + " it");
  }
  for (const auto& [name, value] : refine.captures) parts.push_back(name + " is " + value);
  for (const Seen& seen : refine.seen) {
    std::string text = describe(seen.ref) + (seen.negate ? " is not seen" : " is seen");
    if (seen.order == Order::before) text += " before it";
    if (seen.order == Order::after) text += " after it";
    if (seen.same != Same::any) text += ", same " + std::string(to_string(seen.same));
    if (seen.within_ns) text += ", within " + base::format_duration_ns(*seen.within_ns);
    parts.push_back(std::move(text));
  }
  for (const FactCondition& fact : refine.facts) {
    std::vector<std::string> fields;
    for (const Test& test : fact.where.tests) fields.push_back(test.field);
    parts.push_back(std::string(to_string(fact.kind)) + " says so (" + base::join(fields, ", ") +
                    ")");
  }
  for (const Kind kind : refine.evidence) parts.push_back("in " + std::string(to_string(kind)));
  return "when " + base::join(parts, " and ") + ": " + effect_of(refine.overlay);
}

}  // namespace triage::rules

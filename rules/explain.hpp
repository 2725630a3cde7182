#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "rules/rule.hpp"

/// `triage explain`: what a code, a reason, a metric, a cause or a pasted line means and what to
/// do, from the catalogs and rules alone.
namespace triage::rules {

struct Explanation {
  std::string subject;  ///< `Xid 79`
  std::string title;
  std::string meaning;
  std::string cause, class_, role, severity, fault_domain;  ///< empty: nothing said
  Quarantine quarantine;
  std::vector<Step> steps;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string notes;
  bool sources_disagree = false;
  std::string source;
  std::vector<std::string> references;
  std::string table;                            ///< catalog that says it; empty: a rule
  std::vector<std::string> rules;               ///< ids of rules with this cause
  std::map<std::string, std::string> captures;  ///< of a pasted line
  std::vector<std::string> refinements;         ///< `when tag X is seen: role context`
};

/// A form of the command: `xid`, the tables it looks in, what its subject is called.
struct ExplainForm {
  std::string_view name;
  std::vector<std::string_view> tables;
  std::string_view subject;
  std::string_view example;
};
[[nodiscard]] const std::vector<ExplainForm>& explain_forms();
/// The first word names a form and more follow: the rest is its argument, never a log line.
[[nodiscard]] bool has_form(const std::vector<std::string>& words);

/// Explains the words of a command line: a form and its argument (`xid 79`, `xid 149 0x004505c6`,
/// `exit 137`), or one name that stands in a catalog or is a rule, cause or pattern. A problem when
/// nothing knows it; a line of a log is no name: see explain_line.
[[nodiscard]] base::Result<std::vector<Explanation>> explain(const RuleSet& rules,
                                                             const std::vector<std::string>& words);

/// Which rules match this line, with captures and the catalog row they lead to. `line` is the
/// message without its stamp prefix; `raw` the whole line, tried where the message alone gives
/// nothing. Empty when no rule does.
[[nodiscard]] std::vector<Explanation> explain_line(const RuleSet& rules, const std::string& line,
                                                    const std::string& raw);

/// Conditions of a refine entry in words: `tag engine-serving is seen before, same process`.
[[nodiscard]] std::string describe(const Refine& refine);

}  // namespace triage::rules

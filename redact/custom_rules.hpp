#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evidence/kind.hpp"
#include "redact/finding.hpp"
#include "redact/key_class.hpp"

namespace re2 {
class RE2;
}

namespace triage::redact {

/// One redaction rule of the user.
struct CustomRule {
  std::string id;
  std::string label;                  ///< placeholder `<x-LABEL:...>`
  std::vector<evidence::Kind> kinds;  ///< empty: all
  std::string pattern;                ///< RE2; the group `value`, or the whole match, is masked
  std::shared_ptr<const re2::RE2> compiled;  ///< shared: rules are copied into every run
  int group = 0;
};

/// What the user adds to the built-in knowledge:
///
///   redactions:
///     - id: employee-number
///       label: employee
///       pattern: 'badge (?P<value>E-\d{6})'
///       kinds: [container-log]
///       samples: {match: ["badge E-123456 denied"], reject: ["badge E-12"]}
///   keys:
///     secret: [x-internal-pass]      # values are masked
///     content: [case_notes]          # values are text of users
///     keep: [build_token]            # values are never masked for their key
struct CustomRules {
  std::vector<CustomRule> rules;
  std::vector<std::pair<std::string, KeyClass>> keys;

  void append(CustomRules other);
};

/// Reads a YAML file of redaction rules. Samples are required and run: a rule that does not do what
/// its samples say is refused.
[[nodiscard]] base::Result<CustomRules> read_custom_rules(std::string_view yaml,
                                                          const std::string& path);

/// Adds the edits that the rules make in `line` for evidence of `kind`.
struct CustomHit {
  std::size_t begin = 0;
  std::size_t end = 0;
  const CustomRule* rule = nullptr;
};
void find_custom(const CustomRules& rules, evidence::Kind kind, std::string_view line,
                 std::vector<CustomHit>& hits);

}  // namespace triage::redact

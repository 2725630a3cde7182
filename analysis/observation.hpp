#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evidence/kind.hpp"
#include "evidence/place.hpp"
#include "evidence/time.hpp"
#include "rules/rule.hpp"

namespace triage::analysis {

/// How long before its table was printed something was seen, in seconds: all that `kubectl
/// describe` and `kubectl get events` tell. Ages of one file count from one moment.
struct Age {
  std::int64_t first = 0, last = 0;  ///< of its repeats: the oldest and the newest
  bool sorted = false;               ///< the table is: equal ages stand in their order
};

/// One place where a rule matched: a line of a log, or the deciding line of a fact. Repeats of one
/// rule at one place and text are folded: `count`, `first_time`, `last_time`.
struct Observation {
  const rules::Rule* rule = nullptr;
  std::uint32_t file = 0;    ///< index of the evidence file
  std::uint32_t line = 0;    ///< 1-based
  std::uint64_t offset = 0;  ///< of the line's first byte in the decompressed file
  std::string text;          ///< the line without its stamp prefix, or the fact's deciding text
  std::map<std::string, std::string> captures;
  evidence::Place place;
  std::optional<evidence::Stamp> stamp;  ///< as read; dated after all evidence is known
  std::optional<evidence::Time> time;
  std::optional<evidence::Stamp> last_stamp;  ///< of the last of folded repeats
  std::uint32_t last_line = 0;
  /// For a line without a stamp of its own: the next stamped line bounds its time from above.
  std::optional<evidence::Stamp> next_stamp;
  std::uint32_t next_line = 0;
  std::optional<evidence::Time> not_after;
  bool stamp_is_own = true;  ///< false: taken from the nearest stamped line before it
  std::optional<Age> age;    ///< instead of a time
  std::uint64_t count = 1;
  std::optional<evidence::Time> first_time, last_time;
  std::vector<bool> near_holds;  ///< one for each `near` condition of the rule's refines, in order
  int fact = -1;                 ///< index of the fact that a `where` rule matched, or -1

  // Effective values: the rule's, overlaid by catalog, refine and clearing.
  rules::Role role = rules::Role::context;
  rules::Severity severity = rules::Severity::info;
  std::string cause, class_, title, fault_domain;
  std::string pattern, scope;      ///< empty: not said
  std::uint32_t catalog_line = 0;  ///< of the catalog row that was laid over it, or 0
  std::optional<rules::Confidence> confidence_cap;
  rules::Quarantine quarantine;
  /// Laid over what the rule itself advises: steps_of() makes one list of them.
  std::vector<const std::vector<rules::Step>*> advice;
  std::vector<std::string> tags;
  bool fatal = false;
  bool stands_alone = false;
  bool set_aside = false;  ///< history, or another team's: no composite may rest on it
};

}  // namespace triage::analysis

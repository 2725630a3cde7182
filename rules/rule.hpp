#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/kind.hpp"
#include "evidence/user_text.hpp"
#include "rules/deferred.hpp"

/// The rule language as types. The loader makes them from YAML, the analysis reads them; `man
/// triage-rules` is the manual. Patterns are RE2 source text: whoever matches compiles them.
namespace triage::rules {

using evidence::Kind;

enum class Role : std::uint8_t { root, symptom, context };
enum class Severity : std::uint8_t { info, warning, error, critical };
enum class Confidence : std::uint8_t { low, medium, high };
/// Order of printing.
enum class Phase : std::uint8_t { contain, diagnose, recover, verify, prevent, avoid };
/// What must be the same of two observations; a part that one of them does not name agrees with
/// any.
enum class Same : std::uint8_t {
  any,
  pid,
  process,
  pod,
  node,
  gpu,
  group,
  workload,
  revision,
  file
};

[[nodiscard]] std::string_view to_string(Role);
[[nodiscard]] std::string_view to_string(Severity);
[[nodiscard]] std::string_view to_string(Confidence);
[[nodiscard]] std::string_view to_string(Phase);
[[nodiscard]] std::string_view to_string(Same);
[[nodiscard]] std::optional<Role> role_from(std::string_view);
[[nodiscard]] std::optional<Severity> severity_from(std::string_view);
[[nodiscard]] std::optional<Confidence> confidence_from(std::string_view);
[[nodiscard]] std::optional<Phase> phase_from(std::string_view);
[[nodiscard]] std::optional<Same> same_from(std::string_view);

/// The closed vocabularies (design, section 3), in their order of printing.
[[nodiscard]] const std::vector<std::string>& all_classes();
[[nodiscard]] const std::vector<std::string>& all_fault_domains();
[[nodiscard]] const std::vector<std::string>& all_scopes();
[[nodiscard]] const std::vector<std::string>& all_patterns();
[[nodiscard]] const std::vector<std::string>& all_quarantine_targets();
[[nodiscard]] const std::vector<std::string>& all_quarantine_actions();

struct Quarantine {
  std::string target = "none";
  std::string action = "none";
  bool operator==(const Quarantine&) const = default;
};

struct Step {
  Phase phase = Phase::diagnose;
  std::string text;     ///< `{name}` is filled from captures and entities
  std::string command;  ///< empty: none
  std::string why;      ///< empty: the text says it
  bool operator==(const Step&) const = default;
};

/// What an overlay (catalog row, refine entry, lift, override) may set; what is absent stays.
struct Overlay {
  std::optional<std::string> cause, class_, title, fault_domain, pattern, scope;
  std::optional<Role> role;
  std::optional<Severity> severity;
  std::optional<Confidence> confidence;
  std::optional<Quarantine> quarantine;
  std::optional<bool> fatal;
  std::optional<bool> stands_alone;
  std::vector<std::string> tags;  ///< added
  std::vector<Step> next_steps;   ///< replace those of the same phase
  bool operator==(const Overlay&) const = default;
};

/// Names observations: by rule id, tag, class or cause; or evidence by its kind.
struct Ref {
  enum class By : std::uint8_t { rule, tag, class_, cause, kind_present, kind_absent };
  By by = By::rule;
  std::string value;
  bool operator==(const Ref&) const = default;
};

enum class Direction : std::uint8_t { after, either };
enum class Order : std::uint8_t { any, before, after };

struct Explains {
  Ref ref;
  Same same = Same::node;
  std::optional<std::int64_t> window_ns;  ///< absent: any time after
  Direction direction = Direction::after;
  bool operator==(const Explains&) const = default;
};

/// A comparison of `where`. `value` holds plain text, an RE2 pattern, or `$field` for another field
/// of the same fact.
struct Test {
  enum class Op : std::uint8_t {
    equal,
    not_equal,
    regex,
    lt,
    le,
    gt,
    ge,
    in,
    exists,
    older_than,  ///< `values[0]` nanoseconds before the end of the evidence
    rises_by,    ///< between the first and the last fact of the same subject
    ratio_to,    ///< this field over `$field` (values[0]), compared by `ge` values[1]
  };
  std::string field;
  Op op = Op::equal;
  std::vector<std::string> values;
  bool operator==(const Test&) const = default;
};

struct Where {
  std::vector<Test> tests;  ///< all must hold
  std::string at;           ///< field whose line is reported; empty: the first test's
  bool operator==(const Where&) const = default;
};

struct Near {
  enum class Side : std::uint8_t { before, after, around };
  Side side = Side::around;
  std::vector<std::string> patterns;  ///< any of
  int lines = 60;                     ///< at most 200, and 64 KiB
  bool operator==(const Near&) const = default;
};

struct Seen {
  Ref ref;
  std::map<std::string, std::string>
      captures;  ///< each must be equal; value `$name` is this observation's capture,
                 ///< `!$name` anything else that is named
  Same same = Same::node;
  std::optional<std::int64_t> within_ns;
  Order order = Order::any;  ///< `before`: the other stands before this one
  bool negate = false;       ///< `not_seen`
  bool operator==(const Seen&) const = default;
};

struct FactCondition {
  Kind kind = Kind::gpu_state;
  Where where;
  Same same = Same::node;
  bool operator==(const FactCondition&) const = default;
};

/// One entry of `refine`: all conditions must hold; then the overlay is laid over the rule.
struct Refine {
  std::vector<Near> near;
  std::map<std::string, std::string> captures;  ///< equal, or `~regex`
  std::vector<Seen> seen;
  std::vector<FactCondition> facts;
  std::vector<Kind> evidence;  ///< the observation is of one of these kinds; empty: any
  Overlay overlay;
  bool operator==(const Refine&) const = default;
};

struct Term {
  Ref ref;
  int at_least = 1;
  std::vector<std::string> distinct;  ///< places (`pod`, `node`, `gpu` ...) or capture names
  std::optional<std::int64_t> within_ns;
  Order order = Order::any;  ///< against the first term of `all`
  std::map<std::string, std::string> captures;
  bool operator==(const Term&) const = default;
};

struct When {
  enum class Effect : std::uint8_t { root, lift };
  std::vector<Term> all, any, none;
  std::optional<Same> same;
  Effect effect = Effect::root;
  Overlay set;  ///< lift only
  bool operator==(const When&) const = default;
};

struct CatalogUse {
  std::string table;
  std::vector<std::string> key;  ///< capture names, in the order of the table's key columns
  bool operator==(const CatalogUse&) const = default;
};

struct ClearedBy {
  Ref ref;
  Same same = Same::pod;
  std::optional<std::int64_t> within_ns;
  bool operator==(const ClearedBy&) const = default;
};

struct SettledBy {
  Kind kind = Kind::gpu_state;
  std::string what;  ///< empty: named by the kind
  std::string why;
  std::string command;
  bool operator==(const SettledBy&) const = default;
};

/// Where a piece of a rule stands in its YAML file.
struct SourcePlace {
  std::string file;  ///< `<built-in>/nvidia.yaml` for packs inside the binary
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const SourcePlace&) const = default;
};

/// A sample is lines of a log (`match`, `sequence`), fields of a fact (`where`), or a list of
/// observations (`when`).
struct SampleObservation {
  std::string rule;
  std::map<std::string, std::string> place;  ///< pod, node, gpu, ... and captures
  bool operator==(const SampleObservation&) const = default;
};
struct Sample {
  std::string lines;
  std::map<std::string, std::string> fields;  ///< `text` is the fact's text
  std::vector<SampleObservation> observations;
  SourcePlace place;
  bool operator==(const Sample&) const = default;
};

/// What the rule must match, and what it must leave alone.
struct Samples {
  std::vector<Sample> match, reject;
  bool operator==(const Samples&) const = default;
};

struct Rule {
  enum class Matcher : std::uint8_t { match, sequence, where, when };

  std::string id;
  std::string title;
  std::string cause;  ///< default: the id
  std::string class_;
  Role role = Role::root;
  Severity severity = Severity::error;
  std::string fault_domain;  ///< empty: not said
  std::optional<Confidence> confidence_cap;
  std::optional<std::string> pattern;
  std::optional<std::string> scope;
  std::vector<std::string> tags;
  std::vector<Kind> evidence;  ///< filled by the loader: every log kind when the rule names none
  bool fatal = false;
  bool stands_alone = false;

  Matcher matcher = Matcher::match;
  std::vector<std::string> patterns;  ///< match: any of; sequence: in this order
  std::vector<std::string> unless;
  int gap = 3;  ///< sequence: foreign lines between two
  Where where;
  When when;

  std::optional<CatalogUse> catalog;
  std::vector<Refine> refine;
  std::vector<Explains> explains;
  std::vector<Explains> explained_by;
  std::vector<ClearedBy> cleared_by;
  Quarantine quarantine;
  Deferred<std::vector<Step>> next_steps;
  std::vector<SettledBy> settled_by;
  std::vector<std::string> references;
  Deferred<Samples> samples;
  std::string pack;
  SourcePlace place;
  /// Keys that a later layer replaced, and where; every other key stands at `place`.
  std::map<std::string, SourcePlace> overridden;

  [[nodiscard]] bool has_tag(std::string_view tag) const;
  [[nodiscard]] bool reads(Kind kind) const;
  bool operator==(const Rule&) const = default;
};

/// One row of a catalog table: what it sets, its key cells (text, or a 32-character mask of `0 1
/// -`), and what it tells.
struct CatalogRow {
  std::vector<std::string> key;
  Overlay overlay;
  std::string title;  ///< `{catalog.title}` in a rule's title
  std::string meaning;
  std::string notes;  ///< why the row says what it says; where sources disagree
  std::string source;
  std::vector<std::string> references;
  std::vector<std::pair<std::string, std::string>> facts;  ///< `fact:NAME` columns, for explain
  std::uint32_t line = 0;
  bool operator==(const CatalogRow&) const = default;
};

struct CatalogTable {
  std::string name;
  std::vector<std::string> key_columns;  ///< `xid`, or `mask:intrinfo` for a bit mask
  Deferred<std::vector<CatalogRow>> rows;
  /// The first row whose every key cell fits; masks are matched against hexadecimal captures
  /// (`0x004505c6`).
  [[nodiscard]] const CatalogRow* find(const std::vector<std::string>& key) const;
  bool operator==(const CatalogTable&) const = default;
};

/// The page of an incident pattern: what an on-call person reads once the verdict names it.
struct PatternPage {
  std::string id;  ///< one of all_patterns()
  std::string title;
  std::string definition;
  std::vector<std::string> signals;     ///< how it is recognised
  std::vector<std::string> conditions;  ///< what contributes to it
  std::vector<std::string> impacts;
  std::vector<std::string> not_this;  ///< what it is mistaken for, and the difference
  std::vector<std::string> questions;
  std::vector<std::string> containment, remediation, prevention;
  bool operator==(const PatternPage&) const = default;
};

/// Everything that the analysis needs of the rules, after layers, overrides and disabling.
struct RuleSet {
  std::vector<Rule> rules;
  std::map<std::string, CatalogTable> catalogs;
  std::vector<evidence::UserTextSpan> user_text;
  std::map<std::string, PatternPage> patterns;
  /// Required literals by pattern (rules/literals.hpp), for the patterns that were compiled ahead.
  std::map<std::string, std::vector<std::string>> literals;
  std::string digest;  ///< SHA-256 of the effective rules, 16 hex digits

  [[nodiscard]] const Rule* find(std::string_view id) const;
};

}  // namespace triage::rules

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/fact.hpp"
#include "rules/rule.hpp"

namespace re2 {
class RE2;
}

namespace triage::rules {

/// What the tests of a `where` may need beside the fact itself. Every part may be missing: a test
/// that needs it then does not hold.
struct WhereContext {
  /// End of the evidence, for `older_than`.
  std::optional<std::int64_t> end_ns;
  /// Moment of a time field, when the fact's text is no RFC 3339 (`5m` ago in a table, say).
  std::function<std::optional<std::int64_t>(const evidence::Value&)> moment;
  /// The first fact of the same subject (an earlier scrape), for `rises_by`.
  const evidence::Fact* first = nullptr;
  /// Value of another counter of the same source, for `$name` that is no field of this fact.
  std::function<std::optional<std::string>(std::string_view name)> other;
};

struct WhereMatch {
  std::uint32_t line = 0;                       ///< of the first test's field, or of `at`
  std::string field;                            ///< the field whose line it is
  std::map<std::string, std::string> captures;  ///< named groups of regex tests
};

/// A `where` ready to be tested against many facts; patterns are compiled once. Rules, refine
/// conditions and samples all go through this, so that they mean the same. A test on a field that
/// the fact lacks does not hold, whatever the comparison; only `exists: false` reads absence.
class WhereTest {
 public:
  explicit WhereTest(const Where& where);
  ~WhereTest();
  WhereTest(WhereTest&&) noexcept;
  WhereTest& operator=(WhereTest&&) noexcept;

  /// Nothing when a test does not hold.
  [[nodiscard]] std::optional<WhereMatch> match(const evidence::Fact& fact,
                                                const WhereContext& context = {}) const;

 private:
  struct Compiled;
  [[nodiscard]] bool holds(const Compiled& test, const evidence::Fact& fact,
                           const WhereContext& context,
                           std::map<std::string, std::string>& captures) const;
  std::vector<Compiled> tests_;
  std::string at_;
};

/// Captures of a refine or `when` condition: each wanted value equals the capture, or matches it
/// when it is written `~regex`; `$name` is looked up in `mine`. Compiles regexes on every call: for
/// conditions that are tried rarely.
[[nodiscard]] bool captures_hold(const std::map<std::string, std::string>& wanted,
                                 const std::function<std::string(const std::string&)>& capture_of,
                                 const std::function<std::string(const std::string&)>& mine);

}  // namespace triage::rules

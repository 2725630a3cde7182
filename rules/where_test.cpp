#include "rules/where_test.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "base/text.hpp"
#include "evidence/time.hpp"
#include "rules/patterns.hpp"

namespace triage::rules {

struct WhereTest::Compiled {
  Test test;
  std::unique_ptr<re2::RE2> pattern;  ///< of a regex test, or of `ne: ~regex`
};

namespace {

using evidence::Fact;

std::optional<std::string> value_of(const Fact& fact, std::string_view field) {
  if (field == "text") return fact.text.empty() ? std::nullopt : std::optional(fact.text);
  const evidence::Value* value = fact.find(field);
  return value == nullptr ? std::nullopt : std::optional(value->text);
}

/// A literal as it is, `$field` as what that field says.
std::optional<std::string> resolve(const std::string& value, const Fact& fact,
                                   const WhereContext& context) {
  if (value.size() < 2 || value.front() != '$') return value;
  const std::string_view name = std::string_view(value).substr(1);
  if (auto own = value_of(fact, name)) return own;
  return context.other ? context.other(name) : std::nullopt;
}

/// Numbers are equal as numbers, words as words without regard to case.
bool equal(const std::string& a, const std::string& b) {
  if (base::iequals(a, b)) return true;
  const auto x = base::parse_double(a);
  const auto y = base::parse_double(b);
  return x && y && *x == *y;
}

bool compare(Test::Op op, const std::string& a, const std::string& b) {
  const auto x = base::parse_double(a);
  const auto y = base::parse_double(b);
  if (!x || !y) return false;
  switch (op) {
    case Test::Op::lt:
      return *x < *y;
    case Test::Op::le:
      return *x <= *y;
    case Test::Op::gt:
      return *x > *y;
    default:
      return *x >= *y;
  }
}

bool is_older(const Fact& fact, const Test& test, const WhereContext& context) {
  const evidence::Value* value = fact.find(test.field);
  const auto age = base::parse_int(test.values.front());
  if (value == nullptr || !context.end_ns || !age) return false;
  std::optional<std::int64_t> moment;
  if (context.moment) moment = context.moment(*value);
  if (!moment)
    if (const auto stamp = evidence::parse_rfc3339(value->text)) moment = stamp->ns;
  return moment && *context.end_ns - *moment > *age;
}

bool rises(const Fact& fact, const Test& test, const WhereContext& context) {
  if (context.first == nullptr) return false;
  const auto now = value_of(fact, test.field);
  const auto before = value_of(*context.first, test.field);
  const auto by = base::parse_double(test.values.front());
  const auto x = base::parse_double(now.value_or(""));
  const auto y = base::parse_double(before.value_or(""));
  return by && x && y && *x - *y >= *by;
}

bool ratio(const Fact& fact, const Test& test, const WhereContext& context) {
  if (test.values.size() < 2) return false;
  const auto over = base::parse_double(resolve(test.values[0], fact, context).value_or(""));
  const auto value = base::parse_double(value_of(fact, test.field).value_or(""));
  const auto least = base::parse_double(test.values[1]);
  return over && value && least && *over > 0 && *value / *over >= *least;
}

bool match_pattern(const re2::RE2& pattern, const std::string& text,
                   std::map<std::string, std::string>& captures) {
  const int groups = pattern.NumberOfCapturingGroups();
  std::vector<re2::StringPiece> found(static_cast<std::size_t>(groups) + 1);
  if (!pattern.Match(text, 0, text.size(), re2::RE2::UNANCHORED, found.data(), groups + 1))
    return false;
  for (const auto& [index, name] : pattern.CapturingGroupNames()) {
    const re2::StringPiece& part = found[static_cast<std::size_t>(index)];
    if (part.data() != nullptr) captures[name] = std::string(part.data(), part.size());
  }
  return true;
}

}  // namespace

WhereTest::WhereTest(const Where& where) : at_(where.at) {
  for (const Test& test : where.tests) {
    Compiled compiled{test, nullptr};
    if (test.values.empty()) continue;
    const std::string& value = test.values.front();
    if (test.op == Test::Op::regex)
      compiled.pattern = compile_pattern(value);
    else if (test.op == Test::Op::not_equal && value.front() == '~')
      compiled.pattern = compile_pattern(std::string_view(value).substr(1));
    tests_.push_back(std::move(compiled));
  }
}

WhereTest::~WhereTest() = default;
WhereTest::WhereTest(WhereTest&&) noexcept = default;
WhereTest& WhereTest::operator=(WhereTest&&) noexcept = default;

bool WhereTest::holds(const Compiled& compiled, const Fact& fact, const WhereContext& context,
                      std::map<std::string, std::string>& captures) const {
  const Test& test = compiled.test;
  const auto value = value_of(fact, test.field);
  if (test.op == Test::Op::exists) return value.has_value() == (test.values.front() == "true");
  if (!value) return false;
  switch (test.op) {
    case Test::Op::equal: {
      const auto wanted = resolve(test.values.front(), fact, context);
      return wanted && equal(*value, *wanted);
    }
    case Test::Op::not_equal: {
      if (compiled.pattern != nullptr) return !re2::RE2::PartialMatch(*value, *compiled.pattern);
      const auto wanted = resolve(test.values.front(), fact, context);
      return wanted && !equal(*value, *wanted);
    }
    case Test::Op::regex:
      return compiled.pattern != nullptr && match_pattern(*compiled.pattern, *value, captures);
    case Test::Op::in:
      return std::any_of(test.values.begin(), test.values.end(), [&](const std::string& one) {
        const auto wanted = resolve(one, fact, context);
        return wanted && equal(*value, *wanted);
      });
    case Test::Op::older_than:
      return is_older(fact, test, context);
    case Test::Op::rises_by:
      return rises(fact, test, context);
    case Test::Op::ratio_to:
      return ratio(fact, test, context);
    default: {
      const auto wanted = resolve(test.values.front(), fact, context);
      return wanted && compare(test.op, *value, *wanted);
    }
  }
}

std::optional<WhereMatch> WhereTest::match(const Fact& fact, const WhereContext& context) const {
  if (tests_.empty()) return std::nullopt;
  WhereMatch match;
  for (const Compiled& test : tests_)
    if (!holds(test, fact, context, match.captures)) return std::nullopt;
  match.line = fact.line;
  for (const std::string* field : {&at_, &tests_.front().test.field}) {
    const evidence::Value* value = field->empty() ? nullptr : fact.find(*field);
    if (value == nullptr) continue;
    match.field = *field;
    if (value->line > 0) match.line = value->line;
    break;
  }
  return match;
}

bool captures_hold(const std::map<std::string, std::string>& wanted,
                   const std::function<std::string(const std::string&)>& capture_of,
                   const std::function<std::string(const std::string&)>& mine) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const std::string actual = capture_of(entry.first);
    const std::string& value = entry.second;
    if (value.size() > 1 && value.front() == '~') {
      const auto pattern = compile_pattern(std::string_view(value).substr(1));
      return pattern != nullptr && re2::RE2::PartialMatch(actual, *pattern);
    }
    if (value.size() > 1 && value.front() == '$')
      return !actual.empty() && mine && equal(actual, mine(value.substr(1)));
    return equal(actual, value);
  });
}

}  // namespace triage::rules

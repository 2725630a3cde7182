#include "rules/where.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "base/text.hpp"

namespace triage::rules {

using evidence::Fact;

namespace {

std::optional<double> number(const std::string& text) {
  if (const auto plain = base::parse_double(base::trim(text))) return plain;
  // Units in a rule (`64MiB`, `120s`) or in a field that a parser left as written.
  if (const auto bytes = base::parse_bytes(text)) return static_cast<double>(*bytes);
  if (const auto ns = base::parse_duration_ns(text)) return static_cast<double>(*ns) / 1e9;
  return std::nullopt;
}

/// Numbers compare as numbers (`4` equals `4.0`), everything else as text.
bool equal(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = base::parse_double(a);
  const auto y = base::parse_double(b);
  return x && y && *x == *y;
}

/// A literal, or the value of another field of the fact.
std::optional<std::string> operand(const Fact& fact, const std::string& value) {
  if (value.size() < 2 || value[0] != '$') return value;
  const evidence::Value* other = fact.find(std::string_view(value).substr(1));
  return other == nullptr ? std::nullopt : std::optional<std::string>(other->text);
}

std::optional<std::int64_t> as_time(const std::string& text) {
  const auto stamp = evidence::parse_rfc3339(text);
  return stamp ? std::optional<std::int64_t>(stamp->ns) : std::nullopt;
}

/// Samples of one series: same kind, place and every field but the value and the scrape's number.
bool same_subject(const Fact& a, const Fact& b, const std::string& field) {
  if (a.kind != b.kind || a.place != b.place) return false;
  if (a.kind != evidence::Kind::metrics)
    return a.get("name") == b.get("name") && a.get("uuid") == b.get("uuid");
  const auto differs = [&](const Fact& x, const Fact& y) {
    return std::any_of(x.fields.begin(), x.fields.end(), [&](const auto& f) {
      return f.first != field && f.first != "scrape" && f.first != "value" &&
             y.get(f.first) != f.second.text;
    });
  };
  return !differs(a, b) && !differs(b, a);
}

bool rises(const Test& test, const FactSet& set, std::size_t index) {
  const Fact& fact = set.facts[index];
  const auto wanted = number(test.values.at(0));
  const auto now = number(fact.get(test.field));
  if (!wanted || !now) return false;
  for (std::size_t i = 0; i < index; ++i) {
    if (!same_subject(set.facts[i], fact, test.field)) continue;
    const auto before = number(set.facts[i].get(test.field));
    if (before && *now - *before >= *wanted) return true;
  }
  return false;
}

bool compare(Test::Op op, double a, double b) {
  switch (op) {
    case Test::Op::lt:
      return a < b;
    case Test::Op::le:
      return a <= b;
    case Test::Op::gt:
      return a > b;
    case Test::Op::ge:
      return a >= b;
    default:
      return false;
  }
}

bool test_holds(const Test& test, const FactSet& set, std::size_t index) {
  const Fact& fact = set.facts[index];
  const evidence::Value* value = test.field == "text" ? nullptr : fact.find(test.field);
  const bool present = test.field == "text" ? !fact.text.empty() : value != nullptr;
  const std::string& text = value == nullptr ? fact.text : value->text;
  if (test.op == Test::Op::exists)
    return present == (test.values.empty() || test.values[0] != "false");
  if (!present) return test.op == Test::Op::not_equal;
  switch (test.op) {
    case Test::Op::equal:
    case Test::Op::not_equal: {
      const auto wanted = operand(fact, test.values.at(0));
      return wanted && equal(text, *wanted) == (test.op == Test::Op::equal);
    }
    case Test::Op::regex:
      return re2::RE2::PartialMatch({text.data(), text.size()},
                                    re2::RE2(test.values.at(0), re2::RE2::Latin1));
    case Test::Op::in:
      return std::any_of(test.values.begin(), test.values.end(),
                         [&](const auto& v) { return equal(text, v); });
    case Test::Op::lt:
    case Test::Op::le:
    case Test::Op::gt:
    case Test::Op::ge: {
      const auto wanted = operand(fact, test.values.at(0));
      const auto a = number(text);
      const auto b = wanted ? number(*wanted) : std::nullopt;
      return a && b && compare(test.op, *a, *b);
    }
    case Test::Op::older_than: {
      const auto at = as_time(text);
      const auto age = base::parse_int(test.values.at(0));
      return at && age && set.end && set.end->ns - *at >= *age;
    }
    case Test::Op::rises_by:
      return rises(test, set, index);
    case Test::Op::ratio_to: {
      const auto other = operand(fact, test.values.at(0));
      const auto a = number(text);
      const auto b = other ? number(*other) : std::nullopt;
      const auto least = test.values.size() > 1 ? number(test.values[1]) : std::optional<double>(1);
      return a && b && least && *b > 0 && *a / *b >= *least;
    }
    default:
      return false;
  }
}

}  // namespace

bool holds(const Where& where, const FactSet& set, std::size_t index) {
  return !where.tests.empty() &&
         std::all_of(where.tests.begin(), where.tests.end(),
                     [&](const Test& test) { return test_holds(test, set, index); });
}

std::uint32_t deciding_line(const Where& where, const Fact& fact) {
  const auto line_of = [&](const std::string& field) {
    const evidence::Value* value = fact.find(field);
    return value == nullptr ? 0U : value->line;
  };
  if (!where.at.empty())
    if (const std::uint32_t line = line_of(where.at); line != 0) return line;
  for (const Test& test : where.tests)
    if (const std::uint32_t line = line_of(test.field); line != 0) return line;
  return fact.line;
}

}  // namespace triage::rules

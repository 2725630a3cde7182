#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "evidence/fields.hpp"
#include "rules/rule_reader.hpp"

namespace triage::rules {
namespace {

using Id = YamlReader::Id;
using evidence::FieldType;

/// The type of a field in the first kind that has it; text when none does.
FieldType type_of(const std::vector<Kind>& kinds, std::string_view name) {
  for (const Kind kind : kinds)
    for (const evidence::Field& field : evidence::fields_of(kind)) {
      const std::string_view stem = field.name.substr(0, field.name.size() - 1);
      const bool any = field.name.size() > 2 && field.name.substr(field.name.size() - 2) == ".*";
      if (field.name == name || (any && name.substr(0, stem.size()) == stem)) return field.type;
    }
  return FieldType::text;
}

bool is_number(FieldType type) {
  return type == FieldType::number || type == FieldType::bytes || type == FieldType::seconds;
}

std::string decimal(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Units of the field's type become its base unit: `64MiB` and `90s` become numbers.
std::optional<std::string> value_for(YamlReader& reader, Id node, FieldType type) {
  auto value = reader.text(node);
  if (!value || value->front() == '$' || value->front() == '~') return value;
  if (base::parse_double(*value)) return value;
  if (type == FieldType::bytes)
    if (const auto bytes = base::parse_bytes(*value)) return std::to_string(*bytes);
  if (type == FieldType::seconds)
    if (const auto ns = base::parse_duration_ns(*value))
      return decimal(static_cast<double>(*ns) / 1e9);
  return value;
}

void require_number(YamlReader& reader, Id node, const std::string& value) {
  if (!value.empty() && value.front() != '$' && !base::parse_double(value))
    reader.error(node, "wrong-type", "`" + value + "` is no number",
                 "compare with a number, a size such as 64MiB, a duration such as 90s, or $field");
}

class TestReader {
 public:
  TestReader(YamlReader& reader, std::string field, FieldType type, std::vector<Test>& tests)
      : reader_(reader), field_(std::move(field)), type_(type), tests_(tests) {}

  void read(Id value) {
    switch (reader_.type(value)) {
      case YamlTree::Type::sequence:
        add(Test::Op::in, values(value));
        return;
      case YamlTree::Type::map:
        operators(value);
        return;
      default:
        break;
    }
    const auto text = value_for(reader_, value, type_);
    if (!text) return;
    if (text->front() == '~') {
      check_pattern(reader_, value, text->substr(1));
      add(Test::Op::regex, {text->substr(1)});
      return;
    }
    if (is_number(type_)) require_number(reader_, value, *text);
    if (type_ == FieldType::boolean && *text != "true" && *text != "false" && text->front() != '$')
      reader_.error(value, "wrong-type", "`" + field_ + "` is true or false",
                    "write true or false");
    add(Test::Op::equal, {*text});
  }

 private:
  void add(Test::Op op, std::vector<std::string> values) {
    if (values.empty()) return;
    tests_.push_back({field_, op, std::move(values)});
  }

  std::vector<std::string> values(Id node) {
    std::vector<std::string> all;
    for (const Id item : reader_.items(node))
      if (auto value = value_for(reader_, item, type_)) all.push_back(std::move(*value));
    if (reader_.items(node).empty())
      reader_.error(node, "empty-value", "this list is empty", "name at least one value");
    return all;
  }

  YamlReader::Handler compare(Test::Op op) {
    return [this, op](Id v) {
      const auto value = value_for(reader_, v, type_);
      if (!value) return;
      require_number(reader_, v, *value);
      add(op, {*value});
    };
  }

  void operators(Id node) {
    std::optional<std::string> ratio_of;
    std::optional<std::string> ratio_least;
    const bool is_ratio = reader_.tree().find(node, "ratio_to") != YamlTree::k_none;
    std::vector<YamlReader::Key> keys{
        {"lt", compare(Test::Op::lt)},
        {"le", compare(Test::Op::le)},
        {"gt", compare(Test::Op::gt)},
        {"ne",
         [&](Id v) {
           const auto value = value_for(reader_, v, type_);
           if (!value) return;
           if (value->front() == '~') check_pattern(reader_, v, value->substr(1));
           add(Test::Op::not_equal, {*value});
         }},
        {"in", [&](Id v) { add(Test::Op::in, values(v)); }},
        {"exists",
         [&](Id v) {
           if (const auto yes = reader_.boolean(v))
             add(Test::Op::exists, {*yes ? "true" : "false"});
         }},
        {"older_than",
         [&](Id v) {
           if (type_ != FieldType::time)
             reader_.error(v, "wrong-type", "`" + field_ + "` is no time",
                           "older_than measures fields of type time");
           if (const auto ns = reader_.duration(v))
             add(Test::Op::older_than, {std::to_string(*ns)});
         }},
        {"rises_by", compare(Test::Op::rises_by)},
        {"ratio_to", [&](Id v) {
           const auto value = reader_.text(v);
           if (!value) return;
           if (value->front() != '$')
             reader_.error(v, "wrong-type", "ratio_to names another field", "write $" + *value);
           ratio_of = value;
         }}};
    if (is_ratio)
      keys.push_back({"ge", [&](Id v) {
                        ratio_least = reader_.text(v);
                        if (ratio_least) require_number(reader_, v, *ratio_least);
                      }});
    else
      keys.push_back({"ge", compare(Test::Op::ge)});
    if (!reader_.each_key(node, "where", keys)) return;
    if (reader_.tree().at(node).children.empty())
      reader_.error(node, "empty-value", "this comparison is empty", "write {ge: 2} or a value");
    if (ratio_of && !ratio_least)
      reader_.error(node, "missing-key", "ratio_to lacks `ge`", "write {ratio_to: $field, ge: 2}");
    if (ratio_of && ratio_least) add(Test::Op::ratio_to, {*ratio_of, *ratio_least});
  }

  YamlReader& reader_;
  std::string field_;
  FieldType type_;
  std::vector<Test>& tests_;
};

bool known_field(const std::vector<Kind>& kinds, std::string_view name) {
  return name == "text" || std::any_of(kinds.begin(), kinds.end(),
                                       [&](Kind kind) { return evidence::is_field(kind, name); });
}

void report_field(YamlReader& reader, Id node, const std::vector<Kind>& kinds,
                  const std::string& name) {
  std::vector<std::string> known;
  std::vector<std::string> kind_names;
  for (const Kind kind : kinds) {
    kind_names.emplace_back(to_string(kind));
    for (const evidence::Field& field : evidence::fields_of(kind)) known.emplace_back(field.name);
  }
  const std::string near = base::nearest(name, known);
  const std::string kind = kind_names.empty() ? "KIND" : kind_names.front();
  reader.error(node, "unknown-field",
               "`" + name + "` is no field of " + base::join(kind_names, ", "),
               near.empty() ? "triage rules fields " + kind + " lists them"
                            : "did you mean `" + near + "`?");
}

}  // namespace

Where read_where(YamlReader& reader, Id node, const std::vector<Kind>& kinds) {
  Where where;
  reader.each_pair(node, "`where`", [&](Id key, Id value) {
    const std::string& name = reader.tree().at(key).text;
    if (name == "at") {
      if (auto at = reader.text(value)) where.at = std::move(*at);
      if (!where.at.empty() && !kinds.empty() && !known_field(kinds, where.at))
        report_field(reader, value, kinds, where.at);
      return;
    }
    // Without a known kind the missing or wrong kind has been reported: fields cannot be judged.
    if (!kinds.empty() && !known_field(kinds, name)) report_field(reader, key, kinds, name);
    const std::size_t first = where.tests.size();
    TestReader(reader, name, type_of(kinds, name), where.tests).read(value);
    for (std::size_t i = first; i < where.tests.size(); ++i)
      for (const std::string& v : where.tests[i].values)
        if (v.size() > 1 && v.front() == '$' && where.tests[i].op != Test::Op::regex &&
            where.tests[i].op != Test::Op::ratio_to && !kinds.empty() &&
            !known_field(kinds, v.substr(1)))
          report_field(reader, value, kinds, v.substr(1));
  });
  if (where.tests.empty() && reader.tree().at(node).children.empty())
    reader.error(node, "empty-value", "`where` is empty", "name at least one field");
  return where;
}

namespace {

std::map<std::string, std::string> read_captures(YamlReader& reader, Id node) {
  std::map<std::string, std::string> captures;
  reader.each_pair(node, "`capture`", [&](Id key, Id value) {
    auto text = reader.text(value);
    if (!text) return;
    if (text->front() == '~') check_pattern(reader, value, text->substr(1));
    captures[reader.tree().at(key).text] = std::move(*text);
  });
  return captures;
}

std::optional<Order> read_order(YamlReader& reader, Id node) {
  const auto word = reader.one_of(node, "order", {"any", "before", "after"});
  if (!word) return std::nullopt;
  return *word == "before" ? Order::before : *word == "after" ? Order::after : Order::any;
}

std::vector<Term> read_terms(YamlReader& reader, Id node) {
  std::vector<Term> terms;
  for (const Id item : reader.items(node)) {
    Term term;
    std::optional<Ref> ref;
    if (reader.type(item) != YamlTree::Type::map) {
      if (auto id = reader.text(item)) terms.push_back({{Ref::By::rule, *id}, 1, {}, {}, {}, {}});
      continue;
    }
    auto keys = ref_keys(reader, ref, true);
    keys.push_back({"at_least", [&](Id v) {
                      if (const auto n = reader.integer(v, 1, 1'000'000))
                        term.at_least = static_cast<int>(*n);
                    }});
    keys.push_back({"distinct", [&](Id v) { term.distinct = reader.texts(v); }});
    keys.push_back({"within", [&](Id v) { term.within_ns = reader.duration(v); }});
    keys.push_back({"order", [&](Id v) {
                      if (const auto order = read_order(reader, v)) term.order = *order;
                    }});
    keys.push_back({"capture", [&](Id v) { term.captures = read_captures(reader, v); }});
    reader.each_key(item, "when", keys);
    if (!ref) {
      reader.error(item, "missing-key", "this term names nothing",
                   "name one of rule, tag, class, cause, kind_present or kind_absent");
      continue;
    }
    term.ref = std::move(*ref);
    terms.push_back(std::move(term));
  }
  if (reader.items(node).empty())
    reader.error(node, "empty-value", "this list of terms is empty", "name at least one term");
  return terms;
}

std::optional<Seen> read_seen(YamlReader& reader, Id node, bool negate) {
  Seen seen;
  seen.negate = negate;
  std::optional<Ref> ref;
  auto keys = ref_keys(reader, ref, false);
  keys.push_back({"capture", [&](Id v) { seen.captures = read_captures(reader, v); }});
  keys.push_back({"same", [&](Id v) {
                    if (auto same = read_same(reader, v)) seen.same = *same;
                  }});
  keys.push_back({"within", [&](Id v) { seen.within_ns = reader.duration(v); }});
  keys.push_back({"order", [&](Id v) {
                    if (const auto order = read_order(reader, v)) seen.order = *order;
                  }});
  if (!reader.each_key(node, negate ? "not_seen" : "seen", keys)) return std::nullopt;
  if (!ref) {
    reader.error(node, "missing-key", "this condition names nothing",
                 "name one of rule, tag, class or cause");
    return std::nullopt;
  }
  seen.ref = std::move(*ref);
  return seen;
}

void read_near(YamlReader& reader, Id node, std::vector<Near>& all) {
  int lines = 60;
  std::vector<Near> sides;
  const auto side = [&](Near::Side where) {
    return [&reader, &sides, where](Id v) {
      Near near;
      near.side = where;
      near.patterns = reader.texts(v);
      for (const Id item : reader.items(v))
        if (reader.type(item) == YamlTree::Type::scalar)
          check_pattern(reader, item, reader.tree().at(item).text);
      sides.push_back(std::move(near));
    };
  };
  const bool is_map = reader.each_key(node, "near",
                                      {{"before", side(Near::Side::before)},
                                       {"after", side(Near::Side::after)},
                                       {"around", side(Near::Side::around)},
                                       {"lines", [&](Id v) {
                                          if (const auto n = reader.integer(v, 1, 200))
                                            lines = static_cast<int>(*n);
                                        }}});
  if (is_map && sides.empty())
    reader.error(node, "missing-key", "near lacks patterns",
                 "write {before: ['...'], lines: 60}, with before, after or around");
  for (Near& near : sides) {
    near.lines = lines;
    all.push_back(std::move(near));
  }
}

std::optional<FactCondition> read_fact(YamlReader& reader, Id node) {
  FactCondition fact;
  std::vector<Kind> kinds;
  if (const Id evidence = reader.tree().find(node, "evidence"); evidence != YamlTree::k_none)
    kinds = read_kinds(reader, evidence);
  if (!kinds.empty()) fact.kind = kinds.front();
  bool where = false;
  const bool is_map = reader.each_key(node, "fact",
                                      {{"evidence", [](Id) {}},
                                       {"where",
                                        [&](Id v) {
                                          where = true;
                                          fact.where = read_where(reader, v, kinds);
                                        }},
                                       {"same", [&](Id v) {
                                          if (auto same = read_same(reader, v)) fact.same = *same;
                                        }}});
  if (!is_map) return std::nullopt;
  if (kinds.empty() || !where)
    reader.error(node, "missing-key",
                 std::string("fact lacks `") + (where ? "evidence" : "where") + "`",
                 "write {evidence: gpu-state, where: {...}, same: gpu}");
  if (kinds.size() > 1)
    reader.error(node, "wrong-type", "fact reads one kind", "write a refine entry for each kind");
  return fact;
}

constexpr std::array<std::string_view, 6> k_conditions{"near",     "capture", "seen",
                                                       "not_seen", "fact",    "evidence"};

}  // namespace

When read_when(YamlReader& reader, Id node) {
  When when;
  reader.each_key(node, "when",
                  {{"all", [&](Id v) { when.all = read_terms(reader, v); }},
                   {"any", [&](Id v) { when.any = read_terms(reader, v); }},
                   {"none", [&](Id v) { when.none = read_terms(reader, v); }},
                   {"same", [&](Id v) { when.same = read_same(reader, v); }}});
  if (when.all.empty() && when.any.empty() && reader.type(node) == YamlTree::Type::map)
    reader.error(node, "missing-key", "`when` needs observations that are there",
                 "write all: [...] or any: [...]");
  return when;
}

std::vector<Refine> read_refine(YamlReader& reader, Id node) {
  std::vector<Refine> all;
  for (const Id item : reader.items(node)) {
    Refine refine;
    auto keys = overlay_keys(reader, refine.overlay);
    const auto seen = [&](bool negate) {
      return [&reader, &refine, negate](Id v) {
        for (const Id one : reader.items(v))
          if (auto s = read_seen(reader, one, negate)) refine.seen.push_back(std::move(*s));
      };
    };
    keys.push_back({"near", [&](Id v) {
                      for (const Id one : reader.items(v)) read_near(reader, one, refine.near);
                    }});
    keys.push_back({"capture", [&](Id v) { refine.captures = read_captures(reader, v); }});
    keys.push_back({"seen", seen(false)});
    keys.push_back({"not_seen", seen(true)});
    keys.push_back({"fact", [&](Id v) {
                      for (const Id one : reader.items(v))
                        if (auto f = read_fact(reader, one)) refine.facts.push_back(std::move(*f));
                    }});
    keys.push_back({"evidence", [&](Id v) { refine.evidence = read_kinds(reader, v); }});
    if (!reader.each_key(item, "refine", keys)) continue;
    // All must hold, whichever key the person wrote first.
    std::stable_partition(refine.seen.begin(), refine.seen.end(),
                          [](const Seen& s) { return !s.negate; });
    const bool conditional = std::any_of(
        k_conditions.begin(), k_conditions.end(),
        [&](std::string_view name) { return reader.tree().find(item, name) != YamlTree::k_none; });
    if (!conditional)
      reader.error(item, "missing-key", "this entry has no condition, so that it always holds",
                   "add near, capture, seen, not_seen, fact or evidence, or set the rule itself");
    if (refine.overlay == Overlay() && reader.tree().at(item).children.size() <= 2)
      reader.error(item, "missing-key", "this entry sets nothing",
                   "set role, cause, class, quarantine ... when the condition holds");
    all.push_back(std::move(refine));
  }
  return all;
}

}  // namespace triage::rules

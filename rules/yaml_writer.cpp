#include "rules/yaml_writer.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "rules/yaml_tree.hpp"

namespace triage::rules {
namespace {

std::string duration(std::int64_t ns) {
  constexpr std::int64_t k_second = 1'000'000'000;
  if (ns % k_second != 0) return std::to_string(ns / 1'000'000) + "ms";
  const std::int64_t seconds = ns / k_second;
  if (seconds != 0 && seconds % 3600 == 0) return std::to_string(seconds / 3600) + "h";
  if (seconds != 0 && seconds % 60 == 0) return std::to_string(seconds / 60) + "m";
  return std::to_string(seconds) + "s";
}

std::string flow_list(const std::vector<std::string>& items) {
  return "[" + base::join(items, ", ") + "]";
}

std::string scalars(const std::vector<std::string>& items) {
  std::vector<std::string> out;
  out.reserve(items.size());
  for (const std::string& item : items) out.push_back(yaml_scalar(item));
  return flow_list(out);
}

std::string patterns(const std::vector<std::string>& items) {
  std::vector<std::string> out;
  out.reserve(items.size());
  for (const std::string& item : items) out.push_back(yaml_quoted(item));
  return flow_list(out);
}

std::string kinds(const std::vector<Kind>& all) {
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const Kind kind : all) out.emplace_back(to_string(kind));
  return flow_list(out);
}

using Pairs = std::vector<std::string>;

std::string flow_map(const Pairs& pairs) {
  return "{" + base::join(pairs, ", ") + "}";
}

void put(Pairs& pairs, const char* key, const std::string& value) {
  pairs.push_back(std::string(key) + ": " + value);
}

std::string captures(const std::map<std::string, std::string>& all) {
  Pairs pairs;
  for (const auto& [name, value] : all)
    pairs.push_back(yaml_scalar(name) + ": " + yaml_quoted(value));
  return flow_map(pairs);
}

const char* key_of(Ref::By by) {
  static constexpr const char* names[] = {"rule",  "tag",          "class",
                                          "cause", "kind_present", "kind_absent"};
  return names[static_cast<std::size_t>(by)];
}

std::string quarantine(const Quarantine& q) {
  if (q.target == "none") return "none";
  return "{target: " + q.target + ", action: " + q.action + "}";
}

std::string explains(const Explains& e) {
  Pairs pairs;
  put(pairs, key_of(e.ref.by), yaml_scalar(e.ref.value));
  if (e.same != Same::node) put(pairs, "same", std::string(to_string(e.same)));
  if (e.window_ns) put(pairs, "window", duration(*e.window_ns));
  if (e.direction == Direction::either) put(pairs, "direction", "either");
  return flow_map(pairs);
}

std::string cleared_by(const ClearedBy& c) {
  Pairs pairs;
  put(pairs, key_of(c.ref.by), yaml_scalar(c.ref.value));
  if (c.same != Same::pod) put(pairs, "same", std::string(to_string(c.same)));
  if (c.within_ns) put(pairs, "within", duration(*c.within_ns));
  return flow_map(pairs);
}

const char* name_of(Order order) {
  return order == Order::before ? "before" : order == Order::after ? "after" : "any";
}

std::string term(const Term& t) {
  Pairs pairs;
  put(pairs, key_of(t.ref.by), yaml_scalar(t.ref.value));
  if (t.at_least != 1) put(pairs, "at_least", std::to_string(t.at_least));
  if (!t.distinct.empty()) put(pairs, "distinct", scalars(t.distinct));
  if (t.within_ns) put(pairs, "within", duration(*t.within_ns));
  if (t.order != Order::any) put(pairs, "order", name_of(t.order));
  if (!t.captures.empty()) put(pairs, "capture", captures(t.captures));
  return flow_map(pairs);
}

std::string seen(const Seen& s) {
  Pairs pairs;
  put(pairs, key_of(s.ref.by), yaml_scalar(s.ref.value));
  if (!s.captures.empty()) put(pairs, "capture", captures(s.captures));
  if (s.same != Same::node) put(pairs, "same", std::string(to_string(s.same)));
  if (s.within_ns) put(pairs, "within", duration(*s.within_ns));
  if (s.order != Order::any) put(pairs, "order", name_of(s.order));
  return flow_map(pairs);
}

/// One test of a field; several of one field are joined by the caller.
std::string operation(const Test& t) {
  const auto number = [&](const char* op) {
    return std::string(op) + ": " + yaml_scalar(t.values.front());
  };
  switch (t.op) {
    case Test::Op::lt:
      return number("lt");
    case Test::Op::le:
      return number("le");
    case Test::Op::gt:
      return number("gt");
    case Test::Op::ge:
      return number("ge");
    case Test::Op::not_equal:
      return "ne: " + yaml_quoted(t.values.front());
    case Test::Op::in:
      return "in: " + scalars(t.values);
    case Test::Op::exists:
      return "exists: " + t.values.front();
    case Test::Op::older_than:
      return "older_than: " + duration(base::parse_int(t.values.front()).value_or(0));
    case Test::Op::rises_by:
      return number("rises_by");
    case Test::Op::ratio_to:
      return "ratio_to: " + yaml_scalar(t.values[0]) + ", ge: " + yaml_scalar(t.values[1]);
    default:
      return {};
  }
}

std::string where(const Where& w) {
  Pairs pairs;
  for (std::size_t i = 0; i < w.tests.size(); ++i) {
    const Test& test = w.tests[i];
    if (test.op == Test::Op::regex) {
      put(pairs, yaml_scalar(test.field).c_str(), yaml_quoted("~" + test.values.front()));
      continue;
    }
    if (test.op == Test::Op::equal) {
      put(pairs, yaml_scalar(test.field).c_str(), yaml_scalar(test.values.front()));
      continue;
    }
    Pairs operations{operation(test)};
    while (i + 1 < w.tests.size() && w.tests[i + 1].field == test.field &&
           w.tests[i + 1].op != Test::Op::regex && w.tests[i + 1].op != Test::Op::equal)
      operations.push_back(operation(w.tests[++i]));
    put(pairs, yaml_scalar(test.field).c_str(), flow_map(operations));
  }
  if (!w.at.empty()) put(pairs, "at", yaml_scalar(w.at));
  return flow_map(pairs);
}

std::string step(const Step& s) {
  if (s.command.empty() && s.why.empty()) return yaml_scalar(s.text);
  Pairs pairs;
  if (!s.text.empty()) put(pairs, "text", yaml_scalar(s.text));
  if (!s.command.empty()) put(pairs, "command", yaml_scalar(s.command));
  if (!s.why.empty()) put(pairs, "why", yaml_scalar(s.why));
  return flow_map(pairs);
}

/// Writes block lines; knows the depth and where a key comes from.
class Writer {
 public:
  explicit Writer(const Rule& rule) : rule_(rule) {}

  std::string write() {
    out_ = "  - id: " + yaml_scalar(rule_.id) + "\n";
    names();
    matcher();
    around();
    key("quarantine", rule_.quarantine == Quarantine() ? "" : quarantine(rule_.quarantine));
    steps(*rule_.next_steps, 4);
    settled_by();
    key("references", rule_.references.empty() ? "" : scalars(rule_.references));
    samples();
    return std::move(out_);
  }

 private:
  void line(std::size_t indent, const std::string& text) {
    out_ += std::string(indent, ' ') + text + "\n";
  }

  [[nodiscard]] std::string origin(const std::string& name) const {
    const auto it = rule_.overridden.find(name);
    if (it == rule_.overridden.end()) return {};
    return "  # " + it->second.file + ":" + std::to_string(it->second.line);
  }

  void key(const std::string& name, const std::string& value) {
    if (!value.empty()) line(4, name + ": " + value + origin(name));
  }

  template <class Item, class Show>
  void list(const std::string& name, const std::vector<Item>& items, Show show) {
    if (items.empty()) return;
    line(4, name + ":" + origin(name));
    for (const Item& item : items) line(6, "- " + show(item));
  }

  void names() {
    if (rule_.cause != rule_.id) key("cause", yaml_scalar(rule_.cause));
    key("title", yaml_scalar(rule_.title));
    key("class", rule_.class_);
    key("role", std::string(to_string(rule_.role)));
    if (rule_.severity != Severity::error) key("severity", std::string(to_string(rule_.severity)));
    key("fault_domain", rule_.fault_domain);
    if (rule_.confidence_cap) key("confidence", std::string(to_string(*rule_.confidence_cap)));
    if (rule_.pattern) key("pattern", *rule_.pattern);
    if (rule_.scope) key("scope", *rule_.scope);
    if (!rule_.tags.empty()) key("tags", scalars(rule_.tags));
    if (rule_.fatal) key("fatal", "true");
    if (rule_.stands_alone) key("stands_alone", "true");
  }

  void matcher() {
    if (rule_.matcher != Rule::Matcher::when) key("evidence", kinds(rule_.evidence));
    const auto quoted = [](const std::string& p) { return yaml_quoted(p); };
    switch (rule_.matcher) {
      case Rule::Matcher::match:
        list("match", rule_.patterns, quoted);
        list("unless", rule_.unless, quoted);
        break;
      case Rule::Matcher::sequence:
        list("sequence", rule_.patterns, quoted);
        list("unless", rule_.unless, quoted);
        if (rule_.gap != 3) key("gap", std::to_string(rule_.gap));
        break;
      case Rule::Matcher::where:
        key("where", where(rule_.where));
        break;
      case Rule::Matcher::when:
        when();
        break;
    }
  }

  void when() {
    const When& w = rule_.when;
    line(4, "when:" + origin("when"));
    const auto terms = [&](const char* name, const std::vector<Term>& all) {
      Pairs items;
      for (const Term& t : all) items.push_back(term(t));
      if (!all.empty()) line(6, std::string(name) + ": " + flow_list(items));
    };
    terms("all", w.all);
    terms("any", w.any);
    terms("none", w.none);
    if (w.same) line(6, "same: " + std::string(to_string(*w.same)));
    if (w.effect == When::Effect::lift) {
      key("effect", "lift");
      line(4, "set:" + origin("set"));
      overlay(w.set, 6);
    }
  }

  void around() {
    if (rule_.catalog)
      key("catalog", "{table: " + yaml_scalar(rule_.catalog->table) +
                         ", key: " + scalars(rule_.catalog->key) + "}");
    if (!rule_.refine.empty()) {
      line(4, "refine:" + origin("refine"));
      for (const Refine& r : rule_.refine) refine(r);
    }
    list("explains", rule_.explains, explains);
    list("explained_by", rule_.explained_by, explains);
    list("cleared_by", rule_.cleared_by, cleared_by);
  }

  void refine(const Refine& r) {
    // The first line of an entry begins with a dash; all others stand below it.
    const std::size_t at = out_.size();
    near(r.near);
    if (!r.captures.empty()) line(8, "capture: " + captures(r.captures));
    seen_lists(r.seen);
    if (!r.facts.empty()) {
      line(8, "fact:");
      for (const FactCondition& f : r.facts) {
        Pairs pairs;
        put(pairs, "evidence", std::string(to_string(f.kind)));
        put(pairs, "where", where(f.where));
        if (f.same != Same::node) put(pairs, "same", std::string(to_string(f.same)));
        line(10, "- " + flow_map(pairs));
      }
    }
    if (!r.evidence.empty()) line(8, "evidence: " + kinds(r.evidence));
    overlay(r.overlay, 8);
    if (out_.size() > at + 6) out_[at + 6] = '-';
  }

  void near(const std::vector<Near>& all) {
    if (all.empty()) return;
    line(8, "near:");
    for (const Near& n : all) {
      static constexpr const char* sides[] = {"before", "after", "around"};
      Pairs pairs;
      put(pairs, sides[static_cast<std::size_t>(n.side)], patterns(n.patterns));
      put(pairs, "lines", std::to_string(n.lines));
      line(10, "- " + flow_map(pairs));
    }
  }

  void seen_lists(const std::vector<Seen>& all) {
    for (const bool negate : {false, true}) {
      Pairs items;
      for (const Seen& s : all)
        if (s.negate == negate) items.push_back(seen(s));
      if (!items.empty()) line(8, std::string(negate ? "not_seen: " : "seen: ") + flow_list(items));
    }
  }

  void overlay(const Overlay& o, std::size_t indent) {
    const auto text = [&](const char* name, const std::optional<std::string>& value) {
      if (value) line(indent, std::string(name) + ": " + yaml_scalar(*value));
    };
    text("cause", o.cause);
    text("class", o.class_);
    text("title", o.title);
    text("fault_domain", o.fault_domain);
    text("pattern", o.pattern);
    text("scope", o.scope);
    if (o.role) line(indent, "role: " + std::string(to_string(*o.role)));
    if (o.severity) line(indent, "severity: " + std::string(to_string(*o.severity)));
    if (o.confidence) line(indent, "confidence: " + std::string(to_string(*o.confidence)));
    if (o.quarantine) line(indent, "quarantine: " + quarantine(*o.quarantine));
    if (o.fatal) line(indent, std::string("fatal: ") + (*o.fatal ? "true" : "false"));
    if (o.stands_alone)
      line(indent, std::string("stands_alone: ") + (*o.stands_alone ? "true" : "false"));
    if (!o.tags.empty()) line(indent, "tags: " + scalars(o.tags));
    steps(o.next_steps, indent);
  }

  void steps(const std::vector<Step>& all, std::size_t indent) {
    if (all.empty()) return;
    line(indent, "next_steps:" + (indent == 4 ? origin("next_steps") : std::string()));
    std::optional<Phase> phase;
    for (const Step& s : all) {
      if (phase != s.phase) line(indent + 2, std::string(to_string(s.phase)) + ":");
      phase = s.phase;
      line(indent + 4, "- " + step(s));
    }
  }

  void settled_by() {
    list("settled_by", rule_.settled_by, [](const SettledBy& s) {
      Pairs pairs;
      put(pairs, "kind", std::string(to_string(s.kind)));
      if (!s.what.empty()) put(pairs, "what", yaml_scalar(s.what));
      if (!s.why.empty()) put(pairs, "why", yaml_scalar(s.why));
      if (!s.command.empty()) put(pairs, "command", yaml_scalar(s.command));
      return flow_map(pairs);
    });
  }

  [[nodiscard]] std::string sample(const Sample& s) const {
    if (rule_.matcher == Rule::Matcher::where) {
      Pairs pairs;
      for (const auto& [field, value] : s.fields)
        pairs.push_back(yaml_scalar(field) + ": " + yaml_scalar(value));
      return flow_map(pairs);
    }
    if (rule_.matcher != Rule::Matcher::when) return yaml_scalar(s.lines);
    Pairs items;
    for (const SampleObservation& o : s.observations) {
      Pairs pairs;
      if (!o.rule.empty()) put(pairs, "rule", yaml_scalar(o.rule));
      for (const auto& [name, value] : o.place)
        pairs.push_back(yaml_scalar(name) + ": " + yaml_scalar(value));
      items.push_back(flow_map(pairs));
    }
    return flow_list(items);
  }

  void samples() {
    if (rule_.samples->match.empty() && rule_.samples->reject.empty()) return;
    line(4, "samples:" + origin("samples"));
    const auto write = [&](const char* name, const std::vector<Sample>& all) {
      if (all.empty()) return;
      line(6, std::string(name) + ":");
      for (const Sample& s : all) line(8, "- " + sample(s));
    };
    write("match", rule_.samples->match);
    write("reject", rule_.samples->reject);
  }

  const Rule& rule_;
  std::string out_;
};

bool is_plain_safe(const std::string& text) {
  static constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./$";
  if (text.empty() || text.find_first_not_of(safe) != std::string::npos) return false;
  if (text.front() == '-' || text.front() == '.') return false;
  static constexpr std::string_view words[] = {"true", "false", "null", "~"};
  for (std::string_view word : words)
    if (base::iequals(text, word)) return true;
  return yaml_1_1_reading(text).empty();
}

}  // namespace

std::string yaml_quoted(const std::string& text) {
  // Single quotes keep backslashes; what they cannot hold (line ends, bytes that do not print)
  // takes double quotes.
  const bool simple = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (simple) return "'" + base::replace_all(text, "'", "''") + "'";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string yaml_scalar(const std::string& text) {
  if (text == "null" || text == "~" || text == "true" || text == "false")
    return text == "true" || text == "false" ? text : "'" + text + "'";
  return is_plain_safe(text) ? text : yaml_quoted(text);
}

std::string to_yaml(const Rule& rule) {
  return Writer(rule).write();
}

}  // namespace triage::rules

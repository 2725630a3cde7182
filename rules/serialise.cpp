#include "rules/serialise.hpp"

#include <algorithm>
#include <type_traits>

namespace triage::rules {
namespace {

constexpr std::string_view k_magic = "triage-rules-1\n";

/// Writes numbers in base 128 and texts with their length.
class Writer {
 public:
  static constexpr bool k_reads = false;
  std::string out;

  void number(std::uint64_t value) {
    while (value >= 128) {
      out.push_back(static_cast<char>(value | 128U));
      value >>= 7U;
    }
    out.push_back(static_cast<char>(value));
  }
  void text(const std::string& value) {
    number(value.size());
    out.append(value);
  }
};

class Reader {
 public:
  static constexpr bool k_reads = true;
  explicit Reader(std::string_view bytes, std::shared_ptr<const std::string> owner = nullptr)
      : rest_(bytes), owner_(std::move(owner)) {}
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127U) << shift;
      if (byte < 128) return value;
    }
    failed_ = true;
    return 0;
  }
  /// A count of things that take at least one byte each.
  std::size_t count() {
    const std::uint64_t n = number();
    if (n > rest_.size()) {
      failed_ = true;
      return 0;
    }
    return static_cast<std::size_t>(n);
  }
  std::string_view bytes() {
    const std::size_t length = count();
    const std::string_view value = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return value;
  }
  std::string text() { return std::string(bytes()); }

  /// Keeps the bytes alive for what is decoded later; empty when they last anyway.
  [[nodiscard]] const std::shared_ptr<const std::string>& owner() const { return owner_; }

 private:
  std::string_view rest_;
  std::shared_ptr<const std::string> owner_;
  bool failed_ = false;
};

// One function for each type serves both directions: `visit(ar, value)`. For the writer the value
// is const in effect.

template <class Ar, class T>
std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>> visit(Ar& ar, T& value) {
  if constexpr (Ar::k_reads)
    value = static_cast<T>(ar.number());
  else
    ar.number(static_cast<std::uint64_t>(value));
}

template <class Ar>
void visit(Ar& ar, std::string& value) {
  if constexpr (Ar::k_reads)
    value = ar.text();
  else
    ar.text(value);
}

template <class Ar, class T>
void visit(Ar& ar, std::vector<T>& values);
template <class Ar, class T>
void visit(Ar& ar, std::optional<T>& value);
template <class Ar, class V>
void visit(Ar& ar, std::map<std::string, V>& values);
template <class Ar, class A, class B>
void visit(Ar& ar, std::pair<A, B>& value);

template <class Ar, class... Fields>
void fields(Ar& ar, Fields&... all) {
  (visit(ar, all), ...);
}

template <class T>
T decode(std::string_view bytes);

template <class Ar, class T>
void visit(Ar& ar, Deferred<T>& value) {
  if constexpr (Ar::k_reads) {
    const std::string_view bytes = ar.bytes();
    value = Deferred<T>(bytes, &decode<T>, ar.owner());
  } else {
    Ar inner;
    visit(inner, value.edit());
    ar.text(inner.out);
  }
}

template <class Ar>
void visit(Ar& ar, SourcePlace& v) {
  fields(ar, v.file, v.line, v.column);
}
template <class Ar>
void visit(Ar& ar, Quarantine& v) {
  fields(ar, v.target, v.action);
}
template <class Ar>
void visit(Ar& ar, Step& v) {
  fields(ar, v.phase, v.text, v.command, v.why);
}
template <class Ar>
void visit(Ar& ar, Overlay& v) {
  fields(ar, v.cause, v.class_, v.title, v.fault_domain, v.pattern, v.scope, v.role, v.severity,
         v.confidence, v.quarantine, v.fatal, v.stands_alone, v.tags, v.next_steps);
}
template <class Ar>
void visit(Ar& ar, Ref& v) {
  fields(ar, v.by, v.value);
}
template <class Ar>
void visit(Ar& ar, Explains& v) {
  fields(ar, v.ref, v.same, v.window_ns, v.direction);
}
template <class Ar>
void visit(Ar& ar, Test& v) {
  fields(ar, v.field, v.op, v.values);
}
template <class Ar>
void visit(Ar& ar, Where& v) {
  fields(ar, v.tests, v.at);
}
template <class Ar>
void visit(Ar& ar, Near& v) {
  fields(ar, v.side, v.patterns, v.lines);
}
template <class Ar>
void visit(Ar& ar, Seen& v) {
  fields(ar, v.ref, v.captures, v.same, v.within_ns, v.order, v.negate);
}
template <class Ar>
void visit(Ar& ar, FactCondition& v) {
  fields(ar, v.kind, v.where, v.same);
}
template <class Ar>
void visit(Ar& ar, Refine& v) {
  fields(ar, v.near, v.captures, v.seen, v.facts, v.evidence, v.overlay);
}
template <class Ar>
void visit(Ar& ar, Term& v) {
  fields(ar, v.ref, v.at_least, v.distinct, v.within_ns, v.order, v.captures);
}
template <class Ar>
void visit(Ar& ar, When& v) {
  fields(ar, v.all, v.any, v.none, v.same, v.effect, v.set);
}
template <class Ar>
void visit(Ar& ar, CatalogUse& v) {
  fields(ar, v.table, v.key);
}
template <class Ar>
void visit(Ar& ar, ClearedBy& v) {
  fields(ar, v.ref, v.same, v.within_ns);
}
template <class Ar>
void visit(Ar& ar, SettledBy& v) {
  fields(ar, v.kind, v.what, v.why, v.command);
}
template <class Ar>
void visit(Ar& ar, SampleObservation& v) {
  fields(ar, v.rule, v.place);
}
template <class Ar>
void visit(Ar& ar, Sample& v) {
  fields(ar, v.lines, v.fields, v.observations, v.place);
}
template <class Ar>
void visit(Ar& ar, Samples& v) {
  fields(ar, v.match, v.reject);
}
template <class Ar>
void visit(Ar& ar, Rule& v) {
  fields(ar, v.id, v.title, v.cause, v.class_, v.role, v.severity, v.fault_domain, v.confidence_cap,
         v.pattern, v.scope, v.tags, v.evidence, v.fatal, v.stands_alone, v.matcher, v.patterns,
         v.unless, v.gap, v.where, v.when, v.catalog, v.refine, v.explains, v.explained_by,
         v.cleared_by, v.quarantine, v.next_steps, v.settled_by, v.references, v.samples, v.pack,
         v.place, v.overridden);
}
template <class Ar>
void visit(Ar& ar, CatalogRow& v) {
  fields(ar, v.key, v.overlay, v.title, v.meaning, v.notes, v.source, v.references, v.facts,
         v.line);
}
template <class Ar>
void visit(Ar& ar, CatalogTable& v) {
  fields(ar, v.name, v.key_columns, v.rows);
}
template <class Ar>
void visit(Ar& ar, evidence::UserTextSpan& v) {
  fields(ar, v.id, v.kinds, v.start, v.end, v.multiline, v.max_lines);
}
template <class Ar>
void visit(Ar& ar, PatternPage& v) {
  fields(ar, v.id, v.title, v.definition, v.signals, v.conditions, v.impacts, v.not_this,
         v.questions, v.containment, v.remediation, v.prevention);
}
template <class Ar>
void visit(Ar& ar, RuleSet& v) {
  // The digest comes first: digest_from_bytes.
  fields(ar, v.digest, v.rules, v.catalogs, v.user_text, v.patterns, v.literals);
}

template <class Ar>
void visit(Ar& ar, Diagnostic& v) {
  fields(ar, v.level, v.code, v.place, v.message, v.snippet, v.mend);
}
template <class Ar>
void visit(Ar& ar, Loaded& v) {
  fields(ar, v.rules, v.diagnostics);
}

template <class Ar, class T>
void visit(Ar& ar, std::vector<T>& values) {
  if constexpr (Ar::k_reads)
    values.resize(ar.count());
  else
    ar.number(values.size());
  for (T& value : values) visit(ar, value);
}

template <class Ar, class T>
void visit(Ar& ar, std::optional<T>& value) {
  bool present = value.has_value();
  visit(ar, present);
  if (!present) return;
  if constexpr (Ar::k_reads) value.emplace();
  visit(ar, *value);
}

template <class Ar, class V>
void visit(Ar& ar, std::map<std::string, V>& values) {
  if constexpr (Ar::k_reads) {
    for (std::size_t n = ar.count(); n > 0; --n) {
      // Written in order: each goes to the end.
      visit(ar, values.emplace_hint(values.end(), ar.text(), V{})->second);
    }
  } else {
    ar.number(values.size());
    for (auto& [key, value] : values) {
      std::string copy = key;
      visit(ar, copy);
      visit(ar, value);
    }
  }
}

template <class Ar, class A, class B>
void visit(Ar& ar, std::pair<A, B>& value) {
  fields(ar, value.first, value.second);
}

/// Nothing that is deferred holds anything deferred, so no owner is handed on.
template <class T>
T decode(std::string_view bytes) {
  Reader reader(bytes);
  T value;
  visit(reader, value);
  return reader.failed() ? T() : value;
}

}  // namespace

namespace {

template <class T>
std::string write(const T& value) {
  Writer writer;
  writer.out = k_magic;
  // The writer only reads its values; one visitor for both directions needs them non-const.
  visit(writer, const_cast<T&>(value));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return std::move(writer.out);
}

template <class T>
std::optional<T> read(std::string_view bytes, std::shared_ptr<const std::string> owner) {
  if (bytes.substr(0, k_magic.size()) != k_magic) return std::nullopt;
  Reader reader(bytes.substr(k_magic.size()), std::move(owner));
  T value;
  visit(reader, value);
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_bytes(const RuleSet& rules) {
  return write(rules);
}
std::optional<RuleSet> from_bytes(std::string_view bytes) {
  return read<RuleSet>(bytes, nullptr);
}
std::string digest_from_bytes(std::string_view bytes) {
  Reader reader(bytes.substr(std::min(k_magic.size(), bytes.size())));
  return reader.text();
}
std::string to_bytes(const Loaded& loaded) {
  return write(loaded);
}
std::optional<Loaded> loaded_from_bytes(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return read<Loaded>(*owner, owner);
}

}  // namespace triage::rules

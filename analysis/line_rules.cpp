#include "analysis/line_rules.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "rules/literals.hpp"

namespace triage::analysis {

using evidence::Kind;

struct LazyPattern::State {
  std::once_flag once;
  std::unique_ptr<re2::RE2> regex;
};

namespace {

/// A `^` or `\A` that is an assertion: not the negation of a class, not escaped.
bool has_anchor(std::string_view source) {
  bool in_class = false;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '\\') {
      ++i;
      if (!in_class && i < source.size() && (source[i] == 'A' || source[i] == 'Q')) return true;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      if (i + 1 < source.size() && source[i + 1] == '^') ++i;
      if (i + 1 < source.size() && source[i + 1] == ']') ++i;  // a member when it comes first
    } else if (c == '^') {
      return true;
    }
  }
  return false;
}

}  // namespace

LazyPattern::LazyPattern(std::string source)
    : source_(std::move(source)),
      anchored_(has_anchor(source_)),
      state_(std::make_unique<State>()) {}
LazyPattern::~LazyPattern() = default;
LazyPattern::LazyPattern(LazyPattern&&) noexcept = default;

const re2::RE2& LazyPattern::compiled() const {
  std::call_once(state_->once, [this] {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    options.set_log_errors(false);
    state_->regex = std::make_unique<re2::RE2>(source_, options);
  });
  return *state_->regex;
}

bool LazyPattern::matches(std::string_view text) const {
  const re2::RE2& regex = compiled();
  return regex.ok() &&
         regex.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

bool LazyPattern::capture(std::string_view text,
                          std::map<std::string, std::string>& captures) const {
  const re2::RE2& regex = compiled();
  if (!regex.ok()) return false;
  const int groups = regex.NumberOfCapturingGroups() + 1;
  // Patterns of many groups are rare: no allocation for the others.
  std::array<re2::StringPiece, 8> few;
  std::vector<re2::StringPiece> many;
  std::span<re2::StringPiece> found(few);
  if (static_cast<std::size_t>(groups) > few.size()) {
    many.resize(static_cast<std::size_t>(groups));
    found = many;
  }
  if (!regex.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, found.data(),
                   groups))
    return false;
  for (const auto& [name, index] : regex.NamedCapturingGroups()) {
    const re2::StringPiece& piece = found[static_cast<std::size_t>(index)];
    if (piece.data() != nullptr && !piece.empty())
      captures.insert_or_assign(name, std::string(piece.data(), piece.size()));
  }
  return true;
}

std::optional<std::pair<std::size_t, std::size_t>> LazyPattern::find(std::string_view text) const {
  const re2::RE2& regex = compiled();
  re2::StringPiece found;
  if (!regex.ok() ||
      !regex.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, &found, 1))
    return std::nullopt;
  const auto begin = static_cast<std::size_t>(found.data() - text.data());
  return std::pair{begin, begin + found.size()};
}

bool kind_reads(Kind wanted, Kind kind) {
  if (wanted == kind) return true;
  if (!evidence::is_log(wanted)) return false;
  switch (kind) {
    case Kind::unknown_text:
      return true;
    case Kind::system_log:
      return wanted != Kind::gateway_log;
    case Kind::kernel_log:
      return wanted == Kind::system_log;
    // `ollama serve` and `triton` under systemd, or a wrapper that tails the device plugin: one
    // stream, several writers.
    case Kind::controller_log:
      return wanted == Kind::device_plugin_log || wanted == Kind::driver_log ||
             wanted == Kind::container_log;
    // A server that logs its own access lines (gunicorn, a router with a model inside) looks like a
    // gateway until it raises.
    case Kind::gateway_log:
      return wanted == Kind::container_log;
    default:
      return false;
  }
}

namespace {

/// Words that loggers use for trouble. Case is as printed: prose seldom shouts. Each alternative
/// holds a literal of six bytes, so that the filter stays fast.
constexpr std::string_view k_error_like =
    R"( ERROR|ERROR[ :\]]|Error: | error: |Exception|EXCEPTION|Traceback| FATAL|FATAL[ :\]]|fatal error|CRITICAL|panic: |)"
    "failed|Failed|FAILED|Killed|Aborted|core dumped";

template <class Wanted>
std::uint32_t mask_of(const Wanted& wanted) {
  std::uint32_t mask = 0;
  for (const Kind kind : evidence::all_kinds())
    if (std::any_of(wanted.begin(), wanted.end(), [&](Kind w) { return kind_reads(w, kind); }))
      mask |= 1U << static_cast<unsigned>(kind);
  return mask;
}

std::vector<LazyPattern> lazy(const std::vector<std::string>& sources, std::size_t from = 0) {
  std::vector<LazyPattern> out;
  for (std::size_t i = from; i < sources.size(); ++i) out.emplace_back(sources[i]);
  return out;
}

bool names_device(const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [](const std::string& pattern) {
    return pattern.find("(?P<xid>") != std::string::npos ||
           pattern.find("(?P<sxid>") != std::string::npos ||
           pattern.find("(?P<pci>") != std::string::npos;
  });
}

}  // namespace

void LineRules::add_pattern(const std::string& source, Use use, std::uint32_t owner,
                            std::uint32_t mask, const rules::RuleSet& set) {
  patterns_.push_back({LazyPattern(source), use, owner});
  kind_mask_.push_back(mask);
  // Those of the built-in packs are baked in: finding them takes a tenth of a second for all.
  const auto known = set.literals.find(source);
  literals_.push_back(known != set.literals.end() ? known->second
                                                  : rules::required_literals(source));
}

LineRules::LineRules(const rules::RuleSet& set) {
  for (const rules::Rule& rule : set.rules) {
    if (rule.matcher != rules::Rule::Matcher::match &&
        rule.matcher != rules::Rule::Matcher::sequence)
      continue;
    LineRule line_rule;
    line_rule.rule = &rule;
    const bool sequence = rule.matcher == rules::Rule::Matcher::sequence;
    const std::size_t count = sequence ? 1 : rule.patterns.size();
    const std::uint32_t mask = mask_of(rule.evidence);
    for (std::size_t i = 0; i < std::min(count, rule.patterns.size()); ++i) {
      line_rule.patterns.push_back(static_cast<std::uint32_t>(patterns_.size()));
      add_pattern(rule.patterns[i], Use::rule, static_cast<std::uint32_t>(rules_.size()), mask,
                  set);
    }
    if (sequence) line_rule.continued = lazy(rule.patterns, 1);
    line_rule.unless = lazy(rule.unless);
    for (const rules::Refine& refine : rule.refine)
      for (const rules::Near& near : refine.near) {
        line_rule.near.push_back(lazy(near.patterns));
        line_rule.near_spec.push_back(near);
      }
    line_rule.needs_every_match =
        sequence || !line_rule.near.empty() || names_device(rule.patterns);
    rules_.push_back(std::move(line_rule));
  }
  for (const evidence::UserTextSpan& span : set.user_text) {
    UserText text;
    text.span = &span;
    text.start_pattern = static_cast<std::uint32_t>(patterns_.size());
    if (span.end) text.end.emplace(*span.end);
    std::uint32_t mask = span.kinds.empty() ? ~0U : mask_of(span.kinds);
    add_pattern(span.start, Use::user_text_start, static_cast<std::uint32_t>(user_text_.size()),
                mask, set);
    user_text_.push_back(std::move(text));
  }
  add_pattern(std::string(k_error_like), Use::error_like, 0, ~0U, set);
}

}  // namespace triage::analysis

#include "rules/pack_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "rules/rule_reader.hpp"

namespace triage::rules {
namespace {

using Id = YamlTree::Id;

evidence::UserTextSpan read_span(YamlReader& reader, Id node, const std::string& default_id) {
  evidence::UserTextSpan span;
  span.id = default_id;
  const auto pattern = [&reader](Id v) {
    auto text = reader.text(v);
    if (text) check_pattern(reader, v, *text);
    return text;
  };
  reader.each_key(node, "user_text",
                  {{"id",
                    [&](Id v) {
                      if (auto id = reader.text(v)) span.id = std::move(*id);
                    }},
                   {"evidence", [&](Id v) { span.kinds = read_kinds(reader, v); }},
                   {"start",
                    [&](Id v) {
                      if (auto p = pattern(v)) span.start = std::move(*p);
                    }},
                   {"end", [&](Id v) { span.end = pattern(v); }},
                   {"multiline", [&](Id v) { span.multiline = reader.boolean(v).value_or(false); }},
                   {"max_lines", [&](Id v) {
                      if (const auto n = reader.integer(v, 1, 10'000))
                        span.max_lines = static_cast<std::size_t>(*n);
                    }}});
  if (reader.type(node) == YamlTree::Type::map &&
      reader.tree().find(node, "start") == YamlTree::k_none)
    reader.error(node, "missing-key", "user_text lacks `start`",
                 "name the pattern that stands before the user's text");
  return span;
}

PatternPage read_pattern_page(YamlReader& reader, Id node) {
  PatternPage page;
  const auto word = [&reader](std::string& field) {
    return [&reader, &field](Id v) {
      if (auto t = reader.text(v)) field = std::move(*t);
    };
  };
  const auto list = [&reader](std::vector<std::string>& field) {
    return [&reader, &field](Id v) { field = reader.texts(v); };
  };
  reader.each_key(node, "patterns",
                  {{"id",
                    [&](Id v) {
                      if (auto id = reader.one_of(v, "pattern", all_patterns()))
                        page.id = std::move(*id);
                    }},
                   {"title", word(page.title)},
                   {"definition", word(page.definition)},
                   {"signals", list(page.signals)},
                   {"conditions", list(page.conditions)},
                   {"impacts", list(page.impacts)},
                   {"not_this", list(page.not_this)},
                   {"questions", list(page.questions)},
                   {"containment", list(page.containment)},
                   {"remediation", list(page.remediation)},
                   {"prevention", list(page.prevention)}});
  for (const char* key : {"id", "title", "definition"})
    if (reader.type(node) == YamlTree::Type::map &&
        reader.tree().find(node, key) == YamlTree::k_none)
      reader.error(node, "missing-key", std::string("this pattern lacks `") + key + "`",
                   std::string("add ") + key + ": ...");
  return page;
}

void read_rule(Pack& pack, YamlReader& reader, Id node) {
  if (reader.type(node) != YamlTree::Type::map) {
    reader.error(node, "wrong-type", "a rule is a map of keys and values",
                 "write - id: ... and its keys below");
    return;
  }
  const Id override_id = reader.tree().find(node, "override");
  if (override_id != YamlTree::k_none) {
    const auto id = reader.text(override_id);
    if (reader.tree().find(node, "id") != YamlTree::k_none)
      reader.error(override_id, "bad-override", "an entry either defines a rule or overrides one",
                   "remove `id`");
    if (!id) return;
    pack.overrides.push_back({*id, reader.place(override_id), node});
    return;
  }
  Rule rule;
  rule.pack = pack.name;
  rule.place = reader.place(node);
  if (const Id id = reader.tree().find(node, "id"); id != YamlTree::k_none)
    if (auto text = reader.text(id)) rule.id = std::move(*text);
  std::set<std::string> named;
  read_rule_keys(reader, node, rule, named);
  check_rule(reader, node, rule, named);
  if (rule.cause.empty()) rule.cause = rule.id;
  if (rule.evidence.empty() && rule.matcher != Rule::Matcher::where &&
      rule.matcher != Rule::Matcher::when)
    for (const Kind kind : evidence::all_kinds())
      if (evidence::is_log(kind)) rule.evidence.push_back(kind);
  pack.rules.push_back(std::move(rule));
  pack.rule_nodes.push_back(node);
}

void check_ids(Pack& pack) {
  std::map<std::string_view, std::uint32_t> seen;
  for (const Rule& rule : pack.rules) {
    if (rule.id.empty()) continue;
    const auto [it, fresh] = seen.emplace(rule.id, rule.place.line);
    if (fresh) continue;
    pack.diagnostics.push_back(
        make_diagnostic(pack.text, rule.place, Diagnostic::Level::error, "duplicate-id",
                        "rule `" + rule.id + "` stands twice in this pack, first in line " +
                            std::to_string(it->second),
                        "give one of them another id"));
  }
}

}  // namespace

bool Pack::sound() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& d) { return d.level == Diagnostic::Level::error; });
}

Diagnostic make_diagnostic(std::string_view text, SourcePlace place, Diagnostic::Level level,
                           std::string code, std::string message, std::string mend) {
  Diagnostic d;
  d.level = level;
  d.code = std::move(code);
  d.snippet = std::string(line_of(text, place.line));
  d.place = std::move(place);
  d.message = std::move(message);
  d.mend = std::move(mend);
  return d;
}

Pack read_pack(std::string text, const std::string& file) {
  Pack pack;
  pack.file = file;
  pack.name = std::filesystem::path(file).stem().string();
  pack.text = std::move(text);
  pack.tree = YamlTree::parse(pack.text, file, pack.diagnostics);
  if (!pack.sound()) return pack;
  YamlReader reader(pack.tree, pack.text, file, pack.diagnostics);
  const Id root = pack.tree.root();
  if (root == YamlTree::k_none || reader.type(root) == YamlTree::Type::null) {
    pack.diagnostics.push_back(make_diagnostic(
        pack.text, {file, 1, 1}, Diagnostic::Level::error, "empty-pack", "this pack is empty",
        "write pack: NAME and rules: [...]; triage rules new makes a start"));
    return pack;
  }
  if (const Id name = pack.tree.find(root, "pack"); name != YamlTree::k_none)
    if (auto text_value = reader.text(name)) pack.name = std::move(*text_value);
  const auto each_item = [&reader](const std::function<void(Id)>& handle) {
    return [&reader, handle](Id list) {
      if (reader.type(list) != YamlTree::Type::sequence) {
        reader.error(list, "wrong-type", "a list is expected here",
                     "write - in front of each entry");
        return;
      }
      for (const Id item : reader.items(list)) handle(item);
    };
  };
  reader.each_key(
      root, "pack",
      {{"pack", [](Id) {}},
       {"description", [&](Id v) { static_cast<void>(reader.text(v)); }},
       {"rules", each_item([&](Id item) { read_rule(pack, reader, item); })},
       {"disable",
        [&](Id v) {
          for (const Id item : reader.items(v))
            if (auto id = reader.text(item)) pack.disabled.push_back({*id, reader.place(item)});
        }},
       {"user_text", each_item([&](Id item) {
          const std::string id = pack.name + "-" + std::to_string(pack.user_text.size() + 1);
          pack.user_text.push_back(read_span(reader, item, id));
        })},
       {"patterns",
        each_item([&](Id item) { pack.patterns.push_back(read_pattern_page(reader, item)); })}});
  if (pack.tree.find(root, "pack") == YamlTree::k_none)
    reader.error(root, "missing-key", "this pack has no name", "write pack: NAME at the top");
  check_ids(pack);
  return pack;
}

void apply_override(const Pack& pack, const Override& override, Rule& rule,
                    std::vector<Diagnostic>& diagnostics) {
  YamlReader reader(pack.tree, pack.text, pack.file, diagnostics);
  std::set<std::string> named;
  read_rule_keys(reader, override.node, rule, named);
  for (const std::string& key : named) {
    if (key == "override") continue;
    rule.overridden[key] = reader.place(pack.tree.find(override.node, key));
  }
}

}  // namespace triage::rules

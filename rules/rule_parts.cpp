#include <algorithm>

#include "rules/rule_reader.hpp"

namespace triage::rules {

namespace {

using Id = YamlReader::Id;

const std::vector<std::string>& names_of_severities() {
  static const std::vector<std::string> names{"info", "warning", "error", "critical"};
  return names;
}
const std::vector<std::string>& names_of_confidences() {
  static const std::vector<std::string> names{"low", "medium", "high"};
  return names;
}
const std::vector<std::string>& names_of_roles() {
  static const std::vector<std::string> names{"root", "symptom", "context"};
  return names;
}

}  // namespace

std::optional<Same> read_same(YamlReader& reader, Id node) {
  static const std::vector<std::string> names{"any", "pid",   "process",  "pod",      "node",
                                              "gpu", "group", "workload", "revision", "file"};
  const auto name = reader.one_of(node, "place", names);
  return name ? same_from(*name) : std::nullopt;
}

std::optional<Quarantine> read_quarantine(YamlReader& reader, Id node) {
  Quarantine quarantine;
  if (reader.type(node) == YamlTree::Type::scalar) {
    const auto word = reader.text(node);
    if (word && *word != "none")
      reader.error(node, "wrong-type", "a quarantine names target and action",
                   "write {target: " + *word + ", action: ...}, or none");
    return word && *word == "none" ? std::optional(quarantine) : std::nullopt;
  }
  bool target = false;
  bool action = false;
  const bool is_map = reader.each_key(
      node, "quarantine",
      {{"target",
        [&](Id v) {
          target = true;
          if (auto t = reader.one_of(v, "quarantine target", all_quarantine_targets()))
            quarantine.target = *t;
        }},
       {"action", [&](Id v) {
          action = true;
          if (auto a = reader.one_of(v, "quarantine action", all_quarantine_actions()))
            quarantine.action = *a;
        }}});
  if (!is_map) return std::nullopt;
  if (!target || !action)
    reader.error(node, "missing-key",
                 std::string("this quarantine lacks `") + (target ? "action" : "target") + "`",
                 "write {target: worker, action: replace-worker}");
  if (target && action && (quarantine.target == "none") != (quarantine.action == "none"))
    reader.error(node, "bad-quarantine", "target and action must both be none, or neither",
                 "write quarantine: none");
  return quarantine;
}

namespace {

void read_step(YamlReader& reader, Id node, Phase phase, std::vector<Step>& steps) {
  Step step;
  step.phase = phase;
  if (reader.type(node) == YamlTree::Type::map) {
    const auto into = [&](std::string& field) {
      return [&reader, &field](Id v) {
        if (auto t = reader.text(v)) field = std::move(*t);
      };
    };
    reader.each_key(
        node, "step",
        {{"text", into(step.text)}, {"command", into(step.command)}, {"why", into(step.why)}});
    if (step.text.empty() && step.command.empty())
      reader.error(node, "missing-key", "this step lacks `text`",
                   "write {text: ..., command: ..., why: ...}");
  } else if (auto t = reader.text(node)) {
    step.text = std::move(*t);
  }
  steps.push_back(std::move(step));
}

}  // namespace

std::vector<Step> read_steps(YamlReader& reader, Id node) {
  std::vector<Step> steps;
  std::vector<YamlReader::Key> keys;
  for (const Phase phase : {Phase::contain, Phase::diagnose, Phase::recover, Phase::verify,
                            Phase::prevent, Phase::avoid})
    keys.push_back({to_string(phase), [&, phase](Id v) {
                      for (const Id item : reader.items(v)) read_step(reader, item, phase, steps);
                    }});
  reader.each_key(node, "next_steps", keys);
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.phase < b.phase; });
  return steps;
}

std::vector<YamlReader::Key> ref_keys(YamlReader& reader, std::optional<Ref>& ref, bool kinds) {
  const auto set = [&reader, &ref](Ref::By by) {
    return [&reader, &ref, by](Id v) {
      std::optional<std::string> value;
      if (by == Ref::By::class_) {
        value = reader.one_of(v, "class", all_classes());
      } else if (by == Ref::By::kind_present || by == Ref::By::kind_absent) {
        const auto kind = read_kinds(reader, v);
        if (!kind.empty()) value = std::string(to_string(kind.front()));
      } else {
        value = reader.text(v);
      }
      if (ref)
        reader.error(v, "two-references", "one of rule, tag, class and cause is enough here",
                     "write two entries");
      if (value) ref = Ref{by, std::move(*value)};
      // A mistake in the value was reported: do not report the reference as missing, too.
      else if (!ref)
        ref = Ref{by, {}};
    };
  };
  std::vector<YamlReader::Key> keys{{"rule", set(Ref::By::rule)},
                                    {"tag", set(Ref::By::tag)},
                                    {"class", set(Ref::By::class_)},
                                    {"cause", set(Ref::By::cause)}};
  if (kinds) {
    keys.push_back({"kind_present", set(Ref::By::kind_present)});
    keys.push_back({"kind_absent", set(Ref::By::kind_absent)});
  }
  return keys;
}

std::vector<Explains> read_explains(YamlReader& reader, Id node, std::string_view scope) {
  std::vector<Explains> all;
  for (const Id item : reader.items(node)) {
    Explains entry;
    if (reader.type(item) != YamlTree::Type::map) {
      if (auto id = reader.text(item)) {
        entry.ref = {Ref::By::rule, std::move(*id)};
        all.push_back(std::move(entry));
      }
      continue;
    }
    std::optional<Ref> ref;
    auto keys = ref_keys(reader, ref, false);
    keys.push_back({"same", [&](Id v) {
                      if (auto same = read_same(reader, v)) entry.same = *same;
                    }});
    keys.push_back({"window", [&](Id v) { entry.window_ns = reader.duration(v); }});
    keys.push_back({"direction", [&](Id v) {
                      const auto word = reader.one_of(v, "direction", {"after", "either"});
                      if (word && *word == "either") entry.direction = Direction::either;
                    }});
    reader.each_key(item, scope, keys);
    if (!ref) {
      reader.error(item, "missing-key", "this entry names nothing",
                   "name one of rule, tag, class or cause");
      continue;
    }
    entry.ref = std::move(*ref);
    all.push_back(std::move(entry));
  }
  return all;
}

std::vector<ClearedBy> read_cleared_by(YamlReader& reader, Id node) {
  std::vector<ClearedBy> all;
  for (const Id item : reader.items(node)) {
    ClearedBy entry;
    std::optional<Ref> ref;
    auto keys = ref_keys(reader, ref, false);
    keys.push_back({"same", [&](Id v) {
                      if (auto same = read_same(reader, v)) entry.same = *same;
                    }});
    keys.push_back({"within", [&](Id v) { entry.within_ns = reader.duration(v); }});
    if (!reader.each_key(item, "cleared_by", keys)) continue;
    if (!ref) {
      reader.error(item, "missing-key", "this entry names nothing",
                   "name one of rule, tag, class or cause");
      continue;
    }
    entry.ref = std::move(*ref);
    all.push_back(std::move(entry));
  }
  return all;
}

std::vector<SettledBy> read_settled_by(YamlReader& reader, Id node) {
  std::vector<SettledBy> all;
  for (const Id item : reader.items(node)) {
    SettledBy entry;
    bool named = false;
    const auto set_kind = [&](Id v) {
      named = true;
      if (const auto kinds = read_kinds(reader, v); !kinds.empty()) entry.kind = kinds.front();
    };
    const auto into = [&](std::string& field) {
      return [&reader, &field](Id v) {
        if (auto t = reader.text(v)) field = std::move(*t);
      };
    };
    if (reader.type(item) != YamlTree::Type::map) {
      set_kind(item);
    } else {
      reader.each_key(item, "settled_by",
                      {{"kind", set_kind},
                       {"what", into(entry.what)},
                       {"why", into(entry.why)},
                       {"command", into(entry.command)}});
      if (!named)
        reader.error(item, "missing-key", "this entry lacks `kind`",
                     "name the kind of evidence that would settle it");
    }
    all.push_back(std::move(entry));
  }
  return all;
}

std::optional<CatalogUse> read_catalog_use(YamlReader& reader, Id node) {
  CatalogUse use;
  const bool is_map = reader.each_key(node, "catalog",
                                      {{"table",
                                        [&](Id v) {
                                          if (auto t = reader.text(v)) use.table = std::move(*t);
                                        }},
                                       {"key", [&](Id v) { use.key = reader.texts(v); }}});
  if (!is_map) return std::nullopt;
  if (use.table.empty() || use.key.empty())
    reader.error(node, "missing-key",
                 std::string("catalog lacks `") + (use.table.empty() ? "table" : "key") + "`",
                 "write {table: nvidia-xid, key: [xid]}");
  return use;
}

std::vector<YamlReader::Key> overlay_keys(YamlReader& reader, Overlay& overlay) {
  const auto word = [&reader](std::optional<std::string>& field) {
    return [&reader, &field](Id v) { field = reader.text(v); };
  };
  const auto one_of = [&reader](std::optional<std::string>& field, std::string_view what,
                                const std::vector<std::string>& known) {
    return [&reader, &field, what, &known](Id v) { field = reader.one_of(v, what, known); };
  };
  return {
      {"cause", word(overlay.cause)},
      {"title", word(overlay.title)},
      {"class", one_of(overlay.class_, "class", all_classes())},
      {"fault_domain", one_of(overlay.fault_domain, "fault domain", all_fault_domains())},
      {"pattern", one_of(overlay.pattern, "pattern", all_patterns())},
      {"scope", one_of(overlay.scope, "scope", all_scopes())},
      {"role",
       [&](Id v) {
         if (auto name = reader.one_of(v, "role", names_of_roles()))
           overlay.role = role_from(*name);
       }},
      {"severity",
       [&](Id v) {
         if (auto name = reader.one_of(v, "severity", names_of_severities()))
           overlay.severity = severity_from(*name);
       }},
      {"confidence",
       [&](Id v) {
         if (auto name = reader.one_of(v, "confidence", names_of_confidences()))
           overlay.confidence = confidence_from(*name);
       }},
      {"quarantine", [&](Id v) { overlay.quarantine = read_quarantine(reader, v); }},
      {"fatal", [&](Id v) { overlay.fatal = reader.boolean(v); }},
      {"stands_alone", [&](Id v) { overlay.stands_alone = reader.boolean(v); }},
      {"tags", [&](Id v) { overlay.tags = reader.texts(v); }},
      {"next_steps", [&](Id v) { overlay.next_steps = read_steps(reader, v); }},
  };
}

}  // namespace triage::rules

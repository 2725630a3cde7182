#include "rules/schema.hpp"

#include <nlohmann/json.hpp>

#include "evidence/kind.hpp"
#include "rules/rule.hpp"

namespace triage::rules {
namespace {

using Json = nlohmann::ordered_json;

Json one_of(const std::vector<std::string>& words) {
  return {{"type", "string"}, {"enum", words}};
}

Json list_of(Json item) {
  // One value may stand for a list of one.
  return {{"oneOf", {item, {{"type", "array"}, {"items", item}, {"minItems", 1}}}}};
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const Kind kind : evidence::all_kinds()) names.emplace_back(to_string(kind));
  return names;
}

Json reference(const char* name) {
  return {{"$ref", std::string("#/definitions/") + name}};
}

/// Shapes by the names that the table of keys uses.
Json shape(std::string_view name) {
  static const Json text = {{"type", {"string", "number", "boolean"}}};
  if (name == "texts" || name == "patterns") return list_of({{"type", "string"}});
  if (name == "boolean") return {{"type", "boolean"}};
  if (name == "integer") return {{"type", "integer"}, {"minimum", 0}};
  if (name == "duration") return {{"type", {"string", "integer"}}};
  if (name == "class") return one_of(all_classes());
  if (name == "fault domain") return one_of(all_fault_domains());
  if (name == "scope") return one_of(all_scopes());
  if (name == "pattern name") return one_of(all_patterns());
  if (name == "target") return one_of(all_quarantine_targets());
  if (name == "action") return one_of(all_quarantine_actions());
  if (name == "role") return one_of({"root", "symptom", "context"});
  if (name == "severity") return one_of({"info", "warning", "error", "critical"});
  if (name == "confidence") return one_of({"low", "medium", "high"});
  if (name == "place")
    return one_of(
        {"any", "pid", "process", "pod", "node", "gpu", "group", "workload", "revision", "file"});
  if (name == "direction") return one_of({"after", "either"});
  if (name == "order") return one_of({"any", "before", "after"});
  if (name == "effect") return one_of({"root", "lift"});
  if (name == "kinds") return list_of(one_of(kinds()));
  if (name == "kind") return one_of(kinds());
  if (name == "steps") return list_of({{"oneOf", {{{"type", "string"}}, reference("step")}}});
  if (name == "captures") return {{"type", "object"}, {"additionalProperties", text}};
  if (name == "where") return {{"type", "object"}, {"minProperties", 1}};
  if (name == "quarantine") return {{"oneOf", {{{"const", "none"}}, reference("quarantine")}}};
  if (name == "samples list") return {{"type", "array"}, {"minItems", 1}};
  if (name.substr(0, 8) == "list of ") {
    const std::string item(name.substr(8));
    const bool word =
        item == "explains" || item == "explained_by" || item == "term" || item == "settled_by";
    Json shaped = reference(item.c_str());
    if (word) shaped = {{"oneOf", {{{"type", "string"}}, reference(item.c_str())}}};
    return list_of(shaped);
  }
  if (name.substr(0, 4) == "map ") return reference(std::string(name.substr(4)).c_str());
  return text;
}

}  // namespace

const std::vector<KeyInfo>& all_keys() {
  static const std::vector<KeyInfo> keys{
      {"pack", "pack", "text", "name of the pack"},
      {"pack", "description", "text", "what the pack is for"},
      {"pack", "rules", "list of rule", "the rules"},
      {"pack", "disable", "texts", "ids of rules of earlier layers that are switched off"},
      {"pack", "user_text", "list of user_text", "where prompts and outputs stand in logs"},
      {"pack", "patterns", "list of patterns", "pages of incident patterns"},

      {"rule", "id", "text", "name of the rule: words of a-z and 0-9 joined with -"},
      {"rule", "override", "text", "instead of id: the rule whose keys this entry replaces"},
      {"rule", "title", "text", "one line for the verdict; {name} is filled"},
      {"rule", "class", "class", "which kind of failure"},
      {"rule", "role", "role", "root, symptom or context"},
      {"rule", "cause", "text", "what went wrong; default: the id"},
      {"rule", "severity", "severity", "default: error"},
      {"rule", "fault_domain", "fault domain", "how far it reaches"},
      {"rule", "confidence", "confidence", "the verdict is never surer than this"},
      {"rule", "pattern", "pattern name", "incident pattern that the rule alone shows"},
      {"rule", "scope", "scope", "scope that the rule alone shows"},
      {"rule", "tags", "texts", "names for groups of rules, for references"},
      {"rule", "evidence", "kinds", "kinds that it reads; default: every log kind"},
      {"rule", "fatal", "boolean", "the line says that a process, container or group ended"},
      {"rule", "stands_alone", "boolean",
       "a symptom that may be a verdict when nothing explains it"},
      {"rule", "match", "patterns", "RE2 patterns, any of, on one line or a fact's text"},
      {"rule", "unless", "patterns", "patterns that the same line must not have"},
      {"rule", "sequence", "patterns", "patterns for lines in this order in one stream"},
      {"rule", "gap", "integer", "foreign lines between two of a sequence; default: 3"},
      {"rule", "where", "where", "tests of the fields of one fact"},
      {"rule", "at", "text", "field of where whose line is reported"},
      {"rule", "when", "map when", "other observations that must and must not be there"},
      {"rule", "effect", "effect", "of when: root (default) or lift"},
      {"rule", "set", "map set", "of effect: lift: what the verdict becomes"},
      {"rule", "catalog", "map catalog", "table whose row overlays the rule"},
      {"rule", "refine", "list of refine", "what stands around the line changes the rule"},
      {"rule", "explains", "list of explains", "what follows from it"},
      {"rule", "explained_by", "list of explained_by", "what it follows from"},
      {"rule", "cleared_by", "list of cleared_by", "a later success that makes it context"},
      {"rule", "quarantine", "quarantine", "what must be held out of service"},
      {"rule", "next_steps", "map next_steps", "what to do, by phase"},
      {"rule", "settled_by", "list of settled_by", "evidence that would settle it, when absent"},
      {"rule", "references", "texts", "addresses of pages that say so"},
      {"rule", "samples", "map samples", "what must match and what must not"},

      {"quarantine", "target", "target", "what is held"},
      {"quarantine", "action", "action", "what is done with it"},
      {"next_steps", "contain", "steps", "stop the harm now"},
      {"next_steps", "diagnose", "steps", "see more"},
      {"next_steps", "recover", "steps", "bring it back"},
      {"next_steps", "verify", "steps", "prove that it is back"},
      {"next_steps", "prevent", "steps", "keep it from coming again"},
      {"next_steps", "avoid", "steps", "what not to do, and why"},
      {"step", "text", "text", "the step"},
      {"step", "command", "text", "a command for a person to run"},
      {"step", "why", "text", "why it helps"},
      {"samples", "match", "samples list", "lines, facts or lists of observations that must match"},
      {"samples", "reject", "samples list", "look-alikes that must not"},
      {"catalog", "table", "text", "name of the table"},
      {"catalog", "key", "texts", "captures, one for each key column"},
      {"settled_by", "kind", "kind", "kind of evidence"},
      {"settled_by", "what", "text", "its name for people"},
      {"settled_by", "why", "text", "what it would say"},
      {"settled_by", "command", "text", "how to get it"},
      {"when", "all", "list of term", "each must hold"},
      {"when", "any", "list of term", "at least one must hold"},
      {"when", "none", "list of term", "none may hold"},
      {"when", "same", "place", "binds all terms to one place"},
      {"near", "before", "patterns", "on a line before"},
      {"near", "after", "patterns", "on a line after"},
      {"near", "around", "patterns", "on a line before or after"},
      {"near", "lines", "integer", "how far: at most 200; default: 60"},
      {"fact", "evidence", "kind", "kind of the fact"},
      {"fact", "where", "where", "tests of its fields"},
      {"fact", "same", "place", "default: node"},
      {"user_text", "id", "text", "name of the span"},
      {"user_text", "evidence", "kinds", "kinds that it stands in"},
      {"user_text", "start", "text", "pattern before the user's text"},
      {"user_text", "end", "text", "pattern behind it; default: the end of the line"},
      {"user_text", "multiline", "boolean", "the end may stand on a later line"},
      {"user_text", "max_lines", "integer", "a span without an end stops here"},
      {"patterns", "id", "pattern name", "incident pattern"},
      {"patterns", "title", "text", "its name for people"},
      {"patterns", "definition", "text", "what it is"},
      {"patterns", "signals", "texts", "how it is recognised"},
      {"patterns", "conditions", "texts", "what contributes to it"},
      {"patterns", "impacts", "texts", "what it does to the service"},
      {"patterns", "not_this", "texts", "what it is mistaken for"},
      {"patterns", "questions", "texts", "what to ask"},
      {"patterns", "containment", "texts", "what to do now"},
      {"patterns", "remediation", "texts", "how to mend it"},
      {"patterns", "prevention", "texts", "how to keep it away"},

      {"explains", "same", "place", "default: node"},
      {"explains", "window", "duration", "at most so long apart"},
      {"explains", "direction", "direction", "after (default) or either"},
      {"cleared_by", "same", "place", "default: pod"},
      {"cleared_by", "within", "duration", "at most so long after"},
      {"term", "at_least", "integer", "how many; default: 1"},
      {"term", "distinct", "texts", "places or captures in which they must differ"},
      {"term", "within", "duration", "all of them within so long"},
      {"term", "order", "order", "against the first term of all"},
      {"term", "capture", "captures", "captures that they must have"},
      {"term", "kind_present", "kind", "evidence of this kind was read"},
      {"term", "kind_absent", "kind", "none of this kind was read"},
      {"refine", "near", "list of near", "lines around it in the same stream"},
      {"refine", "capture", "captures", "its own captures: a value, or ~regex"},
      {"refine", "seen", "list of seen", "another observation is there"},
      {"refine", "not_seen", "list of seen", "no such observation is there"},
      {"refine", "fact", "list of fact", "a fact that holds"},
      {"refine", "evidence", "kinds", "the line stands in one of these kinds"},
      {"seen", "capture", "captures", "captures that it must have; $name: the same as mine"},
      {"seen", "same", "place", "default: node"},
      {"seen", "within", "duration", "at most so long apart"},
      {"seen", "order", "order", "before: the other stands before this one"},
  };
  return keys;
}

namespace {

constexpr const char* k_references[][2] = {{"rule", "id of a rule"},
                                           {"tag", "tag of rules"},
                                           {"class", "class of roots"},
                                           {"cause", "cause of roots"}};

bool names_observations(std::string_view scope) {
  return scope == "explains" || scope == "explained_by" || scope == "cleared_by" ||
         scope == "term" || scope == "seen";
}

/// Keys that an overlay may set: refine entries and `set`.
bool is_overlay_key(std::string_view name) {
  for (std::string_view key :
       {"cause", "class", "title", "fault_domain", "pattern", "scope", "role", "severity",
        "confidence", "quarantine", "fatal", "stands_alone", "tags", "next_steps"})
    if (key == name) return true;
  return false;
}

Json definition(std::string_view scope) {
  Json properties = Json::object();
  const std::string_view table = scope == "explained_by" ? "explains" : scope;
  for (const KeyInfo& key : all_keys()) {
    const bool own = key.scope == table;
    const bool overlay =
        (scope == "refine" || scope == "set") && key.scope == "rule" && is_overlay_key(key.name);
    if (!own && !overlay) continue;
    Json value = shape(key.shape);
    value["description"] = key.meaning;
    properties[std::string(key.name)] = std::move(value);
  }
  if (names_observations(scope))
    for (const auto& [name, meaning] : k_references) {
      Json value = std::string(name) == "class" ? one_of(all_classes()) : Json{{"type", "string"}};
      value["description"] = meaning;
      properties[name] = std::move(value);
    }
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

}  // namespace

std::string json_schema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "triage rule pack"}};
  const Json pack = definition("pack");
  for (const auto& [key, value] : pack.items()) schema[key] = value;
  schema["required"] = {"pack"};
  Json definitions = Json::object();
  for (const char* scope :
       {"rule", "quarantine", "next_steps", "step", "samples", "catalog", "settled_by", "when",
        "near", "fact", "user_text", "patterns", "explains", "explained_by", "cleared_by", "term",
        "refine", "seen", "set"})
    definitions[scope] = definition(scope);
  definitions["rule"]["oneOf"] = {{{"required", {"id", "title", "class", "role", "samples"}},
                                   {"oneOf",
                                    {{{"required", {"match"}}},
                                     {{"required", {"sequence"}}},
                                     {{"required", {"where"}}},
                                     {{"required", {"when"}}}}}},
                                  {{"required", {"override"}}}};
  definitions["quarantine"]["required"] = {"target", "action"};
  schema["definitions"] = std::move(definitions);
  return schema.dump(2) + "\n";
}

}  // namespace triage::rules

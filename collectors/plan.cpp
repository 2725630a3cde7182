#include "collectors/plan.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "bundle/spool.hpp"
#include "collectors/built_in_plan.hpp"

namespace triage::collectors {
namespace {

constexpr std::array<std::pair<std::string_view, Tier>, 3> k_tiers{
    {{"minimal", Tier::minimal}, {"standard", Tier::standard}, {"full", Tier::full}}};
constexpr std::array<std::pair<std::string_view, Scope>, 9> k_scopes{
    {{"run", Scope::run},
     {"namespace", Scope::name_space},
     {"pod", Scope::pod},
     {"container", Scope::container},
     {"owner", Scope::owner},
     {"engine", Scope::engine},
     {"node", Scope::node},
     {"host", Scope::host},
     {"gpu-pod", Scope::gpu_pod}}};

template <std::size_t N, class Value>
std::vector<std::string> names_of(const std::array<std::pair<std::string_view, Value>, N>& table) {
  std::vector<std::string> names;
  names.reserve(N);
  for (const auto& [name, value] : table) names.emplace_back(name);
  return names;
}

/// Placeholders that have a value in a scope.
const std::set<std::string_view>& placeholders_of(Scope scope) {
  static const std::map<Scope, std::set<std::string_view>> k_known{
      {Scope::run, {"since"}},
      {Scope::name_space, {"namespace", "since"}},
      {Scope::pod, {"namespace", "pod", "node", "uid", "since"}},
      {Scope::container, {"namespace", "pod", "container", "node", "uid", "name", "since"}},
      {Scope::owner, {"namespace", "resource", "kind", "name", "since"}},
      {Scope::engine, {"namespace", "pod", "container", "port", "node", "since"}},
      {Scope::node, {"node", "since"}},
      {Scope::host, {"node", "name", "namespace", "pod", "uid", "since"}},
      {Scope::gpu_pod, {"namespace", "pod", "container", "node", "since"}}};
  return k_known.at(scope);
}

/// What must stand in the path of an item so that each of several subjects has a place of its own.
std::vector<std::string_view> subjects_of(Scope scope) {
  switch (scope) {
    case Scope::run:
      return {};
    case Scope::name_space:
      return {"namespace"};
    case Scope::pod:
    case Scope::engine:
      return {"namespace", "pod"};
    case Scope::container:
      return {"namespace", "pod", "container"};
    case Scope::owner:
      return {"namespace", "kind", "name"};
    case Scope::node:
    case Scope::host:
      return {"node"};
    case Scope::gpu_pod:
      return {"pod", "container"};
  }
  return {};
}

/// A mistake in a plan, thrown inside this file only: yaml-cpp throws its own in the same places.
struct Mistake {
  YAML::Mark mark;
  std::string message;
  std::string mend;
};

class Reader {
 public:
  Plan read(const YAML::Node& root) {
    if (!root.IsMap()) fail(root, "a plan is a mapping with `items`");
    known_keys(root, {"plan", "version", "gates", "items"});
    Plan plan;
    plan.name = text(root, "plan");
    if (const auto version = root["version"]; version && version.as<std::string>() != "1")
      fail(version, "this triage knows plans of version 1");
    if (const auto gates = root["gates"])
      for (const auto& entry : gates) {
        Gate gate = read_gate(entry.second);
        gate.name = entry.first.as<std::string>();
        plan.gates.emplace(gate.name, std::move(gate));
      }
    const auto items = root["items"];
    if (!items || !items.IsSequence()) fail(root, "a plan needs a list `items`");
    std::set<std::string> ids;
    for (const auto& node : items) {
      PlanItem item = read_item(node, plan);
      if (!ids.insert(item.id).second) fail(node, "the id `" + item.id + "` is used twice");
      plan.items.push_back(std::move(item));
    }
    for (const auto& item : plan.items)
      if (!item.after.empty() && ids.count(item.after) == 0)
        fail(items, "`" + item.id + "` waits for `" + item.after + "`, which no item is");
    std::map<std::string, std::string> owner_of_path;
    for (std::size_t i = 0; i < plan.items.size(); ++i) {
      const PlanItem& item = plan.items[i];
      if (item.path.find("{name}") != std::string::npos) continue;  // the names differ
      const auto [known, fresh] = owner_of_path.emplace(item.path, item.id);
      if (!fresh)
        fail(items[i], "`" + item.id + "` and `" + known->second + "` have the same `path`",
             "each piece of evidence needs a place of its own");
    }
    for (const auto& [name, gate] : plan.gates)
      if (const auto known = owner_of_path.find(gate.path); known != owner_of_path.end())
        fail(root["gates"],
             "the gate `" + name + "` and `" + known->second + "` have the same `path`");
    std::stable_sort(plan.items.begin(), plan.items.end(),
                     [](const PlanItem& a, const PlanItem& b) { return a.order < b.order; });
    return plan;
  }

 private:
  [[noreturn]] static void fail(const YAML::Node& at, std::string message, std::string mend = "") {
    throw Mistake{at.Mark(), std::move(message), std::move(mend)};
  }

  static void known_keys(const YAML::Node& node, const std::vector<std::string>& known) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        const auto near = base::nearest(key, known);
        fail(entry.first, "unknown key `" + key + "`",
             near.empty() ? "" : "did you mean `" + near + "`?");
      }
      if (!seen.insert(key).second) fail(entry.first, "the key `" + key + "` stands twice");
    }
  }

  static std::string text(const YAML::Node& node, const char* key) {
    const auto value = node[key];
    if (!value) return {};
    if (!value.IsScalar()) fail(value, std::string("`") + key + "` must be a text");
    return value.as<std::string>();
  }

  static std::vector<std::string> texts(const YAML::Node& node, const char* key) {
    const auto value = node[key];
    std::vector<std::string> list;
    if (!value) return list;
    if (!value.IsSequence()) fail(value, std::string("`") + key + "` must be a list");
    for (const auto& entry : value) list.push_back(entry.as<std::string>());
    return list;
  }

  static std::chrono::milliseconds duration(const YAML::Node& node, const char* key,
                                            std::chrono::milliseconds otherwise) {
    const auto value = text(node, key);
    if (value.empty()) return otherwise;
    const auto parsed = base::parse_duration_ns(value);
    if (!parsed || *parsed <= 0)
      fail(node[key], "`" + value + "` is no duration", "write 30s, 2m or 500ms");
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(*parsed));
  }

  template <std::size_t N, class Value>
  static Value choice(const YAML::Node& node, const char* key, const std::string& word,
                      const std::array<std::pair<std::string_view, Value>, N>& table) {
    for (const auto& [name, value] : table)
      if (name == word) return value;
    fail(node[key] ? node[key] : node, std::string("`") + key + ": " + word + "` is unknown",
         "one of " + base::join(names_of(table), ", "));
  }

  static Gate read_gate(const YAML::Node& node) {
    known_keys(node, {"command", "or", "deadline", "slow", "path"});
    Gate gate;
    gate.command = texts(node, "command");
    gate.otherwise = texts(node, "or");
    gate.path = text(node, "path");
    gate.deadline = duration(node, "deadline", gate.deadline);
    gate.slow = duration(node, "slow", gate.slow);
    if (gate.command.empty() || gate.path.empty()) fail(node, "a gate needs `command` and `path`");
    check_placeholders(node, gate.path, Scope::host);
    return gate;
  }

  static void check_placeholders(const YAML::Node& node, std::string_view text, Scope scope) {
    for (std::size_t at = text.find('{'); at != std::string_view::npos;
         at = text.find('{', at + 1)) {
      const auto end = text.find('}', at);
      if (end == std::string_view::npos) break;
      const auto name = text.substr(at + 1, end - at - 1);
      if (name.empty() ||
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos)
        continue;  // a brace of a shell or of JSON
      if (placeholders_of(scope).count(name) == 0)
        fail(node, "`{" + std::string(name) +
                       "}` has no value in an item `for: " + std::string(to_string(scope)) + "`");
    }
  }

  static PlanItem read_item(const YAML::Node& node, const Plan& plan) {
    if (!node.IsMap()) fail(node, "an item is a mapping");
    known_keys(node,
               {"id", "role", "for", "order", "tier", "deadline", "cap", "keep", "command", "each",
                "url", "answer", "files", "path", "gate", "after", "pause", "optional", "absent"});
    PlanItem item;
    item.id = text(node, "id");
    if (item.id.empty()) fail(node, "an item needs an `id`");
    const auto role = text(node, "role");
    const auto kind = evidence::kind_from(role);
    if (!kind || evidence::is_derived(*kind))
      fail(node, "`role: " + role + "` is no kind of evidence", "triage rules kinds lists them");
    item.role = *kind;
    item.scope = choice(node, "for", text(node, "for"), k_scopes);
    if (const auto tier = text(node, "tier"); !tier.empty())
      item.tier = choice(node, "tier", tier, k_tiers);
    if (const auto order = text(node, "order"); !order.empty()) {
      const auto number = base::parse_int(order);
      if (!number || *number < 0 || *number > 1000)
        fail(node["order"], "`order` is a number up to 1000");
      item.order = static_cast<int>(*number);
    }
    item.command = texts(node, "command");
    item.each = texts(node, "each");
    item.url = text(node, "url");
    const auto answer = text(node, "answer");
    if (!answer.empty() && (answer != "whole" || item.url.empty()))
      fail(node["answer"], "`answer: whole` is all that `answer` knows, beside a `url`");
    item.whole_answer = !answer.empty();
    item.files = texts(node, "files");
    item.path = text(node, "path");
    item.deadline = duration(node, "deadline", item.deadline);
    item.pause = node["pause"] ? duration(node, "pause", item.pause) : item.pause;
    if (const auto cap = text(node, "cap"); !cap.empty()) {
      const auto bytes = base::parse_bytes(cap);
      if (!bytes || *bytes <= 0)
        fail(node["cap"], "`" + cap + "` is no size", "write 256KiB or 8MiB");
      item.cap = static_cast<std::uint64_t>(*bytes);
    }
    if (const auto keep = text(node, "keep"); !keep.empty())
      item.keep = choice(node, "keep", keep,
                         std::array<std::pair<std::string_view, Keep>, 2>{
                             {{"head", Keep::head}, {"head+tail", Keep::head_and_tail}}});
    item.gate = text(node, "gate");
    item.after = text(node, "after");
    const auto optional = text(node, "optional");
    if (!optional.empty() && optional != "true" && optional != "false")
      fail(node["optional"], "`optional` is true or false");
    item.optional = optional == "true";
    item.absent = texts(node, "absent");
    check_item(node, item, plan);
    return item;
  }

  /// The first words of a kubectl command that are no flags.
  static std::string verb_of(const std::vector<std::string>& command) {
    for (std::size_t i = 1; i < command.size(); ++i) {
      const auto& word = command[i];
      if (word == "-n" || word == "--namespace") {
        ++i;
      } else if (word == "auth" && i + 1 < command.size()) {
        return word + " " + command[i + 1];
      } else if (word.empty() || word[0] != '-') {
        return word;
      }
    }
    return {};
  }

  static void check_item(const YAML::Node& node, const PlanItem& item, const Plan& plan) {
    const int ways =
        (item.command.empty() ? 0 : 1) + (item.url.empty() ? 0 : 1) + (item.files.empty() ? 0 : 1);
    if (ways != 1) fail(node, "an item needs one of `command`, `url` and `files`");
    if (!item.url.empty() && item.scope != Scope::engine) fail(node, "`url` is for engines");
    if (!item.files.empty() && item.scope != Scope::host) fail(node, "`files` are for hosts");
    if (item.path.empty()) fail(node, "an item needs a `path` in the bundle");
    if (!item.gate.empty() && plan.gates.count(item.gate) == 0)
      fail(node["gate"], "no gate is called `" + item.gate + "`");
    if (!item.each.empty() && item.path.find("{name}") == std::string::npos)
      fail(node, "`each` needs {name} in `path`");
    // A cluster is only ever read. `exec` is left to the program: it asks before it enters a pod.
    if (!item.command.empty() && item.command.front() == "kubectl") {
      const auto verb = verb_of(item.command);
      static const std::set<std::string> k_reading{"get",           "logs",       "describe",
                                                   "version",       "auth can-i", "top",
                                                   "api-resources", "events",     "cluster-info"};
      const bool reads = k_reading.count(verb) > 0;
      if (!reads)
        fail(node["command"], "only reading commands of kubectl are run",
             "get, logs, describe, version, auth can-i, top, api-resources, events, cluster-info");
    }
    check_placeholders(node, item.path, item.scope);
    check_placeholders(node, item.url, item.scope);
    for (const auto* words : {&item.command, &item.each, &item.files})
      for (const auto& word : *words) check_placeholders(node, word, item.scope);
    std::string sample = fill(item.path, {});
    std::replace_if(
        sample.begin(), sample.end(), [](char c) { return c == '<' || c == '>'; }, 'x');
    if (sample != bundle::safe_path(sample))
      fail(node["path"], "`" + item.path + "` is no path inside a bundle",
           "write a relative path of letters, digits and ._-+=@, without `..`");
    static const std::set<std::string_view> k_own{"manifest.json", "README.txt", "collect.log",
                                                  "redaction.json", "SHA256SUMS"};
    if (k_own.count(item.path) > 0)
      fail(node["path"], "`" + item.path + "` is what triage itself writes", "choose another");
    for (const auto name : subjects_of(item.scope))
      if (item.path.find("{" + std::string(name) + "}") == std::string::npos)
        fail(node["path"],
             "an item `for: " + std::string(to_string(item.scope)) + "` needs {" +
                 std::string(name) + "} in `path`",
             "what is gathered for several would overwrite itself");
  }
};

}  // namespace

std::optional<Tier> tier_from(std::string_view name) {
  for (const auto& [known, tier] : k_tiers)
    if (known == name) return tier;
  return std::nullopt;
}

std::string_view to_string(Tier tier) {
  return k_tiers[static_cast<std::size_t>(tier)].first;
}

std::optional<Scope> scope_from(std::string_view name) {
  for (const auto& [known, scope] : k_scopes)
    if (known == name) return scope;
  return std::nullopt;
}

std::string_view to_string(Scope scope) {
  for (const auto& [name, known] : k_scopes)
    if (known == scope) return name;
  return "run";
}

base::Result<Plan> parse_plan(std::string_view yaml, const std::string& path) {
  const auto place = [&](const YAML::Mark& mark) {
    return mark.is_null()
               ? path
               : path + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
  };
  constexpr std::size_t k_limit = 4 * 1024 * 1024;
  if (yaml.size() > k_limit) return base::Problem{"is too large for a plan", path, ""};
  try {
    return Reader().read(YAML::Load(std::string(yaml)));
  } catch (const Mistake& mistake) {
    return base::Problem{mistake.message, place(mistake.mark), mistake.mend};
  } catch (const YAML::Exception& error) {
    return base::Problem{error.msg, place(error.mark), ""};
  }
}

std::string_view built_in_plan_text() {
  return k_built_in_plan;
}

base::Result<Plan> load_plan(const std::string& path) {
  if (path.empty()) return parse_plan(built_in_plan_text(), "built-in plan");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    return base::Problem{"cannot be read", path, "name a file that `collect --list` printed"};
  return parse_plan(text.str(), path);
}

std::string fill(std::string_view text, const Values& values) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto open = text.find('{', at);
    const auto close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) break;
    const auto name = text.substr(open + 1, close - open - 1);
    const bool placeholder =
        !name.empty() &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
    out += text.substr(at, open - at);
    if (!placeholder) {
      out += '{';
      at = open + 1;
      continue;
    }
    const auto it = values.find(name);
    out += it != values.end() ? it->second : "<" + std::string(name) + ">";
    at = close + 1;
  }
  out += text.substr(std::min(at, text.size()));
  return out;
}

std::vector<std::string> fill(const std::vector<std::string>& words, const Values& values) {
  std::vector<std::string> filled;
  filled.reserve(words.size());
  for (const auto& word : words) filled.push_back(fill(word, values));
  return filled;
}

}  // namespace triage::collectors

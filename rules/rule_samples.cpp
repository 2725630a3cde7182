#include "rules/rule_reader.hpp"

namespace triage::rules {
namespace {

using Id = YamlReader::Id;

std::optional<std::string> scalar(YamlReader& reader, Id node) {
  // A sample quotes the world: a bare `on` or `010` in a fact is a mistake like anywhere else.
  return reader.text(node);
}

SampleObservation read_observation(YamlReader& reader, Id node) {
  SampleObservation observation;
  if (reader.type(node) != YamlTree::Type::map) {
    if (auto id = reader.text(node)) observation.rule = std::move(*id);
    return observation;
  }
  reader.each_pair(node, "an observation", [&](Id key, Id value) {
    auto text = scalar(reader, value);
    if (!text) return;
    const std::string& name = reader.tree().at(key).text;
    if (name == "rule")
      observation.rule = std::move(*text);
    else
      observation.place[name] = std::move(*text);
  });
  return observation;
}

Sample read_sample(YamlReader& reader, Id node, Rule::Matcher matcher) {
  Sample sample;
  sample.place = reader.place(node);
  const YamlTree::Type type = reader.type(node);
  switch (matcher) {
    case Rule::Matcher::where:
      if (type != YamlTree::Type::map) {
        reader.error(node, "bad-sample", "a sample of `where` is a fact",
                     "write {field: value, ...}");
        break;
      }
      reader.each_pair(node, "a fact", [&](Id key, Id value) {
        if (auto text = scalar(reader, value))
          sample.fields[reader.tree().at(key).text] = std::move(*text);
      });
      break;
    case Rule::Matcher::when:
      if (type != YamlTree::Type::sequence) {
        reader.error(node, "bad-sample", "a sample of `when` is a list of observations",
                     "write [rule-id, {rule: other-id, pod: a}]");
        break;
      }
      for (const Id item : reader.items(node))
        sample.observations.push_back(read_observation(reader, item));
      break;
    default:
      if (type != YamlTree::Type::scalar) {
        reader.error(node, "bad-sample", "a sample of `match` or `sequence` is text",
                     "put the line into quotes: a bare line with ': ' becomes a map");
        break;
      }
      sample.lines = reader.tree().at(node).text;
      if (sample.lines.empty())
        reader.error(node, "bad-sample", "this sample is empty", "write a line of the log");
  }
  return sample;
}

}  // namespace

void read_samples(YamlReader& reader, Id node, Rule& rule) {
  const auto into = [&](std::vector<Sample>& samples) {
    return [&](Id v) {
      samples.clear();
      for (const Id item : reader.tree().at(v).type == YamlTree::Type::sequence
                               ? reader.tree().at(v).children
                               : std::vector<Id>{})
        samples.push_back(read_sample(reader, item, rule.matcher));
      if (samples.empty())
        reader.error(v, "bad-sample", "a list of samples is expected here", "write [sample, ...]");
    };
  };
  reader.each_key(
      node, "samples",
      {{"match", into(rule.samples.edit().match)}, {"reject", into(rule.samples.edit().reject)}});
}

}  // namespace triage::rules

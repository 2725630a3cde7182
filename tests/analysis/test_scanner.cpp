#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"
#include "analysis/scanner.hpp"
#include "rules/loader.hpp"

using namespace triage;
using evidence::Kind;

namespace {

class TextStream final : public bundle::ByteStream {
 public:
  explicit TextStream(std::string_view text) : text_(text) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t size = std::min(buffer.size(), text_.size() - at_);
    std::memcpy(buffer.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }
  const std::optional<std::string>& damage() const override { return damage_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> damage_;
};

rules::Rule rule_of(const std::string& id, const std::string& pattern, rules::Role role) {
  rules::Rule rule;
  rule.id = id;
  rule.role = role;
  rule.patterns = {pattern};
  rule.evidence = {Kind::container_log};
  return rule;
}

analysis::ScanResult scan(const analysis::LineRules& rules, analysis::LineFilter& filter,
                          std::string_view text) {
  bundle::EvidenceFile file;
  file.path = "server.log";
  file.kind = Kind::container_log;
  TextStream stream(text);
  return analysis::Scanner(rules, filter).scan(file, 0, stream, nullptr);
}

using Found = std::set<std::pair<std::string, std::uint64_t>>;  // rule, offset of the line

Found found_in(const analysis::ScanResult& result) {
  Found found;
  for (const analysis::Observation& o : result.observations) found.emplace(o.rule->id, o.offset);
  return found;
}

}  // namespace

TEST_CASE("scanner: over block borders both engines give the same observations") {
  const rules::RuleSet& set = rules::built_in_rules();
  const analysis::LineRules rules(set);
  std::vector<std::string> samples;
  for (const rules::Rule& rule : set.rules)
    for (const rules::Sample& sample : rule.samples->match)
      if (!sample.lines.empty() && rule.reads(Kind::container_log)) samples.push_back(sample.lines);
  std::string text;
  for (std::size_t i = 0; text.size() < (3U << 20U); ++i) {
    text += "2025-06-03T10:00:00Z INFO: \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n";
    if (i % 40 == 0) text += samples[i / 40 % samples.size()] + "\n";
  }
  const Found wanted = found_in(scan(rules, *analysis::make_set_filter(rules), text));
  const Found got = found_in(scan(rules, *analysis::make_literal_filter(rules), text));
  CHECK(wanted == got);
  CHECK(wanted.size() > 400);
}

TEST_CASE(
    "scanner: of a flood that only informs the first 32 and the last 8 lines are kept exactly, and "
    "nothing else is lost in it") {
  rules::RuleSet set;
  set.rules.push_back(rule_of("served", "request [0-9]+ served well", rules::Role::context));
  set.rules.push_back(rule_of("fault", "device [0-9]+ is gone", rules::Role::root));
  const analysis::LineRules rules(set);
  // The flood ends in the middle of a block; quieter lines follow for some blocks.
  std::string text;
  std::vector<std::uint64_t> served;
  std::uint64_t fault = 0;
  for (int i = 0; text.size() < (9U << 20U); ++i) {
    if (text.size() < (5U << 20U) + 300'000) {
      served.push_back(text.size());
      text += "request " + std::to_string(i) + " served well, Error: none\n";
    } else {
      text += "scheduler step " + std::to_string(i) + " of many\n";
    }
    if (fault == 0 && text.size() > (3U << 20U) + 100'000) {
      fault = text.size();
      text += "device 4 is gone\n";
    }
  }
  const auto filter = analysis::make_literal_filter(rules);
  const analysis::ScanResult result = scan(rules, *filter, text);
  Found wanted{{"fault", fault}};
  for (std::size_t i = 0; i < 32; ++i) wanted.emplace("served", served[i]);
  for (std::size_t i = served.size() - 8; i < served.size(); ++i)
    wanted.emplace("served", served[i]);
  const Found got = found_in(result);
  CHECK(std::includes(got.begin(), got.end(), wanted.begin(), wanted.end()));
  CHECK(result.unmatched.empty());
  std::uint64_t count = 0;
  for (const analysis::Observation& o : result.observations)
    if (o.rule->id == "served") count += o.count;
  CHECK(static_cast<double>(count) > 0.9 * static_cast<double>(served.size()));
  CHECK(static_cast<double>(count) < 1.1 * static_cast<double>(served.size()));
}

TEST_CASE("scanner: a flood of faults is counted line by line") {
  rules::RuleSet set;
  set.rules.push_back(rule_of("fault", "device [0-9]+ is gone", rules::Role::root));
  const analysis::LineRules rules(set);
  std::string text;
  std::uint64_t lines = 0;
  for (int i = 0; text.size() < (4U << 20U); ++i, ++lines)
    text += "device " + std::to_string(i) + " is gone\n";
  const auto filter = analysis::make_literal_filter(rules);
  std::uint64_t count = 0;
  for (const analysis::Observation& o : scan(rules, *filter, text).observations) count += o.count;
  CHECK(count == lines);
}

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <set>

#include "analysis/line_filter.hpp"
#include "analysis/line_prefix.hpp"
#include "analysis/line_rules.hpp"
#include "incidents.hpp"
#include "rules/loader.hpp"

using namespace triage;
using evidence::Kind;

namespace {

using Hits = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // pattern, offset of the line

/// What a filter finds once every candidate is confirmed, as the scanner does it.
Hits confirmed(analysis::LineFilter& filter, const analysis::LineRules& rules,
               std::string_view block, Kind kind) {
  analysis::Candidates candidates;
  filter.find(block, kind, {}, candidates);
  Hits hits;
  std::uint32_t last = 0;
  for (const auto& candidate : candidates.lines) {
    CHECK(candidate.begin >= last);
    last = candidate.begin;
    const std::string_view line = block.substr(candidate.begin, candidate.end - candidate.begin);
    const std::string_view message =
        line.substr(std::min(analysis::read_prefix(line, kind).message, line.size()));
    for (const std::uint32_t id : candidates.patterns(candidate)) {
      const auto& regex = rules.patterns()[id].regex;
      if (regex.matches(line) || (regex.anchored() && regex.matches(message)))
        hits.emplace(id, candidate.begin);
    }
  }
  return hits;
}

void check_same(const analysis::LineRules& rules, std::string_view block, Kind kind,
                const std::string& what) {
  const auto oracle = analysis::make_set_filter(rules);
  const auto fast = analysis::make_literal_filter(rules);
  const Hits wanted = confirmed(*oracle, rules, block, kind);
  const Hits got = confirmed(*fast, rules, block, kind);
  CHECK_MESSAGE(wanted == got, what << ": " << wanted.size() << " by the reference, " << got.size()
                                    << " by literals");
}

rules::RuleSet with_patterns(const std::vector<std::string>& patterns) {
  rules::RuleSet set;
  for (const std::string& pattern : patterns) {
    rules::Rule rule;
    rule.id = "rule-" + std::to_string(set.rules.size());
    rule.patterns = {pattern};
    rule.evidence = {Kind::container_log};
    set.rules.push_back(rule);
  }
  return set;
}

}  // namespace

TEST_CASE("filters: literals find every line of the labelled incidents that the reference finds") {
  const analysis::LineRules rules(rules::built_in_rules());
  const auto oracle = analysis::make_set_filter(rules);
  const auto fast = analysis::make_literal_filter(rules);
  std::size_t lines = 0;
  for (const auto& incident : incidents::some_when_sanitized()) {
    const incidents::Copy copy(incident);
    for (const auto& path : copy.files()) {
      const std::string text = incidents::read_file(path);
      const Hits wanted = confirmed(*oracle, rules, text, Kind::unknown_text);
      const Hits got = confirmed(*fast, rules, text, Kind::unknown_text);
      CHECK_MESSAGE(wanted == got, path.string());
      lines += wanted.size();
    }
  }
  CHECK(lines > 100);
}

TEST_CASE(
    "filters: near misses, CRLF, NUL bytes, invalid UTF-8, empty and very long lines give the same "
    "on both engines") {
  const analysis::LineRules rules(rules::built_in_rules());
  const std::string xid =
      "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
      "bus.";
  std::string block = "\n\r\n" + xid + "\r\n";
  block += "nvrm: xid (pci:0000:3b:00): 79\nNVRM: Xi (PCI\nNVRM: Xid\n";
  block += std::string("a\0b", 3) + xid + "\n\xff\xfe\x80" + xid + "\xff\n";
  block += std::string(3U << 20U, 'x') + xid + std::string(1U << 20U, 'y') + "\n";
  block +=
      "CUDA error: an illegal memory access was encountere\nCUDA error: an illegal memory access "
      "was encountered";
  check_same(rules, block, Kind::unknown_text, "edges");
}

TEST_CASE("filters: a rule whose literal has four or five bytes is never missed at any offset") {
  const auto set =
      with_patterns({"zq17", "\\bwx9k5\\b", "(?i)LongerLiteral [0-9]+", "^anchored text"});
  const analysis::LineRules rules(set);
  const auto fast = analysis::make_literal_filter(rules);
  for (std::size_t offset = 0; offset < 40; ++offset) {
    for (const std::string literal : {"zq17", " wx9k5 ", "longerliteral 42"}) {
      const std::string line = std::string(offset, '.') + literal + std::string(7, '.');
      CHECK_MESSAGE(confirmed(*fast, rules, line + "\n", Kind::container_log).size() == 1,
                    literal << " at " << offset);
    }
  }
  check_same(rules, "2025-01-01T00:00:00Z anchored text\nnot anchored text\nanchored text\n",
             Kind::container_log, "anchors");
}

TEST_CASE("filters: random text made of pieces of patterns gives the same on both engines") {
  const auto set = with_patterns({"alpha beta", "beta gamma (one|two)", "(?:left|right) turn",
                                  "err=[0-9]{3} code", "abc.*xyz123"});
  const analysis::LineRules rules(set);
  const std::vector<std::string> pieces{"alpha ", "beta",  " gamma ", "one", "two",   "left",
                                        "right",  " turn", "err=",    "404", " code", "abc",
                                        "xyz123", "\n",    "\r\n",    " ",   "q"};
  std::mt19937 random(20250814);
  for (int round = 0; round < 200; ++round) {
    std::string block;
    for (int i = 0; i < 200; ++i) block += pieces[random() % pieces.size()];
    check_same(rules, block, Kind::container_log, "round " + std::to_string(round));
  }
}

#if defined(__SANITIZE_ADDRESS__)
constexpr int k_mixed_lines = 300;  // the reference engine takes minutes there
#else
constexpr int k_mixed_lines = 4000;
#endif

TEST_CASE("filters: lines of ordinary logs, near misses and storms give the same on both engines") {
  const rules::RuleSet& set = rules::built_in_rules();
  const analysis::LineRules rules(set);
  std::vector<std::string> literals;
  std::vector<std::string> samples;
  for (std::uint32_t p = 0; p < rules.patterns().size(); ++p)
    for (const std::string& literal : rules.literals(p)) literals.push_back(literal);
  for (const rules::Rule& rule : set.rules)
    for (const rules::Sample& sample : rule.samples->match)
      if (!sample.lines.empty()) samples.push_back(sample.lines);
  const std::vector<std::string> ordinary{
      "INFO:     10.0.3.17:51234 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK",
      "INFO:     10.0.3.17:51234 - \"GET /health HTTP/1.1\" 503 Service Unavailable",
      "[2025-06-03 10:00:00 TP0] Decode batch, #running-req: 3, #token: 12, token usage: 0.05",
      "[  412.118273] usb 1-1: new high-speed USB device number 4 using xhci_hcd", ""};
  std::mt19937 random(7);
  for (const char* end : {"\n", "\r\n"}) {
    std::string block;
    for (int i = 0; i < k_mixed_lines; ++i) {
      const auto kind = random() % 10;
      const std::string number = std::to_string(random() % 100'000);
      if (kind < 4) block += ordinary[random() % ordinary.size()];
      if (kind >= 4 && kind < 7) block += "so " + literals[random() % literals.size()] + number;
      if (kind >= 7) block += "2025-06-03T10:00:00Z " + samples[random() % samples.size()];
      if (kind == 9) block.insert(block.end() - 1, static_cast<char>(random() % 256));
      block += end;
    }
    for (const Kind kind : {Kind::container_log, Kind::kernel_log, Kind::unknown_text})
      check_same(rules, block, kind, "mixed text");
  }
}

TEST_CASE("filters: a line of 50 MiB gives the same on both engines") {
  const analysis::LineRules rules(with_patterns(
      {"NVRM: Xid \\(", "illegal memory access was encountered", "zq17", "(?i)out of MEMORY$"}));
  std::string block = "NVRM: Xid (PCI:0000:3b:00): 79\n";
  block.append(25U << 20U, 'x');
  block += " an illegal memory access was encountered zq1 ";
  block.append(25U << 20U, '\0');
  block += "Out of Memory\nzq17";
  check_same(rules, block, Kind::container_log, "50 MiB");
  const auto fast = analysis::make_literal_filter(rules);
  CHECK(confirmed(*fast, rules, block, Kind::container_log).size() == 4);
}

TEST_CASE("filters: muted patterns are not named, all others as before") {
  const auto set = with_patterns({"alpha served", "alpha lost", "beta"});
  const analysis::LineRules rules(set);
  const std::string block = "alpha served\nbeta\nalpha lost, alpha served\nalpha served\n";
  for (const bool reference : {true, false}) {
    const auto filter =
        reference ? analysis::make_set_filter(rules) : analysis::make_literal_filter(rules);
    analysis::Muted muted;
    muted.set(0, true);
    analysis::Candidates found;
    filter->find(block, Kind::container_log, {&muted, nullptr}, found);
    REQUIRE(found.lines.size() == 2);
    CHECK(found.patterns(found.lines[0])[0] == 2);
    CHECK(found.patterns(found.lines[1]).size() == 1);
    muted.set(0, false);
    found.clear();
    filter->find(block, Kind::container_log, {&muted, nullptr}, found);
    CHECK(found.lines.size() == 4);
  }
}

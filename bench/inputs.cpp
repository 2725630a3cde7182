// Makes the inputs of script/bench from a fixed seed:
//   triage_bench_inputs log KIND BYTES SEED FILE   KIND: engine kernel gateway near-miss storm long
//   triage_bench_inputs patterns KIND FILE         the patterns that read evidence of that kind
//   triage_bench_inputs rules COUNT FILE           a pack of so many made-up rules

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/line_filter.hpp"
#include "analysis/line_rules.hpp"
#include "base/text.hpp"
#include "bench/log_lines.hpp"
#include "evidence/kind.hpp"
#include "rules/loader.hpp"

namespace {

using namespace triage;
using analysis::LineRules;
using evidence::Kind;

constexpr std::size_t k_flush = 4U << 20U;
constexpr std::size_t k_long_line = 50U << 20U;

class Output {
 public:
  explicit Output(const char* path) : file_(std::fopen(path, "wb")) {
    if (file_ == nullptr) std::perror(path), std::exit(1);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    flush();
    std::fclose(file_);
  }
  std::string& text() { return text_; }
  [[nodiscard]] std::uint64_t size() const { return flushed_ + text_.size(); }
  void flush_when_full() {
    if (text_.size() >= k_flush) flush();
  }

 private:
  void flush() {
    flushed_ += text_.size();
    if (std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size())
      std::perror("write"), std::exit(1);
    text_.clear();
  }
  std::FILE* file_;
  std::string text_;
  std::uint64_t flushed_ = 0;
};

bool rule_matches(analysis::LineFilter& reference, const LineRules& rules, const std::string& line,
                  Kind kind) {
  analysis::Candidates found;
  reference.find(line, kind, {}, found);
  return std::any_of(found.pool.begin(), found.pool.end(), [&](std::uint32_t pattern) {
    return rules.patterns()[pattern].use == LineRules::Use::rule;
  });
}

/// Lines that hold a literal of some rule, and match none.
std::vector<std::string> near_misses(bench::LineWriter& writer, Kind kind) {
  const LineRules rules(rules::built_in_rules());
  const auto reference = analysis::make_set_filter(rules);
  std::vector<std::string> literals;
  for (std::uint32_t p = 0; p < rules.patterns().size(); ++p)
    if (rules.patterns()[p].use == LineRules::Use::rule && rules.applies(p, kind))
      for (const std::string& literal : rules.literals(p)) literals.push_back(literal);
  constexpr std::size_t k_wanted = 2000;
  std::vector<std::string> lines;
  for (std::size_t tries = 0; lines.size() < k_wanted && tries < 20 * k_wanted; ++tries) {
    std::string line;
    writer.words(line, 20 + writer.random().below(40));
    line += literals[writer.random().below(literals.size())] + ' ';
    writer.words(line, 20 + writer.random().below(60));
    if (!rule_matches(*reference, rules, line, kind)) lines.push_back(line + '\n');
  }
  return lines;
}

/// What a few rules give as lines they match: a storm repeats the same few messages.
std::vector<std::string> storm_lines(bench::LineWriter& writer, Kind kind) {
  const rules::RuleSet& set = rules::built_in_rules();
  const LineRules rules(set);
  const auto reference = analysis::make_set_filter(rules);
  std::vector<std::string> all;
  for (const rules::Rule& rule : set.rules)
    if (rule.matcher == rules::Rule::Matcher::match && rule.reads(kind) &&
        rule.role != rules::Role::context)
      for (const rules::Sample& sample : rule.samples->match)
        if (!sample.lines.empty() && sample.lines.find('\n') == std::string::npos &&
            rule_matches(*reference, rules, sample.lines, kind))
          all.push_back(sample.lines);
  constexpr std::size_t k_messages = 12;
  std::vector<std::string> chosen;
  while (chosen.size() < k_messages) chosen.push_back(all[writer.random().below(all.size())]);
  return chosen;
}

void write_log(std::string_view kind, std::uint64_t bytes, std::uint64_t seed, const char* path) {
  bench::LineWriter writer(seed);
  bench::Random& random = writer.random();
  Output output(path);
  std::vector<std::string> pool;
  if (kind == "near-miss") pool = near_misses(writer, Kind::container_log);
  if (kind == "storm") pool = storm_lines(writer, Kind::container_log);
  std::uint64_t line = 0;
  bool failed = false;
  while (output.size() < bytes) {
    std::string& out = output.text();
    ++line;
    if (kind == "engine") {
      writer.engine(out);
      // One fault, late: there is a verdict to give.
      if (!failed && output.size() > bytes / 10 * 9) {
        failed = true;
        out +=
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 594.00 MiB. GPU 1 has a "
            "total capacity of 79.11 GiB of which 310.00 MiB is free.\n";
      }
    } else if (kind == "kernel") {
      writer.kernel(out);
    } else if (kind == "gateway") {
      writer.gateway(out);
    } else if (kind == "near-miss") {
      if (line % 2 == 0)
        writer.engine(out);
      else
        out += pool[random.below(pool.size())];
    } else if (kind == "storm") {
      if (random.below(100) >= 92)
        writer.engine(out);
      else
        fmt::format_to(std::back_inserter(out), "2025-06-03T10:{:02}:{:02}.{:06}Z {} #{}\n",
                       line / 60'000 % 60, line / 1000 % 60, line % 1'000'000,
                       pool[random.below(pool.size())], random.below(100'000));
    } else {
      for (std::size_t written = 0; written < std::min<std::uint64_t>(k_long_line, bytes);) {
        const std::size_t before = output.text().size();
        writer.words(output.text(), 1U << 20U);
        written += output.text().size() - before;
        output.flush_when_full();
      }
      output.text() += '\n';
    }
    output.flush_when_full();
  }
}

/// ripgrep joins the patterns to one, in which a name may stand once only.
std::string without_names(std::string pattern) {
  for (std::size_t at = 0; (at = pattern.find("(?P<", at)) != std::string::npos;)
    pattern.replace(at, pattern.find('>', at) + 1 - at, "(?:");
  return pattern;
}

void write_patterns(Kind kind, const char* path) {
  Output output(path);
  std::set<std::string> seen;
  for (const rules::Rule& rule : rules::built_in_rules().rules) {
    const bool sequence = rule.matcher == rules::Rule::Matcher::sequence;
    if (!sequence && rule.matcher != rules::Rule::Matcher::match) continue;
    bool applies = false;
    for (const Kind wanted : rule.evidence) applies = applies || analysis::kind_reads(wanted, kind);
    if (!applies) continue;
    for (std::size_t i = 0; i < (sequence ? 1 : rule.patterns.size()); ++i)
      if (std::string pattern = without_names(rule.patterns[i]); seen.insert(pattern).second)
        output.text() += pattern + '\n';
  }
}

/// Made of words that stand for nothing, as a site's own rules would be made of its own.
void write_rules(std::size_t count, const char* path) {
  constexpr std::array<std::string_view, 12> k_syllables{"bra", "kel", "mor", "tis", "vun", "dax",
                                                         "pol", "gri", "sef", "wom", "jat", "lue"};
  Output output(path);
  bench::Random random(7);
  const auto word = [&] {
    std::string text;
    for (int i = 0; i < 3; ++i) text += k_syllables.at(random.below(k_syllables.size()));
    return text;
  };
  output.text() += "pack: bench\nrules:\n";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string first = word();
    const std::string second = word();
    fmt::format_to(std::back_inserter(output.text()),
                   "  - id: bench-{0}\n    title: \"Made-up fault {0}\"\n    class: runtime\n"
                   "    role: symptom\n"
                   "    match: ['{1} (?:stage|step) (?P<stage>\\d+) {2} failed']\n"
                   "    samples:\n      match: ['{1} stage 4 {2} failed']\n"
                   "      reject: ['{1} stage 4 {2} done']\n",
                   i, first, second);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> args(argv + 1, argv + argc);
  if (args.size() == 5 && args[0] == "log") {
    write_log(args[1], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10),
              argv[5]);
  } else if (args.size() == 3 && args[0] == "patterns") {
    const auto kind = evidence::kind_from(args[1]);
    if (!kind) return std::fputs("unknown kind\n", stderr), 2;
    write_patterns(*kind, argv[3]);
  } else if (args.size() == 3 && args[0] == "rules") {
    write_rules(std::strtoull(argv[2], nullptr, 10), argv[3]);
  } else {
    return std::fputs("usage: see bench/inputs.cpp\n", stderr), 2;
  }
  return 0;
}

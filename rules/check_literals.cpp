#include <re2/filtered_re2.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "rules/check.hpp"
#include "rules/patterns.hpp"
#include "rules/yaml_reader.hpp"

namespace triage::rules {
namespace {

/// Words that stand in so many lines of ordinary logs that looking for them finds nothing out.
constexpr std::array<std::string_view, 46> k_common{
    "error",     "errors",    "warning",   "failed",  "failure", "info",    "debug",    "timeout",
    "memory",    "cuda",      "kernel",    "device",  "process", "worker",  "request",  "engine",
    "model",     "server",    "client",    "http",    "https",   "python",  "torch",    "nvidia",
    "thread",    "rank",      "status",    "message", "start",   "started", "starting", "stopped",
    "running",   "exception", "traceback", "file",    "line",    "version", "loading",  "loaded",
    "container", "node",      "vllm",      "pod",     "gpu",     "time"};

bool is_common(std::string_view atom) {
  while (!atom.empty() &&
         std::string_view(" :=[](),.'\"-").find(atom.front()) != std::string_view::npos)
    atom.remove_prefix(1);
  while (!atom.empty() &&
         std::string_view(" :=[](),.'\"-").find(atom.back()) != std::string_view::npos)
    atom.remove_suffix(1);
  return std::find(k_common.begin(), k_common.end(), atom) != k_common.end();
}

class LiteralChecker {
 public:
  LiteralChecker(const Pack& pack, std::vector<Diagnostic>& out)
      : tree_(pack.tree), reader_(pack.tree, pack.text, pack.file, out) {}

  void check(YamlTree::Id node, bool sequence) {
    const YamlTree::Id list = tree_.find(node, sequence ? "sequence" : "match");
    if (list == YamlTree::k_none) return;
    const auto items = reader_.items(list);
    // A sequence is looked for by its first line.
    for (std::size_t i = 0; i < items.size() && (!sequence || i == 0); ++i) pattern(items[i]);
  }

 private:
  void pattern(YamlTree::Id item) {
    switch (judge_literals(tree_.at(item).text, is_common)) {
      case LiteralStrength::none:
        reader_.error(item, "no-literal",
                      "a line can match this pattern without any fixed text of 4 bytes",
                      "write a fixed word of the message into every alternative: the scanner looks "
                      "for it");
        break;
      case LiteralStrength::weak:
        reader_.warning(item, "weak-literal",
                        "the fixed text of this pattern is shorter than 6 bytes: it slows the scan",
                        "write more of the message's fixed words into the pattern");
        break;
      case LiteralStrength::common:
        reader_.warning(item, "common-literal",
                        "the fixed text of this pattern stands in many ordinary lines",
                        "write a rarer word of the message into the pattern");
        break;
      case LiteralStrength::good:
        break;
    }
  }

  const YamlTree& tree_;
  YamlReader reader_;
};

}  // namespace

std::vector<Diagnostic> check_literals(const Pack& pack) {
  std::vector<Diagnostic> out;
  LiteralChecker checker(pack, out);
  for (std::size_t i = 0; i < pack.rules.size(); ++i) {
    const Rule& rule = pack.rules[i];
    const bool logs = std::any_of(rule.evidence.begin(), rule.evidence.end(), evidence::is_log);
    if (logs && (rule.matcher == Rule::Matcher::match || rule.matcher == Rule::Matcher::sequence))
      checker.check(pack.rule_nodes[i], rule.matcher == Rule::Matcher::sequence);
  }
  for (const Override& override : pack.overrides) {
    checker.check(override.node, false);
    checker.check(override.node, true);
  }
  return out;
}

}  // namespace triage::rules

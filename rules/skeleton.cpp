#include "rules/skeleton.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <set>

#include "base/text.hpp"
#include "rules/patterns.hpp"
#include "rules/rule.hpp"
#include "rules/yaml_writer.hpp"

namespace triage::rules {
namespace {

/// Something that changes from line to line. `find` is anchored where it is tried; group 1 is what
/// stays as written before it, group 2 the part that `put` replaces.
struct Variable {
  const char* find;
  const char* put;
  const char* name;  ///< capture; empty: not worth a name
};

constexpr std::array<Variable, 15> k_variables{{
    {R"(()((?:GPU|MIG)-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}))",
     R"((?:GPU|MIG)-[0-9a-f-]+)", "gpu_uuid"},
    {R"(()((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)\b)",
     R"([0-9a-fA-F:.]+)", "pci"},
    {R"(((?i:\bpid)[ =:]{1,2})(\d+))", R"(\d+)", "pid"},
    {R"(((?i:\brank)[ =:]{1,2})(\d+))", R"(\d+)", "rank"},
    {R"(((?i:\bgpu|\bdevice|cuda:)[ =:#]{0,2})(\d+)\b)", R"(\d+)", "gpu_index"},
    {R"(((?i:\blink)[ =:]{1,2})(\d+))", R"(\d+)", "link"},
    {R"(()(\d+(?:\.\d+)? ?[KMGT]i?B)\b)", R"([\d.]+ ?[KMGT]i?B)", "bytes"},
    {R"(()(\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?))", R"([\d.:]+)", "host"},
    {R"(()(0x[0-9a-fA-F]+))", R"(0x[0-9a-fA-F]+)", ""},
    {R"(()([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}))",
     R"([0-9a-fA-F-]+)", ""},
    {R"(()(https?://[^\s'"]+))", R"(https?://\S+)", ""},
    {R"(()((?:/[\w.@+-]+){2,}))", R"(/[^\s'":]+)", "path"},
    {R"(()('[^']*'))", R"('[^']*')", ""},
    {R"(()(\d+(?:\.\d+)+))", R"([\d.]+)", ""},
    {R"(()(\d+))", R"(\d+)", ""},
}};

struct CompiledVariable {
  std::unique_ptr<re2::RE2> find;
  const Variable* variable;
};

std::vector<CompiledVariable> compile_variables() {
  std::vector<CompiledVariable> all;
  all.reserve(std::size(k_variables));
  for (const Variable& v : k_variables)
    all.push_back({compile_pattern(std::string("^") + v.find), &v});
  return all;
}

std::string escaped(char c) {
  static constexpr std::string_view special = "\\^$.|?*+()[]{}";
  std::string out;
  if (special.find(c) != std::string_view::npos) out.push_back('\\');
  out.push_back(c);
  return out;
}

/// A pattern of everything is brittle: the first words say what the line is.
constexpr std::size_t k_enough = 140;

bool word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Proposal {
 public:
  explicit Proposal(const std::string& message) : message_(message) {}

  std::string make() {
    const auto variables = compile_variables();
    while (at_ < message_.size() && out_.size() < k_enough) {
      if (!take_variable(variables)) take_text();
    }
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    return out_;
  }

 private:
  bool take_variable(const std::vector<CompiledVariable>& variables) {
    // In the middle of a word (`bf16`, `H100`) a digit is part of the name.
    if (at_ > 0 && word_character(message_[at_ - 1]) && word_character(message_[at_])) return false;
    if (in_version()) return false;
    const re2::StringPiece rest(message_.data() + at_, message_.size() - at_);
    for (const CompiledVariable& v : variables) {
      re2::StringPiece found[3];
      if (!v.find->Match(rest, 0, rest.size(), re2::RE2::ANCHOR_START, found, 3)) continue;
      const std::size_t length = found[0].size();
      const std::size_t end = at_ + length;
      if (end < message_.size() && word_character(message_[end]) &&
          word_character(message_[end - 1]))
        continue;
      for (const char c : found[1]) out_ += escaped(c);
      put(*v.variable);
      at_ = end;
      return true;
    }
    return false;
  }

  /// Whether a version such as `v1.2.3` goes on here: a rule for one version says so in full, and
  /// the person who wants any takes it out.
  [[nodiscard]] bool in_version() const {
    std::size_t begin = at_;
    while (begin > 0 && (std::isdigit(static_cast<unsigned char>(message_[begin - 1])) != 0 ||
                         message_[begin - 1] == '.'))
      --begin;
    return begin > 0 && begin < at_ && (message_[begin - 1] == 'v' || message_[begin - 1] == 'V') &&
           (begin == 1 || !word_character(message_[begin - 2]));
  }

  void put(const Variable& v) {
    if (*v.name != '\0' && used_.insert(v.name).second)
      out_ += std::string("(?P<") + v.name + ">" + v.put + ")";
    else
      out_ += v.put;
  }

  void take_text() {
    const char c = message_[at_++];
    if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20)
      out_ += '.';
    else
      out_ += escaped(c);
  }

  const std::string& message_;
  std::string out_;
  std::size_t at_ = 0;
  std::set<std::string> used_;
};

std::string proposed_id(const std::string& message) {
  static const std::set<std::string> k_empty{"the", "a",  "an",   "of",   "to",   "in",  "on",
                                             "at",  "is", "was",  "for",  "and",  "or",  "with",
                                             "by",  "it", "from", "this", "that", "has", "be"};
  std::vector<std::string> words;
  std::string word;
  for (const char c : message + " ") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      continue;
    }
    if (word.size() > 1 && word.size() < 24 && k_empty.count(word) == 0 && words.size() < 4)
      words.push_back(word);
    word.clear();
  }
  return words.empty() ? "my-rule" : base::join(words, "-");
}

std::string proposed_title(const std::string& message) {
  std::string title = base::shorten(base::trim(message), 70);
  return base::replace_all(base::replace_all(std::move(title), "{", "("), "}", ")");
}

struct Guess {
  const char* word;
  const char* class_;
  const char* domain;
  const char* target;
  const char* action;
};

/// A first guess from words of the line; the comment beside it lists the choices.
constexpr std::array<Guess, 14> k_guesses{{
    {"cuda out of memory", "gpu-oom", "process", "worker", "replace-worker"},
    {"out of memory", "host-oom", "pod", "worker", "replace-worker"},
    {"oom", "host-oom", "pod", "worker", "replace-worker"},
    {"nvrm", "hardware", "gpu", "gpu", "drain-and-reset"},
    {"amdgpu", "hardware", "gpu", "gpu", "drain-and-reset"},
    {"pcie", "hardware", "node", "node", "cordon-node"},
    {"nvlink", "hardware", "gpu", "gpu", "drain-and-reset"},
    {"cuda", "cuda-fault", "process", "worker", "replace-worker"},
    {"nccl", "distributed", "group", "group", "rebuild-group"},
    {"rank", "distributed", "group", "group", "rebuild-group"},
    {"probe", "health-probe", "config", "none", "none"},
    {"upstream", "request-path", "network", "none", "none"},
    {"weights", "loading", "storage", "none", "none"},
    {"schedul", "scheduling", "cluster", "none", "none"},
}};

Guess guess(const std::string& message) {
  for (const Guess& g : k_guesses)
    if (base::icontains(message, g.word)) return g;
  return {"", "runtime", "process", "worker", "replace-worker"};
}

void add_rule(std::string& out, const std::string& message, const std::string& id) {
  const Guess g = guess(message);
  const std::string quarantine =
      std::string(g.target) == "none"
          ? std::string("none")
          : std::string("{target: ") + g.target + ", action: " + g.action + "}";
  out += "  - id: " + id + "\n";
  out += "    # cause: several rules may share one; without it the id is the cause.\n";
  out +=
      "    title: " + yaml_quoted(proposed_title(message)) + "  # {name} is filled from captures\n";
  out += std::string("    class: ") + g.class_ + "  # " + base::join(all_classes(), " ") + "\n";
  out += "    role: root  # root may be a verdict; symptom follows from another; context informs\n";
  out += "    severity: error  # info warning error critical\n";
  out += std::string("    fault_domain: ") + g.domain + "  # " +
         base::join(all_fault_domains(), " ") + "\n";
  out +=
      "    evidence: [container-log, unknown-text]  # triage rules kinds lists them; leave out "
      "for every log\n";
  out += "    match:  # RE2, any of; sees the line without its stamp prefix\n";
  out += "      - " + yaml_quoted(propose_pattern(message)) + "\n";
  out += "    # unless: ['...']  # patterns that the same line must not have\n";
  out += "    # refine:  # the first entry that holds overlays the keys it names\n";
  out += "    #   - {near: {after: ['retry succeeded'], lines: 10}, role: context}\n";
  out += "    # explains: [{class: distributed, same: group}]  # what follows from it\n";
  out += "    quarantine: " + quarantine +
         "  # target: " + base::join(all_quarantine_targets(), " ") + "\n";
  out += "    # action: " + base::join(all_quarantine_actions(), " ") + "\n";
  out += "    next_steps:\n";
  out += "      contain: [\"TODO: what to do now\"]\n";
  out +=
      "      diagnose: [{text: \"TODO: how to see it\", command: \"kubectl logs {pod} "
      "--previous\"}]\n";
  out += "      recover: [\"TODO: how to mend it\"]\n";
  out +=
      "      verify: [\"Run a real completion on the replaced worker before traffic returns\"]\n";
  out += "      avoid: [\"TODO: what not to do, and why\"]\n";
  out += "    samples:\n";
  out += "      match:\n";
  out += "        - " + yaml_quoted(message) + "\n";
  out += "      reject:\n";
  out += "        - 'TODO: a line that looks alike and is harmless'\n";
}

}  // namespace

std::string propose_pattern(const std::string& message) {
  return Proposal(message).make();
}

std::string skeleton(const std::vector<std::string>& messages, const SkeletonOptions& options) {
  std::string out =
      "# yaml-language-server: $schema=triage-rules.schema.json\n"
      "# Check with: triage rules lint FILE; triage rules test FILE. The language: man "
      "triage-rules.\n"
      "pack: " +
      yaml_scalar(options.pack) + "\nrules:\n";
  std::set<std::string> ids;
  for (const std::string& message : messages) {
    std::string id = options.id.empty() ? proposed_id(message) : options.id;
    for (int n = 2; !ids.insert(id).second; ++n)
      id = (options.id.empty() ? proposed_id(message) : options.id) + "-" + std::to_string(n);
    add_rule(out, message, id);
  }
  return out;
}

}  // namespace triage::rules

#include <string>

#include "analysis/formats/gpu_fact.hpp"
#include "analysis/formats/located_tree.hpp"
#include "base/text.hpp"

// `dcgmi diag -j` (versions 2 to 4) and `dcgmi health -j`: one fact for each result of a test and
// GPU.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

std::string status_word(std::string_view status) {
  std::string word = base::to_lower(base::trim(status));
  if (word == "warning") return "warn";
  if (word == "failed" || word == "failure") return "fail";
  if (word == "passed" || word == "healthy") return "pass";
  return word == "skipped" || word == "not run" ? "skip" : word;
}

class DiagReader {
 public:
  DiagReader(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  void read(const LocatedNode& document) {
    const LocatedNode* diagnostic = &document;
    for (const std::string_view name : {"DCGM Diagnostic", "DCGM GPU Diagnostic"})
      if (const LocatedNode& inner = document.at(name)) diagnostic = &inner;
    read_runtime_error(document);
    if (diagnostic != &document) read_runtime_error(*diagnostic);
    for (const LocatedNode& category : diagnostic->at("test_categories").items)
      for (const LocatedNode& test : category.at("tests").items)
        read_test(category.at("category"), test);
    for (const LocatedNode& test : diagnostic->at("tests").items)
      read_test(diagnostic->at("category"), test);
    read_health(document);
  }

 private:
  Fact make(std::uint32_t line) const {
    Fact fact;
    fact.kind = context_.kind;
    fact.place = context_.place;
    fact.line = line == 0 ? 1 : line;
    return fact;
  }

  static void set(Fact& fact, std::string_view field, const LocatedNode& node) {
    if (node.is_scalar() && !node.text.empty()) fact.set(std::string(field), node.text, node.line);
  }

  void read_runtime_error(const LocatedNode& node) {
    const LocatedNode& error = node.at("runtime_error");
    if (!error.is_scalar() || error.text.empty()) return;
    Fact fact = make(error.line);
    fact.text = error.text;
    fact.set("runtime_error", error.text, error.line);
    sink_(std::move(fact));
  }

  void read_test(const LocatedNode& category, const LocatedNode& test) {
    read_runtime_error(test);
    const LocatedNode& summary = test.at("test_summary");
    const bool any = !test.at("results").items.empty();
    for (const LocatedNode& result : test.at("results").items)
      read_result(category, test.at("name"), result);
    if (!any && summary) read_result(category, test.at("name"), summary);
  }

  void read_result(const LocatedNode& category, const LocatedNode& name,
                   const LocatedNode& result) {
    const auto& warnings = result.at("warnings").items;
    if (warnings.empty()) {
      emit(category, name, result, result.at("warnings"));
      return;
    }
    for (const LocatedNode& warning : warnings) emit(category, name, result, warning);
  }

  /// `warning` is an object, in version 2 a string.
  void emit(const LocatedNode& category, const LocatedNode& name, const LocatedNode& result,
            const LocatedNode& warning) {
    Fact fact = make(result.line);
    set(fact, "category", category);
    set(fact, "test", name);
    const LocatedNode& status = result.at("status");
    if (status.is_scalar()) fact.set("status", status_word(status.text), status.line);
    const LocatedNode& gpu = result.at("gpu_id") ? result.at("gpu_id") : result.at("gpu_ids");
    const LocatedNode& entity = result.at("entity_id");
    set(fact, "gpu", gpu ? gpu : entity);
    if (base::parse_int(fact.get("gpu"))) fact.place.gpu_index = fact.get("gpu");
    const LocatedNode& words = warning.is_scalar() ? warning : warning.at("warning");
    set(fact, "warning", words);
    set(fact, "error_id", warning.at("error_id"));
    set(fact, "error_category", warning.at("error_category"));
    set(fact, "error_severity", warning.at("error_severity"));
    if (words.is_scalar()) {
      fact.text = words.text;
      fact.line = words.line;
    }
    sink_(std::move(fact));
  }

  /// `dcgmi health -j`: nested `{"children": ..., "value": "Failure"}` by GPU and system.
  void read_health(const LocatedNode& document) {
    const LocatedNode& body = document.at("body");
    for (const auto& [group, node] : body.members) {
      if (group == "Overall Health" || group == "Health Monitor Report") {
        Fact fact = make(node.line);
        fact.set("test", group, node.line);
        const LocatedNode& value = node.at("value");
        if (value.is_scalar()) fact.set("status", status_word(value.text), value.line);
        sink_(std::move(fact));
      }
      for (const auto& [gpu, systems] : node.at("children").members)
        for (const auto& [system, verdict] : systems.at("children").members)
          if (system == "Errors" && !verdict.at("children").members.empty())
            read_health_errors(gpu, verdict.at("children"));
          else
            read_health_system(gpu, system, verdict);
    }
  }

  /// What a system of `GPU 3` is said to be.
  Fact health_of(const std::string& gpu, const std::string& system, std::uint32_t line) {
    Fact fact = make(line);
    fact.set("category", "health", fact.line);
    fact.set("test", system, fact.line);
    const auto words = base::split_blanks(gpu);
    if (!words.empty() && base::parse_int(words.back())) {
      fact.set("gpu", std::string(words.back()), fact.line);
      fact.place.gpu_index = words.back();
    }
    return fact;
  }

  /// DCGM 3 hangs the systems under `Errors`: a verdict for each, the words in it or one below.
  void read_health_errors(const std::string& gpu, const LocatedNode& systems) {
    for (const auto& [system, node] : systems.members) {
      Fact fact = health_of(gpu, system, node.line);
      const LocatedNode& value = node.at("value");
      if (value.is_scalar()) {
        const auto first = base::split_blanks(value.text);
        if (!first.empty()) fact.set("status", status_word(first.front()), value.line);
      }
      const LocatedNode* said = &value;
      for (const auto& [name, below] : node.at("children").members)
        if (below.at("value").is_scalar()) said = &below.at("value");
      if (said->is_scalar() && !said->text.empty()) {
        fact.set("warning", said->text, said->line);
        fact.text = said->text;
        fact.line = said->line;
      }
      sink_(std::move(fact));
    }
  }

  void read_health_system(const std::string& gpu, const std::string& system,
                          const LocatedNode& verdict) {
    Fact fact = health_of(gpu, system, verdict.line);
    const LocatedNode& status = verdict.at("children", "Health", "value");
    const LocatedNode& own = verdict.at("value");
    if (own.is_scalar()) fact.set("status", status_word(own.text), own.line);
    if (status.is_scalar()) fact.set("status", status_word(status.text), status.line);
    const LocatedNode& errors = verdict.at("children", "Errors", "value");
    if (errors.is_scalar()) {
      fact.set("warning", errors.text, errors.line);
      fact.text = errors.text;
    }
    sink_(std::move(fact));
  }

  const ParseContext& context_;
  const evidence::FactSink& sink_;
};

}  // namespace

void parse_dcgm_json(std::string_view text, const ParseContext& context,
                     const evidence::FactSink& sink) {
  DiagReader reader(context, sink);
  read_located_json(text, [&reader](const LocatedNode& document) {
    reader.read(document);
    return true;
  });
}

}  // namespace triage::analysis::formats

#include "rules/explain.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analysis/fill.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/pasted_line.hpp"
#include "cli/rule_options.hpp"
#include "evidence/place.hpp"
#include "report/text_page.hpp"

namespace triage::cli {
namespace {

using rules::Explanation;

struct Options {
  std::vector<std::string> words;
  std::string format = "text";
  RuleOptions rules;
};

/// What `{name}` stands for: captures, with device addresses in the one form we print.
std::map<std::string, std::string> values_of(const Explanation& e) {
  std::map<std::string, std::string> values = e.captures;
  if (const auto pci = values.find("pci"); pci != values.end())
    if (const std::string normal = evidence::normalise_pci(pci->second); !normal.empty())
      pci->second = normal;
  return values;
}

void fill_texts(Explanation& e) {
  const auto values = values_of(e);
  e.title = analysis::fill(e.title, values);
  // Without captures a command keeps its {names}: they tell what to put in.
  if (e.captures.empty()) return;
  for (rules::Step& step : e.steps) {
    step.text = analysis::fill(step.text, values);
    // What is not known stays as {name} in a command: dropping it would make another command.
    for (const auto& [name, value] : values)
      step.command = base::replace_all(step.command, "{" + name + "}", value);
  }
}

std::vector<Explanation> explain_pasted(const rules::RuleSet& rules, const std::string& text) {
  std::vector<Explanation> found;
  const auto lines = base::split_lines(text);
  if (lines.size() > 1) {
    std::vector<std::string> messages;
    for (std::string_view line : lines) messages.push_back(message_of(std::string(line)));
    found = rules::explain_line(rules, base::join(messages, "\n"), text);
  }
  for (std::string_view line : lines)
    for (Explanation& e :
         rules::explain_line(rules, message_of(std::string(line)), std::string(line)))
      if (std::none_of(found.begin(), found.end(),
                       [&](const Explanation& other) { return other.subject == e.subject; }))
        found.push_back(std::move(e));
  return found;
}

// --- terminal ---

std::string verdict_words(const Explanation& e) {
  std::vector<std::string> parts;
  if (!e.class_.empty() && e.class_ != "none") parts.push_back(e.class_);
  if (!e.role.empty()) parts.push_back(e.role);
  if (!e.severity.empty()) parts.push_back(e.severity);
  return base::join(parts, " · ");
}

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
  std::string text = base::join(shown, ", ");
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

void print_one(const Explanation& e, report::TextPage& page) {
  const std::string heading = e.title.empty() ? e.subject : e.subject + ": " + e.title;
  page.heading(heading, report::Paint::heading);
  if (!e.meaning.empty() && e.meaning != e.title && e.meaning != e.title + ".")
    page.row("means", e.meaning);
  if (const std::string words = verdict_words(e); !words.empty()) page.row("counts as", words);
  if (!e.cause.empty()) page.row("cause", e.cause);
  if (!e.fault_domain.empty()) page.row("domain", e.fault_domain);
  if (e.quarantine.target != "none")
    page.row("hold out", e.quarantine.target + " · " + e.quarantine.action, report::Paint::fault);
  for (const auto& [name, value] : e.captures)
    if (!value.empty() && name.rfind("catalog.", 0) != 0) page.row("found", name + " = " + value);
  const bool page_of_pattern = e.subject.rfind("pattern ", 0) == 0;
  std::string_view last_fact;
  for (const auto& [name, value] : e.facts) {
    if (value.empty()) continue;
    if (page_of_pattern)
      page.row(name == last_fact ? "" : name, value);
    else
      page.row("fact", base::replace_all(name, "_", " ") + ": " + value);
    last_fact = name;
  }
  if (!e.notes.empty())
    page.row(e.sources_disagree ? "disputed" : "note", e.notes, report::Paint::unsure);
  if (e.sources_disagree)
    page.row("", "Sources disagree here; this is how triage decides it.", report::Paint::dim);
  constexpr std::size_t k_most = 8;
  for (std::size_t i = 0; i < e.refinements.size() && i < k_most; ++i)
    page.row(i == 0 ? "but" : "", e.refinements[i]);
  if (e.refinements.size() > k_most)
    page.row("", "and " + std::to_string(e.refinements.size() - k_most) +
                     " more: triage rules show " + e.rules.front());
  std::string_view last;
  for (const rules::Step& step : e.steps) {
    const std::string_view phase = to_string(step.phase);
    page.row(phase == last ? "" : phase, step.text);
    if (!step.command.empty()) page.command(step.command);
    last = phase;
  }
  if (!e.rules.empty()) page.row("rules", joined(e.rules, 6), report::Paint::dim);
  if (!e.references.empty()) page.row("see", joined(e.references, 3), report::Paint::dim);
  page.blank_line();
}

void print_text(const std::vector<Explanation>& found, const Context& context) {
  report::TextOptions options;
  if (context.colour_on(stdout)) options.colour = report::TextOptions::Colour::on;
  report::TextPage page(options);
  for (const Explanation& e : found) print_one(e, page);
  std::fputs(page.take().c_str(), stdout);
}

// --- JSON ---

nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json()
                      : nlohmann::ordered_json(base::to_valid_utf8(text));
}

nlohmann::ordered_json to_json(const Explanation& e) {
  nlohmann::ordered_json out;
  out["subject"] = e.subject;
  out["title"] = text_or_null(e.title);
  out["meaning"] = text_or_null(e.meaning);
  out["cause"] = text_or_null(e.cause);
  out["class"] = text_or_null(e.class_);
  out["role"] = text_or_null(e.role);
  out["severity"] = text_or_null(e.severity);
  out["fault_domain"] = text_or_null(e.fault_domain);
  out["quarantine"] = {{"target", e.quarantine.target}, {"action", e.quarantine.action}};
  out["next_steps"] = nlohmann::ordered_json::array();
  for (const rules::Step& step : e.steps)
    out["next_steps"].push_back({{"phase", to_string(step.phase)},
                                 {"text", base::to_valid_utf8(step.text)},
                                 {"command", text_or_null(step.command)},
                                 {"why", step.why}});
  out["facts"] = nlohmann::ordered_json::array();
  for (const auto& [name, value] : e.facts)
    out["facts"].push_back({{"name", name}, {"value", value}});
  out["captures"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : e.captures) out["captures"][name] = base::to_valid_utf8(value);
  out["refinements"] = e.refinements;
  out["notes"] = text_or_null(e.notes);
  out["sources_disagree"] = e.sources_disagree;
  out["source"] = text_or_null(e.source);
  out["references"] = e.references;
  out["catalog"] = text_or_null(e.table);
  out["rules"] = e.rules;
  return out;
}

void print_json(const std::string& query, const std::vector<Explanation>& found) {
  nlohmann::ordered_json out;
  out["schema"] = "triage.explain/v1";
  out["query"] = base::to_valid_utf8(query);
  out["explanations"] = nlohmann::ordered_json::array();
  for (const Explanation& e : found) out["explanations"].push_back(to_json(e));
  std::fputs((out.dump(2) + "\n").c_str(), stdout);
}

void run(Options& options, Context& context) {
  if (options.format != "text" && options.format != "json")
    throw UsageError{"unknown format '" + options.format + "': text or json"};
  const auto rules = load_rules(options.rules, context);
  if (!rules) return;
  std::string query = base::join(options.words, " ");
  if (query == "-") {
    auto text = read_text("-", std::size_t{1} << 20U);
    if (!text) return context.fail(Exit::nothing_read, text.problem());
    query = std::string(base::trim(*text));
    options.words = {query};
  }
  auto named = rules::explain(*rules, options.words);
  std::vector<Explanation> found;
  if (named.ok()) found = std::move(*named);
  if (found.empty() && !rules::has_form(options.words)) found = explain_pasted(*rules, query);
  for (Explanation& e : found) fill_texts(e);
  if (options.format == "json") print_json(query, found);
  if (found.empty()) {
    if (rules::has_form(options.words) || query.find(' ') == std::string::npos)
      return context.fail(Exit::nothing_read, named.problem());
    return context.fail(Exit::nothing_read,
                        {"no rule knows this line", {}, "triage rules new writes a start of one"});
  }
  if (options.format == "text") print_text(found, context);
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("explain", "What a code, reason, metric, cause or log line means");
  auto& options = context.keep<Options>();
  std::string forms;
  for (const rules::ExplainForm& form : rules::explain_forms())
    forms += "  triage explain " + std::string(form.example) + "\n";
  command->add_option("WHAT", options.words, "A form and its argument, a name, or a pasted line")
      ->required();
  command->add_option("-f,--format", options.format, "text or json")->option_text("FORMAT");
  add_rule_options(*command, options.rules);
  command->footer("Examples:\n" + forms +
                  "  triage explain xid 149 0x004505c6 0x00000000     (NVLink words of the line)\n"
                  "  triage explain cause gpu-oom-graph-capture\n"
                  "  triage explain pattern gpu-oom-cascade\n"
                  "  triage explain 'NVRM: Xid (PCI:0000:a1:00): 79, GPU has fallen off the bus.'\n"
                  "  kubectl logs worker-0 | tail -1 | triage explain -");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

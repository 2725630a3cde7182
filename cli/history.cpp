#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/history_output.hpp"
#include "cli/history_use.hpp"
#include "cli/load_report.hpp"
#include "cli/output.hpp"
#include "report/formats.hpp"
#include "report/json_reader.hpp"

namespace triage::cli {
namespace {

using history::Filter;
using history::Store;

struct Options {
  std::string store, format = "text", output, id, name, since, until, older_than = "365d";
  std::string class_, cause;
  std::vector<std::string> files;
  AnalysisOptions analysis;
  std::size_t limit = 20;
  std::size_t keep = 0;
  bool dry_run = false;
};

/// A moment (`2025-08-14T03:00:00Z`, `2025-08-14`) or a time before now (`7d`).
std::optional<std::int64_t> moment(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (const std::string& form : {text, text + "T00:00:00Z"})
    if (const auto stamp = evidence::parse_rfc3339(form)) return stamp->ns;
  if (const auto ago = base::parse_duration_ns(text)) return now_ns() - *ago;
  throw UsageError{option + ": '" + text + "' is no time; write 2025-08-14T03:00:00Z or 7d"};
}

std::optional<Store> opened(const Options& options, Context& context) {
  auto store = open_history(options.store, Store::Mode::read_write);
  if (store) return std::move(store).value();
  context.fail(Exit::nothing_read, store.problem());
  return std::nullopt;
}

void print(const Options& options, const std::string& text, Context& context) {
  const auto status = write_text(options.output, text);
  if (!status) context.fail(Exit::internal_error, status.problem());
}

void print_runs(const Options& options, const std::vector<history::Run>& runs,
                const std::string& text, Context& context) {
  if (options.format == "json") return print(options, runs_json(runs), context);
  if (options.format == "csv") return print(options, runs_csv(runs), context);
  print(options, text, context);
}

void find_and_print(const Options& options, const Filter& filter, const std::string& heading,
                    Context& context) {
  const auto store = opened(options, context);
  if (!store) return;
  const auto runs = store->find(filter);
  if (!runs) return context.fail(Exit::internal_error, runs.problem());
  print_runs(options, runs.value(),
             heading.empty() ? runs_text(runs.value()) : summary_text(heading, runs.value()),
             context);
}

void list(const Options& options, Context& context) {
  Filter filter;
  filter.class_ = options.class_;
  filter.cause = options.cause;
  filter.since_ns = moment("--since", options.since);
  filter.until_ns = moment("--until", options.until);
  filter.limit = options.limit;
  find_and_print(options, filter, "", context);
}

void show(const Options& options, Context& context) {
  const auto format = report::format_from(options.format);
  if (!format)
    throw UsageError{"unknown format '" + options.format +
                     "': " + base::join(report::format_names(), ", ")};
  const auto store = opened(options, context);
  if (!store) return;
  const auto run = store->get(options.id);
  if (!run) return context.fail(Exit::internal_error, run.problem());
  if (!run->has_value())
    return context.fail(Exit::nothing_read, base::Problem{"no run '" + options.id + "'", "",
                                                          "triage history list names them"});
  const auto stored = report::read_json((*run)->report_json);
  if (!stored) return context.fail(Exit::nothing_read, stored.problem());
  report::TextOptions text;
  text.detail = report::TextOptions::Detail::verbose;
  if (options.output.empty() && context.colour_on(stdout))
    text.colour = report::TextOptions::Colour::on;
  if (*format == report::Format::text)
    context.note(fmt::format(
        "run {} of incident {}, recorded {}, fingerprint {}", (*run)->id, (*run)->incident,
        evidence::to_rfc3339({(*run)->recorded_ns, 1'000'000'000}), (*run)->fingerprint));
  print(options, report::render(*format, {"", &stored.value()}, text), context);
}

void similar(const Options& options, Context& context) {
  const auto report = report_of(options.analysis, context);
  if (!report) return;
  const auto store = opened(options, context);
  if (!store) return;
  const auto found =
      history::similar_runs(*store, history::run_of(*report, {}, now_ns()), options.limit);
  if (!found) return context.fail(Exit::internal_error, found.problem());
  print(options, options.format == "json" ? similar_json(*found) : similar_text(*found), context);
}

void export_all(const Options& options, Context& context) {
  const auto store = opened(options, context);
  if (!store) return;
  std::string text;
  if (options.format == "csv") {
    const auto runs = store->find({});
    if (!runs) return context.fail(Exit::internal_error, runs.problem());
    return print(options, runs_csv(runs.value()), context);
  }
  text = fmt::format("{{\"schema\": \"{}\", \"runs\": [", k_history_schema);
  bool first = true;
  const auto status = store->for_each([&](const history::Run& run) {
    text += first ? "\n" : ",\n";
    first = false;
    text += export_run(run);
  });
  if (!status) return context.fail(Exit::internal_error, status.problem());
  print(options, text + "\n]}\n", context);
}

void import(const Options& options, Context& context) {
  auto store = opened(options, context);
  if (!store) return;
  std::size_t added = 0;
  std::size_t known = 0;
  for (const std::string& path : options.files) {
    const auto text = read_text(path, std::size_t{4} << 30U);
    if (!text) return context.fail(Exit::nothing_read, text.problem());
    auto runs = read_export(text.value());
    if (!runs) {
      base::Problem problem = runs.problem();
      problem.where = path;
      return context.fail(Exit::nothing_read, problem);
    }
    for (history::Run& run : runs.value()) {
      const auto is_new = store->import(std::move(run));
      if (!is_new) return context.fail(Exit::internal_error, is_new.problem());
      ++(is_new.value() ? added : known);
    }
  }
  context.note(fmt::format("{} added, {} were there already", added, known));
}

void prune(const Options& options, Context& context) {
  const auto age = base::parse_duration_ns(options.older_than);
  if (!age) throw UsageError{"--older-than: '" + options.older_than + "' is no time; write 90d"};
  auto store = opened(options, context);
  if (!store) return;
  const auto count = store->prune(now_ns() - *age, options.keep,
                                  options.dry_run ? Store::Dry::yes : Store::Dry::no);
  if (!count) return context.fail(Exit::internal_error, count.problem());
  context.note(
      fmt::format("{} runs {}", count.value(), options.dry_run ? "would be removed" : "removed"));
}

void add_output(CLI::App& command, Options& options, const std::string& formats) {
  command.add_option("-f,--format", options.format, formats)->option_text("FORMAT");
  command.add_option("-o,--output", options.output, "File to write; default: standard output")
      ->option_text("FILE");
}

void check_lists(CLI::App& command) {
  command.get_option("--format")->check(CLI::IsMember({"text", "json", "csv"}));
}

CLI::App* add(CLI::App& history, const std::string& name, const std::string& about) {
  return history.add_subcommand(name, about);
}

void add_by_name(CLI::App& history, Context& context, const std::string& store,
                 const std::string& name, const std::string& about, const std::string& label,
                 std::string Filter::*member) {
  auto& options = context.keep<Options>();
  CLI::App* command = add(history, name, about);
  command->add_option(label, options.name, about)->required()->option_text(" ");
  add_output(*command, options, "text, json, csv");
  check_lists(*command);
  command->callback([&options, &context, &store, name, member] {
    options.store = store;
    Filter filter;
    filter.*member = options.name;
    find_and_print(options, filter, name + " " + options.name, context);
  });
}

void add_list(CLI::App& history, Context& context, const std::string& store) {
  auto& options = context.keep<Options>();
  CLI::App* command = add(history, "list", "The newest runs");
  command->add_option("--class", options.class_, "Only this class")->option_text("CLASS");
  command->add_option("--cause", options.cause, "Only this cause")->option_text("CAUSE");
  command->add_option("--since", options.since, "Only incidents since: a time, or 7d")
      ->option_text("TIME");
  command->add_option("--until", options.until, "Only incidents before")->option_text("TIME");
  command->add_option("-n,--limit", options.limit, "At most this many; default 20")
      ->option_text("N");
  add_output(*command, options, "text, json, csv");
  check_lists(*command);
  command->callback([&options, &context, &store] {
    options.store = store;
    list(options, context);
  });
}

void add_show(CLI::App& history, Context& context, const std::string& store) {
  auto& options = context.keep<Options>();
  CLI::App* command = add(history, "show", "One run's report, in any format");
  command->add_option("ID", options.id, "Number, or the beginning of its uid or incident")
      ->required()
      ->option_text(" ");
  add_output(*command, options, base::join(report::format_names(), ", "));
  command->callback([&options, &context, &store] {
    options.store = store;
    show(options, context);
  });
}

void add_similar(CLI::App& history, Context& context, const std::string& store) {
  auto& options = context.keep<Options>();
  CLI::App* command =
      add(history, "similar", "Earlier incidents like this report or this evidence");
  add_analysis_options(*command, options.analysis);
  command->add_option("-n,--limit", options.limit, "At most this many; default 20")
      ->option_text("N");
  add_output(*command, options, "text, json");
  command->get_option("--format")->check(CLI::IsMember({"text", "json"}));
  command->callback([&options, &context, &store] {
    options.store = store;
    similar(options, context);
  });
}

void add_exchange(CLI::App& history, Context& context, const std::string& store) {
  auto& out = context.keep<Options>();
  out.format = "json";
  CLI::App* to = add(history, "export", "All runs, as JSON with reports or as CSV without");
  add_output(*to, out, "json, csv");
  to->get_option("--format")->check(CLI::IsMember({"json", "csv"}));
  to->callback([&out, &context, &store] {
    out.store = store;
    export_all(out, context);
  });
  auto& in = context.keep<Options>();
  CLI::App* from = add(history, "import", "Add the runs of an export; known ones are left out");
  from->add_option("FILE", in.files, "Output of export -f json; - reads stdin")
      ->required()
      ->option_text(" ");
  from->callback([&in, &context, &store] {
    in.store = store;
    import(in, context);
  });
}

void add_prune(CLI::App& history, Context& context, const std::string& store) {
  auto& options = context.keep<Options>();
  CLI::App* command = add(history, "prune", "Remove old runs");
  command->add_option("--older-than", options.older_than, "Recorded longer ago; default 365d")
      ->option_text("AGE");
  command->add_option("--keep", options.keep, "But keep the newest N")->option_text("N");
  command->add_flag("--dry-run", options.dry_run, "Only say how many");
  command->callback([&options, &context, &store] {
    options.store = store;
    prune(options, context);
  });
}

}  // namespace

void add_history(CLI::App& app, Context& context) {
  CLI::App* history = app.add_subcommand("history", "The memory of incidents that --record keeps");
  history->require_subcommand(1);
  auto& store = context.keep<std::string>();
  history
      ->add_option("--store", store,
                   "History file; default $TRIAGE_HISTORY, else "
                   "$XDG_STATE_HOME/triage/history.db")
      ->option_text("FILE");
  add_list(*history, context, store);
  add_show(*history, context, store);
  add_similar(*history, context, store);
  add_by_name(*history, context, store, "gpu", "Incidents of a GPU: UUID or PCI address", "UUID",
              &Filter::gpu);
  add_by_name(*history, context, store, "node", "Incidents of a node", "NAME", &Filter::node);
  add_by_name(*history, context, store, "image", "Incidents under an image: any part of its name",
              "REF", &Filter::image);
  add_exchange(*history, context, store);
  add_prune(*history, context, store);
  history->footer(
      "Examples:\n"
      "  triage analyze bundle.tar.gz --record --history\n"
      "  triage history list --class hardware --since 30d\n"
      "  triage history gpu GPU-1018f3f9-a408-4b6c-9d3e-0d1f2a3b4c5d\n"
      "  triage history similar bundle.tar.gz\n"
      "  triage history export -o history.json");
}

}  // namespace triage::cli

#include "collectors/collect.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "analysis/analyze.hpp"
#include "base/text.hpp"
#include "cli/collect_progress.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"
#include "report/text.hpp"
#include "rules/loader.hpp"

namespace triage::cli {
namespace {

constexpr const char* k_examples = R"(Examples:
  triage collect vllm-0 -n llm                 one pod, its node and its group
  triage collect deploy/chat -n llm            all replicas of a workload
  triage collect -l app=chat --tier full       by labels, with everything
  triage collect --node gpu-07                 a node and the GPU pods on it
  triage collect --local                       this host, without Kubernetes
  triage collect vllm-0 --dry-run              what would be run
  triage collect --list > plan.yaml            the plan, to be edited and used with --plan

Only reads: no object is changed and nothing is restarted. Credentials, prompts and
outputs are masked before anything is written.)";

struct Options {
  std::vector<std::string> names;
  std::string selector;
  std::vector<std::string> nodes;
  bool local = false;
  std::string name_space;
  std::string context;
  std::string output;
  std::string plan;
  std::string tier = "standard";
  std::string since = "2h";
  std::string deadline = "5m";
  std::string max_size = "50MiB";
  int jobs = 6;
  std::string incident;
  std::vector<std::string> labels;
  std::string resume;
  bool dry_run = false;
  bool list = false;
  bool strict = false;
  bool analyze = false;
  bool no_exec = false;
  bool debug_node = false;
  std::string debug_image;
  std::string salt;
  std::string map_file;
  std::vector<std::string> redact_rules;
};

// A signal handler can reach nothing else. The second signal ends the program at once.
std::atomic<bool> g_interrupted{false};

extern "C" void on_signal(int) {
  g_interrupted.store(true, std::memory_order_relaxed);
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit then fails, and is reported
}

std::chrono::milliseconds duration(const std::string& option, const std::string& text) {
  const auto ns = base::parse_duration_ns(text);
  if (!ns || *ns <= 0)
    throw UsageError{option + ": '" + text + "' is no duration; write 90s, 5m or 2h"};
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(*ns));
}

collectors::Request make_request(const Options& options) {
  collectors::Request request;
  request.names = options.names;
  request.selector = options.selector;
  request.nodes = options.nodes;
  request.local = options.local;
  request.name_space = options.name_space;
  request.context = options.context;
  request.tier = *collectors::tier_from(options.tier);
  request.since = duration("--since", options.since);
  request.deadline = duration("--deadline", options.deadline);
  const auto size = base::parse_bytes(options.max_size);
  if (!size || *size <= 0)
    throw UsageError{"--max-size: '" + options.max_size + "' is no size; write 50MiB"};
  request.max_size = static_cast<std::uint64_t>(*size);
  request.jobs = options.jobs;
  request.incident = options.incident;
  request.exec = !options.no_exec;
  request.debug_node = options.debug_node;
  if (!options.debug_image.empty()) request.debug_image = options.debug_image;
  return request;
}

std::map<std::string, std::string> make_labels(const Options& options) {
  std::map<std::string, std::string> labels;
  for (const auto& label : options.labels) {
    const auto sign = label.find('=');
    if (sign == std::string::npos || sign == 0)
      throw UsageError{"--label: '" + label + "' is no KEY=VALUE"};
    labels[label.substr(0, sign)] = label.substr(sign + 1);
  }
  return labels;
}

/// Names that no object has; kubectl would take some for options, and an empty one for everything.
void check_targets(const Options& options) {
  const auto check = [](const std::string& option, const std::string& name) {
    if (name.empty() || name.front() == '-' || name.front() == '/' || name.back() == '/' ||
        name.find_first_of(" \t\n") != std::string::npos)
      throw UsageError{option + "'" + name +
                       "' names nothing; give a pod, KIND/NAME, -l SELECTOR, " +
                       "--node NODE or --local"};
  };
  for (const auto& name : options.names) check("", name);
  for (const auto& node : options.nodes) check("--node: ", node);
}

/// Files are named before anything is gathered: what a restart erases is not to be lost to a typo.
void check_outputs(const Options& options) {
  const std::string& output = options.output;
  if (output == "-") throw UsageError{"-o -: a bundle is a file; name FILE.tar.gz or FILE.tar.zst"};
  // A name that cannot be looked at is told of where the file is made.
  std::error_code unknown;
  if (std::filesystem::is_directory(output, unknown))
    throw UsageError{"-o: " + output + " is a directory; name the file: " +
                     (std::filesystem::path(output) / "NAME.tar.gz").string()};
  for (const char* other : {".zip", ".7z", ".rar", ".tar", ".xz", ".txz", ".bz2", ".tbz2", ".lz4"})
    if (output.ends_with(other))
      throw UsageError{"-o: a bundle is written as FILE.tar.gz or FILE.tar.zst, not as " + output};
  if (options.map_file.empty()) return;
  const auto same = [&](const std::string& path) {
    return !path.empty() && std::filesystem::weakly_canonical(options.map_file, unknown) ==
                                std::filesystem::weakly_canonical(path, unknown);
  };
  const auto place = std::filesystem::absolute(options.map_file, unknown).parent_path().string();
  if (::access(options.map_file.c_str(), W_OK) != 0 &&
      (errno != ENOENT || ::access(place.c_str(), W_OK) != 0))
    throw UsageError{"--map: " + options.map_file + " cannot be written: " + std::strerror(errno)};
  if (same(output) || same(output + ".sha256"))
    throw UsageError{"--map: the map and the bundle need a file each; " + options.map_file +
                     " is named for both"};
}

/// Prompts and outputs as the rule packs mark them are masked as well.
void add_rule_knowledge(collectors::CollectOptions& collect) {
  auto loaded = rules::load_rules({});
  if (!loaded) return;
  collect.redaction.user_text = loaded->rules.user_text;
  collect.rules_version = loaded->rules.digest;
}

bool add_custom_redaction(const Options& options, collectors::CollectOptions& collect,
                          Context& context) {
  constexpr std::size_t k_limit = 4U << 20U;
  for (const auto& path : options.redact_rules) {
    const auto text = read_text(path, k_limit);
    if (!text) {
      context.fail(Exit::usage, text.problem());
      return false;
    }
    auto rules = redact::read_custom_rules(*text, path);
    if (!rules) {
      context.fail(Exit::usage, rules.problem());
      return false;
    }
    collect.redaction.custom.append(std::move(*rules));
  }
  return true;
}

/// Analyses a bundle at once: the report for the terminal, and the files that go into the bundle.
class Analysis {
 public:
  std::map<std::string, std::string> run(const std::string& bundle) {
    auto rules = rules::load_rules({});
    if (!rules) {
      problem_ = rules.problem();
      return {};
    }
    analysis::AnalyzeOptions settings;
    settings.tool_version = TRIAGE_VERSION;
    auto report = analysis::analyze({bundle}, rules->rules, settings);
    if (!report) {
      problem_ = report.problem();
      return {};
    }
    report_ = std::move(*report);
    return {{"report/report.json", report::render_json(*report_)},
            {"report/report.md", report::render_markdown(*report_)}};
  }

  void show(Context& context) const {
    if (problem_) return context.fail(Exit::nothing_read, *problem_);
    if (!report_) return;
    report::TextOptions text;
    text.colour = context.colour_on(stdout) ? report::TextOptions::Colour::on
                                            : report::TextOptions::Colour::off;
    const std::string shown = report::render_text(*report_, text);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
  }

 private:
  std::optional<analysis::Report> report_;
  std::optional<base::Problem> problem_;
};

/// `--resume DIR` alone goes on with what the interrupted run was asked.
void take_command_line(const std::string& directory, Options& options, Context& context);

void run(const Options& given, Context& context) {
  Options options = given;
  if (options.list) {
    const auto text = options.plan.empty()
                          ? base::Result<std::string>(std::string(collectors::built_in_plan_text()))
                          : read_text(options.plan, 4U << 20U);
    if (!text) return context.fail(Exit::usage, text.problem());
    if (const auto plan = collectors::parse_plan(*text, options.plan); !plan)
      return context.fail(Exit::usage, plan.problem());
    std::fwrite(text->data(), 1, text->size(), stdout);
    return;
  }
  collectors::CollectOptions collect;
  auto plan = collectors::load_plan(options.plan);
  if (!plan) return context.fail(Exit::usage, plan.problem());
  collect.plan = std::move(*plan);
  if (!options.resume.empty()) take_command_line(options.resume, options, context);
  if (context.exit != Exit::done) return;
  collect.request = make_request(options);
  if (!collect.request.any_target())
    throw UsageError{
        "name what to collect: a pod, deploy/NAME, -l SELECTOR, --node NODE or --local"};
  check_targets(options);
  check_outputs(options);
  collect.output = options.output;
  collect.resume = options.resume;
  collect.labels = make_labels(options);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr)
    collect.fixed_time_s = base::parse_int(epoch);
  if (options.dry_run) {
    const std::string text = collectors::dry_run(collect);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  collect.tool_version = TRIAGE_VERSION;
  collect.command_line = context.command_line;
  collect.map_file = options.map_file;
  collect.redaction.salt = options.salt;
  collect.redaction.strict = options.strict;
  collect.redaction.keep_reverse_map = !options.map_file.empty();
  add_rule_knowledge(collect);
  if (!add_custom_redaction(options, collect, context)) return;

  Analysis analysis;
  if (options.analyze)
    collect.add_report = [&](const std::string& bundle) {
      return g_interrupted ? std::map<std::string, std::string>() : analysis.run(bundle);
    };
  catch_signals();
  CollectProgress progress(context.quiet);
  const auto outcome = collectors::collect(
      collect, g_interrupted, [&](const collectors::Step& step) { progress.show(step); });
  progress.end();
  if (!outcome) {
    const bool nothing = outcome.problem().where.empty();
    return context.fail(g_interrupted ? Exit::interrupted
                        : nothing     ? Exit::nothing_read
                                      : Exit::internal_error,
                        outcome.problem());
  }
  const bool analyze = options.analyze && !outcome->interrupted;
  print_summary(*outcome, analyze, context);
  std::printf("%s\n", outcome->bundle.path.c_str());
  std::fflush(stdout);
  if (outcome->interrupted) {
    context.exit = Exit::interrupted;
  } else if (!outcome->failures().empty() || outcome->map_failed || !outcome->manifest.complete) {
    context.exit = Exit::with_failures;
  }
  if (analyze) {
    const Exit before = context.exit;
    analysis.show(context);
    if (context.exit == Exit::done) context.exit = before;
  }
}

void add_options(CLI::App& command, Options& options) {
  command
      .add_option("TARGET", options.names,
                  "Pods, or workloads such as deploy/NAME, lws/NAME, isvc/NAME")
      ->option_text("[POD|KIND/NAME]...");
  command.add_option("-l,--selector", options.selector, "Pods by label")->option_text("SELECTOR");
  command
      .add_option("--node", options.nodes, "A node: its state and the GPU pods on it; repeatable")
      ->option_text("NODE");
  command.add_flag("--local", options.local,
                   "This host, from inside: kernel log, GPU tools, memory");
  command.add_option("-n,--namespace", options.name_space, "Namespace; default: the context's")
      ->option_text("NS");
  command.add_option("--context", options.context, "kubectl context")->option_text("NAME");
  command
      .add_option("-o,--output", options.output,
                  "Where to write the bundle: FILE.tar.gz or FILE.tar.zst")
      ->option_text("FILE");
  command.add_option("--plan", options.plan, "Gather by this plan instead of the built-in one")
      ->option_text("FILE");
  command.add_option("--tier", options.tier, "minimal, standard or full")
      ->check(CLI::IsMember({"minimal", "standard", "full"}))
      ->option_text("TIER");
  command.add_option("--since", options.since, "How far back to read journals; default 2h")
      ->option_text("TIME");
  command.add_option("--deadline", options.deadline, "End of the whole collection; default 5m")
      ->option_text("TIME");
  command.add_option("--max-size", options.max_size, "Size of the bundle to aim at; default 50MiB")
      ->option_text("SIZE");
  command.add_option("--jobs", options.jobs, "Commands at a time; default 6")
      ->check(CLI::Range(1, 64))
      ->option_text("N");
  command.add_option("--incident", options.incident, "Name of the incident, for the bundle's name")
      ->option_text("ID");
  command
      .add_option("--label", options.labels,
                  "A label for the manifest (ticket, environment ...); repeatable")
      ->option_text("KEY=VALUE");
  command.add_flag("--no-exec", options.no_exec,
                   "Do not enter GPU daemon pods for the node's evidence");
  command.add_flag(
      "--debug-node", options.debug_node,
      "Where no GPU daemon pod runs, make a debug pod on the node and delete it afterwards");
  command.add_option("--debug-image", options.debug_image, "Image of the debug pod")
      ->option_text("IMAGE");
  command.add_flag("--dry-run", options.dry_run,
                   "Print every command that would be run, and run none");
  command.add_flag("--list", options.list, "Print the plan");
  command.add_option("--resume", options.resume, "Go on with an interrupted collection")
      ->option_text("DIR");
  command.add_flag("--strict", options.strict,
                   "Drop all text that could be content, and host names as a whole");
  command
      .add_option("--salt", options.salt,
                  "Salt of the pseudonyms, to make them the same in every bundle")
      ->option_text("TEXT");
  command
      .add_option("--map", options.map_file,
                  "Write what each placeholder stands for to this private file")
      ->option_text("FILE");
  command.add_option("--redact-rules", options.redact_rules, "More redaction rules; repeatable")
      ->option_text("FILE");
  command.add_flag("--analyze", options.analyze, "Analyze the bundle at once");
  command.footer(k_examples);
}

void take_command_line(const std::string& directory, Options& options, Context& context) {
  const auto text = read_text(directory + "/manifest.json", 64U << 20U);
  if (!text)
    return context.fail(Exit::usage,
                        base::Problem{"is no directory that collect left", directory,
                                      "give the directory that the interrupted run named"});
  const auto manifest = bundle::parse_manifest(*text);
  if (!manifest) return context.fail(Exit::usage, manifest.problem());
  if (!options.names.empty() || !options.selector.empty() || !options.nodes.empty() ||
      options.local)
    return;
  Options before;
  CLI::App app;
  CLI::App* command = app.add_subcommand("collect");
  bool ignored = false;
  std::string ignored_text;
  app.add_flag("-q,--quiet", ignored);
  app.add_option("--color,--colour", ignored_text);
  app.fallthrough();
  add_options(*command, before);
  std::vector<std::string> words = manifest->cmdline;
  if (!words.empty()) words.erase(words.begin());
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::Error&) {
    return context.fail(
        Exit::usage,
        "the interrupted run's command line cannot be read; repeat it with --resume " + directory);
  }
  before.resume = options.resume;
  before.salt = options.salt;  // the manifest has none; the interrupted run's lies in its directory
  if (!options.output.empty()) before.output = options.output;
  before.analyze = before.analyze || options.analyze;
  options = before;
}

}  // namespace

void add_collect(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "collect", "Gather what the next restart destroys, redacted, into one file");
  Options& options = context.keep<Options>();
  add_options(*command, options);
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli

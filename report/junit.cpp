#include "report/junit.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Report;

struct Check {
  std::string name;
  enum class State : std::uint8_t { passed, failed, skipped } state = State::passed;
  std::string type, message, body;
};

constexpr std::array<std::string_view, 11> k_fault_classes{
    "scheduling",  "runtime", "hardware",     "gpu-oom",  "host-oom",    "cuda-fault",
    "distributed", "loading", "health-probe", "capacity", "request-path"};

std::string lines_of(const analysis::VerdictEntry& verdict) {
  std::string body;
  const auto add = [&body](std::string_view label, const std::optional<analysis::Cited>& cited) {
    if (!cited) return;
    const std::string time = cited->time ? " at " + time_words(cited->time) : "";
    body += fmt::format("{}: {}{}\n    {}\n", label, visible(cite(*cited)), time,
                        visible(cited->text, 2000));
  };
  add("first error", verdict.first_error);
  add("first CUDA error", verdict.first_cuda_error);
  return body;
}

std::string steps_text(const Report& report) {
  std::string body;
  for (const auto& step : report.next_steps) {
    body += fmt::format("{}: {}\n", visible(step.phase), visible(step.text, 1000));
    if (!step.command.empty()) body += "    $ " + visible(step.command, 1000) + "\n";
  }
  return body;
}

Check class_check(const Report& report, std::string_view class_name) {
  Check check;
  check.name = fmt::format("no fault of class {}", class_name);
  const auto fail = [&](const analysis::VerdictEntry& verdict) {
    check.state = Check::State::failed;
    if (check.message.empty()) {
      check.type = verdict.cause;
      check.message = verdict.title;
    }
    check.body += fmt::format("{} ({}), confidence {}\n", visible(verdict.title),
                              visible(verdict.cause), visible(verdict.confidence));
    check.body += lines_of(verdict);
  };
  if (report.verdict.class_ == class_name) {
    fail(report.verdict);
    check.body += steps_text(report);
  }
  for (const auto& other : report.other_incidents)
    if (other.verdict.class_ == class_name) fail(other.verdict);
  return check;
}

Check quarantine_check(const Report& report) {
  Check check;
  check.name = "no GPU or node to hold out of service";
  const auto& quarantine = report.quarantine;
  if (quarantine.target != "gpu" && quarantine.target != "node") return check;
  check.state = Check::State::failed;
  check.type = quarantine.action;
  check.message = "hold out of service: " + quarantine_words(quarantine);
  check.body = visible(quarantine.reason) + "\n";
  for (const auto& command : quarantine.commands) check.body += "    $ " + visible(command) + "\n";
  return check;
}

Check explained_check(const Report& report) {
  Check check;
  check.name = "every failure is explained";
  if (outcome_of(report.verdict) != Outcome::unknown) return check;
  check.state = Check::State::failed;
  check.type = "unknown";
  check.message = report.verdict.title;
  if (report.coverage)
    for (const auto& cluster : report.coverage->unmatched_errors)
      check.body += fmt::format("{}: {} times\n    {}\n", visible(cite(cluster.file, cluster.line)),
                                cluster.count, visible(cluster.example, 1000));
  return check;
}

Check read_check(const Report& report) {
  Check check;
  check.name = "every input was read";
  if (!report.coverage || report.coverage->unread.empty()) return check;
  check.state = Check::State::skipped;
  check.message = fmt::format("{} of {} files were left out", report.coverage->unread.size(),
                              report.coverage->files);
  check.body = base::join(report.coverage->unread, "\n");
  return check;
}

std::vector<Check> checks_of(const Report& report) {
  std::vector<Check> checks;
  checks.reserve(std::size(k_fault_classes));
  for (const std::string_view name : k_fault_classes) checks.push_back(class_check(report, name));
  checks.push_back(quarantine_check(report));
  checks.push_back(explained_check(report));
  checks.push_back(read_check(report));
  return checks;
}

/// Element text keeps its line breaks; each line is made harmless.
std::string xml_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : base::split_lines(text)) out += xml_text(line) + "\n";
  return out;
}

void add_check(std::string& out, const std::string& suite, const Check& check) {
  out += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", xml_text(suite),
                     xml_text(check.name));
  if (check.state == Check::State::passed) {
    out += "/>\n";
    return;
  }
  const bool failed = check.state == Check::State::failed;
  out += fmt::format(">\n      <{} ", failed ? "failure" : "skipped");
  if (failed) out += fmt::format("type=\"{}\" ", xml_text(check.type));
  out += fmt::format("message=\"{}\"", xml_text(check.message));
  if (check.body.empty())
    out += "/>\n";
  else
    out += ">" + xml_lines(check.body) + (failed ? "</failure>\n" : "</skipped>\n");
  out += "    </testcase>\n";
}

void add_property(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty())
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_text(value));
}

void add_suite(std::string& out, const NamedReport& named) {
  const Report& report = *named.report;
  const std::string name = named.name.empty() ? "triage" : "triage: " + named.name;
  const auto checks = checks_of(report);
  std::size_t failures = 0;
  std::size_t skipped = 0;
  for (const Check& check : checks) {
    failures += check.state == Check::State::failed ? 1 : 0;
    skipped += check.state == Check::State::skipped ? 1 : 0;
  }
  out += fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "time=\"0\">\n    <properties>\n",
      xml_text(name), checks.size(), failures, skipped);
  add_property(out, "class", report.verdict.class_);
  add_property(out, "cause", report.verdict.cause);
  add_property(out, "confidence", report.verdict.confidence);
  add_property(out, "scope", report.verdict.scope);
  add_property(out, "pattern", report.verdict.pattern);
  add_property(out, "quarantine", report.quarantine.target);
  if (report.verdict.first_error)
    add_property(out, "first_error", cite(*report.verdict.first_error));
  add_property(out, "tool", "triage " + report.tool_version);
  out += "    </properties>\n";
  for (const Check& check : checks) add_check(out, name, check);
  out += "  </testsuite>\n";
}

}  // namespace

std::string render_junit(Reports reports) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"triage\">\n";
  for (const NamedReport& named : reports) add_suite(out, named);
  return out + "</testsuites>\n";
}

}  // namespace triage::report

#include "report/sarif.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/display.hpp"
#include "report/json_writer.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Cited;
using analysis::Report;
using analysis::VerdictEntry;

/// A relative URI reference: anything but unreserved characters and `/` is percent-encoded, and a
/// first segment with a colon cannot be taken for a scheme.
std::string uri_of(std::string_view file) {
  std::string out;
  for (const char c : file) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  while (out.starts_with('/')) out.erase(0, 1);  // an absolute path would leave the base
  return out.empty() ? "-" : out;
}

std::string level_of(const VerdictEntry& verdict) {
  if (outcome_of(verdict) == Outcome::healthy) return "none";
  if (verdict.severity == "warning") return "warning";
  if (verdict.severity == "info") return "note";
  return outcome_of(verdict) == Outcome::unknown ? "warning" : "error";
}

void write_message(JsonWriter& out, std::string_view text) {
  out.key("message").begin_object().member("text", visible(text)).end_object();
}

void write_location_members(JsonWriter& out, const Cited& cited, std::string_view message) {
  out.key("physicalLocation").begin_object();
  out.key("artifactLocation").begin_object().member("uri", uri_of(cited.file));
  out.member("uriBaseId", "EVIDENCE").end_object();
  if (cited.line > 0) {
    out.key("region").begin_object().key("startLine").unsigned_integer(cited.line);
    out.key("snippet").begin_object().member("text", visible(cited.text, 4000)).end_object();
    out.end_object();
  }
  out.end_object();
  write_message(out, message);
}

void write_location(JsonWriter& out, const Cited& cited, std::string_view message) {
  out.begin_object();
  write_location_members(out, cited, message);
  out.end_object();
}

std::string chain_message(const analysis::ChainLink& link) {
  return link.role + " " + link.cause + ": " + link.at.text;
}

void write_code_flow(JsonWriter& out, const Report& report) {
  if (report.causal_chain.empty()) return;
  out.key("codeFlows").begin_array().begin_object().key("threadFlows").begin_array();
  out.begin_object().key("locations").begin_array();
  for (const auto& link : report.causal_chain) {
    out.begin_object().key("location");
    write_location(out, link.at, chain_message(link));
    if (link.at.time && link.at.time->year_known)
      out.member("executionTimeUtc", evidence::to_rfc3339(*link.at.time));
    out.member("importance", link.role == "root" ? "essential" : "important").end_object();
  }
  out.end_array().end_object().end_array().end_object().end_array();
}

void write_related(JsonWriter& out, const Report& report) {
  const auto& cuda = report.verdict.first_cuda_error;
  if (!cuda && report.causal_chain.empty()) return;
  std::int64_t id = 1;
  out.key("relatedLocations").begin_array();
  const auto add = [&](const Cited& cited, const std::string& message) {
    out.begin_object().key("id").integer(id++);
    write_location_members(out, cited, message);
    out.end_object();
  };
  if (cuda) add(*cuda, "first CUDA error");
  for (const auto& link : report.causal_chain) add(link.at, chain_message(link));
  out.end_array();
}

std::string result_message(const VerdictEntry& verdict, const analysis::QuarantineEntry& hold) {
  std::string text = verdict.title.empty() ? class_label(verdict.class_) : verdict.title;
  if (verdict.first_error) text += ". First error: " + verdict.first_error->text;
  if (hold.target != "none" && !hold.target.empty())
    text += ". Hold out of service: " + quarantine_words(hold);
  return text;
}

void write_result_properties(JsonWriter& out, const VerdictEntry& verdict,
                             const analysis::QuarantineEntry& hold) {
  out.key("properties").begin_object().member("class", verdict.class_);
  out.member("confidence", verdict.confidence);
  if (!verdict.fault_domain.empty()) out.member("fault_domain", verdict.fault_domain);
  out.member("scope", verdict.scope);
  if (!verdict.pattern.empty()) out.member("pattern", verdict.pattern);
  out.member("quarantine_target", hold.target).member("quarantine_action", hold.action);
  out.end_object();
}

void write_result(JsonWriter& out, const Report& report, const VerdictEntry& verdict,
                  const analysis::QuarantineEntry& hold, std::int64_t rule_index) {
  const Outcome outcome = outcome_of(verdict);
  out.begin_object().member("ruleId", verdict.cause).key("ruleIndex").integer(rule_index);
  out.member("kind", outcome == Outcome::healthy   ? "pass"
                     : outcome == Outcome::unknown ? "open"
                                                   : "fail");
  // The standard: level is `none` whenever kind is not `fail`.
  out.member("level", outcome == Outcome::fault ? level_of(verdict) : "none");
  write_message(out, result_message(verdict, hold));
  out.key("locations").begin_array();
  if (verdict.first_error) write_location(out, *verdict.first_error, verdict.first_error->text);
  out.end_array();
  if (&verdict == &report.verdict) {
    write_code_flow(out, report);
    write_related(out, report);
  }
  write_result_properties(out, verdict, hold);
  out.end_object();
}

std::string help_text(const Report& report, const VerdictEntry& verdict) {
  std::string text = class_meaning(verdict.class_);
  if (&verdict != &report.verdict) return text;
  for (const auto& step : report.next_steps) {
    text += "\n" + visible(step.phase) + ": " + visible(step.text);
    if (!step.command.empty()) text += "\n  $ " + visible(step.command);
  }
  return text;
}

void write_rule(JsonWriter& out, const Report& report, const VerdictEntry& verdict) {
  out.begin_object().member("id", verdict.cause);
  out.key("shortDescription").begin_object();
  out.member("text", verdict.title.empty() ? verdict.cause : visible(verdict.title)).end_object();
  const std::string meaning = class_meaning(verdict.class_);
  out.key("fullDescription").begin_object();
  out.member("text", meaning.empty() ? verdict.cause : meaning).end_object();
  const std::string help = help_text(report, verdict);
  out.key("help").begin_object().member("text", help.empty() ? verdict.cause : help).end_object();
  out.key("defaultConfiguration").begin_object().member("level", level_of(verdict)).end_object();
  out.key("properties").begin_object().key("tags").begin_array().text(verdict.class_).end_array();
  out.end_object().end_object();
}

void write_artifacts(JsonWriter& out, const Report& report) {
  out.key("artifacts").begin_array();
  for (const auto& input : report.inputs) {
    out.begin_object().key("location").begin_object().member("uri", uri_of(input.path));
    out.member("uriBaseId", "EVIDENCE").end_object();
    out.key("length").unsigned_integer(input.bytes);
    if (!input.sha256.empty())
      out.key("hashes").begin_object().member("sha-256", input.sha256).end_object();
    out.key("properties").begin_object().member("kind", input.kind).end_object().end_object();
  }
  out.end_array();
}

void write_invocation(JsonWriter& out, const Report& report) {
  out.key("invocations").begin_array().begin_object().key("executionSuccessful").boolean(true);
  out.key("toolExecutionNotifications").begin_array();
  for (const auto& warning : report.warnings) {
    out.begin_object().member("level", "warning");
    write_message(out, warning);
    out.end_object();
  }
  out.end_array().end_object().end_array();
}

void write_run(JsonWriter& out, const NamedReport& named) {
  const Report& report = *named.report;
  // Several incidents may share a cause: a rule stands once.
  std::map<std::string, std::int64_t> rule_index;
  std::vector<const VerdictEntry*> rules;
  const auto index_of = [&](const VerdictEntry& verdict) {
    const auto [found, is_new] =
        rule_index.emplace(verdict.cause, static_cast<std::int64_t>(rules.size()));
    if (is_new) rules.push_back(&verdict);
    return found->second;
  };
  const std::int64_t first = index_of(report.verdict);
  for (const auto& other : report.other_incidents) index_of(other.verdict);

  out.begin_object().key("tool").begin_object().key("driver").begin_object();
  out.member("name", "triage");
  if (!report.tool_version.empty()) out.member("version", report.tool_version);
  out.key("rules").begin_array();
  for (const VerdictEntry* verdict : rules) write_rule(out, report, *verdict);
  out.end_array().end_object().end_object();
  if (!named.name.empty())
    out.key("automationDetails").begin_object().member("id", named.name + "/").end_object();
  write_invocation(out, report);
  out.key("originalUriBaseIds").begin_object().key("EVIDENCE").begin_object();
  out.key("description").begin_object().member("text", "The analysed input").end_object();
  out.end_object().end_object();
  write_artifacts(out, report);
  out.member("columnKind", "utf16CodeUnits").key("results").begin_array();
  write_result(out, report, report.verdict, report.quarantine, first);
  for (const auto& other : report.other_incidents)
    write_result(out, report, other.verdict, other.quarantine, rule_index[other.verdict.cause]);
  out.end_array().end_object();
}

}  // namespace

std::string render_sarif(Reports reports) {
  JsonWriter out(4);
  out.begin_object();
  out.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  out.member("version", "2.1.0").key("runs").begin_array();
  for (const NamedReport& named : reports) write_run(out, named);
  out.end_array().end_object();
  return out.take() + "\n";
}

}  // namespace triage::report

#include "cli/incidents.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/analyze.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"

namespace triage::cli {
namespace {

namespace fs = std::filesystem;

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> texts_of(const nlohmann::json& value) {
  std::vector<std::string> out;
  if (value.is_array())
    for (const auto& item : value) out.push_back(text_of(item));
  else if (!value.is_null())
    out.push_back(text_of(value));
  return out;
}

void take(Incident& incident, const nlohmann::json& expect) {
  struct Field {
    const char* name;
    const char* accept;
  };
  constexpr Field fields[] = {{"class", "accept_class"},
                              {"cause", "accept_causes"},
                              {"fault_domain", "accept_fault_domain"},
                              {"quarantine", "accept_quarantine"},
                              {"pattern", "accept_pattern"},
                              {"scope", "accept_scope"}};
  for (const Field& field : fields) {
    if (!expect.contains(field.name)) continue;
    auto& values = incident.expect[field.name];
    values = texts_of(expect.at(field.name));
    if (expect.contains(field.accept))
      for (std::string& more : texts_of(expect.at(field.accept))) values.push_back(std::move(more));
  }
  if (expect.contains("not_class")) incident.not_class = texts_of(expect.at("not_class"));
  if (expect.contains("first_error") && expect.at("first_error").is_object()) {
    const auto& first = expect.at("first_error");
    if (first.contains("file")) incident.first_file = text_of(first.at("file"));
    if (first.contains("line") && first.at("line").is_number_unsigned())
      incident.first_line = first.at("line").get<std::uint32_t>();
  }
}

bool same_file(const std::string& reported, const std::string& expected) {
  return reported == expected || (reported.size() > expected.size() + 1 &&
                                  reported.compare(reported.size() - expected.size() - 1,
                                                   std::string::npos, "/" + expected) == 0);
}

}  // namespace

std::vector<std::string> find_incidents(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  if (!fs::is_directory(path, error)) return found;
  if (fs::exists(fs::path(path) / "case.json", error)) found.push_back(path);
  for (fs::recursive_directory_iterator
           it(path, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().filename() == "case.json" && it->path().parent_path() != path &&
        it->is_regular_file(ignored))
      found.push_back(it->path().parent_path().string());
    if (it.depth() > 8) it.disable_recursion_pending();
  }
  std::sort(found.begin(), found.end());
  return found;
}

base::Result<Incident> read_incident(const std::string& path) {
  const std::string file = path + "/case.json";
  auto text = read_text(file, std::size_t{1} << 20U);
  if (!text.ok()) return text.problem();
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("expect") || !json.at("expect").is_object())
    return base::Problem{"is no label of an incident", file,
                         "write {\"id\": \"...\", \"expect\": {\"class\": \"...\"}}"};
  Incident incident;
  incident.path = path;
  incident.id = json.contains("id") ? text_of(json.at("id")) : fs::path(path).filename().string();
  if (json.contains("title")) incident.title = text_of(json.at("title"));
  take(incident, json.at("expect"));
  return incident;
}

base::Result<analysis::Report> analyse_incident(const std::string& path,
                                                const rules::RuleSet& rules) {
  analysis::AnalyzeOptions options;
  options.tool_version = TRIAGE_VERSION;
  options.input.skip = {"case.json"};
  return analysis::analyze({path}, rules, options);
}

std::vector<std::string> differences(const Incident& incident, const analysis::Report& report) {
  std::vector<std::string> out;
  const auto& verdict = report.verdict;
  const auto compare = [&](const char* field, const std::string& actual) {
    const auto expected = incident.expect.find(field);
    if (expected == incident.expect.end()) return;
    const auto& accepted = expected->second;
    const bool null =
        actual.empty() && std::find(accepted.begin(), accepted.end(), "null") != accepted.end();
    if (accepted.empty() || null ||
        std::find(accepted.begin(), accepted.end(), actual) != accepted.end())
      return;
    out.push_back(std::string(field) + ": " + (actual.empty() ? "none" : actual) + ", expected " +
                  base::join(accepted, " or "));
  };
  compare("class", verdict.class_);
  compare("cause", verdict.cause);
  compare("fault_domain", verdict.fault_domain);
  compare("quarantine", report.quarantine.target);
  compare("pattern", verdict.pattern);
  compare("scope", verdict.scope);
  for (const std::string& forbidden : incident.not_class)
    if (verdict.class_ == forbidden)
      out.push_back("class: " + forbidden + ", which it must not be");
  if (!incident.first_file.empty()) {
    const auto& first = verdict.first_error;
    const bool same = first && same_file(first->file, incident.first_file) &&
                      (incident.first_line == 0 || first->line == incident.first_line);
    if (!same)
      out.push_back(
          "first_error: " +
          (first ? first->file + ":" + std::to_string(first->line) : std::string("none")) +
          ", expected " + incident.first_file + ":" + std::to_string(incident.first_line));
  }
  return out;
}

}  // namespace triage::cli

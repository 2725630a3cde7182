#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>

#include "analysis/analyze.hpp"
#include "incidents.hpp"
#include "rules/loader.hpp"

using namespace triage;

namespace {

analysis::Report analyse(const std::filesystem::path& folder) {
  static analysis::Engine engine(rules::built_in_rules());
  auto report = engine.analyze({folder.string()});
  REQUIRE_MESSAGE(report.ok(), folder.string());
  return std::move(report).value();
}

std::set<std::string> accepted(const nlohmann::json& expect, const char* field,
                               const char* alternative) {
  std::set<std::string> values;
  if (expect.contains(field))
    values.insert(expect[field].is_null() ? "" : expect[field].get<std::string>());
  if (expect.contains(alternative))
    for (const auto& value : expect[alternative]) values.insert(value.get<std::string>());
  return values;
}

bool first_error_fits(const nlohmann::json& expect, const analysis::VerdictEntry& verdict) {
  std::vector<nlohmann::json> wanted{expect["first_error"]};
  if (expect.contains("accept_first_error"))
    for (const auto& other : expect["accept_first_error"]) wanted.push_back(other);
  for (const auto& want : wanted) {
    if (!verdict.first_error || verdict.first_error->file != want["file"].get<std::string>())
      continue;
    if (!want.contains("line") || verdict.first_error->line == want["line"].get<std::uint32_t>())
      return true;
  }
  return false;
}

std::string first_of(const analysis::VerdictEntry& v) {
  return v.first_error ? v.first_error->file + ":" + std::to_string(v.first_error->line) : "none";
}

std::string steps_text(const analysis::Report& report) {
  std::string text;
  for (const auto& step : report.next_steps)
    text += step.text + '\n' + step.command + '\n' + step.why + '\n';
  text += report.quarantine.reason + '\n' + report.quarantine.lift_when + '\n' +
          report.quarantine.action + '\n';
  for (const auto& command : report.quarantine.commands) text += command + '\n';
  return text;
}

void check(const incidents::Incident& incident, const analysis::Report& report) {
  const nlohmann::json& expect = incident.expect;
  const analysis::VerdictEntry& v = report.verdict;
  const auto one_of = [&](const char* field, const char* alternative, const std::string& got) {
    if (!expect.contains(field)) return;
    CHECK_MESSAGE(accepted(expect, field, alternative).count(got) == 1,
                  incident.name << ": " << std::string(field) << " is " << got);
  };
  one_of("class", "accept_class", v.class_);
  one_of("cause", "accept_causes", v.cause);
  one_of("fault_domain", "accept_fault_domains", v.fault_domain);
  one_of("quarantine", "accept_quarantine", report.quarantine.target);
  if (expect.contains("first_error") && !expect["first_error"].is_null())
    CHECK_MESSAGE(first_error_fits(expect, v), incident.name << ": first error is " << first_of(v));
  if (expect.value("class", "") == "none")
    CHECK_MESSAGE(!v.first_error, incident.name << ": first error is " << first_of(v));
  if (expect.contains("not_class"))
    for (const auto& no : expect["not_class"])
      CHECK_MESSAGE(v.class_ != no.get<std::string>(), incident.name);
  if (expect.contains("pattern"))
    CHECK_MESSAGE(v.pattern == expect["pattern"].get<std::string>(), incident.name);
  if (expect.contains("not_pattern"))
    CHECK_MESSAGE(v.pattern != expect["not_pattern"].get<std::string>(), incident.name);
  if (expect.contains("scope"))
    CHECK_MESSAGE(v.scope == expect["scope"].get<std::string>(), incident.name);
  if (expect.contains("next_steps_mention"))
    for (const auto& pattern : expect["next_steps_mention"]) {
      const std::regex wanted(pattern.get<std::string>(), std::regex::icase);
      CHECK_MESSAGE(std::regex_search(steps_text(report), wanted),
                    incident.name << ": next steps do not mention " << pattern);
    }
}

/// What must not move when only the wrapping of the evidence changes.
std::string essence(const analysis::Report& report) {
  const auto& v = report.verdict;
  return v.class_ + " " + v.cause + " " + v.fault_domain + " " + report.quarantine.target + " " +
         (v.first_error ? std::to_string(v.first_error->line) : "-");
}

/// The essence of an incident as it is; each test compares with it.
const std::string& baseline(const incidents::Incident& incident) {
  static std::map<std::string, std::string> known;
  auto [it, is_new] = known.try_emplace(incident.name);
  if (is_new) {
    const incidents::Copy copy(incident);
    it->second = essence(analyse(copy.folder()));
  }
  return it->second;
}

void for_each_file(const incidents::Copy& copy,
                   const std::function<std::string(std::string)>& change) {
  for (const auto& path : copy.files())
    incidents::write_file(path, change(incidents::read_file(path)));
}

}  // namespace

TEST_CASE("incidents: every labelled incident is judged as a senior engineer would") {
  const auto all = incidents::all();
  REQUIRE(all.size() >= 80);
  for (const auto& incident : all) {
    const incidents::Copy copy(incident);
    check(incident, analyse(copy.folder()));
  }
}

TEST_CASE("incidents: no application-only incident holds a GPU or a node") {
  for (const auto& incident : incidents::all()) {
    const std::string wanted = incident.expect.value("quarantine", "none");
    if (incident.expect.value("class", "") == "hardware" || wanted == "gpu" || wanted == "node")
      continue;
    if (accepted(incident.expect, "quarantine", "accept_quarantine").count("gpu") +
            accepted(incident.expect, "quarantine", "accept_quarantine").count("node") >
        0)
      continue;
    const incidents::Copy copy(incident);
    const auto report = analyse(copy.folder());
    CHECK_MESSAGE(report.quarantine.target != "gpu", incident.name);
    CHECK_MESSAGE(report.quarantine.target != "node", incident.name);
  }
}

TEST_CASE("incidents: the same bytes give the same report") {
  for (const auto& incident : incidents::some_when_sanitized()) {
    const incidents::Copy copy(incident);
    const auto first = analyse(copy.folder());
    const auto second = analyse(copy.folder());
    CHECK(essence(first) == essence(second));
    CHECK(first.observations.size() == second.observations.size());
    CHECK(steps_text(first) == steps_text(second));
  }
}

TEST_CASE("incidents: Windows line ends do not move the verdict") {
  for (const auto& incident : incidents::some_when_sanitized()) {
    const incidents::Copy copy(incident);
    const std::string& before = baseline(incident);
    for_each_file(
        copy, [](std::string text) { return std::regex_replace(text, std::regex("\n"), "\r\n"); });
    CHECK_MESSAGE(essence(analyse(copy.folder())) == before, incident.name);
  }
}

TEST_CASE(
    "incidents: names that say nothing and another order of the files do not move the verdict") {
  std::size_t moved = 0;
  const auto all = incidents::some_when_sanitized();
  for (const auto& incident : all) {
    const incidents::Copy copy(incident);
    const std::string& before = baseline(incident);
    auto files = copy.files();
    for (std::size_t i = 0; i < files.size(); ++i)
      std::filesystem::rename(files[i],
                              copy.folder() / ("part-" + std::to_string(files.size() - i)));
    const std::string after = essence(analyse(copy.folder()));
    if (after != before) {
      ++moved;
      MESSAGE(incident.name << ": " << before << " became " << after);
    }
  }
  // Folder names (node-a, prefill) are evidence: without them a few incidents cannot be told as
  // well.
  CHECK(moved * 100 <= all.size() * 7);
}

TEST_CASE("incidents: unrelated lines before and after a log do not move the verdict") {
  for (const auto& incident : incidents::some_when_sanitized()) {
    const incidents::Copy copy(incident);
    const std::string& before = baseline(incident);
    bool changed = false;
    for (const auto& path : copy.files()) {
      if (path.extension() != ".log" || path.filename() == "gateway.log") continue;
      const std::string text = incidents::read_file(path);
      incidents::write_file(
          path,
          text + "the quick brown fox jumps over the lazy dog\nhousekeeping: nothing to do\n");
      changed = true;
    }
    if (changed) CHECK_MESSAGE(essence(analyse(copy.folder())) == before, incident.name);
  }
}

TEST_CASE("incidents: a constant shift of every dated stamp does not move the verdict") {
  for (const auto& incident : incidents::some_when_sanitized()) {
    const incidents::Copy copy(incident);
    const std::string& before = baseline(incident);
    for_each_file(copy, [](std::string text) {
      return std::regex_replace(text, std::regex("\\b202[456]\\b"), "2022");
    });
    CHECK_MESSAGE(essence(analyse(copy.folder())) == before, incident.name);
  }
}

TEST_CASE("incidents: a tarball gives the same verdict as the folder") {
  for (const auto& incident : incidents::some_when_sanitized()) {
    const incidents::Copy copy(incident);
    const auto archive = copy.folder().parent_path() / "evidence.tar.gz";
    const std::string command =
        "tar -C '" + copy.folder().string() + "' -czf '" + archive.string() + "' .";
    REQUIRE(std::system(command.c_str()) == 0);
    CHECK_MESSAGE(essence(analyse(archive)) == baseline(incident), incident.name);
  }
}

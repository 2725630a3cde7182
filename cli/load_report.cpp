#include "cli/load_report.hpp"

#include <fstream>

#include "base/text.hpp"
#include "cli/allocator.hpp"
#include "cli/output.hpp"
#include "report/json_reader.hpp"

namespace triage::cli {

bool is_stored_report(const std::string& path) {
  if (path == "-") return false;
  std::ifstream file(path, std::ios::binary);
  std::string head(256, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  const std::string_view begin = base::trim(head);
  return begin.starts_with('{') && base::contains(begin, "\"schema\"") &&
         base::contains(begin, "triage.report/");
}

base::Result<analysis::Report> read_report(const std::string& path) {
  const auto text = read_text(path, k_report_limit);
  if (!text) return text.problem();
  auto report = report::read_json(text.value());
  if (report) return report;
  base::Problem problem = report.problem();
  problem.where = path;
  return problem;
}

std::optional<analysis::Report> report_of(const AnalysisOptions& options, Context& context) {
  if (options.inputs.size() == 1 && is_stored_report(options.inputs[0])) {
    auto stored = read_report(options.inputs[0]);
    if (stored) return std::move(stored).value();
    context.fail(Exit::nothing_read, stored.problem());
    return std::nullopt;
  }
  prepare_allocator();
  const auto rules = load(options, context);
  if (!rules) return std::nullopt;
  const auto settings = settings_of(options);
  if (!settings) throw UsageError{settings.problem().to_string()};
  auto report = analysis::analyze(options.inputs, *rules, *settings);
  if (report) return std::move(report).value();
  context.fail(Exit::nothing_read, report.problem());
  return std::nullopt;
}

}  // namespace triage::cli

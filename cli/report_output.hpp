#pragma once

#include <string>
#include <vector>

#include "analysis/report_types.hpp"
#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/fail_on.hpp"
#include "report/formats.hpp"

/// How a command shows the reports that it ends with: `analyze` and `report` share it.
namespace triage::cli {

struct NamedResult {
  std::string name;
  analysis::Report report;
};

struct OutputOptions {
  std::string format;  ///< empty: by the name of the output, else text
  std::string output;
  bool verbose = false;
  bool combine = false;
  FailOn fail_on = FailOn::never;
};

/// `-f`, `-o`, `-v`, `--combine`, `--fail-on`.
void add_output_options(CLI::App& command, OutputOptions& options);

/// A format that is not known, or cannot be written as asked, is a usage error; check it before the
/// work.
[[nodiscard]] report::Format format_of(const OutputOptions& options, std::size_t reports);

/// Writes the reports and sets the exit status: each its own, in one document where the format
/// holds several, or as one fleet view with `--combine`. With an output that ends in `/`, a file
/// each.
void show_reports(const std::vector<NamedResult>& results, const OutputOptions& options,
                  Context& context);

}  // namespace triage::cli

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "redact/redactor.hpp"

/// Redacting files, directories and archives into a directory: the work of `triage redact`, apart
/// from its options.
namespace triage::cli {

/// A file that is not in the output, and why.
struct LeftOut {
  std::string path;
  std::string reason;
};

struct RedactedFiles {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;  ///< nothing is missing, but the person should know
  bool holds_report = false;       ///< one of the files is a `redaction.json` itself
};

/// The directory of `redact_into`, with those above it.
[[nodiscard]] base::Status make_directory(const std::string& directory);

/// Redacts every file of `inputs` under `directory`: those of a directory or an archive by their
/// names in it, a nested archive as a directory. Files appear whole, with mode 0600. Afterwards all
/// are read again with everything the run has learnt; a file that still shows a credential or
/// content is removed and named.
[[nodiscard]] base::Result<RedactedFiles> redact_into(redact::Redactor& redactor,
                                                      const std::vector<std::string>& inputs,
                                                      const std::string& directory);

/// Where something would be masked.
struct Exposed {
  std::string file;
  std::uint64_t line = 0;
  std::map<redact::What, std::uint64_t> kinds;
};

struct Checked {
  std::uint64_t files = 0;
  redact::Counts counts;
  std::vector<Exposed> lines;  ///< the first of each file
  std::uint64_t lines_total = 0;
  std::vector<LeftOut> unread;
};

/// Looks for what redaction would mask; reads twice, so that echoes of a value are found before the
/// line that shows it to be secret. Writes nothing.
[[nodiscard]] base::Result<Checked> check_files(redact::Redactor& redactor,
                                                const std::vector<std::string>& inputs);

struct Filtered {
  base::Status status = base::Done{};
  bool several = false;     ///< the input holds more than one file; nothing was written
  bool unwritable = false;  ///< the problem is the output's
};

/// The filter: standard input, or one file, to standard output.
[[nodiscard]] Filtered redact_stream(redact::Redactor& redactor, const std::string& input);

}  // namespace triage::cli

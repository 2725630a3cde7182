#include "cli/pasted_line.hpp"

#include "analysis/json_line.hpp"
#include "analysis/line_prefix.hpp"

namespace triage::cli {

std::string message_of(const std::string& line) {
  // The two kinds whose tables know most prefixes.
  for (const evidence::Kind kind : {evidence::Kind::container_log, evidence::Kind::system_log}) {
    if (const auto json = analysis::decode_json_line(line, kind))
      return json->text.substr(json->prefix.message);
    const auto prefix = analysis::read_prefix(line, kind);
    if (prefix.message > 0 && prefix.message < line.size()) return line.substr(prefix.message);
  }
  return line;
}

}  // namespace triage::cli

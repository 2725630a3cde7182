#include "report/ndjson.hpp"

#include "report/json.hpp"

namespace triage::report {

std::string render_ndjson(Reports reports) {
  std::string text;
  for (const NamedReport& named : reports) {
    for (const auto& observation : named.report->observations) {
      JsonWriter out(0);
      out.begin_object();
      if (!named.name.empty()) out.member("report", named.name);
      write_observation_members(out, observation);
      out.end_object();
      text += out.take();
      text += '\n';
    }
  }
  return text;
}

}  // namespace triage::report

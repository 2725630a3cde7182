#include <string>

#include "analysis/formats/gpu_fact.hpp"
#include "base/text.hpp"

// Counters of a gateway: Envoy's `/stats` (`cluster.NAME.upstream_rq_504: 15210`; cluster names
// hold colons and bars) and nginx's stub_status.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

void emit(std::string_view name, std::string_view value, std::uint32_t line,
          const ParseContext& context, const evidence::FactSink& sink) {
  const auto number = base::parse_double(value);
  if (name.empty() || name.size() > 1024 || !number) return;
  Fact fact;
  fact.kind = context.kind;
  fact.place = context.place;
  fact.line = line;
  fact.set("name", std::string(name), line);
  fact.set("value", plain_number(*number), line);
  sink(std::move(fact));
}

}  // namespace

void parse_gateway_stats(std::string_view text, const ParseContext& context,
                         const evidence::FactSink& sink) {
  std::uint32_t number = 0;
  bool accepts = false;
  for (const std::string_view raw : base::split_lines(text)) {
    ++number;
    const std::string_view line = base::trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (accepts) {
      // stub_status: ` 16630948 16630948 31070465` below the names.
      const auto words = base::split_blanks(line);
      if (words.size() == 3) {
        emit("nginx.accepts", words[0], number, context, sink);
        emit("nginx.handled", words[1], number, context, sink);
        emit("nginx.requests", words[2], number, context, sink);
      }
      accepts = false;
      continue;
    }
    accepts = line == "server accepts handled requests";
    const std::size_t colon = line.rfind(": ");
    if (colon == std::string_view::npos) continue;
    if (line.substr(0, colon) == "Active connections")
      emit("nginx.active_connections", base::trim(line.substr(colon + 2)), number, context, sink);
    else if (line.substr(0, 9) != "Reading: ")
      emit(line.substr(0, colon), base::trim(line.substr(colon + 2)), number, context, sink);
  }
}

}  // namespace triage::analysis::formats

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/formats/parsers.hpp"
#include "analysis/formats/text_columns.hpp"
#include "evidence/fact.hpp"

namespace triage::analysis::formats {

/// Event rows of `kubectl get events` tables and of the table that ends `kubectl describe`. A
/// message that holds line ends breaks its row over several lines: what is no row continues the
/// message before it.
class EventRows {
 public:
  EventRows(const ParseContext& context, const evidence::FactSink& sink)
      : context_(context), sink_(sink) {}

  /// A line below the header of an events table. False when the line ends the table.
  bool table_row(std::string_view line, const std::vector<Column>& columns, std::uint32_t number);

  /// A line below `Events:` of a described object (`object` holds kind, name, namespace and place).
  void describe_row(std::string_view line, const std::vector<Column>& columns,
                    const evidence::Fact& object, std::uint32_t number);

  /// Gives the last event to the sink.
  void finish();

 private:
  void begin(evidence::Fact&& fact);
  void continue_message(std::string_view line);

  const ParseContext& context_;
  const evidence::FactSink& sink_;
  std::optional<evidence::Fact> open_;
};

}  // namespace triage::analysis::formats

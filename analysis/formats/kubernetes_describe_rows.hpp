#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/formats/located_tree.hpp"
#include "analysis/formats/parsers.hpp"
#include "evidence/fact.hpp"

/// The rows of `kubectl describe`: `Key:   value` with two blanks of indentation for each level.
namespace triage::analysis::formats {

struct DescribeRow {
  std::size_t indent = 0;
  std::string key;    ///< empty: a row without a colon (continuation, list item, table row)
  std::string value;  ///< trimmed; the whole row when there is no key
  std::string raw;    ///< the line as it is
  std::uint32_t line = 0;
};

[[nodiscard]] DescribeRow read_describe_row(std::string_view line, std::uint32_t number);

/// Rows [first, last) of the section that begins at `rows[at]`: what is indented deeper than it.
struct RowRange {
  std::size_t first = 0, last = 0;
};
[[nodiscard]] RowRange below(const std::vector<DescribeRow>& rows, std::size_t at);

/// `Thu, 07 Aug 2025 02:14:44 +0000` as RFC 3339; other text as it is.
[[nodiscard]] std::string describe_time(std::string_view text);

/// `condition.*` from the Conditions table of a pod, a node or a workload, and one text fact for
/// each message.
void emit_condition_rows(evidence::Fact& fact, const std::vector<DescribeRow>& rows,
                         const evidence::FactSink& sink);

void facts_of_pod_rows(const std::vector<DescribeRow>& rows, const ParseContext& context,
                       const evidence::FactSink& sink);
void facts_of_node_rows(const std::vector<DescribeRow>& rows, const ParseContext& context,
                        const evidence::FactSink& sink);

/// A described custom resource (`Loading Progress At: ...`) as the tree that its JSON would give.
[[nodiscard]] LocatedNode tree_of_rows(const std::vector<DescribeRow>& rows);

}  // namespace triage::analysis::formats

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bundle/input.hpp"

/// The parts of recognise(): structured forms are certain or not there, logs are a vote of lines.
namespace triage::bundle::detail {

/// The head cut into lines (no ends, at most 1000 of them, the cut last line left out when there
/// are others) and what is cheap to know of it.
struct Sample {
  std::string_view text;
  std::vector<std::string_view> lines;
};

[[nodiscard]] bool starts(std::string_view text, std::string_view with);
[[nodiscard]] bool is_digits(std::string_view text);
/// Matches the beginning of `text` against a shape: `9` a digit, `a` a letter, `x` a hex digit, `_`
/// any one character; everything else stands for itself.
[[nodiscard]] bool shaped(std::string_view text, std::string_view shape);
/// Length of an RFC 3339 or ISO 8601 stamp with date and time at the beginning (`T` or blank
/// between them, fraction with point or comma, zone optional); 0 when there is none.
[[nodiscard]] std::size_t iso_stamp_length(std::string_view text);

/// `name{label="value"} 12.5` or `name 12.5` of a Prometheus text.
[[nodiscard]] bool is_metric_line(std::string_view line);

[[nodiscard]] std::optional<Recognised> recognise_json(const Sample& sample);
[[nodiscard]] std::optional<Recognised> recognise_kubernetes(const Sample& sample);
[[nodiscard]] std::optional<Recognised> recognise_gpu(const Sample& sample);
[[nodiscard]] std::optional<Recognised> recognise_host(const Sample& sample);
/// Always answers; `unknown_text` when nothing speaks for anything.
[[nodiscard]] Recognised recognise_log(const Sample& sample);

/// Kind and weight of a line's words, for logs whose prefix does not tell; used by JSON lines too.
struct Vote {
  int container = 0;
  int kernel = 0;
  int device_plugin = 0;
  int driver = 0;
  int fabric = 0;
  int gateway = 0;
  int controller = 0;
  int system = 0;
};
void vote(std::string_view message, Vote& votes);
[[nodiscard]] std::optional<evidence::Kind> winner(const Vote& votes);

}  // namespace triage::bundle::detail

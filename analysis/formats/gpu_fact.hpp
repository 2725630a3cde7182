#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/formats/parsers.hpp"
#include "evidence/fact.hpp"

/// What the parsers of GPU tools share: how their values are written, and the making of facts.
namespace triage::analysis::formats {

/// How a tool writes a value and how a fact keeps it.
enum class GpuValue : std::uint8_t {
  text,
  word,       ///< `Exclusive_Process` -> `exclusive-process`
  number,     ///< `31 C`, `137.34 W`, `16x`, `0 %` -> the number
  bytes,      ///< `81559 MiB`, `283 MB`; a bare number is bytes
  mebibytes,  ///< a bare number is MiB (CSV with `nounits`)
  yes_no,     ///< `Yes`, `True`, `1` -> `true`
  active,     ///< `Active` -> `active`
  recovery,   ///< `GPU Reset Required`, `Drain and Reset`, `OS Reboot` -> vocabulary of the fields
  microseconds,  ///< `12345 us` -> seconds
  sum,           ///< numbers of several rows are added; the line is that of the first above zero
  pci,
  uuid,
};

/// One row of a parser's table: where a value stands and which field it is.
struct GpuField {
  std::string_view section;  ///< path of the sections around it, joined with `/`
  std::string_view label;
  std::string_view field;
  GpuValue value = GpuValue::text;
};

/// The row of a place, or nullptr.
[[nodiscard]] const GpuField* find_field(std::span<const GpuField> table, std::string_view section,
                                         std::string_view label);

/// `N/A`, `[Not Supported]`, `Requested functionality has been deprecated`, empty: the tool has no
/// value.
[[nodiscard]] bool is_absent(std::string_view value);
/// `unknown-error`, `err`, `lost`, `requires-reset` when that is what the tool says instead of a
/// value, else empty.
[[nodiscard]] std::string_view trouble_of(std::string_view value);

/// A fact of the kind and place of the file.
[[nodiscard]] evidence::Fact make_gpu_fact(const ParseContext& context, std::string_view tool,
                                           std::uint32_t line);
/// A fact with text only: a line that is no table (`No devices were found`).
[[nodiscard]] evidence::Fact make_message_fact(const ParseContext& context, std::string_view tool,
                                               std::string_view text, std::uint32_t line);

/// Reads `raw` as `kind` into the field. Absent and unreadable values set nothing; a word of
/// trouble sets `state` (for `ecc.mode` that field itself). The first value of a field wins.
void set_gpu_value(evidence::Fact& fact, std::string_view field, GpuValue kind,
                   std::string_view raw, std::uint32_t line);

struct GpuProcess {
  std::string pid, name, memory;  ///< memory in bytes, empty when unknown
  std::uint32_t line = 0;         ///< of the pid
  std::uint32_t name_line = 0;    ///< 0: the same
  std::uint32_t memory_line = 0;  ///< 0: the same
};
/// Adds the processes to the fact of their GPU: process.N.*, and the sums over all.
void set_processes(evidence::Fact& fact, std::span<const GpuProcess> processes);

/// Computes what follows from the fields (`memory.used_percent`, place).
void finish_gpu_fact(evidence::Fact& fact);

/// A number as plain decimal text, without exponent.
[[nodiscard]] std::string plain_number(double value);

}  // namespace triage::analysis::formats

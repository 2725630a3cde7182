#pragma once

#include <span>
#include <string_view>

#include "analysis/line_prefix.hpp"
#include "analysis/stamp_scan.hpp"

/// The forms of which line prefixes are made. A prefix is a chain of them: what a collector put
/// before, then the runtime, then the logger. Adding a form: one function, one row with samples in
/// the table at the end of stamp_forms.cpp; the tests run every sample.
namespace triage::analysis {

/// A prefix while it is being read. Forms read at `in` and move it only when they succeed.
struct PrefixState {
  Scanner in;
  evidence::Kind kind = evidence::Kind::unknown_text;
  LinePrefix& out;
  int stamp_trust = 0;           ///< of out.stamp: a later form replaces it only with more
  bool stamp_read = false;       ///< set by a form that read a logger's own stamp
  bool after_stamp = false;      ///< the form before this one did: a level may follow
  bool collector_stamp = false;  ///< `...T...Z `: written by a collector as likely as by the logger
  bool ended = false;            ///< what follows is the message, whatever it looks like

  /// Takes a stamp unless a more trustworthy one is known: with date and zone, date, month and
  /// day, time since boot, time of day.
  void take(const evidence::Stamp& stamp);
};

struct StampSample {
  std::string_view line;
  /// `utc 2025-...Z`, `no_zone 2025-...Z`, `no_year 1972-...Z`, `monotonic 12.5`, `no_date 3723`,
  /// or empty.
  std::string_view stamp;
  std::string_view message;
  std::string_view place = "";  ///< `node=n1 pid=7 rank=3 pod=p container=c`, in this order
  std::string_view level = "";
  evidence::Kind kind = evidence::Kind::container_log;
};

/// With what a form can begin: most are ruled out by the first character.
enum StampStart : std::uint8_t {
  k_digit = 1,
  k_upper = 2,
  k_lower = 4,
  k_bracket = 8,  ///< `[`
  k_paren = 16,   ///< `(`
  k_other = 32,   ///< anything else
  k_any = 63,
};

struct StampForm {
  std::string_view name;
  std::uint8_t starts;  ///< StampStart bits
  bool (*read)(PrefixState& state);
  std::span<const StampSample> samples;
};

/// In the order in which they are tried.
[[nodiscard]] std::span<const StampForm> stamp_forms();

/// How much a stamp says, for choosing among several: 5 with date and zone, down to 1 with a time
/// of day only.
[[nodiscard]] int trust_of(const evidence::Stamp& stamp);

/// `INFO`, `warn`, `E` ... as one word: trace, debug, info, warning, error, critical; empty when it
/// is no level.
[[nodiscard]] std::string_view level_name(std::string_view word);

/// Rank in a process tag's text: `Worker_TP3`, `VllmWorker rank=1`, `DP1 TP2` (`dp1-tp2`); empty
/// when it names none. Tensor-parallel rank alone is the number.
[[nodiscard]] std::string rank_in_tag(std::string_view tag);

}  // namespace triage::analysis

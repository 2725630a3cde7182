#pragma once

#include <optional>
#include <string_view>

#include "analysis/stamp_forms.hpp"

/// The readers behind the table of forms, and what they share.
namespace triage::analysis::forms {

/// A level word in upper case (`INFO`, `WARN`), or in brackets in either case. Moves behind it.
[[nodiscard]] std::string_view scan_level(Scanner& in);
/// `[core.py:1138]`, `core.py:1138]`, `worker.py:1841 --`, `app.main:run:12 -`: where a logger was
/// called. Moves behind it. Never a bare `file.cu:84:`, which faults print themselves.
[[nodiscard]] bool scan_location(Scanner& in);
/// `host prog[pid]: ` behind the stamp of a system log: fills host, program and pid.
/// `certain` holds for stamps that only system logs write; otherwise only the kernel or a program
/// with a pid is believed.
enum class SystemLog : bool { maybe, certain };
void scan_host_and_program(PrefixState& state, SystemLog certainty);
/// Skips blanks and ANSI colour sequences.
void skip_colours(Scanner& in);
/// As skip_colours, but of blanks only one: indentation behind a prefix belongs to the message.
void skip_separator(Scanner& in);

// kernel and system logs: stamp_readers_system.cpp
bool priority(PrefixState& state);
bool monotonic(PrefixState& state);
bool kmsg(PrefixState& state);
bool facility(PrefixState& state);
bool talos(PrefixState& state);
bool asctime(PrefixState& state);
bool bracket_month_day(PrefixState& state);
bool syslog(PrefixState& state);

// collectors, runtimes and loggers: stamp_readers_logger.cpp
bool kubectl_prefix(PrefixState& state);
bool compose_name(PrefixState& state);
bool bracket_iso(PrefixState& state);
bool json_fields(PrefixState& state);
bool klog(PrefixState& state);
bool level_first(PrefixState& state);
bool iso(PrefixState& state);
bool slash_date(PrefixState& state);
bool access_log(PrefixState& state);
bool logfmt(PrefixState& state);
bool epoch(PrefixState& state);
bool time_of_day(PrefixState& state);
bool trail(PrefixState& state);

// engines and frameworks: stamp_readers_engine.cpp
bool trtllm(PrefixState& state);
bool torch_location(PrefixState& state);
bool rank(PrefixState& state);
bool process_tag(PrefixState& state);
bool nccl(PrefixState& state);

}  // namespace triage::analysis::forms

#include <array>

#include "analysis/stamp_form_readers.hpp"

namespace triage::analysis::forms {
namespace {

using evidence::Stamp;

/// Kernel log levels 0 to 7.
std::string_view kernel_level(std::int64_t priority) {
  static constexpr std::array<std::string_view, 8> names{
      "critical", "critical", "critical", "error", "warning", "info", "info", "debug"};
  return names.at(static_cast<std::size_t>(priority) % 8);
}

std::string_view facility_level(std::string_view word) {
  if (word == "emerg" || word == "alert" || word == "crit") return "critical";
  if (word == "err" || word == "error") return "error";
  if (word == "warn" || word == "warning") return "warning";
  if (word == "notice" || word == "info") return "info";
  return word == "debug" ? "debug" : std::string_view();
}

bool is_facility(std::string_view word) {
  static constexpr std::array<std::string_view, 12> names{"kern", "user",   "mail",     "daemon",
                                                          "auth", "syslog", "lpr",      "news",
                                                          "uucp", "cron",   "authpriv", "ftp"};
  for (const std::string_view name : names)
    if (name == word) return true;
  return word.size() == 6 && word.substr(0, 5) == "local" && is_digit(word[5]);
}

bool is_host_char(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
}

/// RFC 5424 behind `<34>`: `1 TIME HOST APP PROCID MSGID STRUCTURED-DATA MSG`.
bool rfc5424(PrefixState& state, Scanner in) {
  if (!in.eat("1 ")) return false;
  std::optional<Stamp> stamp;
  if (!in.eat("- ")) {
    stamp = scan_iso(in);
    if (!stamp || !in.eat(' ')) return false;
  }
  std::array<std::string_view, 4> words;
  for (std::string_view& word : words) {
    word = in.take_until([](char c) { return c == ' '; });
    if (word.empty() || !in.eat(' ')) return false;
  }
  if (!in.eat('-')) {
    while (in.eat('[')) {
      bool quoted = false;
      for (; !in.at_end() && (quoted || in.peek() != ']'); ++in.at) {
        if (in.peek() == '\\')
          ++in.at;
        else if (in.peek() == '"')
          quoted = !quoted;
      }
      if (!in.eat(']')) return false;
    }
  }
  in.eat(' ');
  if (in.rest().substr(0, 3) == "\xEF\xBB\xBF") in.at += 3;
  if (stamp) state.take(*stamp);
  if (words[0] != "-") state.out.place.node = words[0];
  if (words[1] != "-") state.out.program = words[1];
  if (words[2] != "-" && words[2].find_first_not_of("0123456789") == std::string_view::npos)
    state.out.place.pid = words[2];
  state.in = in;
  return true;
}

}  // namespace

void scan_host_and_program(PrefixState& state, SystemLog certainty) {
  Scanner in = state.in;
  const std::string_view host = in.take_until([](char c) { return !is_host_char(c); });
  if (host.empty() || host.size() > 253 || !in.eat(' ')) return;
  const std::string_view program =
      in.take_until([](char c) { return c == ':' || c == '[' || is_blank(c); });
  if (program.empty() || program.size() > 64) return;
  std::string_view pid;
  if (in.eat('[')) {
    pid = in.take_until([](char c) { return !is_digit(c); });
    if (pid.empty() || !in.eat(']')) return;
  }
  if (!in.eat(':') || (!in.at_end() && !is_blank(in.peek()))) return;
  if (certainty == SystemLog::maybe && pid.empty() && program != "kernel") return;
  skip_separator(in);
  state.out.place.node = host;
  state.out.host = host;
  state.out.program = program;
  if (!pid.empty()) state.out.place.pid = pid;
  state.in = in;
}

bool priority(PrefixState& state) {
  Scanner in = state.in;
  if (in.at != 0 || !in.eat('<')) return false;
  const auto value = in.number();
  if (!value || *value > 191 || !in.eat('>')) return false;
  state.out.level = kernel_level(*value);
  if (rfc5424(state, in)) return true;
  state.in = in;
  return true;
}

bool monotonic(PrefixState& state) {
  Scanner in = state.in;
  if (!in.eat('[')) return false;
  in.blanks();
  const auto seconds = in.number();
  // printk and journalctl write six digits; fewer would take arrays and versions for stamps.
  if (!seconds || *seconds > 4'000'000'000 || in.peek() != '.') return false;
  const std::size_t dot = in.at;
  const auto fraction = scan_fraction(in);
  if (in.at - dot < 7 || !in.eat(']')) return false;
  Stamp stamp;
  stamp.base = Stamp::Base::monotonic;
  stamp.ns = *seconds * 1'000'000'000 + fraction->ns;
  stamp.resolution_ns = fraction->resolution_ns;
  // `[ T1946]` and `[   C12]`: the thread or CPU that printed (CONFIG_PRINTK_CALLER).
  Scanner caller = in;
  caller.blanks();
  if (caller.eat('[')) {
    caller.blanks();
    if ((caller.eat('T') || caller.eat('C')) && caller.number() && caller.eat(']')) in = caller;
  }
  skip_separator(in);
  state.take(stamp);
  state.in = in;
  scan_host_and_program(state, SystemLog::maybe);
  return true;
}

bool kmsg(PrefixState& state) {
  Scanner in = state.in;
  const auto level = in.number();
  if (!level || *level > 255 || !in.eat(',')) return false;
  const auto sequence = in.number();
  if (!sequence || !in.eat(',')) return false;
  const auto microseconds = in.number();
  if (!microseconds || *microseconds > 4'000'000'000'000'000 || !in.eat(',')) return false;
  const std::string_view flags = in.take_until([](char c) { return c == ';' || is_blank(c); });
  if (flags.empty() || !in.eat(';')) return false;
  Stamp stamp;
  stamp.base = Stamp::Base::monotonic;
  stamp.ns = *microseconds * 1000;
  stamp.resolution_ns = 1000;
  state.take(stamp);
  state.out.level = kernel_level(*level);
  state.in = in;
  return true;
}

bool facility(PrefixState& state) {
  Scanner in = state.in;
  const std::string_view name = in.take_until([](char c) { return c == ':' || c == ' '; });
  if (!is_facility(name)) return false;
  in.blanks();
  if (!in.eat(':')) return false;
  const std::string_view level =
      facility_level(in.take_until([](char c) { return c == ':' || c == ' '; }));
  in.blanks();
  if (level.empty() || !in.eat(':') || !in.eat(' ')) return false;
  state.out.level = level;
  state.in = in;
  // The stamp of `--time-format=iso` is read here: nothing that follows names a host.
  if (const auto stamp = scan_iso(in)) {
    skip_separator(in);
    state.take(*stamp);
    state.in = in;
  }
  return true;
}

bool talos(PrefixState& state) {
  Scanner in = state.in;
  const std::string_view node =
      in.take_until([](char c) { return c == ' ' || c == '['; });  // an IPv6 address has colons
  if (node.size() < 3 || node.back() != ':' || !in.eat(' ')) return false;
  const std::string_view name = in.take_until([](char c) { return c == ':' || c == ' '; });
  if (!is_facility(name) || !in.eat(": ")) return false;
  const std::string_view level =
      facility_level(in.take_until([](char c) { return c == ':' || c == ' '; }));
  if (level.empty() || !in.eat(": [")) return false;
  const auto stamp = scan_iso(in);
  if (!stamp || !in.eat("]:")) return false;
  skip_separator(in);
  state.take(*stamp);
  state.out.level = level;
  state.out.place.node = node.substr(0, node.size() - 1);
  state.in = in;
  return true;
}

bool asctime(PrefixState& state) {
  Scanner in = state.in;
  const bool bracket = in.eat('[');
  const auto stamp = scan_asctime(in);
  if (!stamp) return false;
  if (bracket ? !in.eat(']') : !in.at_end() && !is_blank(in.peek())) return false;
  skip_separator(in);
  state.take(*stamp);
  state.in = in;
  return true;
}

bool bracket_month_day(PrefixState& state) {
  Scanner in = state.in;
  if (!in.eat('[')) return false;
  const auto stamp = scan_month_day(in);
  if (!stamp || !in.eat(']')) return false;
  Scanner part = in;
  part.blanks();
  if (const std::string_view level = scan_level(part); !level.empty()) {
    state.out.level = level;
    in = part;
    part.blanks();
  }
  if (part.eat("[tid ") && part.number() && part.eat(']')) in = part;
  skip_separator(in);
  state.take(*stamp);
  state.in = in;
  return true;
}

bool syslog(PrefixState& state) {
  Scanner in = state.in;
  std::optional<Stamp> stamp = scan_month_day(in);
  if (!stamp) {
    // journalctl -o short-full: `Sun 2025-02-09 12:00:01 UTC host ...`.
    if (!scan_weekday(in) || !in.eat(' ')) return false;
    stamp = scan_iso(in);
    if (!stamp) return false;
  }
  if (!in.at_end() && !is_blank(in.peek())) return false;
  skip_separator(in);
  state.take(*stamp);
  state.in = in;
  scan_host_and_program(state, SystemLog::certain);
  return true;
}

}  // namespace triage::analysis::forms

#include <algorithm>
#include <array>

#include "analysis/stamp_form_readers.hpp"

namespace triage::analysis {

std::string_view level_name(std::string_view word) {
  struct Name {
    std::string_view upper, lower, level;
  };
  static constexpr std::array<Name, 19> names{{{"INFO", "info", "info"},
                                               {"WARNING", "warning", "warning"},
                                               {"WARN", "warn", "warning"},
                                               {"ERROR", "error", "error"},
                                               {"ERR", "err", "error"},
                                               {"DEBUG", "debug", "debug"},
                                               {"CRITICAL", "critical", "critical"},
                                               {"CRIT", "crit", "critical"},
                                               {"FATAL", "fatal", "critical"},
                                               {"PANIC", "panic", "critical"},
                                               {"DPANIC", "dpanic", "critical"},
                                               {"ALERT", "alert", "critical"},
                                               {"EMERG", "emerg", "critical"},
                                               {"EMERGENCY", "emergency", "critical"},
                                               {"SEVERE", "severe", "error"},
                                               {"NOTICE", "notice", "info"},
                                               {"TRACE", "trace", "trace"},
                                               {"VERBOSE", "verbose", "debug"},
                                               {"SUCCESS", "success", "info"}}};
  for (const Name& name : names)
    if (word == name.upper || word == name.lower) return name.level;
  return {};
}

namespace forms {
namespace {

using evidence::Stamp;

bool is_word_char(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
bool is_path_char(char c) {
  return is_word_char(c) || c == '.' || c == '/' || c == '-' || c == '<' || c == '>';
}

/// `LMCache `-like words are no level: the whole word must be one.
std::string_view level_word(Scanner& in) {
  Scanner next = in;
  const std::string_view word = next.take_until([](char c) { return !is_letter(c); });
  const std::string_view level = level_name(word);
  if (level.empty() || is_word_char(next.peek())) return {};
  in = next;
  return level;
}

void finish_stamp(PrefixState& state, const Scanner& in, const Stamp& stamp) {
  state.take(stamp);
  state.in = in;
  state.stamp_read = true;
  state.collector_stamp = false;
}

/// ` stdout F ` behind a CRI stamp.
bool scan_cri_stream(Scanner& in) {
  Scanner next = in;
  if (!next.eat(" stdout ") && !next.eat(" stderr ")) return false;
  if (!next.eat('F') && !next.eat('P')) return false;
  if (!next.at_end() && !next.eat(' ')) return false;
  in = next;
  return true;
}

/// The value of a JSON or logfmt key at the position, without its quotes.
std::string_view scan_value(Scanner& in) {
  if (in.eat('"')) {
    const std::string_view value = in.take_until([](char c) { return c == '"' || c == '\\'; });
    return in.eat('"') ? value : std::string_view();
  }
  return in.take_until([](char c) { return is_blank(c) || c == ',' || c == '}'; });
}

}  // namespace

void skip_colours(Scanner& in) {
  while (true) {
    in.blanks();
    Scanner next = in;
    if (!next.eat("\x1b[")) return;
    next.take_until([](char c) { return !is_digit(c) && c != ';'; });
    if (!next.eat('m')) return;
    in = next;
  }
}

void skip_separator(Scanner& in) {
  Scanner next = in;
  skip_colours(next);
  const bool coloured = in.rest().substr(0, next.at - in.at).find('\x1b') != std::string_view::npos;
  if (coloured)
    in = next;
  else if (is_blank(in.peek()))
    ++in.at;
}

std::string_view scan_level(Scanner& in) {
  Scanner next = in;
  const bool bracket = next.eat('[');
  const bool upper = is_upper(next.peek());
  const std::string_view level = level_word(next);
  if (level.empty()) return {};
  if (bracket ? !next.eat(']') : !upper) return {};
  in = next;
  return level;
}

bool scan_location(Scanner& in) {
  Scanner next = in;
  const bool bracket = next.eat('[');
  const std::string_view path = next.take_until([](char c) { return !is_path_char(c); });
  if (path.empty() || path.size() > 200 || !next.eat(':')) return false;
  const bool file = path.find('.') != std::string_view::npos && is_word_char(path.back());
  if (!is_digit(next.peek())) {
    // loguru: `module:function:12 - `.
    const std::string_view function = next.take_until([](char c) { return !is_path_char(c); });
    if (bracket || function.empty() || !next.eat(':') || !next.number() || !next.eat(" - "))
      return false;
    in = next;
    return true;
  }
  if (!file || !next.number()) return false;
  if (next.eat(']')) {
    skip_separator(next);
    in = next;
    return true;
  }
  if (bracket) return false;
  const bool go = path.size() > 3 && path.substr(path.size() - 3) == ".go";
  if (!next.eat(" -- ") && !next.eat(" - ") && !(go && next.eat(": "))) return false;
  in = next;
  return true;
}

bool kubectl_prefix(PrefixState& state) {
  Scanner in = state.in;
  if (!in.eat("[pod/")) return false;
  const auto stop = [](char c) { return c == '/' || c == ']' || is_blank(c); };
  const std::string_view pod = in.take_until(stop);
  if (pod.empty() || !in.eat('/')) return false;
  const std::string_view container = in.take_until(stop);
  if (container.empty() || !in.eat(']')) return false;
  skip_separator(in);
  state.out.place.pod = pod;
  state.out.place.container = container;
  state.in = in;
  return true;
}

bool compose_name(PrefixState& state) {
  Scanner in = state.in;
  if (in.at != 0) return false;
  const std::string_view name =
      in.take_until([](char c) { return !is_word_char(c) && c != '-' && c != '.'; });
  if (name.size() < 3 || in.blanks() == 0 || !in.eat("| ")) return false;
  // Compose numbers its containers; a table's first column mostly does not end so.
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == name.size() || digits == 0) return false;
  if (name[digits - 1] != '-' && name[digits - 1] != '_') return false;
  if (in.rest().find(" |") < 24) return false;
  state.out.place.container = name;
  state.in = in;
  return true;
}

bool bracket_iso(PrefixState& state) {
  Scanner in = state.in;
  if (!in.eat('[')) return false;
  const auto stamp = scan_iso(in);
  if (!stamp) return false;
  const std::string_view tail = in.take_until([](char c) { return c == ']' || c == '['; });
  if (tail.size() > 64 || !in.eat(']')) return false;
  Scanner part{tail};
  if (part.eat(": ")) {
    // celery: `: WARNING/MainProcess`
    if (const std::string_view level = level_word(part); !level.empty()) state.out.level = level;
  } else if (part.eat(' ')) {
    static constexpr std::string_view letters = "IWEFDC";
    Scanner ray = part;
    const char letter = ray.peek();
    ++ray.at;
    if (letters.find(letter) != std::string_view::npos && ray.eat(' ') && is_digit(ray.peek())) {
      // Ray's C++ processes: ` E pid tid`
      state.out.level = letter == 'I'   ? "info"
                        : letter == 'W' ? "warning"
                        : letter == 'D' ? "debug"
                        : letter == 'E' ? "error"
                                        : "critical";
      state.out.place.pid = ray.take_until([](char c) { return !is_digit(c); });
    } else if (std::string rank = rank_in_tag(tail); !rank.empty()) {
      state.out.place.rank = std::move(rank);
    }
  } else if (!part.at_end()) {
    return false;
  }
  // `[12][warning][upstream]` and `[31] [CRITICAL]`: thread, level, component, while they touch.
  Scanner next = in;
  const bool touching = next.peek() == '[';
  if (!touching) next.blanks();
  Scanner number = next;
  if (number.eat('[')) {
    const std::string_view pid = number.take_until([](char c) { return !is_digit(c); });
    if (!pid.empty() && number.eat(']')) {
      Scanner level = number;
      if (!touching) level.blanks();
      if (const std::string_view name = scan_level(level); !name.empty()) {
        state.out.level = name;
        if (!touching) state.out.place.pid = pid;
        in = level;
        if (touching && in.eat('[')) {
          in.take_until([](char c) { return c == ']' || is_blank(c); });
          if (!in.eat(']')) in = level;
        }
      }
    }
  }
  skip_separator(in);
  finish_stamp(state, in, *stamp);
  return true;
}

bool json_fields(PrefixState& state) {
  const std::string_view line = state.in.rest();
  if (line.substr(0, 1) != "{") return false;
  const std::size_t first = line.find_first_not_of(" \t", 1);
  if (first == std::string_view::npos || line[first] != '"') return false;
  static constexpr std::array<std::string_view, 9> time_keys{
      "\"time\":",       "\"ts\":",        "\"timestamp\":",
      "\"@timestamp\":", "\"asctime\":",   "\"__REALTIME_TIMESTAMP\":",
      "\"datetime\":",   "\"eventTime\":", "\"t\":"};
  for (const std::string_view key : time_keys) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos || (at > 0 && line[at - 1] == '\\')) continue;
    Scanner in{line, at + key.size()};
    in.blanks();
    if (const auto stamp = parse_any_stamp(scan_value(in))) {
      state.take(*stamp);
      break;
    }
  }
  static constexpr std::array<std::string_view, 3> level_keys{
      "\"level\":", "\"severity\":", "\"lvl\":"};
  for (const std::string_view key : level_keys) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) continue;
    Scanner in{line, at + key.size()};
    in.blanks();
    if (const std::string_view level = level_name(scan_value(in)); !level.empty())
      state.out.level = level;
  }
  state.ended = true;
  return true;
}

bool klog(PrefixState& state) {
  Scanner in = state.in;
  const char letter = in.peek();
  if (letter != 'I' && letter != 'W' && letter != 'E' && letter != 'F') return false;
  ++in.at;
  const std::string_view date = in.take_until([](char c) { return !is_digit(c); });
  if ((date.size() != 4 && date.size() != 8) || !in.eat(' ')) return false;
  Scanner days{date};
  const int year = date.size() == 8 ? *days.digits(4) : 0;
  const auto month = static_cast<unsigned>(*days.digits(2));
  const auto day = static_cast<unsigned>(*days.digits(2));
  const auto clock = scan_clock(in);
  if (!clock || in.blanks() == 0) return false;
  auto stamp = make_no_year(month, day, *clock);
  if (!stamp) return false;
  if (year != 0) {
    if (year < 1970 || year > 2200) return false;
    stamp->base = Stamp::Base::no_zone;
    stamp->ns = evidence::days_from_civil(year, month, day) * 86'400'000'000'000 + clock->ns;
  }
  const std::string_view pid = in.take_until([](char c) { return !is_digit(c); });
  if (pid.empty() || !in.eat(' ')) return false;
  const std::string_view file = in.take_until([](char c) { return c == ':' || is_blank(c); });
  if (file.empty() || !in.eat(':') || !in.number() || !in.eat(']')) return false;
  skip_separator(in);
  state.out.place.pid = pid;
  state.out.level = letter == 'I'   ? "info"
                    : letter == 'W' ? "warning"
                    : letter == 'E' ? "error"
                                    : "critical";
  state.take(*stamp);
  state.in = in;
  return true;
}

bool level_first(PrefixState& state) {
  Scanner in = state.in;
  std::string_view level = scan_level(in);
  if (level.empty()) {
    // `[TensorRT-LLM][ERROR] `: the product stays with the message.
    Scanner product = state.in;
    if (!product.eat('[')) return false;
    product.take_until([](char c) { return !is_word_char(c) && c != '-'; });
    if (!product.eat(']') || product.peek() != '[') return false;
    level = scan_level(product);
    if (level.empty()) return false;
    state.out.level = level;
    state.ended = true;
    return true;
  }
  in.eat(':');
  in.blanks();
  Scanner stamped = in;
  auto stamp = scan_iso(stamped);
  if (!stamp) {
    // vLLM: `INFO 05-10 16:00:15`.
    const auto month = stamped.digits(2);
    if (month && stamped.eat('-')) {
      const auto day = stamped.digits(2);
      if (day && stamped.eat(' '))
        if (const auto clock = scan_clock(stamped))
          stamp = make_no_year(static_cast<unsigned>(*month), static_cast<unsigned>(*day), *clock);
    }
  }
  if ((!stamp || !(stamped.at_end() || is_blank(stamped.peek()))) && state.after_stamp)
    return false;
  state.out.level = level;
  if (!stamp || !(stamped.at_end() || is_blank(stamped.peek()))) {
    // A level alone says how bad, but stays with the message: so does a rule see the same text
    // whether or not a collector put a stamp before it.
    state.ended = true;
    return true;
  }
  Scanner location = stamped;
  location.blanks();
  if (location.eat("- ")) stamped = location;
  if (scan_location(location))
    stamped = location;
  else
    skip_separator(stamped);
  state.take(*stamp);
  state.in = stamped;
  return true;
}

bool iso(PrefixState& state) {
  Scanner in = state.in;
  const std::size_t first = in.at;
  const auto stamp = scan_iso(in);
  if (!stamp) return false;
  const std::string_view text = in.text.substr(first, in.at - first);
  const bool zoned = stamp->base == Stamp::Base::utc;
  if (zoned && scan_cri_stream(in)) {
    state.take(*stamp);
    state.in = in;
    return true;
  }
  if (!in.at_end() && !is_blank(in.peek()) && in.peek() != ':' && in.peek() != '\x1b') return false;
  in.eat(':');
  skip_separator(in);
  finish_stamp(state, in, *stamp);
  state.collector_stamp = zoned && text.size() > 10 && text[10] == 'T';
  // dmesg --time-format=iso writes a comma, and names no host.
  const bool comma = text.size() > 19 && text[19] == ',';
  if (zoned && !comma) {
    const bool system = state.kind == evidence::Kind::system_log;
    scan_host_and_program(state, system ? SystemLog::certain : SystemLog::maybe);
    if (!state.out.program.empty()) state.stamp_read = false;
  }
  return true;
}

bool slash_date(PrefixState& state) {
  Scanner in = state.in;
  const auto days = scan_year_month_day(in, '/');
  if (!days || !in.eat(' ')) return false;
  const auto clock = scan_clock(in);
  if (!clock || !(in.at_end() || is_blank(in.peek()))) return false;
  Stamp stamp;
  stamp.base = Stamp::Base::no_zone;
  stamp.ns = *days * 86'400'000'000'000 + clock->ns;
  stamp.resolution_ns = clock->resolution_ns;
  skip_separator(in);
  // nginx: `[error] 31#31: *5 `.
  Scanner nginx = in;
  if (const std::string_view level = scan_level(nginx); !level.empty() && nginx.eat(' ')) {
    const std::string_view pid = nginx.take_until([](char c) { return !is_digit(c); });
    if (!pid.empty() && nginx.eat('#') && nginx.number() && nginx.eat(": ")) {
      state.out.level = level;
      state.out.place.pid = pid;
      Scanner connection = nginx;
      if (connection.eat('*') && connection.number() && connection.eat(' ')) nginx = connection;
      state.take(stamp);
      state.in = nginx;
      return true;
    }
  }
  finish_stamp(state, in, stamp);
  return true;
}

bool access_log(PrefixState& state) {
  // The line as a whole is the message; only its time is read.
  const std::string_view line = state.in.rest();
  if (line.substr(0, 6) == "[GIN] ") {
    Scanner in{line, 6};
    const auto days = scan_year_month_day(in, '/');
    if (!days || !in.eat(" - ")) return false;
    const auto clock = scan_clock(in);
    if (!clock) return false;
    Stamp stamp;
    stamp.base = Stamp::Base::no_zone;
    stamp.ns = *days * 86'400'000'000'000 + clock->ns;
    stamp.resolution_ns = clock->resolution_ns;
    state.take(stamp);
    state.ended = true;
    return true;
  }
  // `ADDRESS - USER [22/Apr/2026:15:01:11 +0000] `, also with a virtual host before.
  const std::size_t bracket = line.substr(0, 200).find('[');
  if (bracket == std::string_view::npos || bracket < 2 || line[bracket - 1] != ' ') return false;
  Scanner in{line, bracket + 1};
  const auto stamp = scan_access_date(in);
  if (!stamp || !in.eat(']')) return false;
  state.take(*stamp);
  state.ended = true;
  return true;
}

bool logfmt(PrefixState& state) {
  Scanner in = state.in;
  bool stamped = false;
  while (true) {
    Scanner next = in;
    const std::string_view key =
        next.take_until([](char c) { return !is_word_char(c) && c != '@' && c != '.'; });
    if (key.empty() || !next.eat('=')) break;
    const bool time = key == "time" || key == "ts" || key == "timestamp" || key == "t";
    const bool level = key == "level" || key == "lvl" || key == "severity";
    const bool place = key == "caller" || key == "source" || key == "logger";
    if (!time && !level && !place) break;
    const std::string_view value = scan_value(next);
    if (time) {
      const auto stamp = parse_any_stamp(value);
      if (!stamp) break;
      state.take(*stamp);
      stamped = true;
    } else if (level) {
      const std::string_view name = level_name(value);
      if (name.empty()) break;
      state.out.level = name;
    }
    if (next.blanks() == 0 && !next.at_end()) break;
    in = next;
  }
  if (!stamped) return false;
  state.in = in;
  state.ended = true;
  return true;
}

bool epoch(PrefixState& state) {
  Scanner in = state.in;
  const auto stamp = scan_epoch(in);
  // Whole seconds alone are as likely a count.
  if (!stamp || stamp->resolution_ns == 1'000'000'000 || !in.eat(' ')) return false;
  finish_stamp(state, in, *stamp);
  scan_host_and_program(state, SystemLog::maybe);
  return true;
}

bool time_of_day(PrefixState& state) {
  Scanner in = state.in;
  const auto clock = scan_clock(in);
  if (!clock || !is_blank(in.peek())) return false;
  Stamp stamp;
  stamp.base = Stamp::Base::no_date;
  stamp.ns = clock->ns;
  stamp.resolution_ns = clock->resolution_ns;
  skip_separator(in);
  finish_stamp(state, in, stamp);
  return true;
}

bool trail(PrefixState& state) {
  if (!state.after_stamp) return false;
  Scanner in = state.in;
  char separator = '\0';
  Scanner next = in;
  next.blanks();
  const auto scan_separator = [&next, &separator] {
    if ((next.peek() == '-' || next.peek() == '|') && is_blank(next.peek(1)) &&
        (separator == '\0' || separator == next.peek())) {
      separator = next.peek();
      ++next.at;
      next.blanks();
      return true;
    }
    return false;
  };
  if (scan_separator()) in = next;
  std::string_view level = scan_level(next);
  if (level.empty() && separator != '\0') {
    // `- vllm.engine - ERROR - `
    Scanner named = next;
    const std::string_view name = named.take_until([](char c) { return !is_path_char(c); });
    named.blanks();
    if (!name.empty() && named.eat(separator) && named.blanks() > 0) {
      const std::string_view behind = scan_level(named);
      if (!behind.empty()) level = behind, next = named;
    }
  }
  const bool tabbed = state.in.at > 0 && state.in.text[state.in.at - 1] == '\t';
  if (level.empty() && tabbed) {
    Scanner lower = next;
    level = level_word(lower);
    if (!level.empty() && lower.peek() == '\t')
      next = lower;
    else
      level = {};
  }
  if (!level.empty()) {
    state.out.level = level;
    const bool uvicorn = next.peek() == ':' && next.peek(1) == ' ' && next.peek(2) == ' ';
    // Behind a collector's stamp the level begins the message (see level_first).
    const bool kept = uvicorn || (state.collector_stamp && separator == '\0' && !tabbed);
    if (kept) {
      skip_colours(state.in);
      state.ended = true;
      return true;
    }
    next.eat(':');
    in = next;
    next.blanks();
    if (scan_separator()) {
      in = next;
      // `| INFO | embed_server | `
      Scanner named = next;
      const std::string_view name = named.take_until([](char c) { return !is_path_char(c); });
      named.blanks();
      if (separator == '|' && !name.empty() && named.eat("| ")) in = named;
      if (scan_location(next)) in = next;
    } else {
      if (scan_location(next))
        in = next;
      else
        skip_separator(in);
    }
    state.in = in;
    return true;
  }
  if (scan_location(next)) {
    state.in = next;
    return true;
  }
  if (separator == '\0') return false;
  state.in = in;
  return true;
}

}  // namespace forms
}  // namespace triage::analysis

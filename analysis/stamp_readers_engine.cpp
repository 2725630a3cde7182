#include <string>

#include "analysis/stamp_form_readers.hpp"

namespace triage::analysis {
namespace {

struct Ranks {
  std::string tensor, pipeline, data, explicit_rank;
};

/// The number behind a word (`TP3`, `rank=3`), when it ends there.
std::string number_behind(std::string_view tag, std::size_t at) {
  std::size_t end = at;
  while (end < tag.size() && is_digit(tag[end])) ++end;
  if (end == at || end - at > 6 || (end < tag.size() && is_letter(tag[end]))) return {};
  return std::string(tag.substr(at, end - at));
}

}  // namespace

std::string rank_in_tag(std::string_view tag) {
  Ranks ranks;
  for (std::size_t at = 0; at < tag.size(); ++at) {
    if (at > 0 && (is_letter(tag[at - 1]) || is_digit(tag[at - 1]))) continue;
    const std::string_view rest = tag.substr(at);
    if (rest.substr(0, 2) == "TP") ranks.tensor = number_behind(tag, at + 2);
    if (rest.substr(0, 2) == "PP") ranks.pipeline = number_behind(tag, at + 2);
    if (rest.substr(0, 2) == "DP") ranks.data = number_behind(tag, at + 2);
    if (rest.substr(0, 4) == "rank" || rest.substr(0, 4) == "RANK" || rest.substr(0, 4) == "Rank")
      if (rest.size() > 4 && (rest[4] == '=' || rest[4] == ' '))
        ranks.explicit_rank = number_behind(tag, at + 5);
  }
  if (!ranks.explicit_rank.empty()) return ranks.explicit_rank;
  // Group 0 of data or pipeline parallelism counts as the plain rank: most deployments have only
  // that one, and then other lines name the rank alone.
  std::string out;
  const auto add = [&out](std::string_view prefix, const std::string& value) {
    if (value.empty() || value == "0") return;
    out += (out.empty() ? "" : "-") + std::string(prefix) + value;
  };
  add("dp", ranks.data);
  add("pp", ranks.pipeline);
  if (ranks.tensor.empty()) return out;
  return out.empty() ? ranks.tensor : out + "-tp" + ranks.tensor;
}

namespace forms {
namespace {

std::string_view letter_level(char c) {
  switch (c) {
    case 'F':
      return "critical";
    case 'E':
      return "error";
    case 'W':
      return "warning";
    case 'I':
      return "info";
    case 'D':
    case 'V':
      return "debug";
    default:
      return {};
  }
}

}  // namespace

bool trtllm(PrefixState& state) {
  Scanner in = state.in;
  if (!in.eat('[')) return false;
  const auto month = in.digits(2);
  if (!month || !in.eat('/')) return false;
  const auto day = in.digits(2);
  if (!day || !in.eat('/')) return false;
  const auto year = in.digits(4);
  if (!year || !in.eat('-')) return false;
  const auto clock = scan_clock(in);
  const auto checked =
      clock ? make_no_year(static_cast<unsigned>(*month), static_cast<unsigned>(*day), *clock)
            : std::nullopt;
  if (!checked || *year < 1970 || *year > 2200 || !in.eat(']')) return false;
  evidence::Stamp stamp = *checked;
  stamp.base = evidence::Stamp::Base::no_zone;
  stamp.ns =
      evidence::days_from_civil(*year, static_cast<unsigned>(*month), static_cast<unsigned>(*day)) *
          86'400'000'000'000 +
      clock->ns;
  state.take(stamp);
  // `[TRT-LLM] [RANK 3] [E]`: product, rank and level, as far as they are there.
  for (int part = 0; part < 3; ++part) {
    Scanner next = in;
    next.blanks();
    if (!next.eat('[')) break;
    const std::string_view word = next.take_until([](char c) { return c == ']'; });
    if (!next.eat(']')) break;
    if (word == "TRT-LLM" || word == "TRT" || word == "TensorRT-LLM") {
    } else if (word.substr(0, 5) == "RANK ") {
      state.out.place.rank = rank_in_tag(word);
    } else if (word.size() == 1 && !letter_level(word[0]).empty()) {
      state.out.level = letter_level(word[0]);
    } else {
      break;
    }
    in = next;
  }
  skip_separator(in);
  state.in = in;
  return true;
}

bool torch_location(PrefixState& state) {
  // `[E512 10:23:42.408271257 ProcessGroupNCCL.cpp:607] `: the month has no leading zero, the day
  // has. Older releases print `[E ProcessGroupNCCL.cpp:737] ` without a time.
  Scanner in = state.in;
  if (!in.eat('[')) return false;
  const std::string_view level = letter_level(in.peek());
  if (level.empty()) return false;
  ++in.at;
  std::optional<evidence::Stamp> stamp;
  if (is_digit(in.peek())) {
    const std::string_view date = in.take_until([](char c) { return !is_digit(c); });
    if (date.size() < 3 || date.size() > 4 || !in.eat(' ')) return false;
    Scanner month{date.substr(0, date.size() - 2)};
    Scanner day{date.substr(date.size() - 2)};
    const auto clock = scan_clock(in);
    if (!clock) return false;
    stamp = make_no_year(static_cast<unsigned>(*month.number()),
                         static_cast<unsigned>(*day.number()), *clock);
    if (!stamp) return false;
  }
  if (!in.eat(' ')) return false;
  const std::string_view file = in.take_until([](char c) { return c == ':' || c == ']'; });
  if (file.find('.') == std::string_view::npos || file.size() > 200 || !in.eat(':')) return false;
  if (!in.number() || !in.eat(']')) return false;
  skip_separator(in);
  if (stamp) state.take(*stamp);
  state.out.level = level;
  state.in = in;
  return true;
}

bool rank(PrefixState& state) {
  Scanner in = state.in;
  std::string_view number;
  const auto take_number = [&in, &number] {
    number = in.take_until([](char c) { return !is_digit(c); });
    return !number.empty() && number.size() <= 6;
  };
  if (in.eat("[rank") || in.eat("[default")) {
    // `[default3]:` is torchrun's local rank (--tee); with one node it is the rank.
    if (!take_number() || !in.eat("]:")) return false;
  } else if (in.eat('[')) {
    // mpirun --tag-output: `[job,rank]<stderr>:`.
    if (!in.number() || !in.eat(',') || !take_number() || !in.eat("]<std")) return false;
    if (!in.eat("out>:") && !in.eat("err>:")) return false;
  } else {
    return false;
  }
  skip_separator(in);
  state.out.place.rank = number;
  state.in = in;
  return true;
}

bool process_tag(PrefixState& state) {
  Scanner in = state.in;
  if (!in.eat('(')) return false;
  const std::string_view tag =
      in.take_until([](char c) { return c == ')' || c == '(' || c == '\n'; }).substr(0, 160);
  if (!in.eat(')') || !(in.at_end() || is_blank(in.peek()) || in.peek() == '\x1b')) return false;
  const bool raylet = tag == "raylet" || tag.substr(0, 8) == "raylet, ";
  if (!raylet) {
    // `Name pid=41`, `pid=41, ip=10.0.0.7`, `Name rank=1 pid=41`.
    const std::size_t key = tag.find("pid=");
    if (key == std::string_view::npos || (key > 0 && tag[key - 1] != ' ')) return false;
    const std::string_view behind = tag.substr(key + 4);
    const std::size_t end = std::min(behind.find_first_not_of("0123456789"), behind.size());
    if (end == 0 || end > 10) return false;
    if (end < behind.size() && behind[end] != ',' && behind[end] != ' ') return false;
    state.out.place.pid = behind.substr(0, end);
    if (std::string named = rank_in_tag(tag); !named.empty())
      state.out.place.rank = std::move(named);
  }
  skip_separator(in);
  state.in = in;
  return true;
}

bool nccl(PrefixState& state) {
  // `host:pid:tid [device] `. The host name may be a pod's or a node's, so it is no place.
  Scanner in = state.in;
  const std::string_view host = in.take_until(
      [](char c) { return !(is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_'); });
  if (host.empty() || !in.eat(':')) return false;
  const std::string_view pid = in.take_until([](char c) { return !is_digit(c); });
  if (pid.empty() || pid.size() > 10 || !in.eat(':')) return false;
  if (!in.number() || !in.eat(" [")) return false;
  if (!in.number() || !in.eat("] ")) return false;
  state.out.host = host;
  state.out.place.pid = pid;
  state.in = in;
  return true;
}

}  // namespace forms
}  // namespace triage::analysis

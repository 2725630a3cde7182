#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

namespace triage::base {
namespace {

constexpr std::string_view k_blanks = " \t\r\n\f\v";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::int64_t k_second = 1'000'000'000;

constexpr std::array<Unit, 12> k_duration_units{{{"ns", 1},
                                                 {"us", 1e3},
                                                 {"ms", 1e6},
                                                 {"s", 1e9},
                                                 {"sec", 1e9},
                                                 {"m", 60e9},
                                                 {"min", 60e9},
                                                 {"h", 3600e9},
                                                 {"hr", 3600e9},
                                                 {"d", 86400e9},
                                                 {"w", 7 * 86400e9},
                                                 {"", 1e9}}};

constexpr std::array<Unit, 16> k_size_units{{{"", 1},
                                             {"b", 1},
                                             {"k", 1024.0},
                                             {"kib", 1024.0},
                                             {"ki", 1024.0},
                                             {"kb", 1e3},
                                             {"m", 1048576.0},
                                             {"mib", 1048576.0},
                                             {"mi", 1048576.0},
                                             {"mb", 1e6},
                                             {"g", 1073741824.0},
                                             {"gib", 1073741824.0},
                                             {"gi", 1073741824.0},
                                             {"gb", 1e9},
                                             {"tib", 1099511627776.0},
                                             {"ti", 1099511627776.0}}};

template <std::size_t N>
std::optional<double> factor_of(std::string_view unit, const std::array<Unit, N>& units) {
  for (const Unit& u : units)
    if (iequals(u.name, unit)) return u.factor;
  return std::nullopt;
}

/// Length of the valid UTF-8 sequence at `at`, or 0.
std::size_t utf8_length(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned minimum = 0;
  unsigned code = 0;
  if ((first & 0xE0U) == 0xC0U) {
    length = 2, minimum = 0x80, code = first & 0x1FU;
  } else if ((first & 0xF0U) == 0xE0U) {
    length = 3, minimum = 0x800, code = first & 0x0FU;
  } else if ((first & 0xF8U) == 0xF0U) {
    length = 4, minimum = 0x10000, code = first & 0x07U;
  } else {
    return 0;
  }
  if (at + length > s.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= minimum && code <= 0x10FFFF && !surrogate ? length : 0;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(k_blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blanks) - first + 1);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool icontains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end() ||
         part.empty();
}

bool iequals(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (true) {
    const auto end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(k_blanks, at)) != std::string_view::npos) {
    const auto end = std::min(text.find_first_of(k_blanks, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    auto end = text.find('\n', start);
    const bool last = end == std::string_view::npos;
    if (last) end = text.size();
    std::string_view line = text.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    start = end + 1;
  }
  return lines;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  std::size_t at = 0;
  while ((at = text.find(from, at)) != std::string::npos) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = parse_double(text.substr(0, digits));
    if (!number) return std::nullopt;
    text.remove_prefix(digits);
    const auto gap = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(gap);
    const auto letters = std::min(text.find_first_of("0123456789. "), text.size());
    const auto factor = factor_of(text.substr(0, letters), k_duration_units);
    if (!factor) return std::nullopt;
    total += *number * *factor;
    text = trim(text.substr(letters));
  }
  if (!(total < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(total));
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  text = trim(text);
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_double(text.substr(0, digits));
  if (!number) return std::nullopt;
  const auto factor = factor_of(trim(text.substr(digits)), k_size_units);
  if (!factor || !(*number * *factor < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*number * *factor));
}

std::string format_duration_ns(std::int64_t ns) {
  if (ns < 0) return "-" + format_duration_ns(ns == INT64_MIN ? INT64_MAX : -ns);
  if (ns < k_second / 1000) return fmt::format("{} us", ns / 1000);
  if (ns < k_second) return fmt::format("{} ms", ns / 1'000'000);
  if (ns < 10 * k_second) return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
  const std::int64_t s = ns / k_second;
  if (s < 600) return fmt::format("{} s", s);
  if (s < 7200) return fmt::format("{} min", s / 60);
  if (s < 172800) return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
  return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<std::string_view, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < names.size()) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, names.at(unit));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = word.size() / 3 + 2;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

namespace {

/// How many bytes from `at` are ASCII; may stop early, up to a word's length before the end.
std::size_t ascii_run(std::string_view bytes, std::size_t at) {
  constexpr std::uint64_t k_high_bits = 0x8080808080808080U;
  std::size_t end = at;
  for (std::uint64_t word = 0; end + sizeof word <= bytes.size(); end += sizeof word) {
    std::memcpy(&word, bytes.data() + end, sizeof word);
    if ((word & k_high_bits) != 0) break;
  }
  return end - at;
}

}  // namespace

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    if (const std::size_t plain = ascii_run(bytes, at); plain > 0) {
      out += bytes.substr(at, plain);
      at += plain;
      continue;
    }
    const std::size_t length = utf8_length(bytes, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
    } else {
      out += bytes.substr(at, length);
      at += length;
    }
  }
  return out;
}

std::string without_colours(std::string_view text) {
  constexpr char k_escape = '\x1b';
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t escape = std::min(text.find(k_escape, at), text.size());
    out += text.substr(at, escape - at);
    at = escape + 2;
    if (escape + 1 >= text.size()) break;
    // `ESC [`, parameters, one final letter; `ESC (` names a character set with one letter more.
    if (text[escape + 1] == '[') {
      while (at < text.size() && text[at] >= ' ' && text[at] < '@') ++at;
      if (at < text.size() && text[at] >= '@') ++at;
    } else if (text[escape + 1] == '(') {
      ++at;
    } else {
      at = escape + 1;  // no sequence that is known: only the escape itself goes
    }
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace triage::base

#include "case_file.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "base/text.hpp"

namespace triage::test {
namespace {

constexpr std::string_view k_open = "\xC2\xAB";   // «
constexpr std::string_view k_close = "\xC2\xBB";  // »

std::string base64(std::string_view text) {
  static constexpr char k_digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = (bits << 8U) | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (unsigned k = 0; k < 4; ++k)
      out += i + k > text.size() ? '=' : k_digits[(bits >> (18U - 6U * k)) & 63U];
  }
  return out;
}

std::string percent(std::string_view text) {
  static constexpr char k_hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.') {
      out += c;
    } else {
      out += '%';
      out += k_hex[static_cast<unsigned char>(c) >> 4U];
      out += k_hex[static_cast<unsigned char>(c) & 15U];
    }
  }
  return out;
}

std::string hexadecimal(std::string_view text) {
  static constexpr char k_hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    out += k_hex[static_cast<unsigned char>(c) >> 4U];
    out += k_hex[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

std::string json_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string Filler::value_of(std::string_view mark) {
  if (const auto known = values_.find(std::string(mark)); known != values_.end())
    return known->second;
  const auto paren = mark.find('(');
  std::string value;
  if (paren != std::string_view::npos && mark.back() == ')') {
    const std::string inner = fill(mark.substr(paren + 1, mark.size() - paren - 2));
    const std::string_view name = mark.substr(0, paren);
    if (name == "b64")
      value = base64(inner);
    else if (name == "url")
      value = percent(inner);
    else if (name == "json")
      value = json_escaped(inner);
    else if (name == "hexup")
      value = hexadecimal(inner);
    else
      throw std::runtime_error("unknown encoding " + std::string(mark));
  } else {
    const auto parts = base::split(mark, ':');
    const std::string_view kind = parts[0];
    const std::size_t length =
        parts.size() > 1 && !parts[1].empty() ? std::stoul(std::string(parts[1])) : 0;
    std::string_view letters;
    if (kind == "b62") letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    if (kind == "b64u")
      letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (kind == "b64r")
      letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (kind == "hex") letters = "0123456789abcdef";
    if (kind == "HEX") letters = "0123456789ABCDEF";
    if (kind == "up") letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    if (kind == "low") letters = "abcdefghijklmnopqrstuvwxyz";
    if (kind == "b36") letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    if (kind == "dig") letters = "0123456789";
    if (kind == "pw")
      letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*^#.~";
    const auto draw = [&](std::string_view from) {
      return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random_)];
    };
    if (kind == "esc") {
      value = "\x1B";  // of a terminal's colours
    } else if (kind == "uuid") {
      for (int i = 0; i < 36; ++i)
        value += i == 8 || i == 13 || i == 18 || i == 23 ? '-' : draw("0123456789abcdef");
    } else if (kind == "ids") {
      for (std::size_t i = 0; i < length; ++i)
        value += (i > 0 ? ", " : "") +
                 std::to_string(std::uniform_int_distribution<int>(300, 128000)(random_));
    } else if (letters.empty()) {
      throw std::runtime_error("unknown alphabet " + std::string(mark));
    } else {
      // Generators do not make secrets of one class by accident at these lengths: draw again.
      do {
        value.clear();
        for (std::size_t i = 0; i < length; ++i) value += draw(letters);
      } while ((kind == "pw" && (!std::isalpha(static_cast<unsigned char>(value.front())) ||
                                 !std::isalnum(static_cast<unsigned char>(value.back())))) ||
               ((kind == "b64u") && !std::isalnum(static_cast<unsigned char>(value.back()))) ||
               ((kind == "hex" || kind == "b62" || kind == "b36") && length >= 12 &&
                (value.find_first_of("0123456789") == std::string::npos ||
                 value.find_first_not_of("0123456789") == std::string::npos)));
    }
  }
  values_[std::string(mark)] = value;
  return value;
}

std::string Filler::fill(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const auto open = text.find(k_open, at);
    if (open == std::string_view::npos) break;
    out += text.substr(at, open - at);
    // Marks nest: «b64(user:«pw:12»)».
    int depth = 1;
    std::size_t end = open + k_open.size();
    while (depth > 0) {
      if (end >= text.size()) throw std::runtime_error("mark without end: " + std::string(text));
      if (text.substr(end).starts_with(k_open)) {
        ++depth;
        end += k_open.size();
      } else if (text.substr(end).starts_with(k_close)) {
        --depth;
        end += k_close.size();
      } else {
        ++end;
      }
    }
    out += value_of(text.substr(open + k_open.size(), end - open - k_open.size() - k_close.size()));
    at = end;
  }
  out += text.substr(at);
  return out;
}

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Case> cases;
  std::string text;
  int number = 0;
  while (std::getline(file, text)) {
    ++number;
    if (text.empty() || text[0] == '#') continue;
    if (text.starts_with("== ")) {
      cases.push_back({path, number, text.substr(3), evidence::Kind::container_log, {}, {}, {}});
      continue;
    }
    if (cases.empty()) throw std::runtime_error(path + ": text before the first title");
    Case& current = cases.back();
    if (text.starts_with("kind ")) {
      const auto kind = evidence::kind_from(text.substr(5));
      if (!kind) throw std::runtime_error(path + ": unknown kind in " + text);
      current.kind = *kind;
    } else if (text == "|" || text.starts_with("| ")) {
      current.input += (text.size() > 2 ? text.substr(2) : "") + "\n";
    } else if (text.starts_with("- ")) {
      current.gone.push_back(text.substr(2));
    } else if (text.starts_with("+ ")) {
      current.kept.push_back(text.substr(2));
    } else {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": not understood: " + text);
    }
  }
  return cases;
}

std::string leaked_part(std::string_view text, std::string_view secret) {
  const auto words = base::split_blanks(secret);
  if (words.size() >= 4) {
    for (std::size_t i = 0; i + 4 <= words.size(); ++i) {
      const auto begin = static_cast<std::size_t>(words[i].data() - secret.data());
      const auto end =
          static_cast<std::size_t>(words[i + 3].data() - secret.data()) + words[i + 3].size();
      const std::string_view four = secret.substr(begin, end - begin);
      if (base::contains(text, four)) return std::string(four);
    }
    return {};
  }
  const std::size_t window = std::min<std::size_t>(12, secret.size());
  for (std::size_t i = 0; i + window <= secret.size(); ++i)
    if (base::contains(text, secret.substr(i, window)))
      return std::string(secret.substr(i, window));
  return {};
}

}  // namespace triage::test

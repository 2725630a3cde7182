#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/kind.hpp"

/// Cases of redaction as text files, so that a new wording is one paragraph:
///
///   == title
///   kind container-log
///   | HF_TOKEN=hf_«b62:34»
///   - «b62:34»
///   + something that must stay
///
/// `|` are input lines, `-` what must be gone, `+` what must be there. Secrets are written as
/// «alphabet:length[:name]» and drawn anew for every seed; the same mark is the same value within a
/// case. «b64(TEXT)», «url(TEXT)», «json(TEXT)» and «hexup(TEXT)» encode; «esc» is the escape of
/// terminals. No real-looking credential stands in the repository that way, and every case runs
/// with many values.
namespace triage::test {

struct Case {
  std::string file;
  int line = 0;
  std::string title;
  evidence::Kind kind = evidence::Kind::container_log;
  std::string input;
  std::vector<std::string> gone;
  std::vector<std::string> kept;
};

[[nodiscard]] std::vector<Case> read_cases(const std::string& path);

/// Fills the marks of `text`.
class Filler {
 public:
  explicit Filler(std::uint32_t seed) : random_(seed) {}
  [[nodiscard]] std::string fill(std::string_view text);

 private:
  std::string value_of(std::string_view mark);
  std::mt19937 random_;
  std::map<std::string, std::string> values_;
};

/// A part of `secret` that can still be read in `text`: any 12 characters in a row, or any four
/// words of a text; empty when there is none.
[[nodiscard]] std::string leaked_part(std::string_view text, std::string_view secret);

}  // namespace triage::test

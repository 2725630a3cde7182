#include "rules/patterns.hpp"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <vector>

namespace triage::rules {
namespace {

re2::RE2::Options options() {
  re2::RE2::Options o(re2::RE2::Latin1);
  o.set_log_errors(false);
  o.set_max_mem(8 << 20);
  return o;
}

constexpr std::size_t k_max_pattern = 8192;

}  // namespace

std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern, PatternError* error) {
  if (pattern.size() > k_max_pattern) {
    if (error != nullptr) *error = {"the pattern is longer than 8192 bytes", ""};
    return nullptr;
  }
  auto compiled =
      std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options());
  if (compiled->ok()) return compiled;
  if (error != nullptr) *error = {compiled->error(), compiled->error_arg()};
  return nullptr;
}

namespace {

/// Whether a text that holds only those atoms for which `held` is true could match the pattern.
bool possible_with(const re2::FilteredRE2& filter, const std::vector<std::string>& atoms,
                   bool (*held)(std::string_view)) {
  std::vector<int> matched;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    if (held(atoms[i])) matched.push_back(static_cast<int>(i));
  std::vector<int> possible;
  filter.AllPotentials(matched, &possible);
  return !possible.empty();
}

}  // namespace

LiteralStrength judge_literals(std::string_view pattern, bool (*is_common)(std::string_view)) {
  re2::FilteredRE2 filter(4);
  int id = 0;
  if (pattern.size() > k_max_pattern || filter.Add(re2::StringPiece(pattern.data(), pattern.size()),
                                                   options(), &id) != re2::RE2::NoError)
    return LiteralStrength::good;
  std::vector<std::string> atoms;
  filter.Compile(&atoms);
  const auto nothing = [](std::string_view) { return false; };
  if (atoms.empty() || possible_with(filter, atoms, nothing)) return LiteralStrength::none;
  if (possible_with(filter, atoms, [](std::string_view atom) { return atom.size() < 6; }))
    return LiteralStrength::weak;
  return possible_with(filter, atoms, is_common) ? LiteralStrength::common : LiteralStrength::good;
}

}  // namespace triage::rules

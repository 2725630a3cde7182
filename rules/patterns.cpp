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

bool has_required_literal(std::string_view pattern, int least) {
  re2::FilteredRE2 filter(least);
  int id = 0;
  if (filter.Add(re2::StringPiece(pattern.data(), pattern.size()), options(), &id) !=
      re2::RE2::NoError)
    return false;
  std::vector<std::string> atoms;
  filter.Compile(&atoms);
  if (atoms.empty()) return false;
  // With no atom seen, only patterns that need none are still possible.
  std::vector<int> possible;
  filter.AllPotentials({}, &possible);
  return possible.empty();
}

}  // namespace triage::rules

#include <cstdlib>
#include <string_view>

#include "rules/built_in.hpp"
#include "rules/loader.hpp"
#include "rules/serialise.hpp"

// The bytes that the generator made, in the binary's read-only data.
extern "C" const char triage_built_in_rules_begin[];
extern "C" const char triage_built_in_rules_end[];

namespace triage::rules {

namespace {

std::string_view baked() {
  return {triage_built_in_rules_begin,
          static_cast<std::size_t>(triage_built_in_rules_end - triage_built_in_rules_begin)};
}

}  // namespace

RuleSet read_built_in_rules() {
  auto read = from_bytes(baked());
  if (!read) std::abort();  // the binary itself is damaged
  return std::move(*read);
}

std::string built_in_digest() {
  return digest_from_bytes(baked());
}

const RuleSet& built_in_rules() {
  // Constant data: read once, never changed, the same for everybody.
  static const RuleSet rules = read_built_in_rules();
  return rules;
}

}  // namespace triage::rules
